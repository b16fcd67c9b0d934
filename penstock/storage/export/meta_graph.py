"""MetaGraphs: a graph with its collections, saver and signatures as one message, out and in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorboard.compat.proto import graph_debug_info_pb2, meta_graph_pb2, saver_pb2
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.graph import graph_message, graphdef, node_message, proto_functions
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.opdef.registry import control_of
from penstock.storage.export import collection_def, large_graph, message_files, names, op_list

# The version of TensorFlow whose MetaGraphs these are; readers go by it.
TENSORFLOW_VERSION = "1.15.0"
_GIT_VERSION = "penstock"
_SAVE_AND_RESTORE = {
    "SaveV2", "Save", "SaveSlice", "LegacySave", "LegacySaveSlice",
    "RestoreV2", "Restore", "RestoreSlice", "LegacyRestore", "LegacyRestoreSlice",
}  # fmt: skip


def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Iterable[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """A graph with its collections as a ``MetaGraphDef``; written to a file when there is a name.

    Args:
      filename: file to write as well.
      meta_info_def: a ``MetaInfoDef`` to begin with.
      graph_def: a ``GraphDef`` to use instead of the graph's own.
      saver_def: the ``SaverDef`` of the saver that belongs to it.
      collection_list: names of the collections to include; default all.
      as_text: whether the file is text.
      graph: the graph; default the default one.
      export_scope: only this name scope, which is taken off all names.  Inputs from outside are
        listed in the collection ``unbound_inputs``.
      clear_devices: whether nodes lose their devices.
      clear_extraneous_savers: whether nodes and ``SaverDef`` of savers other than ``saver_def``
        are left out.
      strip_default_attrs: whether attrs with default values are left out.
      save_debug_info: whether to write, beside ``filename``, a ``.debug`` file that has the line
        of the user's program for each node.
      **kwargs: ``unbound_inputs_col_name``.

    Returns:
      The ``MetaGraphDef``.

    Raises:
      TypeError: an argument is not the message it should be.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     w = tf.Variable(1.0, name="w")
      ...     meta = tf.train.export_meta_graph()
      >>> sorted(meta.collection_def)
      ['trainable_variables', 'variables']
    """
    return export_scoped_meta_graph(
        filename=filename, meta_info_def=meta_info_def, graph_def=graph_def, saver_def=saver_def,
        collection_list=collection_list, as_text=as_text, graph=graph, export_scope=export_scope,
        clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info, **kwargs,
    )[0]  # fmt: skip


def export_scoped_meta_graph(
    filename: str | None = None,
    graph_def: Any = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    clear_devices: bool = False,
    saver_def: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    meta_info_def: Any = None,
    collection_list: Iterable[str] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """``export_meta_graph``, with the variables in it.

    Returns:
      The ``MetaGraphDef``, and the exported variables by name within the scope.
    """
    _check("meta_info_def", meta_info_def, meta_graph_pb2.MetaGraphDef.MetaInfoDef)
    _check("graph_def", graph_def, GraphDef)
    _check("saver_def", saver_def, saver_pb2.SaverDef)
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be a Graph; found {type(graph).__name__}")
    graph = graph if graph is not None else get_default_graph()
    meta = meta_graph_pb2.MetaGraphDef()
    exclude: set[str] = set()
    if clear_extraneous_savers:
        exclude = _extraneous_saver_nodes(_names_and_types(graph, graph_def), saver_def)
    rewriting = bool(export_scope or clear_devices or clear_extraneous_savers)
    if rewriting:
        unbound = _add_rewritten(meta, graph, graph_def, export_scope, exclude, clear_devices)
        if unbound_inputs_col_name:
            graph._collections.pop(unbound_inputs_col_name, None)
            for name in unbound:
                graph._collections.setdefault(unbound_inputs_col_name, []).append(name)
    elif graph_def is not None:
        meta.graph_def.CopyFrom(graph_def)
    else:
        graph_message.graph_def(graph, add_shapes=True, into=meta.graph_def)
    _add_meta_info(meta, meta_info_def, graph)
    if strip_default_attrs:
        op_list.strip_default_attrs(meta.graph_def)
        meta.meta_info_def.stripped_default_attrs = True
    if saver_def is not None:
        meta.saver_def.MergeFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        items = graph.get_collection(key)
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            items = _only_saver(saver_def)
        collection_def.add_collection(meta, key, items, export_scope, exclude)
    if filename:
        _write(filename, meta, as_text, graph, export_scope, save_debug_info)
    return meta, _variables(graph, export_scope, exclude)


def _check(what: str, value: Any, kind: Any) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{what} must be a {kind.__name__}; found {type(value).__name__}")


def _variables(graph: Graph, scope: str | None, exclude: set[str]) -> dict[str, Any]:
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)
    return {
        names.without_scope(v.name, scope): v
        for v in variables
        if collection_def.includes(v, scope, exclude)
    }


def _only_saver(saver_def: Any) -> list[Any]:
    from_proto = proto_functions.get_from_proto_function(GraphKeys.SAVERS)
    return [from_proto(saver_def)] if from_proto is not None and saver_def is not None else []


def _add_meta_info(meta: Any, given: Any, graph: Graph) -> None:
    info = meta.meta_info_def
    if given is not None:
        info.MergeFrom(given)
    info.tensorflow_version, info.tensorflow_git_version = TENSORFLOW_VERSION, _GIT_VERSION
    if not info.stripped_op_list.op:
        info.stripped_op_list.MergeFrom(op_list.stripped_op_list(meta.graph_def, graph))
        info.stripped_op_list.SetInParent()


def _write(
    filename: str, meta: Any, as_text: bool, graph: Graph, scope: str | None, debug: bool
) -> None:
    folder = os.path.dirname(filename)
    if folder and not files.exists(folder):
        files.makedirs(folder)
    large_graph.write(filename, meta, as_text)
    if debug:
        exported = [names.with_scope(node.name, scope) for node in meta.graph_def.node]
        ops = [op for op in map(graph.by_name.get, exported) if op is not None]
        name = os.path.splitext(filename)[0] + ".debug"
        message_files.write_message(name, _debug_info(ops), as_text)


def _debug_info(ops: Iterable[Operation]) -> Any:
    """The user's line of each node, as a ``GraphDebugInfo``."""
    message = graph_debug_info_pb2.GraphDebugInfo()
    files_seen: dict[str, int] = {}
    for op in ops:
        if op.origin is None:
            continue
        index = files_seen.setdefault(op.origin.filename, len(files_seen))
        message.traces[f"{op.name}@"].file_line_cols.add(
            file_index=index, line=op.origin.lineno, func=op.origin.function, code=op.origin.line
        )
    message.files.extend(files_seen)
    return message


# ---- parts of a graph ----------------------------------------------------------------------------


def _names_and_types(graph: Graph, graph_def: Any) -> list[tuple[str, str]]:
    if graph_def is not None:
        return [(node.name, node.op) for node in graph_def.node]
    return [(op.name, op.type) for op in graph.operations]


def _scope_of(name: str) -> str:
    return name.lstrip("^").rpartition("/")[0]


def _extraneous_saver_nodes(nodes: list[tuple[str, str]], saver_def: Any) -> set[str]:
    """Names of nodes in the name scopes of savers other than ``saver_def``'s."""
    savers = {name for name, op_type in nodes if op_type in _SAVE_AND_RESTORE}
    scopes = {_scope_of(name) for name in savers} - savers
    if saver_def is not None:
        for name in (saver_def.restore_op_name, saver_def.save_tensor_name):
            scopes.discard(_scope_of(name.partition(":")[0]))
    prefixes = tuple(f"{scope}/" for scope in scopes)
    return {name for name, _ in nodes if prefixes and name.startswith(prefixes)}


def _add_rewritten(
    meta: Any, graph: Graph, graph_def: Any, scope: str | None, exclude: set[str], clear: bool
) -> list[str]:
    """Adds the nodes of a scope to ``meta.graph_def``; the names of unbound inputs."""
    unbound: list[str] = []
    message = meta.graph_def
    if graph_def is not None:
        message.versions.CopyFrom(graph_def.versions)
        message.library.CopyFrom(graph_def.library)
        for node in graph_def.node:
            if collection_def.includes(node.name, scope, exclude):
                made = message.node.add()
                made.CopyFrom(node)
                _rewrite(made, scope, unbound, clear)
        return unbound
    graph_message.graph_def(graph, from_version=graph.version, into=message)
    with graph.lock:
        for op in graph.operations:
            if collection_def.includes(op.name, scope, exclude):
                made = node_message.node_def(op, message.node.add())
                _rewrite(made, scope, unbound, clear)
                node_message.add_output_shapes(made, op)
    return unbound


def _rewrite(node: Any, scope: str | None, unbound: list[str], clear_devices: bool) -> None:
    for index, name in enumerate(node.input):
        if names.inside(name, scope):
            node.input[index] = names.without_scope(name, scope)
        else:
            node.input[index] = names.unbound(name)
            unbound.append(node.input[index])
    node.name = names.without_scope(node.name, scope)
    if "_class" in node.attr:
        groups = [group.decode() for group in node.attr["_class"].list.s]
        kept = [names.without_scope(g, scope) for g in groups if names.inside(g, scope)]
        node.attr["_class"].list.s[:] = [group.encode() for group in kept]
    if control_of(node.op) == "enter":
        frame = node.attr["frame_name"].s.decode()
        node.attr["frame_name"].s = names.without_scope(frame, scope).encode()
    if clear_devices:
        node.device = ""


# ---- in ------------------------------------------------------------------------------------------


def read_meta_graph_file(filename: Any) -> Any:
    """Reads a ``MetaGraphDef``, binary or text.

    Raises:
      OSError: there is no such file, or it holds something else.
    """
    meta = message_files.read_message(filename, meta_graph_pb2.MetaGraphDef)
    large_graph.locate(meta.graph_def, os.path.dirname(os.fsdecode(filename)))
    return meta


def import_scoped_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Any]:
    """Adds the nodes and collections of a MetaGraph to a graph.

    Nodes of op types that Penstock does not have come in as well, as the MetaGraph lists their
    signatures; a step that needs one of them fails, others run.

    Args:
      meta_graph_or_file: a ``MetaGraphDef``, or the name of a file with one, binary or text.
      clear_devices: whether nodes lose their devices.
      graph: the graph to add to; default the default one.
      import_scope: name scope for the nodes, within the current one; default the current one.
      input_map: from names in the MetaGraph to tensors of the graph that replace them.
      unbound_inputs_col_name: name of the collection that lists inputs that ``input_map`` must
        give; None to look at none.
      restore_collections_predicate: says for a collection's name whether to restore it.

    Returns:
      The imported variables, by name within the scope.

    Raises:
      OSError: the file is missing or holds something else.
      ValueError: unbound inputs that ``input_map`` does not give, or what ``import_graph_def``
        refuses.
    """
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, graph, import_scope, input_map,
        unbound_inputs_col_name, restore_collections_predicate,
    )[0]  # fmt: skip


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Iterable[str] | None = None,
) -> tuple[dict[str, Any], list[Any] | None]:
    """``import_scoped_meta_graph``, with the elements of the MetaGraph in ``return_elements``."""
    meta = _as_message(meta_graph_or_file)
    _check_unbound(meta, unbound_inputs_col_name, input_map)
    graph = graph if graph is not None else get_default_graph()
    with graph.as_default():
        if import_scope:
            scope = graph.unique_name(import_scope, mark_as_used=False)
        else:
            scope = graph.get_name_scope()
        if clear_devices:
            for node in meta.graph_def.node:
                node.device = ""
        info = meta.meta_info_def
        elements = graphdef.import_graph_def(
            meta.graph_def,
            name=import_scope or (f"{scope}/" if scope else ""),
            input_map=input_map,
            return_elements=return_elements,
            producer_op_list=info.stripped_op_list if info.HasField("stripped_op_list") else None,
        )
        collection_def.restore_collections(
            meta, graph, scope,
            lambda key: key != unbound_inputs_col_name and restore_collections_predicate(key),
            _writes_trainable(info.tensorflow_version),
        )  # fmt: skip
        # The pattern is a prefix of names, not an expression: a scope may hold dots.
        pattern = re.escape(scope) if scope else None
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, pattern)
    return {names.without_scope(v.name, scope): v for v in variables}, elements


def import_with_variables(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """``import_scoped_meta_graph``; the message, and the variables by name within the scope."""
    meta = _as_message(meta_graph_or_file)
    return meta, import_scoped_meta_graph(
        meta, clear_devices=clear_devices, import_scope=import_scope, **kwargs
    )


def _as_message(meta_graph_or_file: Any) -> Any:
    if isinstance(meta_graph_or_file, meta_graph_pb2.MetaGraphDef):
        return meta_graph_or_file
    return read_meta_graph_file(meta_graph_or_file)


def _check_unbound(meta: Any, key: str | None, input_map: Mapping[str, Any] | None) -> None:
    if not key or key not in meta.collection_def:
        return
    definition = meta.collection_def[key]
    kind = definition.WhichOneof("kind")
    values = list(getattr(definition, kind).value) if kind else []
    wanted = {v.decode() if isinstance(v, bytes) else v for v in values}
    given = set(input_map or ())
    if wanted and wanted != given:
        absent = sorted(wanted - given)
        raise ValueError(
            f"Graph contains unbound inputs: {', '.join(absent) or sorted(wanted)}. Must provide"
            f" these inputs through input_map; it has {sorted(given)}"
        )


def _writes_trainable(version: str) -> bool:
    """Whether the TensorFlow that wrote the MetaGraph filled in ``VariableDef.trainable``."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return match is None or (int(match.group(1)), int(match.group(2))) >= (1, 9)


def copy_scoped_meta_graph(
    from_scope: str, to_scope: str, from_graph: Graph | None = None, to_graph: Graph | None = None
) -> dict[str, Any]:
    """Copies the nodes and variables of a name scope to another scope, or graph.

    Args:
      from_scope, to_scope: the name scopes.
      from_graph, to_graph: the graphs; default the default one, and the same.

    Returns:
      The new variables, by name within the scope.

    Raises:
      ValueError: the copy would be its own source.
    """
    source = from_graph if from_graph is not None else get_default_graph()
    target = to_graph if to_graph is not None else source
    if source is target and from_scope == to_scope:
        raise ValueError(f"'from_scope' and 'to_scope' are both {from_scope!r}, in one graph")
    if not any(op.name.startswith(from_scope) for op in source.operations):
        raise errors.NotFoundError(None, None, f"no node is in the name scope {from_scope!r}")
    meta, _ = export_scoped_meta_graph(graph=source, export_scope=from_scope)
    return import_scoped_meta_graph(meta, graph=target, import_scope=to_scope)
