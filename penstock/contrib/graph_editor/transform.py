"""Copies of parts of a graph, into the same graph or another, with handlers for each part of it.

Operations are copied in the order of creation, each behind those that it takes from.  The way back
of a loop is closed when all of them stand; so do control inputs.

State: of a running transformation (``Running``), what was copied already; of its result
(``TransformerInfo``), what has become of what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from penstock.contrib.graph_editor import lists, select, subgraph
from penstock.contrib.graph_editor.lists import ControlOutputs
from penstock.contrib.graph_editor.placeholders import make_placeholder_from_tensor
from penstock.contrib.graph_editor.subgraph import SubGraphView
from penstock.foundation.graph import editing
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation, is_back_edge
from penstock.foundation.graph.tensor import Tensor

_KNOWN_KEYS = frozenset(v for k, v in vars(GraphKeys).items() if not k.startswith("__"))


class Running:
    """What handlers get: a transformation that goes on.

    Args:
      view: what is transformed.
      graph_: where to.
      dst_scope, src_scope: prefixes of names, with a slash at the end.

    ``graph`` is the view's graph, ``transformed_ops`` and ``transformed_ts`` say what was copied.
    """

    def __init__(self, view: SubGraphView, graph_: Graph, dst_scope: str, src_scope: str) -> None:
        assert view.graph is not None
        self.sgv, self.graph, self.graph_ = view, view.graph, graph_
        self.sgv_inputs_set = frozenset(view.inputs)
        self.ops = frozenset(view.ops)
        self.control_outputs = ControlOutputs(view.graph)
        self.scope, self.scope_ = src_scope, dst_scope
        self.transformed_ops: dict[Operation, Any] = {}
        self.transformed_ts: dict[Tensor, Tensor] = {}
        self.collections = {
            key: frozenset(map(id, view.graph.get_collection(key)))
            for key in view.graph.collections
        }

    def new_name(self, name: str) -> str:
        """What something is called in the copy.

        Raises:
          ValueError: it is not of the source's scope.
        """
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


# ---- handlers ------------------------------------------------------------------------------------


def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """Puts a placeholder where a tensor comes from outside.

    Args:
      info: of the transformation.
      t: the tensor.
    """
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """Keeps a tensor in the same graph; in another one a placeholder stands for it.

    Args:
      info: of the transformation.
      t: the tensor.
    """
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Puts a copy into the collections of what it is a copy of.

    A collection that is not one of ``tf.GraphKeys`` is called anew, as names are.

    Args:
      info: of the transformation.
      elem: the operation or tensor.
      elem_: its copy.
    """
    for key, members in info.collections.items():
        if id(elem) in members:
            renamed = key if key in _KNOWN_KEYS or not isinstance(key, str) else info.scope_ + key
            info.graph_.add_to_collection(renamed, elem_)


def transform_op_if_inside_handler(info: Any, op: Any, keep_if_possible: bool = True) -> Any:
    """The copy of an operation that is transformed, too.

    Args:
      info: of the transformation.
      op: the operation.
      keep_if_possible: whether one that is not stays itself, in the same graph.

    Returns:
      The operation, or None.
    """
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(
    info: Any, op: Operation, new_inputs: Any, copy_shape: bool = False, nodedef_fn: Any = None
) -> tuple[Operation, list[Tensor]]:
    """Copies an operation.

    Args:
      info: of the transformation.
      op: the operation.
      new_inputs: what the copy takes.
      copy_shape: whether its outputs are given the shapes of the others.
      nodedef_fn: what changes the copy's ``NodeDef``: its attrs and its device.

    Returns:
      The copy, and its outputs.
    """
    graph = info.graph_
    name = graph.unique_name(info.new_name(op.name))
    made = editing.copy_node(op, graph, name, tuple(new_inputs))
    if nodedef_fn is not None:
        _changed(made, nodedef_fn)
    if copy_shape:
        for t, t_ in zip(op.outputs, made.outputs, strict=True):
            t_.set_shape(t.get_shape())
    return made, list(made.outputs)


def _changed(op: Operation, nodedef_fn: Callable[[Any], Any]) -> None:
    """Takes attrs and device from what a function makes of the node's message."""
    message = nodedef_fn(op.node_def)
    for key, value in message.attr.items():
        op._set_attr(key, value)
    if message.device != op.device:
        op._set_device(message.device)
    editing.infer_again(op)


# ---- transforming --------------------------------------------------------------------------------


class TransformerInfo:
    """What has become of what in a transformation.

    Args:
      info: the transformation.
    """

    def __init__(self, info: Any) -> None:
        self._graph, self._graph_ = info.graph, info.graph_
        self._scope, self._scope_ = info.scope, info.scope_
        self._transformed_ops: dict[Operation, Any] = info.transformed_ops
        self._transformed_ts: dict[Tensor, Tensor] = info.transformed_ts

    def transformed(self, original: Any, missing_fn: Any = None) -> Any:
        """The copy of an operation or tensor, or of each of a list of them.

        Args:
          original: the operation or tensor, or lists of them.
          missing_fn: called with one that was not copied, for what to give; else it is None.

        Returns:
          The copies, in lists like those.
        """
        return _each(original, partial(self._one, missing_fn=missing_fn))

    def _one(self, original: Any, missing_fn: Any) -> Any:
        found: Any = None
        if isinstance(original, Tensor):
            found = self._transformed_ts.get(original)
        elif isinstance(original, Operation):
            found = self._transformed_ops.get(original)
        else:
            _refuse(original)
        return missing_fn(original) if found is None and missing_fn is not None else found

    def original(self, transformed: Any, missing_fn: Any = None) -> Any:
        """What an operation or tensor is a copy of, or each of a list of them.

        Args:
          transformed, missing_fn: as of ``transformed``.
        """
        return _each(transformed, partial(self._other, missing_fn=missing_fn))

    def _other(self, transformed: Any, missing_fn: Any) -> Any:
        copies: Mapping[Any, Any] = self._transformed_ops
        if isinstance(transformed, Tensor):
            copies = self._transformed_ts
        elif not isinstance(transformed, Operation):
            _refuse(transformed)
        for original, copied in copies.items():
            if copied is transformed:
                return original
        return None if missing_fn is None else missing_fn(transformed)

    def __str__(self) -> str:
        where = f"  Within graph[{id(self._graph)}]"
        if self._graph is not self._graph_:
            where = f"  From graph[{id(self._graph)}] to graph[{id(self._graph_)}]"
        elif not self._scope and not self._scope_:
            where += " IN-PLACE"
        rows = ["Transform result info:", where]
        if self._scope:
            rows.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            rows.append(f"  Scope destination: {self._scope_}")
        rows.append("Operations mapping:")
        pairs = self._transformed_ops.items()
        rows += [f"  {op.name} => {made.name}" for op, made in pairs if made is not None]
        return "\n".join(rows) + "\n"


def _each(given: Any, one: Callable[[Any], Any]) -> Any:
    if isinstance(given, list | tuple | set | frozenset):
        return [_each(item, one) for item in given]
    return one(given)


def _refuse(given: Any) -> None:
    raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(given)}")


class Transformer:
    """Copies a part of a graph; its attributes are the functions that do so, and can be changed.

    ``transform_op_handler(info, op, new_inputs)`` gives an operation's copy and its outputs;
    ``assign_collections_handler(info, elem, elem_)`` puts it into collections;
    ``transform_external_input_handler(info, t)`` says what stands for an input,
    ``transform_external_hidden_input_handler(info, t)`` for one that the view does not list;
    ``transform_control_input_handler(info, op)`` and ``transform_original_op_handler(info, op)``
    say what stands for an operation that is waited for, or that a gradient was made of.
    """

    def __init__(self) -> None:
        self.transform_op_handler: Any = copy_op_handler
        self.transform_control_input_handler: Any = transform_op_if_inside_handler
        self.assign_collections_handler: Any = assign_renamed_collections_handler
        self.transform_external_input_handler: Any = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler: Any = keep_t_if_possible_handler
        self.transform_original_op_handler: Any = transform_op_if_inside_handler

    def __call__(
        self, sgv: Any, dst_graph: Any, dst_scope: str, src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
        """Transforms a part of a graph.

        Args:
          sgv: a view, or what makes one.
          dst_graph: where the copy goes.
          dst_scope: what its names begin with.
          src_scope: what the names of the part begin with, which is left out.
          reuse_dst_scope: whether ``dst_scope`` is taken as it is; else it is made unique.

        Returns:
          A view of the copy, and what has become of what.

        Raises:
          TypeError: there is no graph, or no view can be made.
          ValueError: a name is not of ``src_scope``.
        """
        view = subgraph.make_view(sgv)
        lists.check_graph(dst_graph)
        src_scope = _with_slash(src_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = dst_graph.unique_name(dst_scope.rstrip("/"))
        info = Running(view, dst_graph, _with_slash(dst_scope), src_scope)
        self._copy_ops(info)
        self._connect_control_inputs(info)
        result = TransformerInfo(info)
        return self._transformed_view(info), result

    def _copy_ops(self, info: Running) -> None:
        open_ends: list[tuple[Operation, int, Tensor]] = []
        for op in sorted(info.sgv.ops, key=lambda op: op.id):
            self._copy_behind(info, op, open_ends)
        for copied, index, tensor in open_ends:
            editing.change_input(copied, index, info.transformed_ts[tensor])

    def _copy_behind(self, info: Running, last: Operation, open_ends: list[Any]) -> None:
        """Copies an operation, and before it those of the part that it takes from."""
        stack = [last]
        while stack:
            op = stack[-1]
            if op in info.transformed_ops:
                stack.pop()
                continue
            missing = [
                t.op
                for t in op.inputs
                if t.op in info.ops and t.op not in info.transformed_ops and not is_back_edge(op, t)
            ]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._copy_one(info, op, open_ends)

    def _copy_one(self, info: Running, op: Operation, open_ends: list[Any]) -> None:
        back = [i for i, t in enumerate(op.inputs) if t.op in info.ops and is_back_edge(op, t)]
        back = [i for i in back if op.inputs[i] not in info.transformed_ts]
        taken = [t for i, t in enumerate(op.inputs) if i not in back]
        found = {t: self._transformed_t(info, t) for t in taken} if back else {}
        if back:
            # What comes back stands later; until then the other input stands for it.
            inputs = [found[t if t in found else taken[0]] for t in op.inputs]
        else:
            inputs = [self._transformed_t(info, t) for t in op.inputs]
        made, outputs = self.transform_op_handler(info, op, inputs)
        info.transformed_ops[op] = made
        if made is None:
            return
        if op._original_op is not None:
            made._original_op = self.transform_original_op_handler(info, op._original_op)
        open_ends += [(made, i, op.inputs[i]) for i in back]
        self.assign_collections_handler(info, op, made)
        for t, t_ in zip(op.outputs, outputs, strict=True):
            info.transformed_ts[t] = t_
            self.assign_collections_handler(info, t, t_)

    def _transformed_t(self, info: Running, t: Tensor) -> Any:
        if t in info.transformed_ts:
            return info.transformed_ts[t]
        if t in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, t)
        return self.transform_external_hidden_input_handler(info, t)

    def _connect_control_inputs(self, info: Running) -> None:
        for op in info.sgv.ops:
            made = info.transformed_ops[op]
            if made is None:
                continue
            before = [self.transform_control_input_handler(info, c) for c in op.control_inputs]
            known = [c for c in before if c is not None]
            if known:
                made._add_control_inputs(known)

    def _transformed_view(self, info: Running) -> SubGraphView:
        ops = [op for op in map(info.transformed_ops.get, info.sgv.ops) if op is not None]
        passing = [
            info.transformed_ts[t] for t in info.sgv.passthroughs if t in info.transformed_ts
        ]
        view = SubGraphView(ops, passing)
        copies = info.transformed_ts
        inputs = [copies[t] for t in info.sgv.inputs if copies.get(t) in view.inputs]
        outputs = [copies[t] for t in info.sgv.outputs if copies.get(t) in view.outputs]
        return view.remap_inputs(inputs).remap_outputs(outputs)


def _with_slash(scope: str) -> str:
    return f"{scope}/" if scope and not scope.endswith("/") else scope


# ---- copies --------------------------------------------------------------------------------------


def copy(
    sgv: Any, dst_graph: Any = None, dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
    """Copies a part of a graph; placeholders are the copy's inputs.

    Args:
      sgv: a view, or what makes one.
      dst_graph: where the copy goes; default the same graph.
      dst_scope, src_scope, reuse_dst_scope: as of ``Transformer``.

    Returns:
      A view of the copy, and what has become of what.

    Raises:
      TypeError: ``dst_graph`` is no graph, or no view can be made.
      ValueError: a name is not of ``src_scope``.

    Example:
      >>> import penstock as tf
      >>> from penstock.contrib import graph_editor as ge
      >>> with tf.Graph().as_default() as graph:
      ...     y = tf.negative(tf.constant(1.0), name="y")
      ...     view, info = ge.copy(ge.sgv(y.op), dst_scope="again")
      ...     info.transformed(y).name
      'again/y:0'
    """
    view = subgraph.make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    lists.check_graph(graph)
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any, replacement_ts: Any, dst_graph: Any = None, dst_scope: str = "",
    src_scope: str = "", reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
    """Copies a part of a graph; other tensors stand for some of its inputs.

    Args:
      sgv: a view, or what makes one.
      replacement_ts: a dict from inputs to tensors. Other inputs stay, in the same graph.
      dst_graph, dst_scope, src_scope, reuse_dst_scope: as of ``copy``.

    Returns:
      As ``copy``.

    Raises:
      TypeError, ValueError: as of ``copy``.
    """
    view = subgraph.make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    lists.check_graph(graph)
    transformer = Transformer()

    def replaced(info: Any, t: Tensor) -> Tensor:
        found = replacement_ts.get(t)
        return keep_t_if_possible_handler(info, t) if found is None else found

    transformer.transform_external_input_handler = replaced
    return transformer(view, graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def graph_replace(
    target_ts: Any, replacement_ts: Any, dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:  # fmt: skip
    """Targets as they would be of other tensors: what lies between is copied.

    Args:
      target_ts: a tensor, or a nesting of tensors.
      replacement_ts: a dict from tensors that they are made of to others.
      dst_scope, src_scope, reuse_dst_scope: as of ``copy``.

    Returns:
      Tensors, in a nesting like that of the targets.

    Raises:
      TypeError: they are no tensors.
      ValueError: the targets are not made of these tensors.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     x = tf.constant(1.0)
      ...     y = tf.exp(x) + 1.0
      ...     float(sess.run(graph_replace(y, {x: tf.constant(0.0)})))
      2.0
    """
    flat = lists.make_list_of_t(_flat(target_ts))
    controls = ControlOutputs(lists.unique_graph(flat))
    ops = select.get_walks_intersection_ops(list(replacement_ts), flat, control_ios=controls)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(
        [*ops, *_entries(ops)], replacement_ts, None, dst_scope, src_scope, reuse_dst_scope
    )
    return _repacked(target_ts, lambda t: info.transformed(t, lambda kept: kept))


def _entries(ops: list[Operation]) -> list[Operation]:
    """Where values enter the loops that are copied, which are loops of their own."""
    merged = [op for op in ops if any(is_back_edge(op, t) for t in op.inputs)]
    inside = set(ops)
    return [t.op for op in merged for t in op.inputs if t.op not in inside]


def _flat(given: Any) -> Any:
    if isinstance(given, Mapping):
        return [t for item in given.values() for t in _flat(item)]
    if isinstance(given, list | tuple):
        return [t for item in given for t in _flat(item)]
    return [given]


def _repacked(given: Any, one: Callable[[Tensor], Any]) -> Any:
    if isinstance(given, Mapping):
        return {key: _repacked(item, one) for key, item in given.items()}
    if isinstance(given, list | tuple):
        made = [_repacked(item, one) for item in given]
        if isinstance(given, list):
            return made
        return type(given)(*made) if hasattr(given, "_fields") else tuple(made)
    return one(given)
