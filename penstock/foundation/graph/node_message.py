"""Attrs and nodes as TensorFlow's messages.

An attr's value is kept as a plain Python value; ``AttrValue`` is its form in files and for users.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue, NameAttrList
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.formats import tensor_proto
from penstock.foundation.opdef.opdef import AttrDef

if TYPE_CHECKING:
    from penstock.foundation.graph.operation import Operation

# ---- attrs -------------------------------------------------------------------------------------


def shape_proto(shape: shapes.TensorShape | None) -> Any:
    """A ``TensorShapeProto``."""
    dims = None if shape is None else shape.sizes
    if dims is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1 if d is None else d) for d in dims])


def shape_from_proto(proto: Any) -> shapes.TensorShape:
    """A TensorShape from its message."""
    if proto.unknown_rank:
        return shapes.from_static(None)
    return shapes.from_static(tuple(None if d.size < 0 else d.size for d in proto.dim))


_FUNC = AttrDef("", "func")


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _is_function(value: Any) -> bool:
    return hasattr(value, "get_operations")  # a graph, which is built on this module


def attr_value(value: Any, definition: AttrDef | None, dtype: Any = None) -> Any:
    """The ``AttrValue`` of a plain attr value."""
    kind = definition.kind if definition is not None else _guess_kind(value)
    if kind.startswith("list("):
        return AttrValue(list=_list_value(value, kind[5:-1]))
    if kind == "type":
        return AttrValue(type=value.as_datatype_enum)
    if kind == "int":
        return AttrValue(i=value)
    if kind == "float":
        return AttrValue(f=value)
    if kind == "bool":
        return AttrValue(b=value)
    if kind == "shape":
        # The default of a signature is a list of dims.
        shape = shapes.as_shape(value) if isinstance(value, list) else value
        return AttrValue(shape=shape_proto(shape))
    if kind == "tensor":
        wanted = dtype if dtype is not None else dtypes.as_dtype(value.dtype)
        return AttrValue(tensor=tensor_proto.to_proto(value, wanted))
    if kind == "func":
        if _is_function(value):
            return AttrValue(func=NameAttrList(name=value.name))
        return AttrValue(func=value) if not isinstance(value, AttrValue) else value
    return AttrValue(s=_bytes(value))


def _guess_kind(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"list({_guess_kind(value[0])})" if value else "list(int)"
    for kind, name in (
        (bool, "bool"), (int, "int"), (float, "float"), (dtypes.DType, "type"),
        (shapes.TensorShape, "shape"), (np.ndarray, "tensor"),
    ):  # fmt: skip
        if isinstance(value, kind):
            return name
    return "string"


def _list_value(values: Iterable[Any], kind: str) -> Any:
    made = AttrValue.ListValue()
    if kind == "type":
        made.type.extend(v.as_datatype_enum for v in values)
    elif kind == "shape":
        made.shape.extend(shape_proto(v) for v in values)
    elif kind == "string":
        made.s.extend(_bytes(v) for v in values)
    elif kind == "func":
        made.func.extend(attr_value(v, _FUNC).func for v in values)
    else:
        getattr(made, {"int": "i", "float": "f", "bool": "b"}[kind]).extend(values)
    return made


def attr_from_any(value: Any, name: str = "") -> Any:
    """A plain attr value from an ``AttrValue``, or the value itself when it is plain already.

    Colocation groups, the attr ``_class``, stay bytes.
    """
    if not isinstance(value, AttrValue) and type(value).__name__ != "AttrValue":
        return value
    field = value.WhichOneof("value")
    if field is None:
        return None
    if field == "list":
        if name == "_class":
            return list(value.list.s)
        return _plain_list(value.list)
    plain = getattr(value, field)
    if field == "type":
        return dtypes.as_dtype(plain)
    if field == "shape":
        return shape_from_proto(plain)
    if field == "tensor":
        return tensor_proto.to_array(plain)
    if field == "s":
        return _text(plain)
    return plain


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _plain_list(proto: Any) -> list[Any]:
    if proto.type:
        return [dtypes.as_dtype(t) for t in proto.type]
    if proto.shape:
        return [shape_from_proto(s) for s in proto.shape]
    if proto.s:
        return [_text(s) for s in proto.s]
    for field in ("i", "f", "b", "func"):
        if getattr(proto, field):
            return list(getattr(proto, field))
    return []


def attr_for_user(value: Any, definition: AttrDef | None) -> Any:
    """What ``Operation.get_attr`` gives: strings as bytes, shapes and tensors as messages."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, shapes.TensorShape) or (
        value is None and definition is not None and definition.kind == "shape"
    ):
        return shape_proto(value)
    if isinstance(value, np.ndarray):
        return tensor_proto.to_proto(value, _array_dtype(value))
    if isinstance(value, list):
        return [attr_for_user(v, None) for v in value]
    if _is_function(value):
        return NameAttrList(name=value.name)
    return value


def _array_dtype(array: np.ndarray) -> dtypes.DType:
    return dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)


# ---- nodes ---------------------------------------------------------------------------------------


def node_def(op: Operation, into: Any = None, without: str | None = None) -> Any:
    """One node as a ``NodeDef``.

    Args:
      op: the node.
      into: an empty message to fill in place.
      without: name of an attr to leave out.

    Returns:
      The message.
    """
    node = NodeDef() if into is None else into
    node.name, node.op, node.device = op.name, op.type, op.device
    node.input.extend(t._as_node_def_input() for t in op.inputs)
    node.input.extend(sorted(f"^{c.name}" for c in op.control_inputs))
    definitions = op.op_def.attrs
    for name, value in op.attrs.items():
        if name == without or (name == "blocks" and op.op_def.internal and value):
            continue
        definition = definitions.get(name)
        if name == "_class":
            node.attr[name].list.s.extend(value)
            continue
        kind = op.attrs.get("dtype") if definition and definition.kind == "tensor" else None
        node.attr[name].CopyFrom(attr_value(value, definition, kind))
    return node


def add_output_shapes(node: Any, op: Operation) -> None:
    """Adds the ``_output_shapes`` attr to the message of ``op``."""
    if op.outputs:
        node.attr["_output_shapes"].list.shape.extend(shape_proto(t.shape) for t in op.outputs)
