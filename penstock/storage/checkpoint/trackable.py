"""``tf.train.Checkpoint``: checkpoints of objects, found by the way from a root and not by names.

Tracked are variables, tables, optimizers (their slots with the variables they are of), Checkpoints,
lists, tuples and dicts of these, and objects with a ``_checkpoint_dependencies`` list of
(local name, object).  Restoring walks the record in the file and the objects side by side; objects
attached later are found when a method of the status is called.

State: the root's children by local name, the save counter, and the nodes that saving added, with
the keys they save; new nodes are added only when there are other keys.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.graph import scopes
from penstock.library.variables.auto_trackable import kept_apart
from penstock.library.variables.listing import variables_initializer
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.library.variables.tracked import (
    attached,
    attribute_of,
    has_slots,
    is_table,
    is_trackable,
    slot_of,
    unslotted,
)
from penstock.library.variables.variable import Variable
from penstock.ops.array import constant
from penstock.ops.control import control
from penstock.storage.checkpoint import eagerly, management, object_graph, python_state
from penstock.storage.checkpoint.builder import BulkSaverBuilder, by_device
from penstock.storage.checkpoint.saveable import SaveableObject, SaveSpec, saveables_of
from penstock.storage.checkpoint.saver import Saver


def is_state(item: Any) -> bool:
    """Whether the program restores an object, and not a step."""
    return getattr(item, "restored_by_program", False)


def children(item: Any) -> list[tuple[str, Any]]:
    """(local name, object) of what an object tracks, in the order in which it is recorded."""
    if has_slots(item):
        graph = scopes.get_default_graph()
        own = [(n, v) for (n, place), v in unslotted(item).items() if place in (graph, None)]
        kept = [(c[0], c[1]) for c in getattr(item, "_checkpoint_dependencies", ())]
        return kept + sorted(own, key=lambda pair: str(pair[0]))
    if isinstance(item, list | tuple):
        return [(str(i), v) for i, v in enumerate(item) if is_trackable(v)]
    if isinstance(item, dict):
        return [(str(k), item[k]) for k in sorted(item, key=str) if is_trackable(item[k])]
    listed = getattr(item, "_checkpoint_dependencies", None)
    return [(child[0], child[1]) for child in listed] if listed else []


class Listing:
    """The objects that a root reaches, nearest first, with their paths, and all slots.

    Args:
      root: the object.
      more: further children of it, by name.
    """

    def __init__(self, root: Any, more: Sequence[tuple[str, Any]] = ()) -> None:
        self.objects: list[Any] = [root]
        self.paths: list[str] = [""]
        self.number: dict[int, int] = {id(root): 0}
        self.edges: list[list[tuple[str, int]]] = []
        names: list[tuple[str, ...]] = [()]
        for index, item in enumerate(self.objects):  # grows while it is gone through
            found = []
            for name, child in [*children(item), *(more if item is root else ())]:
                at = self.number.get(id(child))
                if at is None:
                    at = self.number[id(child)] = len(self.objects)
                    self.objects.append(child)
                    names.append((*names[index], name))
                    self.paths.append(object_graph.path(names[-1]))
                found.append((name, at))
            self.edges.append(found)
        self.slots: list[tuple[int, str, int, Any]] = list(self._slots())

    def _slots(self) -> Iterator[tuple[int, str, int, Any]]:
        """(optimizer, slot name, original, slot variable)."""
        for index, item in enumerate(list(self.objects)):
            if not has_slots(item):
                continue
            for slot_name in item.get_slot_names():
                for at, original in enumerate(self.objects):
                    if isinstance(original, Variable):
                        slot = slot_of(item, original, slot_name)
                        if slot is not None:
                            yield index, slot_name, at, slot

    def variables(self) -> Iterator[tuple[str, Variable]]:
        """(path, variable) of every variable and slot."""
        for path, item in zip(self.paths, self.objects, strict=True):
            if isinstance(item, Variable):
                yield path, item
        for index, slot_name, at, slot in self.slots:
            yield object_graph.slot_prefix(self.paths[at], self.paths[index], slot_name), slot

    def tables(self) -> Iterator[tuple[str, Any]]:
        """(key, table) of every table."""
        for path, item in zip(self.paths, self.objects, strict=True):
            if is_table(item):
                yield object_graph.value_key(path, attribute_of(item)), item

    def values(self) -> list[tuple[str, Any]]:
        """(key, variable or table) of all that has a value."""
        keyed = [(object_graph.value_key(path), variable) for path, variable in self.variables()]
        return [*keyed, *self.tables()]

    def record(self) -> Any:
        """The ``TrackableObjectGraph``."""
        message = object_graph.TrackableObjectGraph()
        for item, path, edges in zip(self.objects, self.paths, self.edges, strict=True):
            node = message.nodes.add()
            for name, at in edges:
                node.children.add(node_id=at, local_name=name)
            if isinstance(item, Variable):
                _add_value(node, item, path)
            elif is_table(item):
                name = attribute_of(item)
                key = object_graph.value_key(path, name)
                node.attributes.add(name=name, full_name=item._shared_name, checkpoint_key=key)
        for index, slot_name, at, slot in self.slots:
            number = self.number.get(id(slot))
            if number is None:
                number = len(message.nodes)
                prefix = object_graph.slot_prefix(self.paths[at], self.paths[index], slot_name)
                _add_value(message.nodes.add(), slot, prefix)
            message.nodes[index].slot_variables.add(
                original_variable_node_id=at, slot_name=slot_name, slot_variable_node_id=number
            )
        return message


def _add_value(node: Any, variable: Variable, prefix: str) -> None:
    node.attributes.add(
        name=object_graph.VALUE,
        full_name=variable._shared_name,
        checkpoint_key=object_graph.value_key(prefix),
    )


def saveable_of(key: str, item: Any) -> SaveableObject:
    """What saves an object's value under a key."""
    return next(saveables_of(key, item))


class _Record(SaveableObject):
    """The record of objects, which is saved and not restored."""

    def __init__(self, record: Any) -> None:
        spec = SaveSpec(record, "", object_graph.KEY, dtypes.string, record.device)
        super().__init__(record, [spec], object_graph.KEY)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return control.no_op()


def saveables_below(root: Any, more: Sequence[tuple[str, Any]] = ()) -> list[SaveableObject]:
    """What a ``Saver`` needs to write a checkpoint of all that an object reaches now."""
    listing = Listing(root, more)
    found = listing.values()
    with scopes.device("/cpu:0"):
        record = constant.constant(listing.record().SerializeToString(), dtypes.string)
    return [*(saveable_of(key, item) for key, item in found), _Record(record)]


def write_below(root: Any, file_prefix: str, more: Sequence[tuple[str, Any]] = ()) -> None:
    """Writes a checkpoint of all that an object reaches; in graph mode of the default session."""
    if eagerly.here():
        listing = Listing(root, more)
        record = listing.record().SerializeToString()
        eagerly.write(file_prefix, listing.values(), record, object_graph.KEY)
        return
    runner = scopes.session_for(None, scopes.get_default_graph(), "saved_model.save")
    with runner.graph.as_default():
        saver = Saver(saveables_below(root, more), allow_empty=True)
    saver.save(runner, file_prefix, write_meta_graph=False, write_state=False)


class Checkpoint:
    """Saves and restores objects by the names that their owners give them.

    Args:
      **kwargs: what to save, by local name: variables, optimizers, Checkpoints, lists, dicts.

    Raises:
      ValueError: an object of another kind.

    Example:
      >>> import penstock as tf, tempfile
      >>> prefix = tempfile.mkdtemp() + "/ckpt"
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     checkpoint = tf.train.Checkpoint(v=tf.Variable(3.0))
      ...     sess.run(tf.global_variables_initializer())
      ...     path = checkpoint.save(prefix)
      ...     path[len(prefix):], [name for name, _ in tf.train.list_variables(path)][2]
      ('-1', 'v/.ATTRIBUTES/VARIABLE_VALUE')
    """

    _tracked: dict[str, Any]

    def __init__(self, **kwargs: Any) -> None:
        self._tracked = {}
        self._save_counter: Any = None
        self._count_op: Any = None
        self.waiting: Any = None
        self._nodes: tuple[Any, ...] | None = None
        for name in sorted(kwargs):
            if not is_trackable(kwargs[name]):
                raise ValueError(
                    "Checkpoint saves variables, tables, optimizers, Checkpoints, lists and dicts;"
                    f" {name!r} is {kwargs[name]!r}"
                )
            setattr(self, name, kwargs[name])

    def __setattr__(self, name: str, value: Any) -> None:
        value, given = kept_apart(self, name, value), value
        if not name.startswith("_") and is_trackable(given):
            self._tracked[name] = value
            attached()
        self.__dict__[name] = value

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(self._tracked.items())

    @property
    def save_counter(self) -> Any:
        """The variable that counts calls of ``save``; made when it is first asked for."""
        if self._save_counter is None:
            with scopes.device("/cpu:0"):
                self._save_counter = ResourceVariable(
                    initial_value=lambda: constant.constant(0, dtypes.int64, name="initial_value"),
                    name="save_counter", trainable=False,
                )  # fmt: skip
            self._tracked["save_counter"] = self._save_counter
            attached()
        return self._save_counter

    # ---- saving --------------------------------------------------------------------------------

    def write(self, file_prefix: str, session: Any = None) -> str:
        """Writes a checkpoint under exactly that prefix, and no state file.

        Args:
          file_prefix: prefix of the files.
          session: default the default session.

        Returns:
          The prefix.
        """
        if eagerly.here():
            listing = Listing(self)
            record = listing.record().SerializeToString()
            return eagerly.write(file_prefix, listing.values(), record, object_graph.KEY)
        runner = scopes.session_for(session, scopes.get_default_graph(), "Checkpoint.write")
        with runner.graph.as_default():
            prefix, record, saved, text = self._saving_nodes()
        return os.fsdecode(runner.run(saved, {prefix: file_prefix, record: text}))

    def save(self, file_prefix: str, session: Any = None) -> str:
        """Writes a checkpoint, numbered by the save counter, and the state file.

        Args:
          file_prefix: prefix of the files, to which ``-1``, ``-2``, ... is added.
          session: default the default session.

        Returns:
          The prefix with the number.
        """
        path = self.save_numbered(file_prefix, None, session)
        management.write_state(os.path.dirname(file_prefix), path, [path], None, True)
        return path

    def save_numbered(self, file_prefix: str, number: Any, session: Any = None) -> str:
        if eagerly.here():
            counted = int(self.save_counter.assign_add(1))
            return self.write(f"{file_prefix}-{counted if number is None else int(number)}")
        runner = scopes.session_for(session, scopes.get_default_graph(), "Checkpoint.save")
        with runner.graph.as_default():
            if self._count_op is None:
                new = self._save_counter is None
                counter = self.save_counter
                if new:
                    runner.run(counter.initializer)
                with scopes.device("/cpu:0"):
                    self._count_op = counter.assign_add(1, read_value=True)
        counted = runner.run(self._count_op)
        if number is None:
            number = counted
        elif not isinstance(number, int | np.integer):
            number = runner.run(number)
        return self.write(f"{file_prefix}-{number}", runner)

    def _saving_nodes(self) -> tuple[Any, Any, Any, bytes]:
        """The fed prefix and record, the tensor to run, and the record."""
        listing = Listing(self)
        found = listing.values()
        text = listing.record().SerializeToString()
        keys = [(key, id(item)) for key, item in found]
        if self._nodes is None or self._nodes[0] != keys:
            self._nodes = (keys, *self._add_saving_nodes(found))
        return (*self._nodes[1:], text)

    @staticmethod
    def _add_saving_nodes(found: list[tuple[str, Any]]) -> tuple[Any, Any, Any]:
        with scopes.device("/cpu:0"):
            record = constant.constant("", dtypes.string)
            prefix = constant.constant("model", dtypes.string)
            saveables = [saveable_of(key, item) for key, item in found]
            saveables.append(_Record(record))
            builder = BulkSaverBuilder()
            return prefix, record, builder.save_sharded(prefix, by_device(saveables))

    def frozen_saveables(self) -> list[SaveableObject]:
        """What a ``Saver`` needs to write these checkpoints: the variables as they stand now."""
        return saveables_below(self)

    # ---- restoring -----------------------------------------------------------------------------

    def restore(self, save_path: str | None) -> Status:
        """What gives the objects their values in a checkpoint; in graph mode a session runs it.

        A checkpoint that a ``Saver`` wrote is restored by the variables' names.

        Args:
          save_path: what ``save`` or ``write`` returned; None restores nothing, and
            ``initialize_or_restore`` initializes.

        Returns:
          A status, with ``assert_consumed()``, ``assert_existing_objects_matched()``,
          ``run_restore_ops(session)`` and ``initialize_or_restore(session)``.

        Raises:
          tf.errors.NotFoundError: there is no such checkpoint.
        """
        if save_path is None:
            return InitializationOnlyStatus(self)
        reader = open_checkpoint(os.fsdecode(save_path))
        if self._save_counter is None:
            _ = self.save_counter
        if object_graph.KEY not in reader.names():
            return NameBasedStatus(self, save_path).restored()
        return CheckpointLoadStatus(self, save_path, object_graph.read(reader)).restored()


class Status:
    """What ``Checkpoint.restore`` returns.

    Args:
      root: the ``Checkpoint``.
      path: the checkpoint; empty where there is none.
    """

    def __init__(self, root: Checkpoint, path: str = "") -> None:
        self._root, self._path = root, path

    def values(self) -> dict[str, Any]:
        """The variables and tables that have a value in the checkpoint, by its key."""
        return {}

    def restored(self) -> Status:
        """Itself; where operations run as they are called, what has a value now gets it."""
        if self._path and eagerly.here():
            eagerly.Waiting(self, self._root, self._path)
        elif self._path:
            self._restore_states()
        return self

    def _restore_states(self) -> None:
        """Restores what the program and not a step restores."""
        states = {k: v for k, v in self.values().items() if is_state(v)}
        reader: Any = open_checkpoint(self._path) if states else None
        for key, state in states.items():
            python_state.give(state, reader.read(key))

    def assert_consumed(self) -> Status:
        """Raises AssertionError unless every value and every object found its counterpart."""
        raise AssertionError("no checkpoint was given, so nothing is restored")

    def assert_existing_objects_matched(self) -> Status:
        """Raises AssertionError unless every variable found its value."""
        return self.assert_consumed()

    def assert_nontrivial_match(self) -> Status:
        """Raises AssertionError unless some variable found its value."""
        return self.assert_consumed()

    def expect_partial(self) -> Status:
        """Nothing is said of values that are not used; returns itself."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores, in ``session`` (default: the default session)."""
        raise AssertionError("no checkpoint was given, so nothing is restored")

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restores what found its value, and initializes the other variables."""
        if eagerly.here():
            return  # it is done
        runner = _session(session, "initialize_or_restore")
        with runner.graph.as_default():
            variables = _distinct(Listing(self._root))
            runner.run(variables_initializer(variables))


class InitializationOnlyStatus(Status):
    """The status without a checkpoint."""


class NameBasedStatus(Status):
    """The status of a checkpoint that a ``Saver`` wrote: variables are found by their names."""

    def __init__(self, root: Checkpoint, path: str) -> None:
        super().__init__(root, path)

    def values(self) -> dict[str, Any]:
        """The variables whose names the checkpoint has."""
        return {_name_of(variable): variable for variable in self._split()[0]}

    def _split(self) -> tuple[list[Any], list[Any]]:
        there = set(open_checkpoint(self._path).names())
        found: list[Any] = []
        lacking: list[Any] = []
        for variable in _distinct(Listing(self._root)):
            name = _name_of(variable)
            (found if name in there else lacking).append(variable)
        return found, lacking

    def assert_consumed(self) -> Status:
        """Raises AssertionError unless every variable's name is in the checkpoint."""
        lacking = [v for v in self._split()[1] if v is not self._root._save_counter]
        if lacking:
            raise AssertionError(
                f"the checkpoint {self._path} lacks {[v._shared_name for v in lacking]}"
            )
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores the variables whose names the checkpoint has."""
        if eagerly.here():
            return  # it is done
        runner = _session(session, "run_restore_ops")
        with runner.graph.as_default():
            Saver(self._split()[0]).restore(runner, self._path)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restores the variables whose names the checkpoint has, and initializes the others."""
        if eagerly.here():
            return  # it is done
        runner = _session(session, "initialize_or_restore")
        with runner.graph.as_default():
            runner.run(variables_initializer(self._split()[1]))
            self.run_restore_ops(runner)


class CheckpointLoadStatus(Status):
    """The status of an object-based checkpoint.

    Args:
      root: the ``Checkpoint``.
      path: the checkpoint.
      record: its ``TrackableObjectGraph``.
    """

    def __init__(self, root: Checkpoint, path: str, record: Any) -> None:
        super().__init__(root, path)
        self._record = record
        self._nodes: tuple[Any, Any] | None = None
        self._restored: set[str] = set()

    def values(self) -> dict[str, Any]:
        """The variables and tables that have a counterpart in the checkpoint."""
        return self._match()[1]

    def _match(self) -> tuple[dict[int, Any], dict[str, Any]]:
        """Objects by node of the record, and variables and tables by key."""
        nodes = self._record.nodes
        matched: dict[int, Any] = {0: self._root}
        queue = [0]
        for number in queue:  # grows while it is gone through
            here = dict(children(matched[number]))
            make = getattr(matched[number], "made_while_restoring", None)
            for child in nodes[number].children:
                if make is not None and child.local_name not in here:
                    here[child.local_name] = make(child.local_name)
                if child.local_name in here and child.node_id not in matched:
                    matched[child.node_id] = here[child.local_name]
                    queue.append(child.node_id)
        for number, item in list(matched.items()):
            if has_slots(item):
                for reference in nodes[number].slot_variables:
                    original = matched.get(reference.original_variable_node_id)
                    slot = original is not None and slot_of(item, original, reference.slot_name)
                    if isinstance(slot, Variable):
                        matched.setdefault(reference.slot_variable_node_id, slot)
        values = {
            attribute.checkpoint_key: item
            for number, item in matched.items()
            if isinstance(item, Variable) or is_table(item)
            for attribute in nodes[number].attributes
        }
        return matched, values

    def _lacking(self) -> list[Any]:
        held = {id(v) for v in self._match()[1].values()}
        return [v for v in _distinct(Listing(self._root)) if id(v) not in held]

    def assert_consumed(self) -> Status:
        """Raises AssertionError unless every value and every object found its counterpart."""
        matched, values = self._match()
        for number, node in enumerate(self._record.nodes):
            unused = [a.checkpoint_key for a in node.attributes if a.checkpoint_key not in values]
            if number not in matched and (unused or node.children):
                raise AssertionError(
                    f"object {number} of the checkpoint {self._path} has no counterpart; it has"
                    f" {unused or [child.local_name for child in node.children]}"
                )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> Status:
        """Raises AssertionError unless every variable found its value."""
        lacking = [v._shared_name for v in self._lacking()]
        if lacking:
            raise AssertionError(f"the checkpoint {self._path} has no values of {lacking}")
        return self

    def assert_nontrivial_match(self) -> Status:
        """Raises AssertionError unless some variable found its value."""
        found = [v for v in self._match()[1].values() if v is not self._root._save_counter]
        if not found:
            raise AssertionError(f"nothing in the checkpoint {self._path} has a counterpart")
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores what found its value."""
        if eagerly.here():
            return  # it is done
        runner = _session(session, "run_restore_ops")
        self._restore_states()
        values = {key: item for key, item in self._match()[1].items() if not is_state(item)}
        self._run(values, runner)

    def run_restore_ops_of_more(self, session: Any) -> None:
        """Restores what has been attached since ``run_restore_ops``."""
        found = self._match()[1].items()
        more = {key: item for key, item in found if key not in self._restored}
        self._run({key: item for key, item in more.items() if not is_state(item)}, session)

    def _run(self, values: dict[str, Any], runner: Any) -> None:
        self._restored |= set(values)
        if not values:
            return
        with runner.graph.as_default():
            key = sorted((name, id(variable)) for name, variable in values.items())
            if self._nodes is None or self._nodes[0] != key:
                self._nodes = key, self._add_nodes(values)
        runner.run(self._nodes[1])

    def _add_nodes(self, values: dict[str, Any]) -> Any:
        saveables = [saveable_of(name, variable) for name, variable in values.items()]
        with scopes.device("/cpu:0"):
            prefix = constant.constant(self._path, dtypes.string)
        tensors = iter(BulkSaverBuilder().bulk_restore(prefix, saveables, -1, False))
        return control.group(*[
            saveable.restore([next(tensors) for _ in saveable.specs], None)
            for saveable in saveables
        ])  # fmt: skip

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restores what found its value, and initializes the other variables."""
        if eagerly.here():
            return  # it is done
        runner = _session(session, "initialize_or_restore")
        with runner.graph.as_default():
            runner.run(variables_initializer(self._lacking()))
        self.run_restore_ops(runner)


def _name_of(variable: Any) -> str:
    info = variable._save_slice_info
    return str(variable._shared_name if info is None else info.full_name)


def _session(session: Any, asker: str) -> Any:
    return scopes.session_for(session, scopes.get_default_graph(), asker)


def _distinct(listing: Listing) -> list[Any]:
    return list({id(variable): variable for _, variable in listing.variables()}.values())
