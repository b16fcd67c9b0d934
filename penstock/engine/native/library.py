"""A shared library of one stretch, as something to be called.

The library is what torch's ahead-of-time compiler makes (``AOTInductorModelContainer...``, a C
interface).  torch's own wrapper of it costs little, and keeps the interpreter's lock while it runs.
So it serves short stretches; longer ones are called by ``ctypes``, which takes a microsecond a
tensor and lets go of the lock: other threads' steps, and those that fill queues, go on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import torch

# Seconds that the interpreter's lock may be kept: a fraction of its own time slice.
_SHORT = 5e-4
# Calls of one library that may run at the same time; others wait, without the interpreter's lock.
_AT_ONCE = 4
_handles = torch._C._aoti.unsafe_alloc_void_ptrs_from_tensors
_tensors = torch._C._aoti.alloc_tensors_by_stealing_from_void_ptrs
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class Library(Protocol):
    """A compiled stretch."""

    def __call__(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Runs it.

        Args:
          tensors: of the shapes, strides and dtypes that it was compiled for.

        Returns:
          The tensors that it gives.

        Raises:
          RuntimeError: it failed.
        """


def load(path: Path, inputs: int, outputs: int, seconds: float = 0.0) -> Library:
    """A compiled stretch.

    Args:
      path: the file.
      inputs, outputs: how many tensors it takes and gives.
      seconds: that it takes; 0: not known yet.

    Raises:
      OSError, RuntimeError: it cannot be loaded, or is another kind of library.
    """
    if seconds > _SHORT:
        return _Unlocked(path, inputs, outputs)
    runner: Any = torch._C._aoti.AOTIModelContainerRunnerCpu(str(path), 1)
    run: Library = runner.run
    return run


class _Unlocked:
    """A library that is called without the interpreter's lock."""

    def __init__(self, path: Path, inputs: int, outputs: int) -> None:
        self._container = ctypes.c_void_p()
        library = ctypes.CDLL(str(path))
        try:
            create = library.AOTInductorModelContainerCreateWithDevice
            self._run = library.AOTInductorModelContainerRun
            self._delete = library.AOTInductorModelContainerDelete
        except AttributeError as error:
            raise RuntimeError(f"{path} is no compiled stretch: {error}") from error
        if create(ctypes.byref(self._container), ctypes.c_size_t(_AT_ONCE), b"cpu", None):
            raise RuntimeError(f"{path} cannot be used")
        self._given = ctypes.c_void_p * inputs
        self._gives = ctypes.c_void_p * outputs
        self._count = ctypes.c_size_t(inputs), ctypes.c_size_t(outputs)

    def __call__(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        given = self._given(*[_pointer(capsule, None) for capsule in _handles(list(tensors))])
        gives = self._gives()
        inputs, outputs = self._count
        if self._run(self._container, given, inputs, gives, outputs, None, None):
            raise RuntimeError("a native call failed")
        made: list[torch.Tensor] = _tensors([_capsule(pointer, None, None) for pointer in gives])
        return made

    def __del__(self) -> None:
        if self._container:
            self._delete(self._container)


def is_like(tensor: Any, about: Sequence[Any]) -> bool:
    """Whether a tensor has this shape, these strides and this dtype, on the CPU."""
    shape, strides, dtype = about
    return (
        isinstance(tensor, torch.Tensor)
        and tensor.device.type == "cpu"
        and list(tensor.shape) == list(shape)
        and list(tensor.stride()) == list(strides)
        and str(tensor.dtype) == f"torch.{dtype}"
    )


def within(tensor: torch.Tensor, limit: int) -> bool:
    """Whether all numbers of a tensor are at least 0 and less than a limit."""
    low, high = torch.aminmax(tensor)
    return low.item() >= 0 and high.item() < limit
