"""Rows updated in what may be the memory of the input; copies; memory without values; data formats.

Values here do not change: the ops that TensorFlow lets write to their input give a changed copy,
which the planner makes in the input's memory where nobody else needs it.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, first_input, from_value
from penstock.ops.array.movement import moving


def _checked_rows(x: Any, i: Any, v: Any) -> Any:
    if x.dim() < 1 or i.dim() != 1 or x.dim() != v.dim():
        problem = "i must be a vector, x and v of one rank, at least 1"
    elif x.shape[1:] != v.shape[1:] or v.shape[0] != i.shape[0]:
        problem = "v must have one row for each of i, of the shape of those of x"
    else:
        return torch.remainder(i.long(), max(x.shape[0], 1))
    shapes = ", ".join(f"{n} {list(t.shape)}" for n, t in (("x", x), ("i", i), ("v", v)))
    raise errors.invalid(f"{problem}; found {shapes}")


def _update(x: Any, i: Any, v: Any) -> Any:
    rows = _checked_rows(x, i, v)
    # Of equal rows the last one counts, which an indexed copy does not promise.
    last = torch.full((x.shape[0],), -1, dtype=torch.int64, device=x.device)
    last.scatter_reduce_(0, rows, torch.arange(len(rows), device=x.device), "amax")
    changed = (last >= 0).nonzero().squeeze(1)
    made = x.clone()
    made[changed] = v[last[changed]]
    return made


def _add(x: Any, i: Any, v: Any) -> Any:
    return x.clone().index_add_(0, _checked_rows(x, i, v), v)


def _subtract(x: Any, i: Any, v: Any) -> Any:
    return x.clone().index_add_(0, _checked_rows(x, i, v), v, alpha=-1)


for _name, _kernel in (("InplaceUpdate", _update), ("InplaceAdd", _add), ("InplaceSub", _subtract)):
    define_op(
        _name,
        "x: T, i: int32, v: T -> y: T",
        attrs=["T: type"],
        shape=first_input,
        # Sums too: those of two's complement are the same for both kinds of integers.
        kernel=moving(_kernel),
        no_gradient="TensorFlow has none",
    )

define_op(
    "DeepCopy",
    "x: T -> y: T",
    attrs=["T: type"],
    shape=first_input,
    kernel=moving(lambda x: x.clone()),
    no_gradient="TensorFlow has none",
    stateful=True,
    moves=True,
)
define_op(
    "Empty",
    "shape: int32 -> output: dtype",
    attrs=["dtype: type", "init: bool = False"],
    shape=from_value("shape"),
    # What is not asked to be anything is zeros as well: nobody can rely on other values.
    kernel="torch.zeros({shape}, dtype={dtype})",
    host=("shape",),
    no_gradient="its input is a shape",
    stateful=True,
    on_host=True,
    moves=True,
)

# ---- data formats --------------------------------------------------------------------------


def _check_formats(ctx: ShapeContext) -> None:
    source, target = ctx.attr("src_format"), ctx.attr("dst_format")
    if len(source) != 4 or sorted(source) != sorted(target):
        raise ValueError(
            "src_format and dst_format must be orders of the same four letters; found"
            f" {source!r} and {target!r}"
        )


def _mapped_shape(ctx: ShapeContext) -> Dims:
    _check_formats(ctx)
    return ctx["x"]


def _permuted_shape(ctx: ShapeContext) -> Dims:
    _check_formats(ctx)
    found: Dims = ctx["x"]
    if found is not None and (len(found) not in (1, 2) or found[0] not in (None, 4)):
        raise ValueError(f"x must be [4] or [4, 2]; found {list(found)}")
    return found


def _mapped(x: Any, src_format: str, dst_format: str) -> Any:
    if x.numel() and not bool(((x >= -4) & (x < 4)).all()):
        raise errors.invalid(f"a dim must be in [-4, 4); found {x}")
    places = [dst_format.index(letter) for letter in src_format]
    return torch.tensor(places, dtype=x.dtype, device=x.device)[torch.remainder(x, 4).long()]


def _permuted(x: Any, src_format: str, dst_format: str) -> Any:
    if x.shape not in ((4,), (4, 2)):
        raise errors.invalid(f"x must be [4] or [4, 2]; found shape {list(x.shape)}")
    return x[[src_format.index(letter) for letter in dst_format]]


for _name, _rule, _kernel in (
    ("DataFormatDimMap", _mapped_shape, _mapped),
    ("DataFormatVecPermute", _permuted_shape, _permuted),
):
    define_op(
        _name,
        "x: T -> y: T",
        attrs=[
            "T: {int32, int64} = int32", "src_format: string = 'NHWC'",
            "dst_format: string = 'NCHW'",
        ],
        shape=_rule,
        kernel=_kernel,
        no_gradient="integers have no gradient",
    )  # fmt: skip
