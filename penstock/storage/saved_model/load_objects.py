"""``tf.saved_model.load_v2``: the objects of a SavedModel, with their variables and functions.

The file is data: classes are not looked up, functions are graphs, and files that it names must be
in its folder.

State of a loading: the objects by their number in the file.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.formats import tensor_proto
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.formats.inside import path_inside
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.function_def import Library
from penstock.foundation.graph.graphdef import import_graph_def
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.eager.concrete import ConcreteFunction
from penstock.library.variables.auto_trackable import TrackableAsset
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization
from penstock.storage.checkpoint import object_graph
from penstock.storage.saved_model import constants, structures
from penstock.storage.saved_model.loader import parse_saved_model
from penstock.storage.saved_model.restored import (
    CallableObject,
    RestoredFunction,
    RestoredResource,
    UserObject,
)
from penstock.storage.saved_model.signatures import SignatureMap

_KIND = inspect.Parameter


def load_v2(export_dir: Any, tags: Iterable[str] | None = None) -> Any:
    """Loads an object that ``tf.saved_model.save`` wrote, here or in TensorFlow.

    Args:
      export_dir: the SavedModel's folder.
      tags: the tags that it must have; default any.

    Returns:
      An object with the attributes that were saved: variables, functions, lists, objects of the
      same kind; and ``signatures``, functions of named tensors by key.  In graph mode the
      variables' initializers read their values.

    Raises:
      OSError: there is no SavedModel.
      ValueError: it has other tags, or no objects.
      tf.errors.PermissionDeniedError: it names a file outside of its folder.
    """
    folder = os.fspath(export_dir)
    message = parse_saved_model(folder)
    if len(message.meta_graphs) != 1 or not message.meta_graphs[0].object_graph_def.nodes:
        raise ValueError(
            f"the SavedModel at {folder} holds graphs and no objects; load it into a session with"
            " tf.saved_model.loader.load"
        )
    (meta_graph,) = message.meta_graphs
    there = set(meta_graph.meta_info_def.tags)
    if tags is not None and {tags} if isinstance(tags, str) else set(tags or there) != there:
        raise ValueError(
            f"The SavedModel at {folder} has one MetaGraph with tags {sorted(there)}, but got an"
            f" incompatible argument tags={tags} to tf.saved_model.load. You may omit it, pass"
            " 'None', or pass matching tags."
        )
    return _Loading(folder, meta_graph).root()


class _Loading:
    """One reading of a file."""

    def __init__(self, folder: str, meta_graph: Any) -> None:
        self._folder, self._meta_graph = folder, meta_graph
        self._record = meta_graph.object_graph_def
        self._nodes = self._record.nodes
        self._library = Library(meta_graph.graph_def.library, import_graph_def)
        self._prefix = os.path.join(
            folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME
        )
        self._made: dict[int, Any] = {}
        self._functions: dict[str, ConcreteFunction] = {}

    def root(self) -> Any:
        """The object that the file was written of."""
        self._add_variables()
        later = []
        for number, node in enumerate(self._nodes):
            kind = node.WhichOneof("kind")
            if kind in ("function", "bare_concrete_function", "resource"):
                later.append((kind == "resource", number, node))
            elif kind != "variable":
                self._made[number] = self._object(kind, node)
        # A resource is made by functions that use nothing but resources made before.
        for _, number, node in sorted(later, key=lambda each: not each[0]):
            if node.WhichOneof("kind") == "resource":
                self._made[number] = RestoredResource()
        for number in self._resources():
            self._create(number)
        for _, number, node in later:
            if node.WhichOneof("kind") != "resource":
                self._made[number] = self._function(number, node)
        for number, node in enumerate(self._nodes):
            self._attach(self._made[number], node)
        for number in self._resources():
            self._made[number].initialize()
        return self._made[0]

    # ---- variables -----------------------------------------------------------------------------

    def _add_variables(self) -> None:
        wanted = [n for n, node in enumerate(self._nodes) if node.WhichOneof("kind") == "variable"]
        if not wanted:
            return
        reader = open_checkpoint(self._prefix)
        keys = self._keys(object_graph.read(reader))
        for number in wanted:
            saved = self._nodes[number].variable
            if number not in keys:
                raise AssertionError(
                    f"the checkpoint {self._prefix} has no value of variable {saved.name!r}"
                )
            self._made[number] = self._variable(saved, keys[number], reader)

    def _keys(self, record: Any) -> dict[int, str]:
        """The keys of variables' values by number: both records are walked side by side."""
        found: dict[int, str] = {}
        pairs = [(0, 0)]
        seen = {0}
        for number, other in pairs:  # grows while it is gone through
            for attribute in record.nodes[other].attributes:
                if attribute.name == object_graph.VALUE:
                    found[number] = attribute.checkpoint_key
            there = {c.local_name: c.node_id for c in record.nodes[other].children}
            for child in self._nodes[number].children:
                if child.local_name in there and child.node_id not in seen:
                    seen.add(child.node_id)
                    pairs.append((child.node_id, there[child.local_name]))
        return found

    def _variable(self, saved: Any, key: str, reader: Any) -> Any:
        dtype, shape = dtypes.as_dtype(saved.dtype), shapes.as_shape(saved.shape)

        def value() -> Any:
            if scopes.get_default_graph().executes:
                return constant(reader.read(key), dtype)
            prefix, names, slices = (
                constant(each, dtypes.string)
                for each in (self._prefix.encode(), [key.encode()], [b""])
            )
            (read,) = make("RestoreV2", prefix, names, slices, dtypes=[dtype])
            read.set_shape(shape)
            return read

        return ResourceVariable(
            value, trainable=saved.trainable, name=saved.name or None, dtype=dtype, shape=shape,
            synchronization=VariableSynchronization(saved.synchronization),
            aggregation=VariableAggregation(saved.aggregation),
        )  # fmt: skip

    # ---- objects -------------------------------------------------------------------------------

    def _object(self, kind: str | None, node: Any) -> Any:
        if kind == "asset":
            return self._asset(node.asset)
        if kind == "constant":
            return self._constant(node.constant.operation)
        if kind != "user_object":
            raise ValueError(f"the SavedModel at {self._folder} has a {kind}, not known here")
        identifier = node.user_object.identifier
        if identifier == "signature_map":
            return SignatureMap()
        if identifier == "trackable_list_wrapper":
            return []
        if identifier == "trackable_dict_wrapper":
            return {}
        names = {child.local_name for child in node.children}
        return CallableObject() if "__call__" in names else UserObject()

    def _asset(self, saved: Any) -> Any:
        definition = self._meta_graph.asset_file_def[saved.asset_file_def_index]
        name = definition.filename
        folder = os.path.join(self._folder, constants.ASSETS_DIRECTORY)
        return TrackableAsset(path_inside(folder, name, "the asset of a SavedModel"))

    def _constant(self, operation: str) -> Any:
        for node in self._meta_graph.graph_def.node:
            if node.name == operation and "value" in node.attr:
                message = node.attr["value"].tensor
                return constant(tensor_proto.to_array(message), dtypes.as_dtype(message.dtype))
        raise ValueError(f"the SavedModel at {self._folder} has no constant {operation!r}")

    def _attach(self, item: Any, node: Any) -> None:
        pairs = [(child.local_name, self._made[child.node_id]) for child in node.children]
        if isinstance(item, list):
            item.extend(v for _, v in sorted(pairs, key=lambda p: _place(p[0])))
        elif isinstance(item, dict):
            item.update(pairs)
        elif isinstance(item, SignatureMap):
            item.fill(dict(pairs))
        elif isinstance(item, UserObject):
            for name, value in pairs:
                vars(item)[name] = value

    # ---- resources -----------------------------------------------------------------------------

    def _resources(self) -> list[int]:
        return [n for n, node in enumerate(self._nodes) if node.WhichOneof("kind") == "resource"]

    def _create(self, number: int) -> None:
        """Makes a table or its like, by the function that was saved for it."""
        names = {c.local_name: c.node_id for c in self._nodes[number].children}
        for name in ("_create_resource", "_initialize"):
            if name not in names:
                raise ValueError(
                    f"the SavedModel at {self._folder} does not say how its resource {number} is"
                    " made"
                )
        create = self._nodes[names["_create_resource"]].function.concrete_functions
        self._made[number].create(self._body(create[0]))

    # ---- functions -----------------------------------------------------------------------------

    def _function(self, number: int, node: Any) -> Any:
        if node.WhichOneof("kind") == "bare_concrete_function":
            saved = node.bare_concrete_function
            return self._concrete(
                saved.concrete_function_name, tuple(saved.argument_keywords),
                saved.allowed_positional_arguments,
            )  # fmt: skip
        saved = node.function
        concrete = [self._concrete(name) for name in saved.concrete_functions]
        spec = saved.function_spec
        name = next(
            (c.local_name for n in self._nodes for c in n.children if c.node_id == number), ""
        )
        declared = structures.decode(spec.input_signature)
        return RestoredFunction(name, concrete, _signature(spec), declared)

    def _body(self, name: str) -> FunctionGraph:
        return self._library.function(NameAttrList(name=name), "concrete_functions")

    def _concrete(
        self, name: str, keywords: tuple[str, ...] | None = None, positional: int = 0
    ) -> ConcreteFunction:
        found = self._functions.get(name)
        if found is not None:
            return found
        if name not in self._record.concrete_functions:
            raise ValueError(f"the SavedModel at {self._folder} has no function {name!r}")
        saved = self._record.concrete_functions[name]
        body = self._body(name)
        signature = structures.decode(saved.canonicalized_input_signature)
        specs = [s for s in nest.flatten(signature) if isinstance(s, TensorSpec)]
        captured = [self._captured(number) for number in saved.bound_inputs]
        if len(specs) + len(captured) != len(body.inputs):
            raise ValueError(
                f"function {name!r} of the SavedModel at {self._folder} takes {len(body.inputs)}"
                f" tensors; its record says {len(specs)} and {len(captured)}"
            )
        for argument, spec in zip(body.inputs, specs, strict=False):
            argument.set_shape(spec.shape)
        result = _results(structures.decode(saved.output_signature), body)
        if keywords is None:
            keywords = tuple(str(spec.name or f"args_{i}") for i, spec in enumerate(specs))
            positional = len(keywords)
        made = ConcreteFunction(body, captured, signature, result, keywords, positional)
        self._functions[name] = made
        return made

    def _captured(self, number: int) -> Any:
        item = self._made[number]
        if isinstance(item, ResourceVariable):
            return item.handle
        if isinstance(item, RestoredResource):
            return item.resource_handle
        return item.asset_path if isinstance(item, TrackableAsset) else item


def _place(name: str) -> Any:
    return (0, int(name), "") if name.isdigit() else (1, 0, name)


def _results(signature: Any, body: FunctionGraph) -> Any:
    """The results of a body in the nesting that was saved."""
    left = iter(body.outputs)
    flat: list[Any] = []
    for spec in nest.flatten(signature):
        if not isinstance(spec, TensorSpec):
            flat.append(None)
            continue
        made = next(left)
        made.set_shape(spec.shape)
        flat.append(made)
    return nest.pack_sequence_as(signature, flat)


def _signature(spec: Any) -> inspect.Signature:
    """What a saved Python function took, without its object."""
    known = structures.decode(spec.fullargspec)
    args = list(known.args)
    defaults = list(known.defaults or ())
    first = len(args) - len(defaults)
    parameters = []
    for index, name in enumerate(args):
        default = defaults[index - first] if index >= first else _KIND.empty
        parameters.append(_KIND(name, _KIND.POSITIONAL_OR_KEYWORD, default=default))
    if spec.is_method and parameters:
        parameters = parameters[1:]
    if known.varargs:
        parameters.append(_KIND(known.varargs, _KIND.VAR_POSITIONAL))
    for name in known.kwonlyargs or ():
        default = (known.kwonlydefaults or {}).get(name, _KIND.empty)
        parameters.append(_KIND(name, _KIND.KEYWORD_ONLY, default=default))
    if known.varkw:
        parameters.append(_KIND(known.varkw, _KIND.VAR_KEYWORD))
    return inspect.Signature(parameters)
