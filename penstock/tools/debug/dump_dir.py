"""Reading a dump: which nodes ran, what their tensors held, and the first that a filter matches."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.formats.files import open_file, stat
from penstock.tools.debug.dump import DEBUG_OP, DEVICE, MANIFEST, read_value


class DebugTensorDatum:
    """One dumped value of a tensor.

    Args:
      dump_root: the dump's folder.
      entry: its entry in the manifest.
    """

    def __init__(self, dump_root: str, entry: dict[str, Any]) -> None:
        self._root = dump_root
        self._entry = entry
        self.node_name: str = entry["node"]
        self.output_slot: int = entry["slot"]
        self.debug_op = DEBUG_OP
        self.timestamp: int = entry["timestamp"]
        self.device_name = DEVICE
        self.file_path = os.path.join(dump_root, entry["file"])

    @property
    def tensor_name(self) -> str:
        """``node:slot``."""
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self) -> str:
        """``node:slot:debug op``."""
        return f"{self.tensor_name}:{self.debug_op}"

    @property
    def dump_size_bytes(self) -> int:
        """Size of the file."""
        return stat(self.file_path).length

    def get_tensor(self) -> np.ndarray:
        """The value."""
        return read_value(self._root, self._entry)

    def __repr__(self) -> str:
        return f"<DebugTensorDatum {self.tensor_name} {self._entry['dtype']}{self._entry['shape']}>"


Predicate = Callable[[DebugTensorDatum, np.ndarray], bool]


def has_inf_or_nan(datum: DebugTensorDatum, tensor: Any) -> bool:
    """A filter: whether the tensor holds a NaN or an Inf.

    Args:
      datum: which tensor (not looked at).
      tensor: its value.

    >>> has_inf_or_nan(None, np.array([1.0, np.inf]))
    True
    """
    array = np.asarray(tensor)
    if array.dtype.kind in "biuSUO":
        return False
    wide = array if array.dtype.kind == "c" else array.astype(np.float64)
    return not bool(np.isfinite(wide).all())


class DebugDumpDir:
    """A dump, read.

    Args:
      dump_root: the folder.
      partition_graphs, validate: accepted for compatibility; the manifest has the graph.

    Raises:
      NotFoundError: there is no dump.
    """

    def __init__(self, dump_root: str, partition_graphs: Any = None, validate: bool = True) -> None:
        self._root = dump_root
        with open_file(os.path.join(dump_root, MANIFEST), "rb") as file:
            self._manifest = json.loads(file.read())
        self._nodes: dict[str, dict[str, Any]] = self._manifest["nodes"]
        self._data = [DebugTensorDatum(dump_root, e) for e in self._manifest["tensors"]]
        self._by_key: dict[str, list[DebugTensorDatum]] = {}
        for datum in self._data:
            self._by_key.setdefault(datum.watch_key, []).append(datum)

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """Every dumped value, in the order in which they were made."""
        return list(self._data)

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self._data)

    @property
    def t0(self) -> int | None:
        """When the first value was dumped, in microseconds since 1970."""
        return self._data[0].timestamp if self._data else None

    @property
    def run_fetches_info(self) -> str:
        """What was fetched, as text."""
        return str(self._manifest["fetches"])

    @property
    def run_feed_keys_info(self) -> list[str]:
        """Names of what was fed."""
        return list(self._manifest["feeds"])

    @property
    def error(self) -> str:
        """What ended the step; empty where nothing did."""
        return str(self._manifest["error"])

    def devices(self) -> list[str]:
        """The devices of the step."""
        return [DEVICE]

    def nodes(self, device_name: str | None = None) -> list[str]:
        """Names of the nodes that the step needs."""
        return list(self._nodes)

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether the step needs a node of that name."""
        return node_name in self._nodes

    def _node(self, name: str) -> dict[str, Any]:
        if name not in self._nodes:
            raise ValueError(f"the step of {self._root!r} has no node {name!r}")
        return self._nodes[name]

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        """The op type of a node."""
        return str(self._node(node_name)["op"])

    def node_attributes(self, node_name: str, device_name: str | None = None) -> dict[str, str]:
        """Attrs of a node, as text."""
        return dict(self._node(node_name)["attrs"])

    def node_device(self, node_name: str) -> str:
        """The device of a node."""
        return str(self._node(node_name)["device"])

    def node_inputs(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        """Names of the nodes that a node takes tensors from (``is_control``: waits for)."""
        node = self._node(node_name)
        if is_control:
            return list(node["control_inputs"])
        return [_node_of(tensor) for tensor in node["inputs"]]

    def node_recipients(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        """Names of the nodes that take tensors of a node (``is_control``: wait for it)."""
        self._node(node_name)
        return [n for n in self._nodes if node_name in self.node_inputs(n, is_control)]

    def transitive_inputs(
        self,
        node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str]:
        """Names of all nodes that a node needs."""
        found: dict[str, None] = {}
        stack = [node_name]
        while stack:
            current = stack.pop()
            sources = self.node_inputs(current)
            sources += self.node_inputs(current, is_control=True) if include_control else []
            new = [s for s in sources if s not in found and s in self._nodes]
            found.update(dict.fromkeys(new))
            stack.extend(new)
        return list(found)

    def node_traceback(self, element_name: str) -> list[tuple[str, int, str, str]]:
        """The line of the program that made a node (or the node of a tensor)."""
        rows = self._node(_node_of(element_name))["traceback"]
        return [(file, line, function, text) for file, line, function, text in rows]

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """Keys of the dumped tensors of a node."""
        return [k for k, data in self._by_key.items() if data[0].node_name == node_name]

    def watch_key_to_data(
        self, debug_watch_key: str, device_name: str | None = None
    ) -> list[DebugTensorDatum]:
        """The values under a key, in order; none for a key that was not dumped."""
        return list(self._by_key.get(debug_watch_key, ()))

    def _at(self, node_name: str, output_slot: int, debug_op: str) -> list[DebugTensorDatum]:
        key = f"{node_name}:{output_slot}:{debug_op}"
        if key not in self._by_key:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f"{key!r} was not dumped; of the node there are {self.debug_watch_keys(node_name)}"
            )
        return self._by_key[key]

    def get_tensors(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[np.ndarray]:
        """The values of an output of a node; usually one.

        Raises:
          WatchKeyDoesNotExistInDebugDumpDirError: it was not dumped.
        """
        return [datum.get_tensor() for datum in self._at(node_name, output_slot, debug_op)]

    def get_tensor_file_paths(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[str]:
        """The files of an output of a node."""
        return [datum.file_path for datum in self._at(node_name, output_slot, debug_op)]

    def get_rel_timestamps(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int]:
        """When its values were dumped, in microseconds after the first of the dump."""
        start = self.t0 or 0
        return [datum.timestamp - start for datum in self._at(node_name, output_slot, debug_op)]

    def get_dump_sizes_bytes(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int]:
        """Sizes of its files."""
        return [datum.dump_size_bytes for datum in self._at(node_name, output_slot, debug_op)]

    def find(
        self,
        predicate: Predicate,
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:
        """The values that a filter matches, in the order in which they were made.

        Args:
          predicate: ``(datum, value) -> bool``.
          first_n: stop after so many; 0 for all.
          device_name: accepted for compatibility.
          exclude_node_names: a regex; nodes whose names it matches are left out.

        Returns:
          The matches.
        """
        found = []
        for datum in self._data:
            if exclude_node_names and re.match(exclude_node_names, datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if first_n > 0 and len(found) == first_n:
                    break
        return found


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """A tensor that a dump does not hold."""


def _node_of(name: str) -> str:
    return name.rpartition(":")[0] if ":" in name else name
