"""Which function makes the gradient of which op type.

Op families register theirs with the op (``define_op(..., gradient=...)``); the registry is the one
in ``opdef.registry``.  An entry of None means "not differentiable": nothing flows back.
An op type without an entry is an error to differentiate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.foundation.graph.bodies import CallDef
from penstock.foundation.graph.operation import Operation
from penstock.foundation.opdef.registry import GRADIENTS

GradientFunction = Callable[..., Any]
F = TypeVar("F", bound=GradientFunction)
AROUND: list[GradientFunction] = []  # (gradient function, op, name scope) to another of them


class RegisterGradient:
    """Decorator: registers the gradient function of an op type, or of an override's name.

    The function is called as ``grad(op, *output_gradients)`` and returns one gradient an input (a
    list or tuple where there are several), None where there is none.

    Args:
      op_type: an op type, or a name that ``Graph.gradient_override_map`` maps to.

    Raises:
      TypeError: ``op_type`` is no string.
      KeyError: the name has a gradient already.

    Example:
      >>> import penstock as tf
      >>> @tf.RegisterGradient("HalfIdentity")
      ... def _half(op, grad):
      ...     return 0.5 * grad
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a string; found {type(op_type).__name__}")
        self._op_type = op_type

    def __call__(self, f: F) -> F:
        GRADIENTS.register(self._op_type, f)
        return f


def NotDifferentiable(op_type: str) -> None:
    """Says that ops of type ``op_type`` are not differentiable: their inputs get gradient None.

    Raises:
      TypeError: ``op_type`` is no string.
      KeyError: the type has a gradient already.
    """
    if not isinstance(op_type, str):
        raise TypeError(f"op_type must be a string; found {type(op_type).__name__}")
    GRADIENTS.register(op_type, None)


NoGradient = NotDifferentiable
no_gradient = NotDifferentiable


def get_gradient_function(op: Operation) -> GradientFunction | None:
    """The function that makes the gradient of ``op``; None when it is not differentiable.

    An override that was active when ``op`` was made comes before its own type.

    Raises:
      LookupError: nothing is registered, naming the op, its type and the line that made it.
    """
    if not op.inputs:
        return None
    override = op.attrs.get("_gradient_op_type")
    key = op.type
    if isinstance(op.op_def, CallDef):
        # A function's own gradient, which the op type does not have in other graphs.
        return op.op_def.gradient or GRADIENTS["PartitionedCall"]
    if override is not None:
        key = override.decode() if isinstance(override, bytes) else str(override)
    found = GRADIENTS.get(key, _missing)
    if found is not _missing:
        return found  # type: ignore[no-any-return]
    raise LookupError(_missing(op, key))


def _missing(op: Operation, key: str) -> str:
    text = f"no gradient is defined for operation {op.name!r} (op type: {op.type})"
    if key != op.type:
        text += f": its gradient is overridden by {key!r}, which is not registered"
    else:
        reason = op.op_def.no_gradient or "no gradient function is registered for this op type"
        text += f": {reason}"
    return f"{text}\nmade at {op.origin}" if op.origin else text
