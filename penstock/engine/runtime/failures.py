"""What is said when a line of a program raises: the node, what it was given, who made it."""

from __future__ import annotations

from typing import Any

import torch

from penstock.compiler.codegen.source import Source
from penstock.engine.runtime.words import in_tensorflows_words
from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.base.mismatch import show
from penstock.foundation.graph.operation import Operation


def error_of(
    raised: BaseException, filename: str, source: Source, scope: dict[str, Any]
) -> errors.OpError | None:
    """The ``tf.errors`` error that ``raised`` means, or None when no line of ours raised it.

    Args:
      raised: with its traceback.
      filename, source, scope: of the program that ran.
    """
    traceback = raised.__traceback__
    frame = None
    number = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == filename:
            frame, number = traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
    op = source.line_ops.get(number)
    if frame is not None and op is None:
        if error_class(raised) is errors.ResourceExhaustedError:  # the line that returns
            return errors.ResourceExhaustedError(None, None, f"for what is fetched: {raised}")
    if frame is None or op is None:
        return None
    missing = _uninitialized(raised, op)
    if missing is not None:
        return missing
    local = frame.f_locals
    operands, shapes_given = [], []
    for name, tensor in source.line_inputs.get(number, ()):
        value = local.get(name, scope.get(name))
        operands.append(f"{_shown(tensor)} {_described(value, tensor)}")
        shapes_given.append(tuple(getattr(value, "shape", ())))
    kind: Any = error_class(raised)
    message = _message(op, raised, operands, shapes_given)
    return kind(None, op, message) if kind is not errors.OpError else None


def _uninitialized(raised: BaseException, op: Operation) -> errors.OpError | None:
    resource = getattr(raised, "obj", None)
    if not (isinstance(raised, AttributeError) and raised.name == "value"):
        return None
    name = getattr(resource, "name", op.name)
    message = (
        f"{_uninitialized_words(op, name)}: variable {name!r} is used before it has a value:"
        " run its initializer"
        f" ({name}/Assign, or tf.global_variables_initializer()) or restore it first;"
        f" reading it: {op.type} {op.name!r}{made_at(op)}"
    )
    return errors.FailedPreconditionError(None, op, message)


def _uninitialized_words(op: Operation, name: str) -> str:
    """What TensorFlow says of a variable without a value, of one and of the other kind."""
    if any(t.dtype.base_dtype.name == "resource" for t in (*op.outputs, *op.inputs)):
        return (
            f"Error while reading resource variable {name} from Container: localhost. This could"
            " mean that the variable was uninitialized. Attempting to use uninitialized value"
            f" {name}"
        )
    return f"Attempting to use uninitialized value {name}"


def _described(value: Any, tensor: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return f"{tensor.dtype.name}{shapes.format_static(tensor.sizes)}"


def _shown(tensor: Any) -> str:
    """The user's name of what is fed to a step, or handed to a branch or a round."""
    return str(tensor.name).removeprefix("_feed/").removeprefix("_in/")


def _message(
    op: Operation, raised: BaseException, operands: list[str], given: list[tuple[int, ...]]
) -> str:
    inputs = f"; its inputs: {', '.join(operands)}" if operands else ""
    if isinstance(raised, errors.OpError):
        reason = raised.message
    else:
        reason = in_tensorflows_words(str(raised), given)
    if reason == "ZeroDivisionError":  # all that torch says
        reason = "Integer division by zero"
    if op.op_def.role == "placeholder":
        reason = f"{_unfed_words(op)}: {reason}"
    if op.op_def.role == "taken":
        # Not a node of the user's: it stands for a fetch, which the reason names.
        return f"{reason}{made_at(op)}"
    return f"{op.type} {op.name!r} failed: {reason}{inputs}{made_at(op)}"


def _unfed_words(op: Operation) -> str:
    """What TensorFlow says of a placeholder without a value."""
    output = op.outputs[0]
    dims, kind = output.sizes, dtypes.message_name(output.dtype.name)
    words = f"You must feed a value for placeholder tensor '{op.name}' with dtype {kind}"
    if dims is None:
        return words
    return f"{words} and shape {show(dims)}"


def made_at(op: Operation) -> str:
    return f"\nmade at {op.origin}" if op.origin else ""


def error_class(raised: BaseException) -> type[errors.OpError]:
    if isinstance(raised, errors.OpError):
        return type(raised)
    text = str(raised).lower()
    if isinstance(raised, MemoryError) or "out of memory" in text or "allocate memory" in text:
        return errors.ResourceExhaustedError
    if isinstance(raised, NotImplementedError):
        return errors.UnimplementedError
    if isinstance(raised, RuntimeError | ValueError | IndexError | TypeError | ArithmeticError):
        return errors.InvalidArgumentError
    if isinstance(raised, Exception):
        return errors.UnknownError
    return errors.OpError
