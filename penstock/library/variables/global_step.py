"""The global step: the one integer variable of a graph that counts training steps.

It is the only member of the collection ``GraphKeys.GLOBAL_STEP``, or else the tensor
``global_step:0``.
"""

from __future__ import annotations

import warnings
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import getting, initializers
from penstock.library.variables.variable import Variable, VariableAggregation


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of the global step in ``sess``.

    Args:
      sess: a session.
      global_step_tensor: the variable or tensor, or its name.

    Returns:
      An int.
    """
    if scopes.get_default_graph().executes:
        return int(global_step_tensor.numpy())
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Any:
    """The global step of ``graph`` (default: the default graph), or None when there is none.

    Raises:
      TypeError: what is registered as global step is no scalar integer.

    Args:
      graph: where to look; the default graph without.

    Returns:
      The variable, or None.

    Example:
      >>> import penstock as tf
      >>> tf.train.get_global_step() is None
      True
      >>> step = tf.train.create_global_step()
      >>> tf.train.get_global_step() is step
      True
    """
    graph = graph or scopes.get_default_graph()
    registered = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(registered) > 1:
        warnings.warn(
            f"the collection {GraphKeys.GLOBAL_STEP!r} holds {len(registered)} tensors:"
            f" {[t.name for t in registered]}; it should hold one, so none is taken",
            stacklevel=2,
        )
        return None
    if registered:
        found = registered[0]
    elif graph.executes:
        return None
    else:
        try:
            found = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(found)
    return found


def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the global step, an int64 variable called ``global_step``, at first 0.

    Args:
      graph: where; default the default graph.

    Returns:
      The variable.

    Raises:
      ValueError: the graph has one already.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.train.create_global_step().name
      'global_step:0'
    """
    graph = graph or scopes.get_default_graph()
    existing = get_global_step(graph)
    if existing is not None:
        raise ValueError(
            f'"global_step" already exists: the graph already has a global step, {existing.name!r}'
        )
    with graph.as_default(), graph.name_scope(None):
        return getting.get_variable(
            GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64,
            initializer=initializers.zeros_initializer(), trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )  # fmt: skip


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The global step of ``graph`` (default: the default graph), made when there is none.

    Args:
      graph: where it is looked for, and made; the default graph without.

    Returns:
      The variable: an int64 scalar.

    Example:
      >>> import penstock as tf
      >>> step = tf.train.get_or_create_global_step()
      >>> step.name, step.dtype.base_dtype, tf.train.get_or_create_global_step() is step
      ('global_step:0', tf.int64, True)
    """
    graph = graph or scopes.get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor: Any) -> None:
    """Checks that ``global_step_tensor`` can be a global step.

    Raises:
      TypeError: it is no variable or tensor, no integer, or no scalar.
    """
    if not isinstance(global_step_tensor, Variable | Tensor):
        raise TypeError(
            f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor!r}.'
        )
    dtype = global_step_tensor.dtype.base_dtype
    if not dtype.is_integer:
        raise TypeError(
            f'Existing "global_step" does not have integer type: {dtype.name}; it is'
            f" {_called(global_step_tensor)}"
        )
    shape = global_step_tensor.get_shape()
    if shape.is_fully_defined() and shape.rank != 0:
        raise TypeError(
            f'Existing "global_step" is not scalar: {shape}; it is {_called(global_step_tensor)}'
        )


def _called(tensor: Any) -> str:
    """A tensor by its name; by its value where operations run at once and give none."""
    return repr(tensor) if scopes.get_default_graph().executes else repr(tensor.name)
