"""Nodes that call functions: conditionals, loops and plain calls in their functional form.

Definitions and shape rules only.  A step has in such a node's place what it stands for
(``passes.functional``); ``tf.gradients`` does the same to the user's graph
(``autodiff.functional``), so that what is differentiated is made of the primitives.

The internal ops below are the tests that an expansion needs: whether a value of any type counts
as true, which branch a ``Case`` takes, whether a ``For`` goes on, and whether a ``RemoteCall``
stays in this process.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import devices, errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, no_outputs, scalar
from penstock.foundation.opdef.kinds import Control

_EXPANDED = "differentiated as the primitives that it stands for: library/autodiff/functional.py"


def _declared_shapes(ctx: ShapeContext) -> list[Dims]:
    """What attr ``output_shapes`` says, where it says something."""
    given = ctx.op.attrs.get("output_shapes") or []
    count = len(ctx.op.outputs)
    return [shape.sizes for shape in given] if len(given) == count else [None] * count


def _loop_shapes(ctx: ShapeContext) -> list[Dims]:
    if len(ctx.op.attrs.get("output_shapes") or []) == len(ctx.op.outputs):
        return _declared_shapes(ctx)
    return ctx["input"]


def _for_shapes(ctx: ShapeContext) -> list[Dims]:
    return [None] * len(ctx.op.outputs)


def _gradient_shapes(ctx: ShapeContext) -> list[Dims]:
    """Each argument's gradient is shaped like it; the function's arguments come first."""
    shapes: list[Dims] = ctx["input"]
    return shapes[: len(ctx.op.outputs)]


_TYPES = ["Tin: list(type)", "Tout: list(type)"]
_SOME = ["Tin: list(type) >= 1", "Tout: list(type) >= 1", "f: func"]
_SHAPES = "output_shapes: list(shape) = []"
_CALL = [*_TYPES, "f: func", 'config: string = ""', 'config_proto: string = ""',
         'executor_type: string = ""']  # fmt: skip
_IF = ["Tcond: type", *_TYPES, "then_branch: func", "else_branch: func", _SHAPES]
_WHILE = ["T: list(type)", "cond: func", "body: func", _SHAPES, "parallel_iterations: int = 10"]
_CASE = [*_TYPES, "branches: list(func) >= 1", _SHAPES]
_BRANCHED = "input: list(Tin) -> output: list(Tout)"
_LOOPED = "input: list(T) -> output: list(T)"
_CALLED = "args: list(Tin) -> output: list(Tout)"

# Op type, kind, signature, attrs, shape rule, whether it may touch state.
_ROWS: tuple[tuple[str, Control, str, list[str], Any, bool], ...] = (
    ("If", "if", f"cond: Tcond, {_BRANCHED}", _IF, _declared_shapes, True),
    ("StatelessIf", "if", f"cond: Tcond, {_BRANCHED}", _IF, _declared_shapes, False),
    ("Case", "case", f"branch_index: int32, {_BRANCHED}", _CASE, _declared_shapes, True),
    ("StatelessCase", "case", f"branch_index: int32, {_BRANCHED}", _CASE, _declared_shapes, False),
    ("While", "while", _LOOPED, _WHILE, _loop_shapes, True),
    ("StatelessWhile", "while", _LOOPED, _WHILE, _loop_shapes, False),
    ("For", "for", f"start: int32, limit: int32, delta: int32, {_LOOPED}",
     ["T: list(type)", "body: func"], _for_shapes, False),
)  # fmt: skip
for _name, _kind, _signature, _attrs, _rule, _stateful in _ROWS:
    define_op(
        _name, _signature, attrs=_attrs, shape=_rule, stateful=_stateful, no_gradient=_EXPANDED,
        control=_kind,
    )  # fmt: skip

# Calls: their gradients are nodes, ``SymbolicGradient`` (``autodiff.functional``).
_CALLS: tuple[tuple[str, Control, str, list[str], bool], ...] = (
    ("PartitionedCall", "call", _CALLED, _CALL, False),
    ("StatefulPartitionedCall", "call", _CALLED, _CALL, True),
    ("RemoteCall", "remote_call", f"target: string, {_CALLED}", _SOME, True),
)
for _name, _kind, _signature, _attrs, _stateful in _CALLS:
    define_op(
        _name, _signature, attrs=_attrs, shape=_declared_shapes, stateful=_stateful, control=_kind
    )
define_op("SymbolicGradient", _BRANCHED, attrs=_SOME, shape=_gradient_shapes, control="gradient")


# ---- tests of an expansion -----------------------------------------------------------------------

_INTERNAL = "made by passes only, after gradients are built"


def _truth(value: Any) -> Any:
    """Of a scalar, whether it is not zero or not empty; of others, whether there are elements."""
    import torch

    if getattr(value, "ndim", 0):
        return torch.tensor(value.size != 0 if hasattr(value, "ctypes") else value.numel() != 0)
    item = value.item() if hasattr(value, "item") else value
    return torch.tensor(bool(item))


def _is_branch(index: Any, branch: int) -> Any:
    return index == branch


def _goes_on(index: Any, start: int, limit: int, delta: int) -> Any:
    import torch

    if delta == 0 or (limit - start) * delta < 0:
        raise errors.invalid(
            f"For counts from start {start} to limit {limit} by delta {delta}; delta must not be 0,"
            " and must lead from start to limit"
        )
    at = int(index)
    return torch.tensor(at < limit if delta > 0 else at > limit)


def _check_local(target: Any) -> None:
    """Refuses a target in another process."""
    item = target.item() if hasattr(target, "item") else target
    text = item.decode() if isinstance(item, bytes) else str(item)
    job = devices.DeviceSpec.from_string(text).job if text else None
    if job not in (None, "localhost"):
        raise errors.UnimplementedError(
            None, None,
            f"RemoteCall asks for {text!r}; functions run in this process only: the target must be"
            " a device of /job:localhost",
        )  # fmt: skip


for _name, _signature, _attrs, _kernel, _host in (
    ("_Truth", "value: T -> truth: bool", ["T: type"], _truth, ()),
    ("_IsBranch", "index: int32 -> taken: bool", ["branch: int"], _is_branch, ()),
    ("_GoesOn", "index: int32, start: int32, limit: int32, delta: int32 -> on: bool", [],
     _goes_on, ("start", "limit", "delta")),
):  # fmt: skip
    define_op(
        _name, _signature, attrs=_attrs, shape=scalar, kernel=_kernel, host=_host,
        stateful=_name == "_GoesOn", no_gradient=_INTERNAL, internal=True,
    )  # fmt: skip
define_op(
    "_CheckLocal", "target: string ->", shape=no_outputs, kernel=_check_local, effect=True,
    no_gradient=_INTERNAL, internal=True,
)  # fmt: skip
