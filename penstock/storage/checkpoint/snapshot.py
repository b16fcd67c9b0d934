"""Saving in the background: a consistent copy of what a saver saves, and the thread that writes it.

State: ``Background`` holds the one save in flight of a saver.  Everything that a snapshot needs is
read off the graph: the ``SaveV2`` (or ``SaveSlices``) nodes behind the saver's save tensor.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.state import save as save_ops

_LOG = logging.getLogger("penstock")
_LOWEST = 19


def _behind(op: Operation, kinds: tuple[str, ...]) -> list[Operation]:
    """The nodes of some types that ``op`` waits for, in order of their making."""
    found: list[Operation] = []
    stack, seen = [op], {op}
    while stack:
        current = stack.pop()
        if current.type in kinds:
            found.append(current)
            continue
        for other in (*(t.op for t in current.inputs), *current.control_inputs):
            if other not in seen:
                seen.add(other)
                stack.append(other)
    order = {op: index for index, op in enumerate(op.graph.get_operations())}
    return sorted(found, key=lambda node: order[node])


def _texts(tensor: Tensor) -> list[str]:
    value = static.constant_value(tensor)
    if value is None:
        raise ValueError(f"{tensor.name}: the names of what a saver saves must be constants")
    return [os.fsdecode(item) for item in value.ravel()]


def restored_names(graph: Graph, saver_def: Any) -> Iterator[tuple[Tensor, list[str]]]:
    """The tensors of names that a saver's ``RestoreV2`` nodes take, with the names."""
    root = graph.get_operation_by_name(saver_def.restore_op_name)
    for op in _behind(root, ("RestoreV2",)):
        yield op.inputs[1], _texts(op.inputs[1])


class Snapshot:
    """Copies of all that a saver saves.

    Args:
      format: ``"bundle"``, ``"v1"`` or ``"safetensors"``.
      names, specs, arrays: name in the checkpoint, slice and value of each tensor.
      durable: whether writing waits until all is on the disk.
    """

    def __init__(
        self,
        format: str,
        names: list[str],
        specs: list[str],
        arrays: list[np.ndarray],
        durable: bool = False,
    ) -> None:
        self._format, self._names, self._specs, self._arrays = format, names, specs, arrays
        self._durable = durable

    def write(self, prefix: str) -> str:
        """Writes a checkpoint, in this thread alone; returns its prefix."""
        writer = save_ops.writer_of(self._format, prefix, threads=1, durable=self._durable)
        save_ops.write_tensors(writer, self._names, self._specs, self._arrays)
        return prefix


def take(sess: Any, saver_def: Any) -> Snapshot:
    """Copies what a saver saves, in one step of ``sess``.

    Raises:
      tf.errors.FailedPreconditionError: a variable has no value.
    """
    root = sess.graph.as_graph_element(saver_def.save_tensor_name).op
    nodes = _behind(root, ("SaveV2", "SaveSlices"))
    names = [name for op in nodes for name in _texts(op.inputs[1])]
    specs = [spec for op in nodes for spec in _texts(op.inputs[2])]
    tensors = [tensor for op in nodes for tensor in op.inputs[3:]]
    arrays = [
        _array(value, tensor.dtype)
        for value, tensor in zip(sess.run(tensors), tensors, strict=True)
    ]
    durable = bool(nodes[0].attrs.get("_durable", False))
    return Snapshot(_format_of(nodes[0]), names, specs, arrays, durable)


def _array(value: Any, dtype: dtypes.DType) -> np.ndarray:
    if isinstance(value, bytes):
        boxed = np.empty((), dtype=object)
        boxed[()] = value
        return boxed
    array = np.asarray(value)
    return save_ops.quantized(array, dtype.base_dtype.name) if dtype.is_quantized else array


def _format_of(op: Operation) -> str:
    if op.type == "SaveSlices":
        return "v1"
    return os.fsdecode(op.attrs.get("_format", "bundle"))


class BackgroundSave:
    """A save that a thread is writing."""

    def __init__(self, write: Callable[[], str | None]) -> None:
        self._write = write
        self._path: str | None = None
        self._error: BaseException | None = None
        self.told = False
        self._over = threading.Event()
        # Not a daemon: the interpreter waits for it at exit.
        self._thread = threading.Thread(target=self._run, name="penstock-save")
        self._thread.start()

    def _run(self) -> None:
        _yield_to_others()
        try:
            self._path = self._write()
        except BaseException as error:  # what went wrong is told to whoever asks
            self._error = error
            _LOG.error("saving in the background failed: %s", error)
        finally:
            del self._write  # with it goes the snapshot
            self._over.set()

    def done(self) -> bool:
        """Whether it is over, well or not."""
        return self._over.is_set()

    def result(self, timeout: float | None = None) -> str | None:
        """Waits until it is over.

        Args:
          timeout: the most seconds to wait; None waits as long as it takes.

        Returns:
          The prefix that was written; None when there was nothing to save.

        Raises:
          TimeoutError: the time is over.
          What went wrong.
        """
        if not self._over.wait(timeout):
            raise TimeoutError(f"the checkpoint is not written after {timeout} s")
        self.told = True
        if self._error is not None:
            raise self._error
        return self._path


def _yield_to_others() -> None:
    """Gives this thread the lowest priority, where the platform has priorities of threads."""
    if sys.platform == "linux":
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST)
        except OSError as error:
            _LOG.debug("the priority of the saving thread stays: %s", error)


class Background:
    """The save in flight of one saver, if there is one."""

    def __init__(self) -> None:
        self._current: BackgroundSave | None = None

    def wait(self) -> None:
        """Waits until nothing is in flight."""
        if self._current is not None:
            self._current._over.wait()

    def settle(self) -> None:
        """Waits until nothing is in flight, and raises an error that nobody was told."""
        current, self._current = self._current, None
        if current is None:
            return
        current._over.wait()
        if not current.told:
            current.result()

    def start(self, write: Callable[[], str | None]) -> BackgroundSave:
        """Starts a save."""
        self._current = BackgroundSave(write)
        return self._current
