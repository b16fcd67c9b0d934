"""The messages that ``tf.profiler`` returns, which the ``tensorboard`` package lacks.

One table of fields (name, number, type) for each message of TensorFlow's ``tfprof_output.proto``,
so that what is serialized here parses there.  ``OpLogProto`` and ``ProfileProto`` come from
``tensorboard``; like its messages, these live in the proto package ``tensorboard``.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorboard.compat.proto import tensor_shape_pb2, tfprof_log_pb2, types_pb2

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "double": _Field.TYPE_DOUBLE,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
}
_PACKAGE = "tensorboard"
_SHAPE = tensor_shape_pb2.TensorShapeProto.DESCRIPTOR.full_name

# Message -> rows "name number type"; "*" marks repeated fields, "map<K,V>" maps.
_MESSAGES: dict[str, str] = {
    "TFProfTensorProto": """
        dtype 1 enum:DataType
        value_double 2 double*
        value_int64 3 int64*
        value_str 4 string*""",
    "GraphNodeProto": """
        name 1 string
        tensor_value 15 TFProfTensorProto
        run_count 21 int64
        exec_micros 2 int64
        accelerator_exec_micros 17 int64
        cpu_exec_micros 18 int64
        requested_bytes 3 int64
        peak_bytes 24 int64
        residual_bytes 25 int64
        output_bytes 26 int64
        parameters 4 int64
        float_ops 13 int64
        devices 10 string*
        total_definition_count 23 int64
        total_run_count 22 int64
        total_exec_micros 6 int64
        total_accelerator_exec_micros 19 int64
        total_cpu_exec_micros 20 int64
        total_requested_bytes 7 int64
        total_peak_bytes 27 int64
        total_residual_bytes 28 int64
        total_output_bytes 29 int64
        total_parameters 8 int64
        total_float_ops 14 int64
        shapes 11 Shape*
        input_shapes 16 map<int32,Shape>
        children 12 GraphNodeProto*""",
    "MultiGraphNodeProto": """
        name 1 string
        exec_micros 2 int64
        accelerator_exec_micros 12 int64
        cpu_exec_micros 13 int64
        requested_bytes 3 int64
        peak_bytes 16 int64
        residual_bytes 17 int64
        output_bytes 18 int64
        parameters 4 int64
        float_ops 5 int64
        total_exec_micros 6 int64
        total_accelerator_exec_micros 14 int64
        total_cpu_exec_micros 15 int64
        total_requested_bytes 7 int64
        total_peak_bytes 19 int64
        total_residual_bytes 20 int64
        total_output_bytes 21 int64
        total_parameters 8 int64
        total_float_ops 9 int64
        graph_nodes 10 GraphNodeProto*
        children 11 MultiGraphNodeProto*""",
    "AdviceProto": """
        checkers 1 map<string,AdviceProto.Checker>""",
    "AdviceProto.Checker": """
        reports 2 string*""",
}


def _set_type(field: Any, kind: str) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    elif kind.startswith("enum:"):
        field.type = _Field.TYPE_ENUM
        field.type_name = "." + types_pb2.DESCRIPTOR.package + "." + kind.removeprefix("enum:")
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_SHAPE}" if kind == "Shape" else f".{_PACKAGE}.{kind}"


def _add_map(message: Any, full_name: str, field: Any, kinds: str) -> None:
    """A map is a repeated message of key and value, named after the field."""
    entry_name = "".join(part.capitalize() for part in field.name.split("_")) + "Entry"
    entry = message.nested_type.add(name=entry_name)
    entry.options.map_entry = True
    for number, (name, kind) in enumerate(
        zip(("key", "value"), kinds.split(","), strict=True), start=1
    ):
        part = entry.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
        _set_type(part, kind)
    field.label = _Field.LABEL_REPEATED
    field.type = _Field.TYPE_MESSAGE
    field.type_name = f".{_PACKAGE}.{full_name}.{entry_name}"


def _fill(message: Any, full_name: str, rows: str) -> None:
    for row in rows.split("\n"):
        if not row.strip():
            continue
        name, number, kind = row.split()
        field = message.field.add(name=name, number=int(number))
        if kind.startswith("map<"):
            _add_map(message, full_name, field, kind[4:-1])
            continue
        repeated = kind.endswith("*")
        field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
        _set_type(field, kind.rstrip("*"))


def _file() -> Any:
    result = descriptor_pb2.FileDescriptorProto(
        name="penstock/tfprof_output.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=[tensor_shape_pb2.DESCRIPTOR.name, types_pb2.DESCRIPTOR.name],
    )
    made: dict[str, Any] = {}
    for full_name, rows in _MESSAGES.items():
        outer, _, inner = full_name.rpartition(".")
        siblings = made[outer].nested_type if outer else result.message_type
        message = siblings.add(name=inner)
        made[full_name] = message
        _fill(message, full_name, rows)
    return result


_DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(_file().SerializeToString())


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_DESCRIPTOR.message_types_by_name[name])


TFProfTensorProto = _class("TFProfTensorProto")
GraphNodeProto = _class("GraphNodeProto")
MultiGraphNodeProto = _class("MultiGraphNodeProto")
AdviceProto = _class("AdviceProto")
OpLogEntry = tfprof_log_pb2.OpLogEntry
OpLogProto = tfprof_log_pb2.OpLogProto
ProfileProto = tfprof_log_pb2.ProfileProto
