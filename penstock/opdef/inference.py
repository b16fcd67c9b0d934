"""What a shape rule sees: static shapes, static values and attrs of one node being made.

Static shapes are plain tuples of ``int | None``, or None when even the rank is unknown.  Rules are
functions ``rule(ctx) -> dims`` and are combined from the small ready-made ones below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from penstock.base import shapes
from penstock.base.mismatch import show as show
from penstock.opdef import static

if TYPE_CHECKING:
    import numpy as np

    from penstock.graph.operation import Operation

Dims = tuple[int | None, ...] | None


class FailsAtRun(ValueError):
    """Raised by a shape rule for what TensorFlow refuses only where the node runs.

    Args:
      message: TensorFlow's words, then what was found and what is allowed.
      result: what the rule would return, as TensorFlow infers it.
      error: the name of the class of ``tf.errors`` that running the node raises.

    The node is built; a step that needs it fails.
    """

    def __init__(
        self, message: str, result: Any = None, error: str = "InvalidArgumentError"
    ) -> None:
        super().__init__(message)
        self.result = result
        self.error = error


class RefusedAtBuild(ValueError):
    """Raised by a shape rule for what is another error where only a run's shapes show it.

    Args:
      message: TensorFlow's words, then what was found and what is allowed.
      at_run: the name of the class of ``tf.errors`` that running the node raises then; None where
        the kernel, which may take it, has the word.
    """

    def __init__(self, message: str, at_run: str | None = None) -> None:
        super().__init__(message)
        self.at_run = at_run


class ShapeContext:
    """The view of a node that shape rules and folds are given."""

    __slots__ = ("op", "_by_name")

    def __init__(self, op: Operation) -> None:
        self.op = op
        self._by_name: dict[str, Any] | None = None

    def tensor(self, name: str) -> Any:
        """The input tensor called ``name``; a list of tensors where it is a list argument."""
        if self._by_name is None:
            self._by_name = self.op.inputs_by_name()
        return self._by_name[name]

    def shape(self, name: str) -> Any:
        """Static dims of input ``name`` (a list of them where it is a list argument)."""
        tensor = self.tensor(name)
        if isinstance(tensor, list):
            return [t.sizes for t in tensor]
        return tensor.sizes

    __getitem__ = shape

    def value(self, name: str) -> np.ndarray | None:
        """The statically known value of input ``name``, or None."""
        return static.constant_value(self.tensor(name))

    def shape_value(self, name: str) -> Dims:
        """Input ``name`` read as a shape vector; entries not statically known are None."""
        return static.constant_value_as_shape(self.tensor(name))

    def attr(self, name: str) -> Any:
        """Value of attr ``name``: DType, TensorShape, NumPy array or a plain Python value."""
        return self.op.attrs[name]

    def rank_at_least(self, name: str, rank: int) -> Dims:
        """Dims of ``name`` checked to have at least ``rank`` dims."""
        dims: Dims = self.shape(name)
        if dims is not None and len(dims) < rank:
            raise ValueError(
                f"Shape must be at least rank {rank} but is rank {len(dims)}: {name} must have"
                f" rank at least {rank}, but has shape {show(dims)}"
            )
        return dims

    def rank(self, name: str, rank: int) -> tuple[int | None, ...]:
        """Dims of ``name`` checked to have exactly ``rank`` dims; unknown rank gives all None."""
        dims: Dims = self.shape(name)
        if dims is None:
            return (None,) * rank
        if len(dims) != rank:
            raise ValueError(
                f"Shape must be rank {rank} but is rank {len(dims)}: {name} must have rank {rank},"
                f" but has shape {show(dims)}"
            )
        return dims


# ---- ready-made rules ----------------------------------------------------------------------


def same_as(name: str) -> Callable[[ShapeContext], Dims]:
    """Rule: the output has the shape of input ``name``."""

    def rule(ctx: ShapeContext) -> Dims:
        dims: Dims = ctx.shape(name)
        return dims

    return rule


def first_input(ctx: ShapeContext) -> Dims:
    """Rule: the output has the shape of the first input."""
    dims: Dims = ctx.op.inputs[0].sizes
    return dims


def scalar(ctx: ShapeContext) -> Dims:
    """Rule: a scalar."""
    return ()


def unknown(ctx: ShapeContext) -> Dims:
    """Rule: nothing is known; only for ops whose output shape depends on values."""
    return None


def no_outputs(ctx: ShapeContext) -> list[Dims]:
    """Rule for ops without outputs."""
    return []


def broadcast(ctx: ShapeContext) -> Dims:
    """Rule: the first two inputs, broadcast."""
    first, second = ctx.op.inputs[0].sizes, ctx.op.inputs[1].sizes
    if first == second and first is not None and None not in first:
        return first
    return shapes.broadcast_static(first, second)


def merged(*names: str) -> Callable[[ShapeContext], Dims]:
    """Rule: all the named inputs have one shape, merged from what is known of each."""

    def rule(ctx: ShapeContext) -> Dims:
        dims: Dims = None
        for name in names:
            given = ctx.shape(name)
            for one in given if isinstance(given, list) else [given]:
                dims = shapes.merge_static(dims, one)
        return dims

    return rule


def from_attr(name: str = "shape") -> Callable[[ShapeContext], Dims]:
    """Rule: the shape that attr ``name`` says."""

    def rule(ctx: ShapeContext) -> Dims:
        shape = ctx.attr(name)
        return None if shape is None else shape.sizes

    return rule


def from_value(name: str = "shape") -> Callable[[ShapeContext], Dims]:
    """Rule: the shape that the value of input ``name`` says, as far as it is known."""

    def rule(ctx: ShapeContext) -> Dims:
        return ctx.shape_value(name)

    return rule


def each(*rules: Callable[[ShapeContext], Dims]) -> Callable[[ShapeContext], Sequence[Dims]]:
    """Rule for several outputs: one rule each."""

    def rule(ctx: ShapeContext) -> Sequence[Dims]:
        return [one(ctx) for one in rules]

    return rule
