"""Dumps: every tensor of a step in a folder.

    manifest.json       nodes (type, inputs, lines of code) and one entry a dumped tensor, in order
    000000.npy, ...     its values; strings as bytes, lengths in the manifest

The step runs without optimizing passes, so that each node of the user's graph has its values.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import torch

from penstock.compiler.codegen.source import Observe
from penstock.engine.runtime import values
from penstock.engine.runtime.program import Program
from penstock.engine.session.session import BaseSession
from penstock.foundation.base import errors
from penstock.foundation.formats.files import makedirs, open_file
from penstock.foundation.graph.handles import is_handle
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

MANIFEST = "manifest.json"
DEBUG_OP = "DebugIdentity"
DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


@dataclass(frozen=True)
class WatchOptions:
    """Which tensors of a step to dump; each regex must match the beginning of what it is about.

    Args:
      debug_ops: only ``DebugIdentity``, the value itself.
      node_name_regex_whitelist: of node names.
      op_type_regex_whitelist: of op types.
      tensor_dtype_regex_whitelist: of dtype names; all given ones must match.
      tolerate_debug_op_creation_failures: accepted for compatibility; no ops are made.

    Raises:
      UnimplementedError: another debug op.
    """

    debug_ops: Sequence[str] | str | None = None
    node_name_regex_whitelist: str | None = None
    op_type_regex_whitelist: str | None = None
    tensor_dtype_regex_whitelist: str | None = None
    tolerate_debug_op_creation_failures: bool = False

    def __post_init__(self) -> None:
        ops = [self.debug_ops] if isinstance(self.debug_ops, str) else self.debug_ops
        for name in ops or ():
            if name != DEBUG_OP:
                raise errors.UnimplementedError(
                    None, None, f"no debug op {name!r}; dumps hold values, which is {DEBUG_OP!r}"
                )

    def watches(self, name: str, op_type: str, dtype: str) -> bool:
        """Whether a tensor of this node, op type and dtype is to be dumped."""
        rules = (
            (self.node_name_regex_whitelist, name),
            (self.op_type_regex_whitelist, op_type),
            (self.tensor_dtype_regex_whitelist, dtype),
        )
        return all(regex is None or re.match(regex, text) for regex, text in rules)


@dataclass
class _Dump:
    """One dump being written; state: the folder, what was asked for, and the entries so far."""

    root: str
    watch: WatchOptions
    session: BaseSession
    entries: list[dict[str, Any]] = field(default_factory=list)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)

    def node(self, op: Operation, name: str) -> None:
        """Notes a node that takes part in the step."""
        if name in self.nodes:
            return
        self.nodes[name] = {
            "op": op.type,
            "inputs": [t.name for t in op.inputs],
            "control_inputs": [c.name for c in op.control_inputs],
            "device": op.device or DEVICE,
            "traceback": [list(row) for row in op.traceback],
            "attrs": {key: repr(value) for key, value in op.attrs.items() if key != "value"},
        }

    def value(self, tensor: Tensor, name: str, slot: int, value: Any) -> None:
        """Writes one value, unless it is not watched or nothing that can be written."""
        dtype = tensor.dtype.base_dtype.name
        if value is None or not self.watch.watches(name, tensor.op.type, dtype):
            return
        if not isinstance(value, torch.Tensor | np.ndarray):
            return
        array = values.to_array(value)
        entry: dict[str, Any] = {
            "node": name,
            "slot": slot,
            "dtype": dtype,
            "shape": list(array.shape),
            "timestamp": time.time_ns() // 1000,
            "file": f"{len(self.entries):06d}.npy",
        }
        with open_file(os.path.join(self.root, entry["file"]), "wb") as file:
            np.save(file, _plain(array, entry), allow_pickle=False)
        self.entries.append(entry)

    def finish(self, fetches: str, feeds: list[str], error: str) -> None:
        """Writes the manifest."""
        manifest = {
            "fetches": fetches,
            "feeds": feeds,
            "error": error,
            "nodes": self.nodes,
            "tensors": self.entries,
        }
        with open_file(os.path.join(self.root, MANIFEST), "wb") as file:
            file.write(json.dumps(manifest, indent=1).encode())


def _plain(array: np.ndarray, entry: dict[str, Any]) -> np.ndarray:
    """What a .npy file holds: numbers, bfloat16 as its bits, strings as one row of bytes."""
    if array.dtype == object:
        texts = [bytes(item) for item in array.ravel()]
        entry["lengths"] = [len(text) for text in texts]
        return np.frombuffer(b"".join(texts), np.uint8)
    return array.view(np.uint16) if entry["dtype"] == "bfloat16" else array


def read_value(root: str, entry: dict[str, Any]) -> np.ndarray:
    """A dumped value.

    Args:
      root: the dump's folder.
      entry: the tensor's entry in the manifest.

    Returns:
      The array; strings as an object array of bytes.
    """
    with open_file(os.path.join(root, entry["file"]), "rb") as file:
        found: np.ndarray = np.load(file, allow_pickle=False)
    if "lengths" in entry:
        ends = np.cumsum(entry["lengths"])
        data = found.tobytes()
        texts = np.empty(len(ends), object)
        for i, (length, end) in enumerate(zip(entry["lengths"], ends, strict=True)):
            texts[i] = data[end - length : end]
        return texts.reshape(entry["shape"])
    if entry["dtype"] == "bfloat16":
        return found.view(ml_dtypes.bfloat16)
    return found


def dump_step(
    session: BaseSession,
    root: str,
    fetches: Any,
    feed_dict: Any = None,
    watch: WatchOptions | None = None,
) -> Any:
    """Runs a step and writes its tensors to a folder.

    Args:
      session: the session; the step has its usual effects.
      root: the folder, made when missing.
      fetches, feed_dict: as for ``Session.run``.
      watch: which tensors; default is all.

    Returns:
      What ``session.run`` would return.

    Raises:
      What ``session.run`` raises; the folder then holds what was made before the failing node.
    """
    makedirs(root)
    dump = _Dump(root, watch or WatchOptions(), session)
    feeds = [getattr(key, "name", str(key)) for key in feed_dict or ()]
    error = ""
    try:
        return session.observed(
            fetches, feed_dict or {}, lambda program, args: _observer(dump, program, args),
            optimize=False,
        )  # fmt: skip
    except Exception as raised:
        error = str(raised)
        raise
    finally:
        dump.finish(str(fetches), feeds, error)


def _observer(dump: _Dump, program: Program, args: list[Any]) -> Observe:
    source = program.source
    step = source.step
    for tensor, name, value in zip(step.feeds, step.feed_names, args, strict=True):
        node, _, slot = name.rpartition(":")
        dump.node(dump.session.graph.get_operation_by_name(node), node)
        dump.value(tensor, node, int(slot), value)
    for op in step.operations:
        if op.op_def.role != "feed":
            dump.node(op, op.name)
        if op.op_def.role == "constant":
            array = op.attrs["value"]
            dump.value(op.outputs[0], op.name, 0, values.from_array(array, copy=True))

    def observe(line: int, outputs: tuple[Any, ...]) -> None:
        op = source.line_ops[line]
        for slot, (tensor, value) in enumerate(zip(op.outputs, outputs, strict=False)):
            # A read line has its variable's node, whose output stands for the value read.
            if line in source.line_inputs or is_handle(tensor):
                dump.value(tensor, op.name, slot, value)

    return observe
