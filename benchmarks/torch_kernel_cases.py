"""The cases of ``kernel_cases`` in PyTorch eager, without gradients but for the embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from benchmarks import data
from benchmarks.kernel_cases import (
    KERNELS,
    ROW_WIDTH,
    ROWS,
    cases_of,
    inputs_of,
    place_of,
    row_batches,
)
from benchmarks.program import Program


def _input(array: np.ndarray, name: str) -> torch.Tensor:
    tensor = torch.from_numpy(array)
    if array.dtype == np.int32:
        return tensor.long()
    if array.ndim < 4:
        return tensor.clone()
    # A filter is HWIO, an image NHWC.
    order = (3, 2, 0, 1) if array.shape[0] == 3 and name == "conv2d" else (0, 3, 1, 2)
    return tensor.permute(*order).contiguous(memory_format=torch.channels_last)


def _taken(result: torch.Tensor, drawn: bool) -> torch.Tensor:
    flat = result.contiguous().view(-1)
    return flat[0 if drawn else place_of(flat.numel())]


def _kernel(name: str, size: int) -> Program:
    run = KERNELS[name].torch
    repeats = [[_input(a, name) for a in arrays] for arrays in inputs_of(name, size)]
    # As in the graph: of a shape that is known in a step only, the first element.
    first = KERNELS[name].random and name != "dropout" or name == "zeros"

    def step() -> Any:
        total = 0.0
        with torch.inference_mode():
            for inputs in repeats:
                results = run(torch, *inputs)
                for result in results if isinstance(results, tuple) else (results,):
                    total += _taken(result, first).item()
        return total

    return Program(step)


def _row_update(name: str) -> Program:
    rows = ROWS[name]
    table = torch.full((rows.rows, ROW_WIDTH), 0.5, requires_grad=not rows.update)
    cycle = data.Cycle(
        [
            (torch.from_numpy(ids.astype("i8")), torch.from_numpy(values))
            for ids, values in row_batches(rows)
        ]
    )

    def scatter() -> Any:
        ids, values = cycle()
        with torch.inference_mode():
            table.index_copy_(0, ids, values)
            return table[ids[3], 5].item()

    def train() -> Any:
        # Rows as leaves, as in ``torch_cases``: faster than a sparse gradient and its optimizer.
        ids, values = cycle()
        with torch.no_grad():
            found = table.index_select(0, ids)
        found.requires_grad_()
        loss = (found - values).square().sum()
        (gradient,) = torch.autograd.grad(loss, found)
        with torch.no_grad():
            table.index_add_(0, ids, gradient, alpha=-0.01)
        return loss.item()

    return Program(scatter if rows.update else train)


CASES = cases_of(_kernel, _row_update)
