"""Whole networks through ``torch.compile``: those of PyTorch's eager cases, the loss compiled."""

from __future__ import annotations

import functools
from typing import Callable, Dict

import torch

from benchmarks import torch_deep_network_cases, torch_network_cases
from benchmarks.program import Program

CASES: Dict[str, Callable[[], Program]] = {
    name: functools.partial(case, torch.compile)
    for module in (torch_network_cases, torch_deep_network_cases)
    for name, case in module.CASES.items()
}
