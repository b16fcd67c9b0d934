"""The words of what is refused as an input or an attr: TensorFlow's, which people and programs
search for, then what was found and what is allowed. Loaded when something is refused.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert
from penstock.foundation.graph.solve_lists import describe
from penstock.foundation.opdef.opdef import ArgDef, AttrDef, OpDef


def of_value(
    op_def: OpDef, name: str, arg: ArgDef, value: Any, wanted: Any, source: Any, error: Exception
) -> Exception:
    """Of a value that cannot become the tensor that an input is.

    Args:
      wanted: the type that the input must have; None where any will do.
      source: what has determined that type: a pair of an input's name and its tensor, or else.
      error: why it cannot.
    """
    because = ""
    if isinstance(source, tuple):
        because = f", the type of input {source[0]!r} ({describe(source[1])})"
    want = f" of type {wanted.name}{because}" if wanted is not None else ""
    return type(error)(
        f"{_words(op_def, arg, value, wanted, error)}: {op_def.name} {name!r}: input {arg.name!r}"
        f" must be a tensor{want}; {convert.shorten(value)} cannot become one"
    )


def _words(op_def: OpDef, arg: ArgDef, value: Any, wanted: Any, error: Exception) -> str:
    if isinstance(error, ValueError):
        return f"Tried to convert {arg.name!r} to a tensor and failed. Error: {error}"
    if wanted is None:
        return str(error)
    return (
        f"Expected {wanted.name} passed to parameter {arg.name!r} of op {op_def.name!r}, got"
        f" {convert.shorten(value)} of type {type(value).__name__!r} instead. Error: {error}"
    )


def of_attr(op_def: OpDef, name: str, attr: AttrDef, value: Any) -> Exception:
    """Of an attr's value, a type or a string, that is not among those allowed."""
    is_type = isinstance(value, dtypes.DType)
    found = value.name if isinstance(value, dtypes.DType) else repr(value)
    allowed = sorted(a.name if isinstance(a, dtypes.DType) else repr(a) for a in attr.allowed or ())
    taken_by = next(
        (a.name for a in op_def.inputs if attr.name in (a.type_attr, a.type_list_attr)), attr.name
    )
    words = (
        f"Value passed to parameter {taken_by!r} has DataType {found} not in list of allowed values"
        if is_type
        else f"Attr {attr.name!r} of {op_def.name!r} Op passed string {found} not in"
    )
    shown = ", ".join(allowed)
    return (TypeError if is_type else ValueError)(
        f"{words}: {shown}: {op_def.name} {name!r}: {attr.name} may not be {found}; allowed are"
        f" {shown}"
    )
