"""``tf.CriticalSection``: a part of the graph that one step at a time runs.

The section is a mutex node; each ``execute`` adds a lock, the nodes of the function with control
edges from the lock, and a node that consumes the lock after all results.  What the function takes
from outside is computed before the lock is taken, so that no step holds it longer than it must.

Source: ``CriticalSection`` of TensorFlow 1.15 (nodes and their names).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import (
    colocate_with,
    control_dependencies,
    get_default_graph,
    init_scope,
    name_scope,
)
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.control import control

_SECTIONS, _EXECUTIONS = "critical_sections", "critical_section_executions"


class _Execution(NamedTuple):
    """What an ``execute`` leaves in the graph's collection, for later ones to look at."""

    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


class CriticalSection:
    """A section that the steps of a session enter one after the other.

    Args:
      shared_name: sections of one shared name exclude each other; default: the node's name.
      critical_section_def, import_scope: not supported, as in TensorFlow.

    Raises:
      ValueError: both a name and a definition.
      NotImplementedError: a definition.

    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     v = tf.get_variable("v", initializer=1.0, use_resource=True)
    ...     doubled = tf.CriticalSection().execute(lambda: v.assign_add(v.read_value()))
    ...     session.run(v.initializer)
    ...     float(session.run(doubled))
    2.0
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def and name is not None:
            raise ValueError("critical_section_def and name are mutually exclusive")
        if critical_section_def:
            raise NotImplementedError(
                "a CriticalSection cannot be made from a definition; make it by name"
            )
        with name_scope(name, "CriticalSection", []) as scope, init_scope():
            # The scope's name ends with a slash, in the shared name too.
            self._handle: Tensor = make(
                "MutexV2",
                name=scope,
                shared_name=scope if shared_name is None else shared_name,
            )
        get_default_graph().add_to_collection(_SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the section's node."""
        return self._handle.op.name

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """The results of ``fn()``, whose nodes run inside the section.

        Args:
          fn: takes nothing and makes nodes; returns tensors or operations in any nesting.
          exclusive_resource_access: whether no other section may use the resources that ``fn``
            uses.

        Returns:
          What ``fn`` returned, each available only after all of it is done.

        Raises:
          ValueError: ``fn`` enters this section itself, or another section uses its resources.
        """
        graph = get_default_graph()
        with name_scope(name, "critical_section_execute", []):
            lock = make("MutexLock", self._handle)
            before = set(graph.get_operations())
            with control_dependencies([lock]):
                result = fn()
            created = [op for op in graph.get_operations() if op not in before]
            self._compute_arguments_first(created, lock.op)
            resources = _resources_of(created)
            if any(self._is_own(t) for t in resources):
                raise ValueError(
                    f"the function attempts to enter the CriticalSection {self.name!r} in which it"
                    " would be running; that would be a deadlock"
                )
            self._check_access(resources, exclusive_resource_access)
            flat = _flatten(result)
            with control_dependencies([_identity(item) for item in flat]):
                with colocate_with(self._handle):
                    consumed = make("ConsumeMutexLock", lock)
                together = control.tuple_(flat)
            with control_dependencies([consumed]):
                outputs = [_identity(item) for item in together]
            signature = _Execution(lock.op, self._handle, resources, exclusive_resource_access)
            graph.add_to_collection(_EXECUTIONS, signature)
            return _packed(result, iter(outputs))

    def _compute_arguments_first(self, created: Iterable[Operation], lock: Operation) -> None:
        """Orders the lock after everything that the function's nodes take from outside."""
        inside = {*created, lock, *lock.control_inputs, *(t.op for t in lock.inputs)}
        outside: dict[Operation, None] = {}
        for op in created:
            for other in [*(t.op for t in op.inputs), *op.control_inputs]:
                if other not in inside:
                    outside[other] = None
        if outside:
            lock._add_control_input(control.group(*sorted(outside, key=lambda op: op.id)))

    def _is_own(self, tensor: Tensor) -> bool:
        op = tensor.op
        if op.type != self._handle.op.type or not op.attrs["shared_name"]:
            return False
        return bool(op.attrs["shared_name"] == self._handle.op.attrs["shared_name"])

    def _check_access(self, resources: list[Tensor], exclusive: bool) -> None:
        for other in get_default_graph().get_collection(_EXECUTIONS):
            if self._is_own(other.handle):
                continue
            if not (exclusive or other.exclusive_resource_access):
                continue
            shared = [t.name for t in resources if t in other.resources]
            if shared:
                raise ValueError(
                    f"{shared} would be used in CriticalSection {self.name!r} and are used in"
                    f" {other.handle.op.name!r} (by {other.op.name!r}), one of which asks for"
                    " exclusive access; did you mean exclusive_resource_access=False?"
                )


def _resources_of(created: Iterable[Operation]) -> list[Tensor]:
    found = {t: None for op in created for t in op.inputs if t.dtype is dtypes.resource}
    return list(found)


def _identity(item: Any) -> Any:
    return control.group(item) if isinstance(item, Operation) else control.identity(item)


def _flatten(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in _flatten(structure[key])]
    if isinstance(structure, list | tuple):
        return [leaf for item in structure for leaf in _flatten(item)]
    return [structure]


def _packed(structure: Any, leaves: Any) -> Any:
    if isinstance(structure, dict):
        made = {key: _packed(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, made[key]) for key in structure)
    if isinstance(structure, list | tuple):
        items = [_packed(item, leaves) for item in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else type(structure)(items)
    return next(leaves)
