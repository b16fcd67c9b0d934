"""What lies together in images: connected components; pairs of boxes that belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext

# ---- components ----------------------------------------------------------------------------------


def _coded(image: Any) -> Any:
    """Numbers that are equal where pixels are, 0 for what is background: 0, False and ""."""
    if isinstance(image, np.ndarray):
        _, codes = np.unique(np.append(image.reshape(-1), b""), return_inverse=True)
        return torch.from_numpy(codes[:-1].reshape(image.shape))
    # uint16 has hardly a kernel.
    return image.to(torch.int32) if image.dtype in (torch.uint16, torch.bool) else image


def _components(image: Any) -> Any:
    """For each pixel 1 + the least place of its component, over the whole batch; 0 of none.

    Each round hands the least place on to the neighbours, then every pixel jumps to where its own
    place has got to: so rounds are about the logarithm of a component's length.
    """
    pixels = _coded(image)
    if pixels.dim() != 3:
        raise errors.invalid(
            f"ImageConnectedComponents expects images [batch, height, width]; found shape"
            f" {list(pixels.shape)}"
        )
    places = torch.arange(pixels.numel(), device=pixels.device).reshape(pixels.shape)
    joined = [
        (axis, pixels.narrow(axis, 1, n - 1) == pixels.narrow(axis, 0, n - 1))
        for axis, n in ((1, pixels.shape[1]), (2, pixels.shape[2]))
        if n > 1
    ]
    while not torch.equal(found := _round(places, joined), places):
        places = found
    return torch.where(pixels != 0, places + 1, 0)


def _round(places: Any, joined: list[tuple[int, Any]]) -> Any:
    found = places.clone()
    for axis, same in joined:
        n = places.shape[axis] - 1
        one, other = found.narrow(axis, 0, n), found.narrow(axis, 1, n)
        least = torch.minimum(one, other)
        one.copy_(torch.where(same, least, one))
        other.copy_(torch.where(same, torch.minimum(one, other), other))
    # The least place that any pixel of the same root has heard of becomes that root's.
    roots = torch.arange(places.numel(), device=places.device)
    roots.scatter_reduce_(0, places.reshape(-1), found.reshape(-1), "amin")
    return roots[roots[found]]


def _same_batch(ctx: ShapeContext) -> Dims:
    return ctx.rank("image", 3)


define_op(
    "ImageConnectedComponents",
    "image: dtype -> components: int64",
    attrs=["dtype: {int64, int32, uint16, int16, uint8, int8, half, float, double, bool, string}"],
    shape=_same_batch,
    kernel=_components,
    no_gradient="what it gives are numbers of components",
)

# ---- pairs ---------------------------------------------------------------------------------------


def _match(distance_mat: Any, num_valid_rows: Any, top_k: int) -> Any:
    """The nearest pair first, then the nearest of what is left."""
    if distance_mat.dim() != 2:
        raise errors.invalid(
            f"distance_mat should be a matrix; found shape {list(distance_mat.shape)}"
        )
    if num_valid_rows.numel() != 1:
        raise errors.invalid(f"num_valid_rows should have 1 element; found {num_valid_rows}")
    rows, columns = distance_mat.shape
    left = distance_mat.cpu().numpy().astype("float64")
    valid = int(num_valid_rows.reshape(()))
    if valid >= 0:
        left[valid:] = np.inf
    of_row, of_column = np.full(rows, -1, "int32"), np.full(columns, -1, "int32")
    count = min(rows if valid < 0 else valid, rows, columns)
    for _ in range(min(count, top_k) if top_k > 0 else count):
        row, column = np.unravel_index(np.argmin(left), left.shape)
        of_row[row], of_column[column] = column, row
        left[row], left[:, column] = np.inf, np.inf
    device = distance_mat.device
    return torch.from_numpy(of_row).to(device), torch.from_numpy(of_column).to(device)


def _matched(ctx: ShapeContext) -> list[Dims]:
    distances = ctx.rank("distance_mat", 2)
    rows, columns = (None, None) if distances is None else distances
    return [(rows,), (columns,)]


define_op(
    "BipartiteMatch",
    "distance_mat: float, num_valid_rows: float"
    " -> row_to_col_match_indices: int32, col_to_row_match_indices: int32",
    attrs=["top_k: int = -1"],
    shape=_matched,
    kernel=_match,
    stateful=True,
    no_gradient="what it gives are indices",
)
