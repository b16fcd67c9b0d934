"""``TensorHandle``: what ``run`` returns for the handle of a tensor that stays with the session.

Values are read and deleted by nodes, which are added to the session's graph when they are first
wanted.  State: those nodes, by graph and device.  The values of handles that are garbage go ten at
a time, when ``run`` returns a new handle: a handle may become garbage anywhere, also inside a step.
"""

from __future__ import annotations

import weakref
from typing import Any

from penstock.foundation.base import devices, dtypes, shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor

_MANY_DEAD = 10

# Placeholders for handles with the nodes that they feed, by what these do.
_nodes: weakref.WeakKeyDictionary[Graph, dict[Any, tuple[Tensor, Any]]] = (
    weakref.WeakKeyDictionary()
)


class TensorHandle:
    """A tensor that stays with a session; it is deleted with this object.

    ``Session.run`` makes it of a fetched ``tf.get_session_handle``.

    Args:
      handle: "NAME;NUMBER;DEVICE".
      dtype: the tensor's type.
      session: the session that keeps it.
    """

    def __init__(self, handle: str | bytes, dtype: Any, session: Any) -> None:
        self._handle = handle.decode() if isinstance(handle, bytes) else str(handle)
        self._dtype = dtype
        self._session = session
        self._owns = True

    def __del__(self) -> None:
        if getattr(self, "_owns", False):
            self._session.dead_handles.append(self._handle)

    def __str__(self) -> str:
        return self._handle

    @property
    def handle(self) -> str:
        """The handle as a string, to be fed where ``tf.get_session_tensor`` says."""
        return self._handle

    def eval(self) -> Any:
        """The tensor's value.

        Raises:
          TypeError: it is deleted, or its raw handle was taken.
        """
        self._check()
        holder, value = _reader(self._session.graph, self._handle, self._dtype)
        return self._session.run(value, {holder: self._handle})

    def delete(self) -> None:
        """Deletes the tensor now.

        Raises:
          TypeError: it is deleted, or its raw handle was taken.
        """
        self._check()
        self._owns = False
        delete(self._session, [self._handle])

    def get_raw_handle(self) -> str:
        """The handle as a string; the tensor then stays until the session closes."""
        self._owns = False
        return self._handle

    def _check(self) -> None:
        if not self._owns:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")


def wrapped(session: Any, value: Any, dtype: Any) -> TensorHandle:
    """The object for a handle that a step of ``session`` has made."""
    if len(session.dead_handles) >= _MANY_DEAD:
        dead, session.dead_handles = session.dead_handles, []
        delete(session, dead)
    return TensorHandle(value, dtype, session)


def delete(session: Any, handles: list[str]) -> None:
    """Deletes kept tensors of a session, in one step."""
    pairs = [_deleter(session.graph, number, handle) for number, handle in enumerate(handles)]
    feeds = {holder: handle for (holder, _), handle in zip(pairs, handles, strict=True)}
    session.run([op for _, op in pairs], feeds)


def fed(tensor: Tensor, handle: TensorHandle) -> Any:
    """What feeding a handle object for ``tensor`` means: the handle, or the value behind it."""
    readers = tensor.uses
    if readers and all(reader.op_def.role == "session_value" for reader in readers):
        return handle.handle
    return handle.eval()


def _reader(graph: Graph, handle: str, dtype: Any) -> tuple[Tensor, Any]:
    device = handle.split(";")[-1]
    return _node(graph, "GetSessionTensor", device, (dtype.name,), {"dtype": dtype})


def _deleter(graph: Graph, number: int, handle: str) -> tuple[Tensor, Any]:
    return _node(graph, "DeleteSessionTensor", handle.split(";")[-1], (number,), {})


def _node(
    graph: Graph, op_type: str, device: str, which: tuple[Any, ...], attrs: dict[str, Any]
) -> tuple[Tensor, Any]:
    known = _nodes.setdefault(graph, {})
    key = (op_type, device, *which)
    if key not in known:
        with graph.as_default(), scopes.device(devices.canonical_name(device)):
            holder = make("Placeholder", dtype=dtypes.string, shape=shapes.as_shape(None))
            known[key] = holder, make(op_type, holder, **attrs)
    return known[key]
