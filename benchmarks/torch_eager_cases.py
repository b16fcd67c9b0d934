"""The cases of ``eager_cases`` in PyTorch, whose way this is: autograd, and an update in place."""

from __future__ import annotations

from typing import Callable, Dict

import torch

from benchmarks.eager_cases import CALLS, RATE, STEPS, values
from benchmarks.program import Program


def eager_op() -> Program:
    x, y = (torch.from_numpy(v) for v in values()[:2])

    def step() -> float:
        z = y
        for _ in range(CALLS):
            z = torch.add(x, y)
        return float(z[0, 0])

    return Program(step)


def eager_tape() -> Program:
    x, y, w = (torch.from_numpy(v) for v in values())
    w.requires_grad_()

    def step() -> float:
        for _ in range(STEPS):
            loss = torch.mean(torch.square(torch.tanh(x @ w) - y))
            (gradient,) = torch.autograd.grad(loss, w)
            with torch.no_grad():
                w.sub_(RATE * gradient)
        return float(loss.detach())

    return Program(step)


CASES: Dict[str, Callable[[], Program]] = {case.__name__: case for case in (eager_op, eager_tape)}
