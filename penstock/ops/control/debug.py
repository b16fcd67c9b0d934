"""Printing, assertions and checks for NaN and Inf: ops that are run for what they do.

Tensors are shown in TensorFlow's form: ``Print`` and ``Assert`` show the first ``summarize``
elements, ``tf.print`` (``StringFormat``) shows ``summarize`` at each end of each dim.  Where TF
1.15 shows ``?`` (complex and bfloat16), the values are shown.
"""

from __future__ import annotations

import logging
import math
import pprint
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import (
    colocate_with,
    control_dependencies,
    get_default_graph,
    name_scope,
)
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import first_input, no_outputs, scalar
from penstock.ops.control import control, control_flow

# ---- how values are shown ------------------------------------------------------------------


def _as_array(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = value.float() if value.dtype is torch.bfloat16 else value
        return value.detach().cpu().numpy()
    return np.asarray(value, dtype=object)


def _number(value: float, kind: Any) -> str:
    """The shorter of two precisions that gives the value back, as TF prints floats."""
    digits = (15, 17) if kind is np.float64 else (6, 9)
    text = f"{value:.{digits[0]}g}"
    if math.isfinite(value) and kind(float(text)) != kind(value):
        text = f"{value:.{digits[1]}g}"
    return text


def _escaped(data: bytes) -> str:
    named = {9: r"\t", 10: r"\n", 13: r"\r", 34: r"\"", 39: r"\'", 92: r"\\"}
    return "".join(named.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in data)


def _element(value: Any, quoted: bool) -> str:
    if isinstance(value, bytes):
        return f'"{_escaped(value)}"' if quoted else _escaped(value)
    if isinstance(value, np.bool_ | bool):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        kind = np.float64 if value.dtype == np.complex128 else np.float32
        return f"({_number(float(value.real), kind)},{_number(float(value.imag), kind)})"
    if isinstance(value, np.floating):
        kind = np.float64 if value.dtype == np.float64 else np.float32
        return _number(float(value), kind)
    return str(value)


def summarize_value(value: Any, summarize: int) -> str:
    """The first ``summarize`` elements of a value, in the form of Print and Assert.

    Args:
      value: a torch tensor, or an object array of bytes.
      summarize: how many elements to show; negative means all.
    """
    array = _as_array(value)
    limit = array.size if summarize < 0 else min(summarize, array.size)
    parts: list[str] = []
    _first_elements(array, limit, 0, parts)
    return "".join(parts) + ("..." if array.size > limit else "")


def _first_elements(array: np.ndarray, limit: int, depth: int, parts: list[str]) -> int:
    """Appends up to ``limit`` elements; returns how many of the limit are left."""
    if array.ndim <= 1:
        flat = array.reshape(-1)
        shown = flat[:limit]
        parts.append(" ".join(_element(v, False) for v in shown))
        if len(flat) > limit and depth:
            parts.append("...")
        return limit - len(shown)
    for row in array:
        if limit <= 0:
            break
        parts.append("[")
        limit = _first_elements(row, limit, depth + 1, parts)
        parts.append("]")
    return limit


def format_value(value: Any, summarize: int) -> str:
    """A value in the form of ``tf.print``: ``summarize`` elements at each end of each dim."""
    array = _as_array(value)
    # Where a tensor has no elements, TensorFlow shows none of its rows either.
    ends = array.size if summarize < 0 else min(summarize, array.size)
    return _ends(array, ends, 0, array.ndim) if ends or array.ndim else "..."


def _ends(array: Any, ends: int, depth: int, rank: int) -> str:
    if depth == rank:
        return _element(array[()] if isinstance(array, np.ndarray) else array, True)
    last = depth == rank - 1
    gap = " " if last else "\n" * (rank - depth - 1) + " " * (depth + 1)
    count = len(array)
    first = [_ends(array[i], ends, depth + 1, rank) for i in range(min(ends, count))]
    rest = ["..."] if count > 2 * ends else []
    rest += [_ends(array[i], ends, depth + 1, rank) for i in range(max(ends, count - ends), count)]
    return "[" + gap.join(first) + "".join(gap + part for part in rest) + "]"


# ---- ops -----------------------------------------------------------------------------------


def _print_kernel(
    input: Any, data: Any, message: str, first_n: int, summarize: int, state: Any
) -> Any:
    if first_n < 0 or state[0] < first_n:
        state[0] += 1
        shown = "".join(f"[{summarize_value(d, summarize)}]" for d in data)
        print(f"{_text(message)}{shown}", file=sys.stderr, flush=True)
    return input


def _text(value: Any) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


define_op(
    "Print",
    "input: T, data: list(U) -> output: T",
    attrs=[
        "T: type", "U: list(type)", 'message: string = ""', "first_n: int = -1",
        "summarize: int = 3",
    ],
    shape=first_input,
    kernel=_print_kernel,
    state=lambda attrs, name: [0],
    gradient=lambda op, grad: [grad] + [None] * (len(op.inputs) - 1),
    aliases=("input",),
    stateful=True,
    effect=True, moves=True,
)  # fmt: skip


def _string_format(inputs: Any, template: str, placeholder: str, summarize: int) -> np.ndarray:
    parts = _text(template).split(_text(placeholder))
    if len(parts) - 1 != len(inputs):
        raise errors.invalid(
            f"the template has {len(parts) - 1} placeholder(s) for {len(inputs)} tensor(s)"
        )
    text = parts[0]
    for value, part in zip(inputs, parts[1:], strict=True):
        text += format_value(value, summarize) + part
    result = np.empty((), dtype=object)
    result[()] = text.encode()
    return result


define_op(
    "StringFormat",
    "inputs: list(T) -> output: string",
    attrs=[
        "T: list(type)", 'template: string = "%s"', 'placeholder: string = "%s"',
        "summarize: int = 3",
    ],
    shape=scalar,
    kernel=_string_format,
    no_gradient="its output is a string",
)  # fmt: skip

# What lies on the host anyway.
_ON_HOST = (dtypes.string, dtypes.int32)
_STREAMS = {
    "stdout": lambda text: sys.stdout.write(text),
    "stderr": lambda text: sys.stderr.write(text),
}
_LOG_LEVELS = ("log(info)", "log(warning)", "log(error)")


def _print_v2(input: Any, output_stream: str, end: str) -> None:
    text = input.item() if isinstance(input, np.ndarray) else input
    line = text.decode(errors="backslashreplace") + _text(end)
    if output_stream in _STREAMS:
        _STREAMS[output_stream](line)
    elif output_stream in _LOG_LEVELS:
        level = output_stream[4:-1].upper()
        logging.getLogger("penstock").log(getattr(logging, level), line.rstrip("\n"))
    elif output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a") as file:
            file.write(line)
    else:
        raise errors.invalid(
            f"unknown output stream {output_stream!r}; allowed are {sorted(_STREAMS)},"
            f" {list(_LOG_LEVELS)} and 'file://<path>'"
        )


define_op(
    "PrintV2",
    "input: string ->",
    attrs=['output_stream: string = "stderr"', 'end: string = "\n"'],
    shape=no_outputs,
    kernel=_print_v2,
    stateful=True,
    effect=True,
    no_gradient="its input is a string",
    moves=True,
)


def _check_assertion(condition: bool, data: Any, summarize: int) -> None:
    if not condition:
        shown = " ".join(f"[{summarize_value(d, summarize)}]" for d in data)
        raise errors.invalid(f"assertion failed: {shown}")


define_op(
    "Assert",
    "condition: bool, data: list(T) ->",
    attrs=["T: list(type) >= 1", "summarize: int = 3"],
    shape=no_outputs,
    kernel=_check_assertion,
    host=("condition",),
    stateful=True,
    effect=True,
    no_gradient="it has no outputs",
)


def _check_numerics(tensor: Any, message: str) -> Any:
    # A sum is not finite when an element is not; a finite tensor may still overflow it.
    if not math.isfinite(tensor.sum()):
        found = [
            name
            for name, test in (("Inf", torch.isinf), ("NaN", torch.isnan))
            if bool(test(tensor).any())
        ]
        if found:
            raise errors.invalid(f"{_text(message)} : Tensor had {' and '.join(found)} values")
    return tensor


def _check_numerics_grad(op: Operation, grad: Any) -> Any:
    text = "Not a number (NaN) or infinity (Inf) values detected in gradient."
    return check_numerics(grad, f"{text} {op.attrs['message']}")


define_op(
    "CheckNumerics",
    "tensor: T -> output: T",
    attrs=["T: {bfloat16, half, float, double}", "message: string"],
    shape=first_input,
    kernel=_check_numerics,
    gradient=_check_numerics_grad,
    aliases=("tensor",),
    stateful=True,
    effect=True,
    moves=True,
)


def _timestamp() -> Any:
    return torch.tensor(time.time(), dtype=torch.float64)


define_op(
    "Timestamp",
    "-> ts: double",
    shape=scalar,
    kernel=_timestamp,
    stateful=True,
    no_gradient="it has no inputs",
    on_host=True,
)


# ---- public functions ----------------------------------------------------------------------


def Print(  # the public name
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """``input_``; whenever it is computed, ``data`` is written to stderr.

    Args:
      input_: a tensor of any type, passed through.
      data: tensors to show.
      message: text before them.
      first_n: show only the first so many times; None means always.
      summarize: elements to show of each tensor; None means 3, negative means all.

    Returns:
      A tensor equal to ``input_``.

    Example:
      >>> import penstock as tf
      >>> x = tf.constant([1.0, 2.0, 3.0])
      >>> x = tf.Print(x, [tf.reduce_mean(x)], "the mean is ")
      >>> with tf.Session() as session:
      ...     total = session.run(tf.reduce_sum(x))  # prints "the mean is [2]" on stderr
      >>> print(total)
      6.0
    """
    attrs: dict[str, Any] = {"message": message, "first_n": first_n, "summarize": summarize}
    given = {key: value for key, value in attrs.items() if value is not None}
    return make("Print", input_, list(data), name=name, **given)


def string_format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """``template`` with each placeholder replaced by a tensor of ``inputs``.

    Args:
      template: text.
      inputs: a tensor or a list of tensors, one for each placeholder.
      placeholder: what is replaced.
      summarize: elements to show at each end of each dim; -1 means all.

    Returns:
      A string scalar.

    Raises:
      ValueError: the numbers of placeholders and tensors differ.
    """
    tensors = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if template.count(placeholder) != len(tensors):
        raise ValueError(
            f"{len(tensors)} tensor(s) given for {template.count(placeholder)} placeholder(s) in "
            f"template {template!r}"
        )
    return make(
        "StringFormat", tensors, template=template, placeholder=placeholder,
        summarize=summarize, name=name,
    )  # fmt: skip


def print_(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that prints ``inputs``; it must be run, or be a control dependency.

    Args:
      *inputs: tensors and Python objects, also nested.
      output_stream: ``sys.stderr`` (default), ``sys.stdout``, a log level or ``"file://path"``.
      summarize: elements to show at each end of each dim (default 3; -1 means all).
      sep: between the inputs (default a space).
      end: after them (default a newline).

    Returns:
      The operation.

    Raises:
      ValueError: an unknown keyword or stream.
    """
    stream = _stream_name(kwargs.pop("output_stream", sys.stderr))
    name, summarize = kwargs.pop("name", None), kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"tf.print has no keyword(s) {sorted(kwargs)}")
    only = inputs[0] if len(inputs) == 1 else None
    if isinstance(only, Tensor) and only.dtype.base_dtype is dtypes.string and only.sizes == ():
        text = only
    else:
        tensors: list[Tensor] = []
        pieces = [_template_of(item, tensors) for item in inputs]
        text = make(
            "StringFormat", tensors, template=sep.join(pieces), placeholder=_MARK,
            summarize=summarize, name=f"{name}_format" if name else None,
        )  # fmt: skip
    return make("PrintV2", text, name=name, output_stream=stream, end=end)


def _stream_name(stream: Any) -> str:
    if stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr:
        return "stderr"
    if stream in (logging.INFO, logging.info):
        return "log(info)"
    if stream in (logging.WARNING, logging.warning):
        return "log(warning)"
    if stream in (logging.ERROR, logging.error):
        return "log(error)"
    known = ("stdout", "stderr", *_LOG_LEVELS)
    if isinstance(stream, str) and (stream in known or stream.startswith("file://")):
        return stream
    raise ValueError(f"output_stream {stream!r} is not one of {known} or 'file://<path>'")


_MARK = "[[[tensor]]]"


class _Placed:
    """Stands for a tensor while the objects around it are formatted."""

    def __init__(self, text: str = _MARK) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _template_of(item: Any, tensors: list[Tensor]) -> str:
    if isinstance(item, str):
        return item
    placed = _place(item, tensors)
    return placed.text if isinstance(placed, _Placed) else pprint.pformat(placed, width=10**6)


def _place(item: Any, tensors: list[Tensor]) -> Any:
    if isinstance(item, dict):
        return {key: _place(item[key], tensors) for key in sorted(item)}
    if isinstance(item, list | tuple) and not hasattr(item, "_fields"):
        return type(item)(_place(one, tensors) for one in item)
    if isinstance(item, SparseTensor):
        parts = [
            f"{n}={_place(getattr(item, n), tensors)!r}"
            for n in ("indices", "values", "dense_shape")
        ]
        text = f"SparseTensor({parts[0]}, {parts[1]}, shape={parts[2].partition('=')[2]})"
        return _Placed(text)
    if convert.is_dense_tensor_like(item) or isinstance(item, IndexedSlices):
        tensors.append(convert.convert_to_tensor(item))
        return _Placed()
    return item


def Assert(  # the public name
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Operation:
    """An operation that fails when ``condition`` is false, and shows ``data``.

    It must be run, or be a control dependency of what relies on it.

    Args:
      condition: a bool scalar.
      data: tensors to show.
      summarize: elements to show of each; None means 3.

    Returns:
      The operation; running it raises ``tf.errors.InvalidArgumentError`` when it fails.
    """
    if isinstance(data, str | bytes) or not isinstance(data, list | tuple):
        raise TypeError(f"data must be a list of tensors; found {data!r}")
    given = {} if summarize is None else {"summarize": summarize}
    with name_scope(name, "Assert", [condition, *data]):
        # TF converts the data twice; the first time only to look at its types.
        values = [i if isinstance(i, Tensor) else convert.convert_to_tensor(i) for i in data]
        guard = None if get_default_graph().executes else control_flow.conditional()
        if guard is None or all(v.dtype.base_dtype in _ON_HOST for v in values):
            return make("Assert", condition, list(data), name="Assert", **given)
        condition = convert.convert_to_tensor(condition, name="Condition")

        def failed() -> Operation:
            return make("Assert", condition, list(data), name="Assert", **given)

        # The data, which may lie on another device, goes to the host only for a failure.
        guarded: Tensor = guard(condition, control.no_op, failed, name="AssertGuard")
        return guarded.op


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """``tensor``, after a check that it holds no NaN and no Inf.

    Args:
      tensor: a floating-point tensor.
      message: begins the error's text.

    Returns:
      A tensor equal to ``tensor``; computing it raises ``tf.errors.InvalidArgumentError``.
    """
    return make("CheckNumerics", tensor, name=name, message=message)


def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None,
    message: str | None = None,
) -> Tensor:  # fmt: skip
    """``t`` (also called ``x``), available once it is known to be finite.

    Args:
      t: a floating-point tensor.
      msg: begins the error's text; also called ``message``.

    Raises:
      ValueError: ``t`` and ``x``, or ``msg`` and ``message``, are both given.
    """
    if (t is not None and x is not None) or (msg is not None and message is not None):
        raise ValueError("give only one of t and x, and only one of msg and message")
    value = t if t is not None else x
    with name_scope(name, "VerifyFinite", [value]):
        value = convert.convert_to_tensor(value, name="x")
        with colocate_with(value):
            checked = check_numerics(value, msg if msg is not None else message or "")
            result: Tensor = control.with_dependencies([checked], value)
    return result


def add_check_numerics_ops() -> Operation:
    """Adds a ``check_numerics`` for every floating-point tensor of the default graph.

    Each runs after those of the tensors made before, so that the first bad one is reported.

    Returns:
      An operation that runs them all.

    Raises:
      ValueError: a tensor is inside ``tf.cond`` or ``tf.while_loop``.
    """
    last: list[Tensor] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
                continue
            if op._get_control_flow_context() is not None:
                raise ValueError(
                    f"{op.name!r} is inside tf.cond or tf.while_loop; add_check_numerics_ops does"
                    " not work for such a graph"
                )
            with control_dependencies(last):
                last = [check_numerics(output, message=f"{op.name}:{output.value_index}")]
    return control.group(*last)


def timestamp(name: str | None = None) -> Tensor:
    """Seconds since the epoch when it is run, as a float64 scalar."""
    return make("Timestamp", name=name)
