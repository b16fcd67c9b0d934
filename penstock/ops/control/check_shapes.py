"""``assert_shapes``: that the dims of several tensors agree.

A shape is written with sizes (ints), symbols (anything hashable: the same symbol is the same size
everywhere), and None or "." for any size; "..." (Ellipsis) or "*" first stands for any outer dims.
What is known statically is checked at once; the rest becomes ``Assert`` operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.control import check, control, debug


class _Constraint:
    """One tensor and the sizes asked of it; ``innermost`` when outer dims are free."""

    def __init__(self, tensor: Any, shape: Any, message: str) -> None:
        self.tensor: Tensor = convert_to_tensor(tensor)
        if not hasattr(shape, "__iter__"):
            raise ValueError(
                f"{message}.  Tensor {self.tensor.label}.  Specified shape must be an iterable; "
                f"found {shape!r}"
            )
        sizes = tuple(shape)
        self.innermost = bool(sizes) and _is_rest(sizes[0])
        self.sizes = sizes[1:] if self.innermost else sizes
        for index, size in enumerate(self.sizes):
            if _is_rest(size):
                raise ValueError(
                    f"{message}.  Tensor {self.tensor.label} specified shape index "
                    f"{index + self.innermost}.  Symbol `...` or `*` for a variable number of "
                    "unspecified dimensions is only allowed as the first entry"
                )
        # A scalar counts as a vector of one element.
        self.sizes = self.sizes or (() if self.innermost else (1,))

    def actual(self, index: int) -> tuple[int, Any]:
        """The dim's number, and its size: an int where known, else a tensor."""
        dim = index - len(self.sizes) if self.innermost else index
        dims = self.tensor.sizes
        if dims == ():
            return dim, 1
        if dims is not None and dims[dim] is not None:
            return dim, dims[dim]
        return dim, make("Shape", self.tensor)[dim]

    def rank_check(self, data: Any, summarize: int | None, message: str) -> Operation | None:
        """The operation that checks the rank; None when any rank will do."""
        rank = len(self.sizes)
        options = (data, summarize, message)
        if self.innermost:
            return check.assert_rank_at_least(self.tensor, rank, *options) if rank > 1 else None
        if rank <= 1 and self.tensor.sizes is not None:
            return check.assert_rank_in(self.tensor, [0, 1], *options)
        return check.assert_rank(self.tensor, rank, *options)


def _is_rest(size: Any) -> bool:
    return size is Ellipsis or (isinstance(size, str) and size == "*")


def _as_size(size: Any) -> int | None:
    if isinstance(size, Tensor):
        return None
    try:
        return int(size)
    except (TypeError, ValueError):
        return None


def assert_shapes(
    shapes: Any,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that tensors have shapes that agree with what is written.

    Args:
      shapes: pairs of a tensor and its shape (or a dict of those), such as
        ``[(x, ("N", 3)), (y, ("N",))]``; see the module's docstring.
      data: tensors to show when it fails.
      summarize: elements to show of each.
      message: text before them.

    Returns:
      An operation that checks what could not be checked while the graph is built.

    Raises:
      ValueError: a shape is malformed, or is known already to disagree.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x, y = tf.placeholder(tf.float32, [4, 3]), tf.placeholder(tf.float32, [4])
      ...     tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("N",))]).type
      'NoOp'
    """
    text = message or ""
    pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
    with name_scope(name, "assert_shapes", [x for x, _ in pairs]):
        constraints = [_Constraint(x, s, text) for x, s in pairs if s is not None]
        ranks = [c.rank_check(data, summarize, text) for c in constraints]
        with control_dependencies([r for r in ranks if r is not None]):
            sizes = _size_checks(constraints, data, summarize, text)
            return control.group(*sizes)


def _size_checks(
    constraints: Sequence[_Constraint], data: Any, summarize: int | None, message: str
) -> list[Operation]:
    found: dict[Any, tuple[Any, str]] = {}
    checks = []
    for constraint in constraints:
        for index, size in enumerate(constraint.sizes):
            if size is None or (isinstance(size, str) and size == "."):
                continue
            dim, actual = constraint.actual(index)
            wanted, why = _as_size(size), "Specified explicitly"
            if wanted is None:
                source = f"Specified by tensor {constraint.tensor.label} dimension {dim}"
                wanted, why = found.setdefault(size, (actual, source))
            if wanted is actual:
                continue
            label = f"Tensor {constraint.tensor.label} dimension {dim}"
            if isinstance(wanted, int) and isinstance(actual, int):
                if wanted != actual:
                    raise ValueError(
                        f"{message}.  {why}.  {label} must have size {wanted}.  Received size "
                        f"{actual}, shape {constraint.tensor.get_shape()}"
                    )
                continue
            shown = data
            if shown is None:
                shape = make("Shape", constraint.tensor)
                shown = [message, why, label, "must have size", wanted, "Received shape: ", shape]
            condition = make("Equal", convert_to_tensor(actual), convert_to_tensor(wanted))
            checks.append(debug.Assert(condition, shown, summarize=summarize))
    return checks
