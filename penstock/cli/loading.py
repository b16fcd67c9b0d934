"""Graphs from files in sessions, with the values of their variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tensorboard.compat.proto.variable_pb2 import SaveSliceInfoDef, VariableDef

import penstock.library.variables.creation  # makes the variables of a MetaGraph
import penstock.ops  # noqa: F401  # registers the op types
from penstock.cli.checkpoints import open_tensors
from penstock.cli.graph_files import GraphFile
from penstock.cli.identify import CHECKPOINTS, single
from penstock.cli.output import Failure
from penstock.compiler.passes.prune import needed_operations
from penstock.engine.session.session import Session
from penstock.foundation.formats.tensor_slice import TensorSlice
from penstock.foundation.graph.build import make
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.graphdef import import_graph_def
from penstock.foundation.graph.handles import is_reference_variable
from penstock.storage.checkpoint.saver import import_meta_graph

_AT_ONCE = 64
_PART = re.compile(r"(.+)/part_(\d+)")


def load(read: GraphFile) -> tuple[Session, Any]:
    """A session of the graph, and the saver that its file describes, if it does.

    Raises:
      ValueError: the graph has nodes that Penstock does not have.
    """
    graph = Graph()
    saver = None
    with graph.as_default():
        if read.meta is not None and read.meta.saver_def.restore_op_name:
            saver = import_meta_graph(read.meta, clear_devices=True)
        else:
            import_graph_def(_without_devices(read.graph), name="")
    return Session(graph=graph), saver


def _without_devices(graph_def: Any) -> Any:
    for node in graph_def.node:
        node.ClearField("device")
    return graph_def


def restore(
    session: Session, saver: Any, read: GraphFile, prefix: str, roots: Iterable[Any]
) -> None:
    """Gives variables the values of a checkpoint: by the graph's own saver, else by their names.

    Args:
      session: from ``load``.
      saver: from ``load``.
      read: the graph's file.
      prefix: the checkpoint.
      roots: nodes; by names, the variables are restored that these need.

    Raises:
      Failure: the checkpoint lacks variables.
    """
    found = single(prefix, CHECKPOINTS, "a checkpoint")
    if saver is not None:
        saver.restore(session, found.path.removesuffix(".safetensors"))
        return
    tensors = open_tensors(found)
    try:
        names = set(tensors.names())
        needed = needed_operations(roots, set())
        variables = [op for op in needed if op.op_def.role == "variable"]
        pieces = _partitions(read.meta) | _parts_by_name(tensors, names, variables)
        missing = [op.name for op in variables if _key(op, names, pieces) is None]
        if missing:
            raise Failure(f"{prefix} has no values for {', '.join(missing)}")
        for start in range(0, len(variables), _AT_ONCE):
            batch = variables[start : start + _AT_ONCE]
            _assign(session, batch, [_value(tensors, op, names, pieces) for op in batch])
    finally:
        tensors.close()


def _key(op: Any, names: set[str], pieces: dict[str, Any]) -> str | None:
    """The name of a variable in a checkpoint."""
    if op.name in pieces and pieces[op.name].full_name in names:
        return str(pieces[op.name].full_name)
    shared = op.attrs.get("shared_name")
    shared = shared.decode() if isinstance(shared, bytes) else shared
    return next((name for name in (op.name, shared) if name and name in names), None)


def _value(tensors: Any, op: Any, names: set[str], pieces: dict[str, Any]) -> Any:
    key = _key(op, names, pieces)
    part = pieces.get(op.name)
    if part is None or key != part.full_name:
        return tensors.read(key)
    return tensors.read_slice(key, TensorSlice(tuple(part.var_offset), tuple(part.var_shape)))


def _parts_by_name(tensors: Any, names: set[str], variables: Sequence[Any]) -> dict[str, Any]:
    """The same for ``NAME/part_I`` where no message tells: the I-th slice that is stored."""
    found: dict[str, Any] = {}
    for op in variables:
        part = _PART.fullmatch(op.name)
        if part is None or op.name in names or part[1] not in names:
            continue
        slices = sorted(tensors.slices(part[1]), key=lambda piece: tuple(piece.starts))
        if int(part[2]) < len(slices):
            piece = slices[int(part[2])]
            found[op.name] = SaveSliceInfoDef(
                full_name=part[1],
                var_offset=piece.starts,
                var_shape=piece.shape(tensors.shape(part[1])),
            )
    return found


def _partitions(meta: Any) -> dict[str, Any]:
    """Where parts of partitioned variables belong, by the name of the part's node."""
    found: dict[str, Any] = {}
    for collection in meta.collection_def.values() if meta is not None else ():
        for data in collection.bytes_list.value:
            variable = VariableDef.FromString(data)
            if variable.save_slice_info_def.full_name:
                found[variable.variable_name.partition(":")[0]] = variable.save_slice_info_def
    return found


def _assign(session: Session, variables: Sequence[Any], values: Sequence[Any]) -> None:
    feeds, updates = {}, []
    with session.graph.as_default(), session.graph.name_scope("restored"):
        for op, value in zip(variables, values, strict=True):
            holder = make("Placeholder", dtype=op.attrs["dtype"], shape=op.attrs.get("shape"))
            kind = "Assign" if is_reference_variable(op) else "AssignVariableOp"
            updates.append(make(kind, op.outputs[0], holder))
            feeds[holder] = value
    session.run([update if not hasattr(update, "op") else update.op for update in updates], feeds)


def initialize(session: Session) -> None:
    """Runs the initializers of all variables: the assignments called ``NAME/Assign``."""
    graph = session.graph
    names = [op.name for op in graph.operations if op.op_def.role == "variable"]
    found = [graph.by_name.get(f"{name}/Assign") for name in names]
    session.run([op for op in found if op is not None and op.op_def.writes])
