"""Graph transforms, by the names that TensorFlow's tool gave them: from GraphDef to GraphDef.

A transform is a function of a GraphDef, the names of its inputs and outputs, and arguments; a line
such as ``"strip_unused_nodes fold_constants remove_nodes(op=Identity, op=CheckNumerics)"`` names
several.  What they compute is the tool's; the order of nodes is that of the graph they were given.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.engine.session.session import Session
from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import tensor_proto
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.graphdef import import_graph_def
from penstock.foundation.opdef.registry import OPS, control_of, role_of
from penstock.storage.export.sub_graph import extract_sub_graph, node_of

Arguments = dict[str, list[str]]
Transform = Callable[[Any, list[str], list[str], Arguments], Any]
_PART = re.compile(r"\s*([A-Za-z_]\w*)\s*(\(([^)]*)\))?")
_GIVEN = re.compile(r'\s*(\w+)\s*=\s*("[^"]*"|[^,\s"]+)\s*,?')
# Weights of fewer numbers are neither quantized nor rounded.
_QUANTIZED_FROM, _ROUNDED_FROM = 1024, 16
_DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase
_WITHOUT = {
    "backport_concatv2": "graphs are read in either form",
    "backport_tensor_array_v3": "graphs are read in either form",
    "flatten_atrous_conv": "convolutions with dilations are recognized when a step is compiled",
    "freeze_requantization_ranges": "it goes with quantize_nodes",
    "fuse_convolutions": "every step is fused when it is compiled",
    "fuse_pad_and_conv": "every step is fused when it is compiled",
    "fuse_resize_and_conv": "every step is fused when it is compiled",
    "fuse_resize_pad_and_conv": "every step is fused when it is compiled",
    "insert_logging": "a session's debugger shows values without changing the graph",
    "quantize_nodes": "its ops compute more slowly here; export to ONNX and quantize there",
    "sparsify_gather": "it needs a checkpoint of its own making",
}


def transform_graph(
    graph_def: Any, inputs: Sequence[str], outputs: Sequence[str], transforms: str | Iterable[str]
) -> Any:
    """Applies transforms to a GraphDef, one after another.

    Args:
      graph_def: the ``GraphDef``; it stays as it is.
      inputs, outputs: names of nodes that are fed and fetched; transforms leave them their names.
      transforms: names, each with arguments in parentheses where it takes some; one text or
        several.

    Returns:
      A new ``GraphDef``.

    Raises:
      tf.errors.InvalidArgumentError: a transform is not known, or its arguments are wrong.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default() as graph:
      ...     y = tf.identity(tf.constant(2.0, name="a") * 3.0, name="y")
      >>> made = transform_graph(graph.as_graph_def(), [], ["y"], "fold_constants")
      >>> [(node.name, node.op) for node in made.node]
      [('y', 'Const')]
    """
    made = GraphDef()
    made.CopyFrom(graph_def)
    text = transforms if isinstance(transforms, str) else " ".join(transforms)
    for name, arguments in parsed(text):
        made = _named(name)(made, list(inputs), list(outputs), arguments)
    return made


def parsed(text: str) -> list[tuple[str, Arguments]]:
    """The transforms that a text names, with their arguments."""
    found, position = [], 0
    while text[position:].strip():
        part = _PART.match(text, position)
        if part is None or text[part.end() : part.end() + 1] == "(":
            raise errors.invalid(f"no transform can be read at {text[position:].strip()!r}")
        found.append((part[1], _arguments(part[1], part[3] or "")))
        position = part.end()
        position += len(text[position:]) - len(text[position:].lstrip(" \t\n,"))
    return found


def _arguments(name: str, text: str) -> Arguments:
    given: Arguments = {}
    position = 0
    while text[position:].strip():
        pair = _GIVEN.match(text, position)
        if pair is None:
            raise errors.invalid(f"{name}: no argument can be read at {text[position:].strip()!r}")
        given.setdefault(pair[1], []).append(pair[2].strip('"'))
        position = pair.end()
    return given


def _named(name: str) -> Transform:
    if name in TRANSFORMS:
        return TRANSFORMS[name]
    if name in _WITHOUT:
        raise errors.UnimplementedError(None, None, f"transform {name!r}: {_WITHOUT[name]}")
    known = ", ".join(sorted(TRANSFORMS))
    raise errors.invalid(f"Transform {name!r} not recognized; there are {known}")


def TransformGraph(
    input_graph_def: Any, inputs: Sequence[str], outputs: Sequence[str], transforms: Iterable[str]
) -> Any:
    """``transform_graph``, by the name and with the arguments of TensorFlow's module."""
    return transform_graph(input_graph_def, inputs, outputs, transforms)


def _number(name: str, arguments: Arguments, key: str, default: int) -> int:
    text = arguments.get(key, [str(default)])[-1]
    try:
        return int(text)
    except ValueError:
        raise errors.invalid(f"Couldn't interpret the {key} argument as a number:{text}") from None


def _wanted(name: str, arguments: Arguments, *keys: str) -> list[str]:
    for key in keys:
        if key not in arguments:
            raise errors.invalid(f"{name} expects an argument {key!r}, e.g. {name}({key}=...)")
    return [arguments[key][-1] for key in keys]


# ---- parts of graphs -----------------------------------------------------------------------------


def _array(node: Any) -> np.ndarray:
    found: np.ndarray = np.asarray(tensor_proto.to_array(node.attr["value"].tensor))
    return found


def _set_array(node: Any, array: np.ndarray, dtype: dtypes.DType) -> None:
    node.op = "Const"
    del node.input[:]
    node.attr.clear()
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(tensor_proto.to_proto(array, dtype))


def _is_float_constant(node: Any, least: int) -> bool:
    if role_of(node.op) != "constant" or node.attr["dtype"].type != dtypes.float32.as_datatype_enum:
        return False
    return bool(_array(node).size >= least)


def _like(graph_def: Any, nodes: Iterable[Any]) -> Any:
    """A graph of other nodes with the functions and versions of one."""
    made = GraphDef()
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    for node in nodes:
        made.node.add().CopyFrom(node)
    return made


def _renamed(text: str, names: dict[str, str]) -> str:
    """An input of a node under the new name of the node that makes it."""
    mark = "^" if text.startswith("^") else ""
    name, colon, index = text.removeprefix("^").partition(":")
    return f"{mark}{names.get(name, name)}{colon}{index}"


def _needed(graph_def: Any, outputs: list[str]) -> Any:
    return extract_sub_graph(graph_def, [node_of(name) for name in outputs])


# ---- transforms ----------------------------------------------------------------------------------


def strip_unused_nodes(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Keeps what is between inputs and outputs; inputs, and nodes that are named, become feeds."""
    kind = a.get("type", ["float"])[-1]
    kinds = dict(zip(a.get("name", []), a.get("type_for_name", [])))
    shapes = dict(zip(a.get("name", []), a.get("shape_for_name", [])))
    fed = {node_of(name) for name in inputs} | set(a.get("name", []))
    for node in g.node:
        if node.name not in fed or role_of(node.op) == "placeholder":
            continue
        dims = shapes.get(node.name, a.get("shape", [""])[-1])
        dtype = dtypes.as_dtype(kinds.get(node.name, kind))
        node.op = "Placeholder"
        del node.input[:]
        node.attr.clear()
        node.attr["dtype"].type = dtype.as_datatype_enum
        for size in filter(None, dims.split(",")):
            node.attr["shape"].shape.dim.add().size = int(size)
        if not dims:
            node.attr["shape"].shape.unknown_rank = True
    return _needed(g, outputs)


def fold_constants(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Computes what depends on constants alone; drops what is not needed any more."""
    g = _needed(g, outputs)
    fed = {node_of(name) for name in inputs}
    nodes = {node.name: node for node in g.node}
    fixed: dict[str, bool] = {}

    def is_fixed(name: str) -> bool:
        waiting = [name]
        while waiting:
            here = waiting[-1]
            node = nodes[here]
            if here in fixed:
                waiting.pop()
                continue
            sources = [node_of(each) for each in node.input]
            open_ones = [each for each in sources if each not in fixed]
            if not _is_pure(node) or here in fed:
                fixed[here] = False
            elif open_ones:
                waiting.extend(open_ones)
            else:
                fixed[here] = all(fixed[each] for each in sources)
        return fixed[name]

    found = [n.name for n in g.node if is_fixed(n.name) and role_of(n.op) != "constant"]
    ends = set(map(node_of, outputs))
    ends |= {node_of(each) for n in g.node if not fixed[n.name] for each in n.input}
    _compute(g, nodes, [name for name in found if name in ends], "ignore_errors" in a)
    return _needed(g, outputs)


def _is_pure(node: Any) -> bool:
    definition = OPS[node.op] if node.op in OPS else None
    if definition is None or control_of(node.op) is not None:
        return False
    if definition.role == "constant":
        return True
    return bool(definition.pure and node.input and len(definition.outputs) == 1) and not (
        definition.random or definition.has_list_output or definition.role is not None
        and definition.role != "identity"
    )  # fmt: skip


def _compute(g: Any, nodes: dict[str, Any], names: list[str], ignore: bool) -> None:
    """Makes nodes constants of what they give."""
    graph = Graph()
    with graph.as_default():
        import_graph_def(g, name="")
    with Session(graph=graph) as session:
        for name in names:
            tensor = graph.get_tensor_by_name(f"{name}:0")
            try:
                value = session.run(tensor)
            except errors.OpError:
                if not ignore:
                    raise
                continue
            _set_array(nodes[name], np.asarray(value), tensor.dtype.base_dtype)


def _weights_of(node: Any, nodes: dict[str, Any], uses: dict[str, int]) -> Any:
    """The constant weights of a layer, if it alone takes them and its result has one use."""
    if node is None or node.op not in _LAYERS or uses.get(node.name) != 1:
        return None
    weights = nodes.get(node_of(node.input[1]))
    if weights is None or role_of(weights.op) != "constant" or uses.get(weights.name) != 1:
        return None
    return weights


# Layers whose weights may take a factor for each output, and which dims of the weights these are.
_LAYERS = {"Conv2D": 1, "MatMul": 1, "DepthwiseConv2dNative": 2}


def _uses(g: Any, outputs: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in [*(each for node in g.node for each in node.input), *outputs]:
        counts[node_of(name)] = counts.get(node_of(name), 0) + 1
    return counts


def _scale(layer: Any, weights: Any, factors: np.ndarray) -> bool:
    """Multiplies the weights of a layer by a factor for each output."""
    array = _array(weights)
    dims = array.shape[-_LAYERS[layer.op] :]
    if layer.op == "MatMul" and layer.attr["transpose_b"].b:
        array, dims = array, array.shape[:1]
        if factors.size != dims[0]:
            return False
        made = array * factors.reshape(-1, 1)
    else:
        if factors.size != int(np.prod(dims)):
            return False
        made = array * factors.reshape(dims)
    _set_array(weights, made.astype(array.dtype), dtypes.as_dtype(array.dtype))
    return True


def fold_batch_norms(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Takes a product with constants behind a layer into the layer's weights."""
    nodes = {node.name: node for node in g.node}
    uses = _uses(g, outputs)
    gone = set()
    for node in g.node:
        if node.op != "Mul":
            continue
        layer: Any
        factors: Any
        layer, factors = (nodes.get(node_of(each)) for each in node.input[:2])
        weights = _weights_of(layer, nodes, uses)
        if weights is None or factors is None or role_of(factors.op) != "constant":
            continue
        if _scale(layer, weights, _array(factors)):
            _stand_for(node, layer)
            gone.add(layer.name)
            if uses.get(factors.name) == 1:
                gone.add(factors.name)
    return _like(g, [node for node in g.node if node.name not in gone])


def _stand_for(node: Any, layer: Any) -> None:
    """Lets a node be the layer, under the node's own name."""
    name = node.name
    node.CopyFrom(layer)
    node.name = name


def fold_old_batch_norms(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Takes normalizations by constants into the weights and a bias of the layer before them."""
    nodes = {node.name: node for node in g.node}
    uses = _uses(g, outputs)
    kept: list[Any] = []
    gone: set[str] = set()
    for node in g.node:
        kept.append(node)
        if not node.op.startswith("FusedBatchNorm") or node.attr["is_training"].b:
            continue
        layer: Any = nodes.get(node_of(node.input[0]))
        weights = _weights_of(layer, nodes, uses)
        given: list[Any] = [nodes.get(node_of(each)) for each in node.input[1:5]]
        if weights is None or any(n is None or role_of(n.op) != "constant" for n in given):
            continue
        scale, offset, mean, variance = (_array(n) for n in given)
        factors = scale / np.sqrt(variance + node.attr["epsilon"].f)
        if not _scale(layer, weights, factors):
            continue
        layer_name, bias = f"{node.name}/layer", f"{node.name}/bias"
        made = GraphDef()
        folded, constant = made.node.add(), made.node.add(name=bias)
        folded.CopyFrom(layer)
        folded.name = layer_name
        _set_array(constant, (offset - mean * factors).astype(np.float32), dtypes.float32)
        gone.add(layer.name)
        kept[-1:] = [folded, constant, node]
        form = layer.attr["data_format"].s or b"NHWC"
        node.op = "BiasAdd"
        node.input[:] = [layer_name, bias]
        node.attr.clear()
        node.attr["T"].CopyFrom(layer.attr["T"])
        node.attr["data_format"].s = form
    return _like(g, [node for node in kept if node.name not in gone])


def quantize_weights(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Keeps large constants as 8 bits with a range, and a node that widens them again."""
    least = _number("quantize_weights", a, "minimum_size", _QUANTIZED_FROM)
    made: list[Any] = []
    for node in g.node:
        made.append(node)
        if not _is_float_constant(node, least):
            continue
        array = _array(node)
        low, high = min(float(array.min()), 0.0), max(float(array.max()), 0.0)
        if low == high:
            continue
        steps = np.float32(255.0) / np.float32(high - low)
        integers = np.round(array * steps) - np.round(np.float32(low) * steps)
        values = np.clip(integers, 0, 255).astype(np.uint8)
        parts = [GraphDef().node.add(name=f"{node.name}_quantized_{end}") for end in
                 ("const", "min", "max")]  # fmt: skip
        _set_array(parts[0], values, dtypes.quint8)
        _set_array(parts[1], np.array(low, np.float32), dtypes.float32)
        _set_array(parts[2], np.array(high, np.float32), dtypes.float32)
        node.op = "Dequantize"
        node.attr.clear()
        node.attr["T"].type = dtypes.quint8.as_datatype_enum
        node.attr["mode"].s = b"MIN_FIRST"
        node.input[:] = [part.name for part in parts]
        made[-1:] = [*parts, node]
    return _like(g, made)


def round_weights(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Lets large constants have few different values, so that the file compresses well."""
    steps = _number("round_weights", a, "num_steps", 256)
    for node in g.node:
        if _is_float_constant(node, _ROUNDED_FROM):
            array = _array(node)
            low, high = array.min(), array.max()
            width = np.float32(1.0) if low == high else (high - low) / np.float32(steps)
            places = np.floor((array - low) / width)
            made = low + (places + np.float32(0.5)) * width
            _set_array(node, made.astype(np.float32), dtypes.float32)
    return g


def sort_by_execution_order(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Puts every node behind those that it takes."""
    nodes = {node.name: node for node in g.node}
    done: dict[str, None] = {}
    for start in nodes:
        waiting = [start]
        while waiting:
            name = waiting[-1]
            # What a round of a loop hands to the next one comes after it.
            loops = control_of(nodes[name].op) == "merge"
            sources = [node_of(each) for each in nodes[name].input]
            rest = [each for each in sources if each not in done and each not in waiting]
            if loops:
                rest = [each for each in rest if control_of(nodes[each].op) != "next"]
            if rest:
                waiting.append(rest[0])
            else:
                done[waiting.pop()] = None
    return _like(g, [nodes[name] for name in done])


def obfuscate_names(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Gives nodes that are neither inputs nor outputs the shortest names there are."""
    kept = {node_of(name) for name in (*inputs, *outputs)}
    names: dict[str, str] = {}
    number = 0
    for node in g.node:
        if node.name in kept:
            continue
        while (text := _short(number)) in kept:
            number += 1
        names[node.name] = text
        number += 1
    for node in g.node:
        node.name = names.get(node.name, node.name)
        node.input[:] = [_renamed(each, names) for each in node.input]
        if "_class" in node.attr:
            del node.attr["_class"]
    return g


def _short(number: int) -> str:
    text = ""
    while True:
        number, digit = divmod(number, len(_DIGITS))
        text = _DIGITS[digit] + text
        if not number:
            return text


def merge_duplicate_nodes(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Keeps one of nodes that are alike: same op, attrs and inputs."""
    ends = {node_of(name) for name in (*inputs, *outputs)}
    while True:
        first: dict[bytes, str] = {}
        names: dict[str, str] = {}
        for node in g.node:
            if node.name in ends or not _may_merge(node):
                continue
            alike = GraphDef().node.add()
            alike.CopyFrom(node)
            alike.name = ""
            key = alike.SerializeToString(deterministic=True)
            if key in first:
                names[node.name] = first[key]
            else:
                first[key] = node.name
        if not names:
            return g
        kept = [node for node in g.node if node.name not in names]
        for node in kept:
            node.input[:] = [_renamed(each, names) for each in node.input]
        g = _like(g, kept)


def _may_merge(node: Any) -> bool:
    definition = OPS[node.op] if node.op in OPS else None
    if definition is None or control_of(node.op) is not None or definition.role == "placeholder":
        return False
    return definition.pure and not definition.random and definition.state is None


def remove_nodes(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Drops nodes of some op types; who took them takes their first input."""
    if "op" not in a:
        raise errors.invalid(
            "remove_nodes expects at least one 'op'argument, e.g. remove_nodes(op=Identity)"
        )
    most = _number("remove_nodes", a, "max_inputs", 1)
    kept_names = {node_of(name) for name in (*inputs, *outputs)}
    controls = {each[1:] for node in g.node for each in node.input if each.startswith("^")}
    behind: dict[str, str] = {}
    for node in g.node:
        data = [each for each in node.input if not each.startswith("^")]
        free = node.name not in kept_names and node.name not in controls
        if node.op in a["op"] and 0 < len(data) <= most and free and len(data) == len(node.input):
            behind[node.name] = data[0]
    kept = [node for node in g.node if node.name not in behind]
    for node in kept:
        node.input[:] = [_through(each, behind) for each in node.input]
    return _like(g, kept)


def _through(name: str, behind: dict[str, str]) -> str:
    while not name.startswith("^") and node_of(name) in behind:
        name = behind[node_of(name)]
    return name


def remove_attribute(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Drops an attribute, of all nodes or those of one op type."""
    (key,) = _wanted("remove_attribute", a, "attribute_name")
    for node in _of_type(g, a.get("op_name", ["*"])[-1]):
        if key in node.attr:
            del node.attr[key]
    return g


def _of_type(g: Any, op: str) -> list[Any]:
    return [node for node in g.node if op in ("*", node.op)]


def rename_attribute(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Gives an attribute another name."""
    old, new = _wanted("rename_attribute", a, "old_attribute_name", "new_attribute_name")
    for node in _of_type(g, a.get("op_name", ["*"])[-1]):
        if old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return g


def rename_op(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Gives the nodes of an op type another one."""
    old, new = _wanted("rename_op", a, "old_op_name", "new_op_name")
    for node in _of_type(g, old):
        node.op = new
    return g


def set_device(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Places nodes on a device; ``if_default=true``: those that have none."""
    device = a.get("device", [""])[-1]
    only = a.get("if_default", ["false"])[-1] == "true"
    for node in g.node:
        if not only or not node.device:
            node.device = device
    return g


def remove_device(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Lets nodes be placed anywhere."""
    for node in g.node:
        node.ClearField("device")
    return g


def add_default_attributes(g: Any, inputs: list[str], outputs: list[str], a: Arguments) -> Any:
    """Writes down the attributes that nodes have by default."""
    graph = Graph()
    with graph.as_default():
        import_graph_def(g, name="")
    full = {node.name: node for node in graph.as_graph_def().node}
    for node in g.node:
        for key, value in full[node.name].attr.items():
            if key not in node.attr:
                node.attr[key].CopyFrom(value)
    return g


TRANSFORMS: dict[str, Transform] = {
    function.__name__: function
    for function in (
        add_default_attributes, fold_batch_norms, fold_constants, fold_old_batch_norms,
        merge_duplicate_nodes, obfuscate_names, quantize_weights, remove_attribute, remove_device,
        remove_nodes, rename_attribute, rename_op, round_weights, set_device,
        sort_by_execution_order, strip_unused_nodes,
    )
}  # fmt: skip
