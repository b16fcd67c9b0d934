"""What ``with`` blocks of a graph say about the nodes that are made inside: names, devices, more.

Names of nodes and scopes follow TensorFlow's patterns, held where names come in.  A name may come
from anybody: a user's program, a file, a client, a peer.  ``Graph.register``, by which every node
of every graph goes, holds it to ``is_node_name(name, internal=True)``; what is made by a user or
imported may not start with ``_`` besides, since such names are the compiler's.

State: of the graph, one bundle of scopes for each thread, in ``scopes``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from penstock.foundation.base import devices
from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.graph.attr_scopes import AttrScopes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

_NODE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*\Z")
_INTERNAL = re.compile(r"[A-Za-z0-9._][A-Za-z0-9_.\\/>-]*\Z")
# Inside another scope a scope may begin with anything that a name may have.
_SCOPE = re.compile(r"[A-Za-z0-9_.\\/>-]*\Z")


def is_node_name(name: str, internal: bool = False) -> bool:
    """Whether a node may have the name; an ``internal`` one may begin with ``_``."""
    return (_INTERNAL if internal else _NODE).match(name) is not None


def check_node_name(name: str, internal: bool = False) -> None:
    """Refuses what no node may be called.

    Raises:
      ValueError: the name is not valid.
    """
    if not is_node_name(name, internal):
        raise ValueError(f"{name!r} is not a valid node name")


def check_imported_name(name: str, internal: bool = False) -> None:
    """Refuses a name in a message: of a node, or of a function's argument, which is one.

    Raises:
      ValueError: the name is not valid.
    """
    if not is_node_name(name, internal):
        raise ValueError(f"Node {name!r}: Node name contains invalid characters")


def check_scope_name(name: str, nested: bool) -> None:
    """Refuses what no name scope may be called.

    Args:
      name: the scope's name.
      nested: whether it is inside another.

    Raises:
      ValueError: the name is not valid.
    """
    if not (_SCOPE if nested else _NODE).match(name):
        raise ValueError(f"{name!r} is not a valid scope name")


DeviceLike = Any


class Controller:
    """One active ``control_dependencies``: what to depend on, and the ops made under it."""

    __slots__ = ("ops", "seen", "new_stack", "saved")

    def __init__(self, ops: list[Operation], new_stack: bool) -> None:
        self.ops = ops
        self.new_stack = new_stack
        self.seen: set[Operation] = set()
        self.saved: Any = None


class Controlled:
    """A ``with`` block of ``control_dependencies``; it may be entered again once it is left.

    Args:
      scopes: of the graph.
      ops: what nodes made inside run after; None clears what outer blocks say.
    """

    __slots__ = ("_scopes", "_ops", "_entered", "_saved")

    def __init__(self, scopes: ThreadScopes, ops: list[Operation] | None) -> None:
        self._scopes, self._ops = scopes, ops
        self._entered: list[Controller] = []
        self._saved: Any = None

    def __enter__(self) -> None:
        scopes = self._scopes
        outer = scopes.controllers
        self._saved = outer, scopes.control_flow
        if self._ops is None:
            self._entered, scopes.control_flow = [], None
        else:
            known = {op for controller in outer for op in controller.ops}
            fresh = [op for op in self._ops if op not in known]
            self._entered = [*outer, Controller(fresh, False)]
        scopes.controllers = self._entered

    def __exit__(self, *_: object) -> None:
        scopes = self._scopes
        left = scopes.controllers
        scopes.controllers, scopes.control_flow = self._saved
        if left is not self._entered:
            raise AssertionError(
                "control dependencies are left in the reverse of the order in which they were"
                " entered; these were not the last"
            )


class ThreadScopes(threading.local):
    """The implicit state that applies to operations made by one thread.

    Args:
      start: what threads to come begin with, of devices, controllers and colocation.
    """

    def __init__(self, start: dict[str, list[Any]]) -> None:
        self.name = ""
        self.devices: list[Callable[[Operation], str] | str | None] = [*start.get("devices", ())]
        self.controllers: list[Controller] = [*start.get("controllers", ())]
        self.colocation: list[Operation] = [*start.get("colocation", ())]
        self.attrs: dict[str, Any] = {}
        self.gradient_overrides: dict[str, str] = {}
        self.kernel_labels: dict[str, str] = {}
        self.original_op: Operation | None = None
        self.container = ""
        self.control_flow: Any = None


class Scoping(AttrScopes):
    """The blocks; a base class of ``Graph``."""

    scopes: ThreadScopes
    _first_scopes: dict[str, list[Any]]

    if TYPE_CHECKING:

        def as_graph_element(
            self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
        ) -> Any:
            """``Graph``'s."""

        def unique_name(self, name: str, mark_as_used: bool = True) -> str:
            """``Graph``'s."""

    @contextmanager
    def name_scope(self, name: str | bytes | None) -> Iterator[str]:
        """Prefixes names of nodes made inside; yields the scope's full name with a slash."""
        scopes = self.scopes
        saved = scopes.name
        name = name.decode() if isinstance(name, bytes) else name
        if not name:
            scopes.name = ""
        elif name.endswith("/"):
            scopes.name = name[:-1]
        else:
            check_scope_name(name, nested=bool(saved))
            scopes.name = self.unique_name(name)
        try:
            yield f"{scopes.name}/" if scopes.name else ""
        finally:
            scopes.name = saved

    def get_name_scope(self) -> str:
        """The current name scope without its slash."""
        return self.scopes.name

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """Nodes made inside run after ``control_inputs``; None clears the outer ones.

        Raises:
          AssertionError: as it is left: another that was entered later is not left yet.
        """
        if control_inputs is None:
            return Controlled(self.scopes, None)
        if not isinstance(control_inputs, Iterable):
            raise TypeError(f"{type(control_inputs).__name__!r} object is not iterable")
        ops = [self._as_operation(c) for c in control_inputs]
        return Controlled(self.scopes, list(dict.fromkeys(op for op in ops if op is not None)))

    def _as_operation(self, item: Any) -> Operation | None:
        if hasattr(item, "handle") and not isinstance(item, Tensor | Operation):
            # The handle's node, or the update that an assigned variable waits for.
            item = item.op
        if hasattr(item, "_as_graph_element"):
            item = item._as_graph_element()
        if hasattr(item, "op") and hasattr(item, "values") and hasattr(item, "indices"):
            item = item.values.op
        element = self.as_graph_element(item)
        return element.op if isinstance(element, Tensor) else element

    @contextmanager
    def device(self, device_name_or_function: DeviceLike) -> Iterator[None]:
        """Asks for a device for nodes made inside: a string, a function of the node, or None."""
        scope = device_name_or_function
        if scope is not None and not callable(scope):
            text = scope.to_string() if hasattr(scope, "to_string") else str(scope)
            scope = devices.canonical_name(text)
        stack = self.scopes
        saved = stack.devices
        entered = [*saved, scope]
        stack.devices = entered
        try:
            yield
        finally:
            left, stack.devices = stack.devices, saved
        if left is not entered:
            raise RuntimeError(
                "Exiting device scope without proper scope nesting.: device scopes are left in the"
                f" reverse of the order in which they were entered; {scope!r} was not the last"
            )

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Asks that nodes made inside live on the device of ``op``; None clears."""
        stack = self.scopes
        saved, saved_devices = stack.colocation, stack.devices
        target = None if op is None else self._as_operation(op)
        if target is None:
            stack.colocation = []
        else:
            stack.colocation = [target] if ignore_existing else [*saved, target]
            # The device of the colocated op rules inside, not the surrounding device scopes.
            stack.devices = []
        try:
            yield
        finally:
            stack.colocation, stack.devices = saved, saved_devices

    def switch_to_thread_local(self) -> None:
        """Lets threads to come begin with the devices and dependencies of now, at the first call.

        Each thread always has its own; without this call a new one begins with none.
        """
        if not self._first_scopes:
            for part in ("devices", "controllers", "colocation"):
                self._first_scopes[part] = list(getattr(self.scopes, part))
