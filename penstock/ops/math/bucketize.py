"""Numbers sorted into buckets between given boundaries; feature columns are made of it."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import first_input


def _bucketize(input: Any, boundaries: list[float]) -> Any:
    if any(a > b for a, b in zip(boundaries, boundaries[1:], strict=False)):
        raise ValueError(f"boundaries must be in order; found {boundaries}")
    # Boundaries are single-precision numbers, whatever the input is.
    edges = torch.tensor(boundaries, dtype=torch.float32, device=input.device)
    wide = torch.float64 if input.dtype is not torch.float32 else torch.float32
    return torch.bucketize(input.to(wide), edges.to(wide), out_int32=True, right=True)


define_op(
    "Bucketize",
    "input: T -> output: int32",
    attrs=["T: {int32, int64, float, double}", "boundaries: list(float)"],
    shape=first_input,
    kernel=_bucketize,
    no_gradient="the number of a bucket does not change smoothly",
)
