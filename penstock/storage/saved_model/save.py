"""``tf.saved_model.save``: an object with its variables, functions and signatures in one folder.

The message has a graph that any session can load (handles of the variables, a call for each
signature, a saver), the functions in its library, and the record of objects: what each is, its
parts by name, and for each function what of the objects it uses.
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto import meta_graph_pb2, saved_object_graph_pb2

from penstock.foundation.base import dtypes
from penstock.foundation.formats import files
from penstock.foundation.formats.schema import SavedModel
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.bodies import known_functions
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.foundation.opdef import static
from penstock.library.eager.concrete import ConcreteFunction, variable_of
from penstock.library.variables.auto_trackable import TrackableAsset
from penstock.library.variables.tracked import is_trackable
from penstock.library.variables.variable import Variable
from penstock.storage.checkpoint import object_graph
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.checkpoint.trackable import Listing, children, write_below
from penstock.storage.export import large_graph
from penstock.storage.saved_model import constants, signature_def_utils, structures, tensor_info
from penstock.storage.saved_model.object_view import (
    FUNCTIONS,
    SIGNATURES,
    View,
    functions_of,
    parts_of,
)
from penstock.storage.saved_model.signatures import (
    SignatureMap,
    canonical_signatures,
    default_signature,
)
from penstock.storage.saved_model.tag_constants import SERVING

_GENERIC, _VERSION = "_generic_user_object", 1
# Where a signature's inputs were captured, their shape is not said.
_OWN_NAME = "_user_specified_name"


def save(obj: Any, export_dir: Any, signatures: Any = None) -> None:
    """Writes an object as a SavedModel: its variables, functions, and what it is made of.

    Saved are what checkpoints save of the object (``tf.Module``, ``tf.train.Checkpoint``, Keras
    models), and the functions among the attributes: of ``tf.function``s the graphs of the arguments
    that they were called with, or of their input signature.

    Args:
      obj: the object.
      export_dir: the folder; made where it is not there.
      signatures: a ``tf.function`` with an input signature, a concrete function, or a dict of these
        by key; default the only function of ``obj`` that has an input signature and gives tensors,
        under ``serving_default``.

    Raises:
      AssertionError: it is called inside a function that is traced, or a function uses what is not
        part of the object.
      ValueError: ``obj`` cannot be saved, or a signature is no function of tensors.

    Example:
      >>> import penstock as tf, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> class Line(tf.Module):
      ...     def __init__(self):
      ...         super().__init__()
      ...         self.slope = tf.Variable(2.0, use_resource=True)
      ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
      ...     def __call__(self, x):
      ...         return self.slope * x
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     line = Line()
      ...     sess.run(line.slope.initializer)
      ...     tf.saved_model.save(line, folder)
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     loaded = tf.saved_model.load_v2(folder)
      ...     y = loaded(tf.constant([1.0, 3.0]))
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(y).tolist()
      [2.0, 6.0]

    Source: TensorFlow's saved_object_graph.proto.
    """
    graph = scopes.get_default_graph()
    if isinstance(graph, FunctionGraph):
        raise AssertionError(
            "`tf.saved_model.save` is not supported inside a traced `@tf.function`. Move the call"
            " to the outer eagerly-executed context."
        )
    if not is_trackable(obj):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    if not isinstance(getattr(obj, SIGNATURES, SignatureMap()), SignatureMap):
        raise ValueError(
            f"Exporting an object {obj} which has an attribute named '{SIGNATURES}'. This is a"
            " reserved attribute used to store SavedModel signatures in objects which come from"
            f" `tf.saved_model.load`. Delete this attribute (e.g. 'del {obj}.{SIGNATURES}') before"
            " saving if this shadowing is acceptable."
        )
    if signatures is None:
        signatures = default_signature(functions_of(obj))
    folder = os.fspath(export_dir)
    named = SignatureMap(canonical_signatures(signatures))
    parts = parts_of(obj, named)
    writer = _Writer(obj, named, parts)
    message = writer.message()
    writer.copy_assets(os.path.join(folder, constants.ASSETS_DIRECTORY))
    variables = os.path.join(folder, constants.VARIABLES_DIRECTORY)
    files.makedirs(variables)
    known = {name for name, _ in children(obj)}
    more = [pair for pair in parts if pair[0] not in known]
    write_below(obj, os.path.join(variables, constants.VARIABLES_FILENAME), more)
    large_graph.write(os.path.join(folder, constants.SAVED_MODEL_FILENAME_PB), message, False)


class _Writer:
    """What becomes the message: the objects, the functions and the graph."""

    def __init__(
        self, root: Any, signatures: SignatureMap, parts: Sequence[tuple[str, Any]]
    ) -> None:
        self._root, self._signatures = root, signatures
        self._view = View(root, signatures, parts)
        self._graph = Graph()
        # The nodes that stand for variables, assets and constants in the graph, by object number.
        self._nodes: dict[int, Any] = {}
        self._concrete: dict[str, ConcreteFunction] = {}
        self._functions: dict[int, list[ConcreteFunction]] = {}
        self._bound: dict[str, list[int]] = {}
        self._assets: list[tuple[str, Any]] = []
        for number, item in enumerate(list(self._view.items)):
            if isinstance(item, FUNCTIONS):
                found = [item] if isinstance(item, ConcreteFunction) else item.concrete_functions()
                self._functions[number] = found
                self._concrete |= {one.graph.name: one for one in found}

    def message(self) -> Any:
        """The whole message."""
        with self._graph.as_default():
            saver = self._add_state()
        for name, function in self._concrete.items():
            self._bound[name] = [self._number_of(t, function) for t in function.captured_inputs]
        with self._graph.as_default():
            definitions = self._add_signatures()
            known_functions(self._graph).update({n: f.graph for n, f in self._concrete.items()})
            self._graph.add_to_collection(constants.MAIN_OP_KEY, make("NoOp", name="init"))
            message = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
            meta_graph = message.meta_graphs.add()
            meta_graph.CopyFrom(saver.export_meta_graph())
        meta_graph.meta_info_def.tags.append(SERVING)
        for key, definition in definitions.items():
            meta_graph.signature_def[key].CopyFrom(definition)
        init = meta_graph.signature_def[constants.INIT_OP_SIGNATURE_KEY]
        info = init.outputs[constants.INIT_OP_SIGNATURE_KEY]
        info.name, info.tensor_shape.unknown_rank = "init", True
        for function in meta_graph.graph_def.library.function:
            if function.signature.name in self._concrete:
                _describe_arguments(function, self._concrete[function.signature.name])
        self._add_assets(meta_graph)
        meta_graph.object_graph_def.CopyFrom(self._record())
        return message

    # ---- the graph -----------------------------------------------------------------------------

    def _add_state(self) -> Saver:
        listing = Listing(self._root)
        keys = {id(v): object_graph.value_key(path) for path, v in listing.variables()}
        saved: dict[str, Any] = {}
        for number, item in enumerate(self._view.items):
            if isinstance(item, Variable):
                name = item._shared_name
                handle = make(
                    "VarHandleOp", dtype=item.dtype.base_dtype, shape=item.shape, name=name,
                    shared_name=f"{name}_{number}",
                )  # fmt: skip
                self._nodes[number] = handle
                read = make("ReadVariableOp", handle, dtype=item.dtype.base_dtype)
                read.set_shape(item.shape)
                saved[keys[id(item)]] = read
            elif isinstance(item, TrackableAsset):
                self._add_asset(number, item)
        return Saver(saved, allow_empty=True)

    def _add_asset(self, number: int, asset: TrackableAsset) -> None:
        path = os.fsdecode(np.asarray(_value_of(asset.asset_path, "an asset")).item())
        name, count = os.path.basename(path), 0
        while name in [known for known, _ in self._assets]:
            count += 1
            name = f"{os.path.basename(path)}_{count}"
        node = constant(name.encode(), dtypes.string)
        self._nodes[number] = node
        self._assets.append((name, (path, node, number)))

    def _number_of(self, tensor: Any, function: ConcreteFunction) -> int:
        """The number of the object that a function's captured tensor belongs to."""
        variable = variable_of(tensor)
        if variable is not None:
            number = self._view.number.get(id(variable))
            if number is not None:
                return number
            raise AssertionError(
                f"Tried to export a function which references untracked object {variable}."
                "TensorFlow objects (e.g. tf.Variable) captured by functions must be tracked by"
                " assigning them to an attribute of a tracked object or assigned to an attribute"
                " of the main object directly."
            )
        for number, item in enumerate(self._view.items):
            if isinstance(item, TrackableAsset) and item.asset_path is tensor:
                return number
        number = self._view.add(tensor)
        if number not in self._nodes:
            value = _value_of(tensor, repr(function.name))
            with self._graph.as_default():
                self._nodes[number] = constant(value, tensor.dtype.base_dtype)
        return number

    def _add_signatures(self) -> dict[str, Any]:
        found = {}
        for key, function in self._signatures.items():
            specs = _specs(function)
            inputs = {
                spec.name: make(
                    "Placeholder", dtype=spec.dtype, shape=spec.shape, name=f"{key}_{spec.name}"
                )
                for spec in specs
            }
            bound = [self._nodes[number] for number in self._bound[function.graph.name]]
            types = [t.dtype for t in function.outputs]
            results = make(
                "StatefulPartitionedCall", [*inputs.values(), *bound], Tout=types, f=function.graph
            )
            for made, known in zip(results, function.outputs, strict=True):
                made.set_shape(known.shape)
            outputs = dict(zip(sorted(function.structured_outputs), results, strict=True))
            found[key] = signature_def_utils.build_signature_def(
                {name: tensor_info.build_tensor_info(t) for name, t in inputs.items()},
                {name: tensor_info.build_tensor_info(t) for name, t in outputs.items()},
                "tensorflow/serving/predict",
            )
        return found

    # ---- assets --------------------------------------------------------------------------------

    def _add_assets(self, meta_graph: Any) -> None:
        for name, (_, node, _) in self._assets:
            definition = meta_graph_pb2.AssetFileDef(filename=name)
            definition.tensor_info.name = node.name
            meta_graph.asset_file_def.append(definition)

    def copy_assets(self, folder: str) -> None:
        """Copies the files that travel with the model."""
        if self._assets:
            files.makedirs(folder)
        for name, (path, _, _) in self._assets:
            with (
                files.open_file(path, "rb") as source,
                files.open_file(os.path.join(folder, name), "wb") as sink,
            ):
                shutil.copyfileobj(source, sink)

    # ---- the record of objects -----------------------------------------------------------------

    def _record(self) -> Any:
        record = saved_object_graph_pb2.SavedObjectGraph()
        for number, item in enumerate(self._view.items):
            node = record.nodes.add()
            for name, child in self._view.edges[number]:
                node.children.add(node_id=child, local_name=name)
            self._describe(number, item, node)
        for name, function in self._concrete.items():
            made = record.concrete_functions[name]
            made.bound_inputs.extend(self._bound[name])
            structures.encode(
                function.structured_input_signature, made.canonicalized_input_signature
            )
            structures.encode(function.structured_outputs, made.output_signature)
        return record

    def _describe(self, number: int, item: Any, node: Any) -> None:
        if isinstance(item, Variable):
            _describe_variable(item, node.variable)
        elif isinstance(item, TrackableAsset):
            place = [index for index, (_, each) in enumerate(self._assets) if each[2] == number]
            node.asset.asset_file_def_index = place[0]
        elif isinstance(item, ConcreteFunction):
            node.bare_concrete_function.concrete_function_name = item.graph.name
            node.bare_concrete_function.argument_keywords.extend(item.argument_names)
            node.bare_concrete_function.allowed_positional_arguments = item.positional
        elif isinstance(item, FUNCTIONS):
            names = [one.graph.name for one in self._functions[number]]
            node.function.concrete_functions.extend(names)
            _describe_function(item, node.function.function_spec)
        elif number in self._nodes:
            node.constant.operation = self._nodes[number].op.name
        else:
            node.user_object.identifier = _identifier(item)
            node.user_object.version.producer = _VERSION
            node.user_object.version.min_consumer = _VERSION
            metadata = getattr(item, "metadata_to_save", None)
            node.user_object.metadata = "" if metadata is None else metadata()


def _identifier(item: Any) -> str:
    if isinstance(item, SignatureMap):
        return "signature_map"
    if isinstance(item, list):
        return "trackable_list_wrapper"
    return "trackable_dict_wrapper" if isinstance(item, dict) else _GENERIC


def _describe_variable(variable: Any, message: Any) -> None:
    message.dtype = variable.dtype.base_dtype.as_datatype_enum
    message.shape.CopyFrom(variable.shape.as_proto())
    message.trainable = variable.trainable
    message.synchronization = variable.synchronization.value
    message.aggregation = variable.aggregation.value
    message.name = variable._shared_name


def _describe_function(function: Any, spec: Any) -> None:
    """What the Python function takes, as ``inspect.getfullargspec`` says it."""
    parameters = function.python_signature().parameters.values()
    empty = inspect.Parameter.empty
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    only = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    defaults = tuple(p.default for p in placed if p.default is not empty)
    known = {
        "args": [p.name for p in placed],
        "varargs": next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None),
        "varkw": next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None),
        "defaults": defaults or None,
        "kwonlyargs": [p.name for p in only],
        "kwonlydefaults": {p.name: p.default for p in only if p.default is not empty} or None,
        "annotations": {},
    }
    message = spec.fullargspec.named_tuple_value
    message.name = "FullArgSpec"
    for name, value in known.items():
        structures.encode(value, message.values.add(key=name).value)
    signature = function.input_signature
    structures.encode(None if signature is None else tuple(signature), spec.input_signature)


def _describe_arguments(message: Any, function: ConcreteFunction) -> None:
    """Adds the shapes and the names of a function's arguments to its message."""
    shapes = message.attr["_input_shapes"].list.shape
    names = list(function.argument_names)
    for index, tensor in enumerate(function.inputs):
        shape = shapes.add()
        if tensor.dtype is dtypes.resource:
            shape.unknown_rank = True
        else:
            shape.CopyFrom(tensor.shape.as_proto())
        if index < len(names):
            message.arg_attr[index].attr[_OWN_NAME].s = names[index].encode()
        else:
            message.arg_attr[index].SetInParent()


def _specs(function: ConcreteFunction) -> list[Any]:
    flat = nest.flatten(function.structured_input_signature)
    return [part for part in flat if isinstance(part, TensorSpec)]


def _value_of(tensor: Any, whose: str) -> Any:
    """The value of a tensor that does not change.

    Raises:
      ValueError: it is another.
    """
    value = tensor.numpy() if tensor.has_value else static.constant_value(tensor)
    if value is None:
        raise ValueError(
            f"Attempted to save a function {whose} which references a symbolic Tensor {tensor} that"
            " is not a simple constant. This is not supported."
        )
    return value
