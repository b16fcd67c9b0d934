"""Variables by name: ``tf.get_variable`` and kin, in the current scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables import store as stores
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """The variable ``name`` of the current variable scope, found or made.

    Args:
      name: name within the scope.
      shape: shape; not given when the initializer is a constant.
      dtype: element type; default that of the scope, float32.
      initializer: a function of (shape, dtype), a class of one, or a constant; default
        Glorot uniform for floating types, zeros for others.
      regularizer: function of the variable whose result goes to
        ``GraphKeys.REGULARIZATION_LOSSES``.
      trainable, collections, caching_device, validate_shape, use_resource, constraint,
        synchronization, aggregation: as for ``tf.Variable``.
      partitioner: function of (shape, dtype) that says into how many parts each axis is cut.
      custom_getter: function ``f(getter, name, ...)`` asked in place of the usual way.

    Returns:
      A Variable, or a PartitionedVariable when a partitioner was given.

    Raises:
      ValueError: the variable exists and the scope does not share, or does not exist and must; the
        shape or dtype differs from what exists.

    Example:
      >>> import penstock as tf
      >>> def dense(x):
      ...     weights = tf.get_variable("weights", [3, 2])
      ...     return tf.matmul(x, weights)
      >>> x = tf.ones([4, 3])
      >>> with tf.variable_scope("layer"):
      ...     first = dense(x)
      >>> with tf.variable_scope("layer", reuse=True):
      ...     second = dense(2 * x)  # the same weights
      >>> [v.name for v in tf.global_variables()]
      ['layer/weights:0']
    """
    return get_variable_scope().get_variable(
        stores.default_store(), name, shape=shape, dtype=dtype, initializer=initializer,
        regularizer=regularizer, trainable=trainable, collections=collections,
        caching_device=caching_device, partitioner=partitioner, validate_shape=validate_shape,
        use_resource=use_resource, custom_getter=custom_getter, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """``get_variable`` of a local variable: not trainable, not saved, in LOCAL_VARIABLES."""
    places = [GraphKeys.LOCAL_VARIABLES]
    if collections:
        places = [*collections, GraphKeys.LOCAL_VARIABLES]
    return get_variable(
        name, shape, dtype, initializer, regularizer, False, places, caching_device, partitioner,
        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation,
    )  # fmt: skip


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """Makes the parts of a partitioned variable.

    Args:
      shape: shape of the whole.
      slicing: how many parts each axis is cut into; more than 1 for one axis only.
      initializer: as for ``get_variable``, or the value of the whole.
      dtype: element type; that of ``initializer`` where it is a tensor.
      trainable, collections: as for ``get_variable``.
      name: name of the whole; default ``PartitionedVariable``, made unique.
      reuse: whether to share what exists.

    Returns:
      The parts, in order.

    Raises:
      ValueError: a shape, slicing and initial value that do not fit each other.
    """
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape:"
            f" {list(shape)}, slicing: {list(slicing)}"
        )
    if not shape:
        raise ValueError("A partitioned Variable must have rank at least 1: shape: []")
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        if not callable(initializer):
            known = getattr(initializer, "dtype", None)
            if isinstance(known, dtypes.DType):
                dtype = known.base_dtype
            initializer = convert_to_tensor(initializer, dtype)
            initializer.shape.assert_is_compatible_with(shape)
        variable = scope.get_variable(
            stores.default_store(), None, shape=shape, dtype=dtype, initializer=initializer,
            trainable=trainable, collections=collections,
            partitioner=lambda **_: list(slicing),
        )  # fmt: skip
    return list(variable)
