"""What shape rules raise, and ready-made rules.

Static shapes are plain tuples of ``int | None``, or None when even the rank is unknown.  Rules are
functions ``rule(ctx) -> dims`` and are combined from the small ready-made ones below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.base.mismatch import show as show
from penstock.foundation.opdef.static import Dims as Dims, ShapeContext as ShapeContext


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
      run_message: what that says; by default the same.
    """

    def __init__(
        self, message: str, at_run: str | None = None, run_message: str | None = None
    ) -> None:
        super().__init__(message)
        self.at_run = at_run
        self.run_message = run_message or message


# ---- ready-made rules ----------------------------------------------------------------------


def same_as(name: str) -> Callable[[ShapeContext], Dims]:
    """Rule: the output has the shape of input ``name``."""

    def rule(ctx: ShapeContext) -> Dims:
        dims: Dims = ctx.shape(name)
        return dims

    return rule


def first_input(ctx: ShapeContext) -> Dims:
    """Rule: the output has the shape of the first input."""
    return ctx.op.inputs[0].sizes


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
