"""The GPUs that programs can run on: those that torch can use."""

from __future__ import annotations

from functools import cache

import torch


@cache
def memory_of_gpus() -> tuple[int, ...]:
    """The memory of each GPU in bytes; empty where torch has none.

    ``CUDA_VISIBLE_DEVICES`` and ``ConfigProto(device_count={"GPU": 0})`` hide them.
    """
    if not torch.cuda.is_available():
        return ()
    numbers = range(torch.cuda.device_count())
    return tuple(torch.cuda.get_device_properties(number).total_memory for number in numbers)
