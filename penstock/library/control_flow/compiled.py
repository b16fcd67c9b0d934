"""``tf.xla.experimental.compile``: a computation whose operations all run with its outputs.

Every step of Penstock is compiled, so nothing else is left to do here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.behavior import executing_eagerly
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import control_dependencies
from penstock.ops.control.control import group, identity


def compile_(computation: Callable[..., Any], inputs: Any = None) -> Any:
    """Builds a computation whose operations all run where one of its outputs is wanted.

    Args:
      computation: takes the inputs and returns tensors, then operations, or nested tensors.
      inputs: a list of what can be converted to tensors, or of nestings of such; default none.

    Returns:
      A list of the tensors, or their nesting; an operation where there are no tensors.

    Raises:
      RuntimeError: in eager execution.
      TypeError: ``inputs`` is no list.
      ValueError: an operation stands before a tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.xla.experimental.compile(lambda x: x + 1, [tf.constant([1, 2])]))
      [array([2, 3], dtype=int32)]
    """
    if executing_eagerly():
        raise RuntimeError(
            "xla.experimental.compile is not supported when eager execution is enabled: build a"
            " graph for it"
        )
    if inputs is not None and not isinstance(inputs, list | tuple):
        raise TypeError(f"inputs must be a list; xla.experimental.compile found {inputs!r}")
    places = [nest.map_structure(identity, each) for each in _tensors(inputs or [])]
    found = computation(*places)
    if _is_nested(found):
        return nest.map_structure(lambda each: identity(convert_to_tensor(each)), found)
    return _flat_outputs(list(found) if isinstance(found, list | tuple) else [found])


def _tensors(inputs: Any) -> Any:
    return [nest.map_structure(convert_to_tensor, each) for each in inputs]


def _is_nested(found: Any) -> bool:
    if isinstance(found, list | tuple):
        return any(nest.is_sequence(each) for each in found)
    return nest.is_sequence(found)


def _flat_outputs(found: list[Any]) -> Any:
    found = [each for each in found if each is not None]
    ops = [each for each in found if isinstance(each, Operation)]
    tensors = found[: len(found) - len(ops)]
    if any(isinstance(each, Operation) for each in tensors):
        raise ValueError(
            "XLA computation function must return zero or more Tensor values followed by zero or"
            f" more Operations. found {found}"
        )
    with control_dependencies(ops):
        return [identity(convert_to_tensor(each)) for each in tensors] or group(*ops)
