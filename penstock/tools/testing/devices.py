"""Which devices there are to test on, and what the kernels were built with."""

from __future__ import annotations

import torch

from penstock.engine.session.session import Session
from penstock.foundation.graph.graph import Graph


def _gpus() -> list[str]:
    with Session(graph=Graph()) as session:
        return [d.name for d in session.list_devices() if d.device_type == "GPU"]


def gpu_device_name() -> str:
    """The name of the first GPU that sessions use, or ``""``."""
    return next((name[name.index("/device:") :] for name in _gpus()), "")


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether sessions use a GPU.

    Args:
      cuda_only: count only those of CUDA.
      min_cuda_compute_capability: (major, minor), the least that a GPU must have.
    """
    if cuda_only and not is_built_with_cuda():
        return False
    least = min_cuda_compute_capability or (0, 0)
    numbers = range(len(_gpus()))
    return any(torch.cuda.get_device_capability(i) >= tuple(least) for i in numbers)


def is_built_with_cuda() -> bool:
    """Whether the kernels (torch's) were built for CUDA."""
    return torch.version.cuda is not None


def is_built_with_rocm() -> bool:
    """Whether the kernels (torch's) were built for ROCm."""
    return torch.version.hip is not None


def is_built_with_gpu_support() -> bool:
    """Whether the kernels were built for some kind of GPU."""
    return is_built_with_cuda() or is_built_with_rocm()
