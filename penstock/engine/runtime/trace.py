"""What a traced step did: when each line ran, and what its outputs were.

A ``Recorder`` observes one run of an observed program (``codegen.emit``).  It keeps no tensor, for
that would change the memory that it looks at, but weak references to their storages: by them it
tells a view or an update in place (memory seen before) from an allocation, and sees memory freed.

Times are taken at the start and the end of ``observe``, so that what the recorder itself does falls
between the lines and not into them.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from penstock.engine.runtime.program import Program
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Made:
    """One output of a line.

    ``bytes`` is the size of the tensor, ``capacity`` that of the memory that it lies in,
    ``allocation`` a number of that memory, which ``fresh`` says was allocated by this line.
    """

    shape: tuple[int, ...]
    bytes: int
    capacity: int
    allocation: int
    pointer: int
    allocator: str
    fresh: bool


class LineRun(NamedTuple):
    """One line that ran: nanoseconds of the wall clock; ``in_use`` is bytes held after it."""

    line: int
    start: int
    end: int
    outputs: list[Made | None]
    in_use: int


class Recorder:
    """Observes one run of a program.

    State: the lines that ran so far, the storages seen (weakly), which of them the step allocated
    and still holds, and which storage each tensor of the step graph lies in.

    Args:
      program: an observed program.
      args: the values fed.
    """

    def __init__(self, program: Program, args: list[Any]) -> None:
        self.program = program
        self.args = args
        self.thread_id = threading.get_native_id()
        self.thread_name = threading.current_thread().name
        self._rows: list[tuple[int, int, int, list[Made | None], int]] = []
        self._numbers: dict[int, int] = {}
        self._refs: list[StorageWeakRef] = []
        self._live: dict[int, int] = {}
        self._in_use = 0
        self._storage_of: dict[Tensor, int] = {}
        self._note_existing(args)
        self._wall = time.time_ns() - time.perf_counter_ns()
        self.start = self._wall + time.perf_counter_ns()
        self._last = time.perf_counter_ns()

    def _note_existing(self, args: list[Any]) -> None:
        scope, source = self.program.scope, self.program.source
        values = [*args, *(scope[name] for name in source.constants)]
        values.extend(getattr(scope[name], "value", None) for name in source.resources)
        for value in values:
            if isinstance(value, torch.Tensor):
                self._number(value.untyped_storage())

    def observe(self, line: int, outputs: tuple[Any, ...]) -> None:
        """Notes that ``line`` has run and made ``outputs``."""
        now = time.perf_counter_ns()
        op = self.program.source.line_ops[line]
        made = [None if value is None else self._made(value) for value in outputs]
        self._count_memory(line, op, made)
        self._rows.append((line, self._last, now, made, self._in_use))
        self._last = time.perf_counter_ns()

    def _made(self, value: Any) -> Made | None:
        if not isinstance(value, torch.Tensor):
            return _made_on_host(value)
        shape = tuple(value.shape)
        size = value.numel() * value.element_size()
        device = value.device
        allocator = "cpu" if device.type == "cpu" else f"GPU_{device.index or 0}_bfc"
        try:
            storage = value.untyped_storage()
        except (NotImplementedError, RuntimeError):  # a layout of oneDNN, which has no storage
            return Made(shape, size, size, 0, 0, allocator, False)
        number, fresh = self._number(storage)
        pointer = storage.data_ptr()
        return Made(shape, size, storage.nbytes(), number, pointer, allocator, fresh)

    def _number(self, storage: Any) -> tuple[int, bool]:
        """The number of a storage, and whether it is new: its weak reference keeps it unique."""
        address = storage._cdata
        number = self._numbers.get(address)
        if number is not None:
            return number, False
        self._refs.append(StorageWeakRef(storage))  # type: ignore[no-untyped-call]
        number = self._numbers[address] = len(self._refs)
        return number, True

    def _count_memory(self, line: int, op: Operation, made: list[Made | None]) -> None:
        for tensor, output in zip(op.outputs, made, strict=False):
            if output is None or output.allocation == 0:
                continue
            self._storage_of[tensor] = output.allocation
            if output.fresh:
                self._live[output.allocation] = output.capacity
                self._in_use += output.capacity
        for _, tensor in self.program.source.line_inputs.get(line, ()):
            number = self._storage_of.get(tensor, 0)
            if number in self._live and self._is_freed(number):
                self._in_use -= self._live.pop(number)

    def _is_freed(self, number: int) -> bool:
        freed: bool = self._refs[number - 1].expired()  # type: ignore[no-untyped-call]
        return freed

    def lines(self) -> list[LineRun]:
        """The lines that ran, in order."""
        wall = self._wall
        return [LineRun(n, wall + s, wall + e, made, held) for n, s, e, made, held in self._rows]


def _made_on_host(value: Any) -> Made | None:
    """Strings are NumPy arrays of objects; what else a node makes (a handle) has no size."""
    if not isinstance(value, np.ndarray):
        return None
    size = value.nbytes + sum(map(len, value.flat)) if value.dtype == object else value.nbytes
    return Made(tuple(value.shape), size, size, 0, 0, "cpu", True)
