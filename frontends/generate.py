"""Writes what front ends are made of: the messages that they speak, and the ops of a language.

    python frontends/generate.py OP_DEFS.json

``messages.proto`` has the messages of TensorFlow's MasterService and of what a graph, a tensor and
a call's options are, with the fields that a client needs: what it leaves out, the wire lets it
leave out.  ``node/src/ops.ts`` and ``cpp/include/penstock/ops.hpp`` have a function for each op of
``OPS``, typed, from the op definitions: for another language write another function like
``typescript`` and ``cpp``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from tensorboard.compat.proto import graph_pb2, types_pb2

from penstock.foundation.formats import master_messages

HERE = Path(__file__).parent

# The op types that programs use most.
OPS = """
Const Placeholder Identity NoOp VariableV2 Assign AssignAdd AssignSub VarHandleOp ReadVariableOp
AssignVariableOp ApplyGradientDescent ApplyMomentum ApplyAdam Add AddN Sub Mul RealDiv FloorDiv
Maximum Minimum Pow Square Sqrt Rsqrt Exp Log Neg Abs Sign Tanh Sigmoid Relu ReluGrad Softmax
SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits MatMul BiasAdd BiasAddGrad Conv2D
MaxPool Sum Mean Max Min ArgMax Equal Greater Less Select Cast Reshape Transpose ConcatV2 Pack
ExpandDims Squeeze Shape GatherV2 Fill ZerosLike RandomUniform RandomStandardNormal
""".split()

_DATA_TYPES: EnumDescriptor = types_pb2.DESCRIPTOR.enum_types_by_name["DataType"]
_KINDS = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}
# What master_messages leaves as bytes, since it looks at the size first.
_AS_MESSAGE = {"graph_def": "GraphDef"}


def main(definitions: str) -> None:
    """Writes the files."""
    for path, text in files(json.loads(Path(definitions).read_text())).items():
        path.write_text(text)


def files(definitions: dict[str, Any]) -> dict[Path, str]:
    """What stands in each generated file."""
    table = {name: definitions[name] for name in OPS}
    return {
        HERE / "messages.proto": messages_text(),
        HERE / "node" / "src" / "ops.ts": typescript(table),
        HERE / "cpp" / "include" / "penstock" / "ops.hpp": cpp(table),
    }


# ---- messages --------------------------------------------------------------------------------


def messages_text() -> str:
    """The messages, as a .proto file."""
    kept = {
        "GraphDef": ("node", "versions"),
        "NodeDef": ("name", "op", "input", "device", "attr"),
        "RunOptions": ("trace_level", "timeout_in_ms", "output_partition_graphs"),
        "CallableOptions": ("feed", "fetch", "target", "run_options"),
        "TensorProto": (
            "dtype", "tensor_shape", "tensor_content", "half_val", "float_val", "double_val",
            "int_val", "string_val", "int64_val", "bool_val",
        ),
    }  # fmt: skip
    whole = ("VersionDef", "AttrValue", "NameAttrList", "TensorShapeProto")
    known = {f"tensorboard.{name}" for name in (*kept, *whole)}
    parts = [
        "// The messages of TensorFlow's MasterService, as far as a client needs them.\n"
        "// Written by frontends/generate.py.\n"
        'syntax = "proto3";\n\npackage tensorflow;\n',
        _enum(_DATA_TYPES, ""),
    ]
    parts += [_text(_message(name), known, "", fields) for name, fields in kept.items()]
    parts += [_text(_message(name), known, "") for name in whole]
    parts += [_text(each.DESCRIPTOR, known, "") for each in master_messages.CLASSES.values()]
    calls = [name.removesuffix("Request") for name in master_messages.CLASSES]
    parts.append("service MasterService {\n" + "".join(
        f"  rpc {call}({call}Request) returns ({call}Response);\n"
        for call in calls if f"{call}Request" in master_messages.CLASSES
    ) + "}\n")  # fmt: skip
    return "\n".join(parts)


def _message(name: str) -> Descriptor:
    pool = graph_pb2.DESCRIPTOR.pool
    found: Descriptor = pool.FindMessageTypeByName(f"tensorboard.{name}")
    return found


def _text(
    message: Descriptor, known: set[str], indent: str, only: tuple[str, ...] | None = None
) -> str:
    inner = [each for each in message.nested_types if not each.GetOptions().map_entry]
    lines = [f"{indent}message {message.name} {{\n"]
    lines += [_enum(each, indent + "  ") for each in message.enum_types]
    lines += [_text(each, known | {x.full_name for x in inner}, indent + "  ") for each in inner]
    here = known | {each.full_name for each in inner}
    in_oneof: dict[str, list[str]] = {}
    for field in message.fields:
        line = _field(field, here) if only is None or field.name in only else None
        if line is None:
            continue
        if field.containing_oneof is not None:
            in_oneof.setdefault(field.containing_oneof.name, []).append(f"{indent}    {line}\n")
        else:
            lines.append(f"{indent}  {line}\n")
    for name, rows in in_oneof.items():
        lines += [f"{indent}  oneof {name} {{\n", *rows, f"{indent}  }}\n"]
    return "".join([*lines, f"{indent}}}\n"])


def _field(field: FieldDescriptor, known: set[str]) -> str | None:
    kind = _AS_MESSAGE.get(field.name) or _kind(field, known)
    if kind is None:
        return None
    entry = field.message_type
    repeated = field.is_repeated and not (entry is not None and entry.GetOptions().map_entry)
    return f"{'repeated ' if repeated else ''}{kind} {field.name} = {field.number};"


def _kind(field: FieldDescriptor, known: set[str]) -> str | None:
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        value = _kind(message.fields_by_name["value"], known)
        return None if value is None else f"map<string, {value}>"
    if message is not None:
        return message.name if message.full_name in known or "master" in message.full_name else None
    if field.enum_type is not None:
        return field.enum_type.name
    return _KINDS[field.type]


def _enum(enum: EnumDescriptor, indent: str) -> str:
    rows = [f"{indent}  {value.name} = {value.number};\n" for value in enum.values]
    return "".join([f"{indent}enum {enum.name} {{\n", *rows, f"{indent}}}\n"])


# ---- ops in TypeScript -----------------------------------------------------------------------

_TYPES = {
    "int": "number", "float": "number", "bool": "boolean", "string": "string", "type": "DType",
    "shape": "Shape", "tensor": "Tensor",
}  # fmt: skip


_KEYWORDS = {"const", "default", "delete", "function", "in", "switch", "var", "while"}


def typescript(table: dict[str, Any]) -> str:
    """The functions of the ops, as TypeScript."""
    parts = [
        "// A function for each op. Written by frontends/generate.py from op definitions.\n"
        'import { type Graph, type OpDef, type Operation, type Output } from "./graph.js";\n'
        'import { type DType, type Shape, type Tensor } from "./tensor.js";\n\n'
        "/** What all ops take besides their attrs. */\n"
        "export interface Common {\n"
        "  name?: string;\n  device?: string;\n  after?: Operation[];\n}\n",
    ]
    for name in sorted(table):
        parts.append(_function(name, table[name]))
    return "\n".join(parts)


def _function(name: str, row: dict[str, Any]) -> str:
    inputs = [_arg(each) for each in row["inputs"]]
    inferred = {word for _, kind in inputs for word in _words(kind)}
    attrs = {key: each for key, each in row["attrs"].items() if key not in inferred}
    needed = [key for key, each in attrs.items() if "default" not in each]
    definition = {
        "inputs": [kind for _, kind in inputs],
        "outputs": [_arg(each)[1] for each in row["outputs"]],
        "attrs": {
            key: {k: v for k, v in each.items() if k in ("type", "default")}
            for key, each in row["attrs"].items()
        },
    }
    fields = "".join(
        f"  {key}{'' if key in needed else '?'}: {_type(each['type'])};\n"
        for key, each in attrs.items()
    )
    args = "".join(f", {_word(n)}: {'Output[]' if _is_list(k) else 'Output'}" for n, k in inputs)
    given = ", ".join(_word(each) for each, _ in inputs)
    result = "Operation" if not row["outputs"] else "Output" if _is_single(row) else "Output[]"
    ending = {"Operation": "", "Output": ".outputs[0]!", "Output[]": ".outputs"}[result]
    options = f"options: {name}Options{'' if needed else ' = {}'}"
    function = _word(name[0].lower() + name[1:])
    head = f"const {_constant(name)}: OpDef = {json.dumps(definition)};\n"
    return (
        f"{head}export interface {name}Options extends Common {{\n{fields}}}\n"
        f"export function {function}(graph: Graph{args}, {options}): {result} {{\n"
        f'  return graph.add("{name}", {_constant(name)}, [{given}], options){ending};\n}}\n'
    )


def _constant(name: str) -> str:
    return f"DEF_{name.upper()}"


def _arg(text: str) -> tuple[str, str]:
    name, _, kind = text.partition(":")
    return name.strip(), kind.strip()


def _words(kind: str) -> list[str]:
    bare = kind.removeprefix("Ref(").removeprefix("list(").rstrip(")")
    return [word.strip() for word in bare.split("*")]


def _is_list(kind: str) -> bool:
    return "*" in kind or kind.startswith("list(")


def _is_single(row: dict[str, Any]) -> bool:
    return len(row["outputs"]) == 1 and not _is_list(_arg(row["outputs"][0])[1])


def _type(kind: str) -> str:
    if kind.startswith("list("):
        return f"{_TYPES[kind[5:-1]]}[]"
    return _TYPES[kind]


def _word(name: str) -> str:
    """A name that is no keyword of the language."""
    return f"{name}_" if name in _KEYWORDS else name


# ---- ops in C++ ------------------------------------------------------------------------------

_CPP_TYPES = {
    "int": "std::int64_t", "float": "float", "bool": "bool", "string": "std::string",
    "type": "DType", "shape": "Dims", "tensor": "tensorflow::TensorProto",
    "list(int)": "std::vector<std::int64_t>",
}  # fmt: skip


def cpp(table: dict[str, Any]) -> str:
    """The functions of the ops, as a header for C++20."""
    functions = [_cpp_function(name, table[name]) for name in sorted(table)]
    return "\n".join([
        "// A function for each op. Written by frontends/generate.py from op definitions.\n"
        "#pragma once\n\n"
        '#include "penstock/graph.hpp"\n\n'
        "namespace penstock {\n",
        *functions,
        "}  // namespace penstock\n",
    ])  # fmt: skip


def _cpp_function(name: str, row: dict[str, Any]) -> str:
    inputs = [_arg(each) for each in row["inputs"]]
    told = {word for _, kind in inputs for word in _words(kind)}
    attrs = {key: each for key, each in row["attrs"].items() if key not in told}
    fields = "".join(f"  {_cpp_field(key, each)};\n" for key, each in attrs.items())
    args = "".join(
        f", const {'std::vector<Output>' if _is_list(kind) else 'Output'}& {_word(arg)}"
        for arg, kind in inputs
    )
    lines = [_cpp_input(arg, kind, row["attrs"]) for arg, kind in inputs]
    lines.append("node.after(options.after);")
    lines += [
        f'node.{"list" if _is_list(each["type"]) else "attribute"}("{key}", options.{key});'
        for key, each in attrs.items()
    ]
    types = ", ".join(_cpp_type(_arg(each)[1], row["attrs"]) for each in row["outputs"])
    result, ending = (
        ("const Operation*", "") if not row["outputs"]
        else ("Output", ".outputs[0]") if _is_single(row)
        else ("std::vector<Output>", ".outputs")
    )  # fmt: skip
    body = "".join(f"  {line}\n" for line in lines)
    plain = all("default" in each for each in attrs.values())
    made = f"{'&' if not ending else ''}node.add({{{types}}}){ending}"
    return (
        f"struct {name}Options {{\n  std::string name = {{}};\n  std::string device = {{}};\n"
        f"  std::vector<const Operation*> after = {{}};\n{fields}}};\n"
        f"inline {result} {name}(Graph& graph{args}, const {name}Options& options"
        f"{' = {}' if plain else ''}) {{\n"
        f'  Node node(graph, "{name}", options.name, options.device);\n{body}'
        f"  return {made};\n}}\n"
    )


def _cpp_field(key: str, row: dict[str, Any]) -> str:
    kind = _CPP_TYPES[row["type"]]
    if "default" not in row or (row["type"] == "shape" and row["default"] is None):
        return f"std::optional<{kind}> {key} = {{}}"
    value = row["default"]
    text = {
        "bool": lambda: str(value).lower(), "type": lambda: f"tensorflow::{_enum_name(value)}",
        "string": lambda: json.dumps(value), "list(int)": lambda: "{" + str(value)[1:-1] + "}",
        "shape": lambda: "{}",
    }.get(row["type"], lambda: str(value))()  # fmt: skip
    return f"{kind} {key} = {text}"


def _enum_name(dtype: str) -> str:
    return f"DT_{dtype.upper()}"


def _cpp_input(arg: str, kind: str, attrs: dict[str, Any]) -> str:
    *count, kind = _words(kind)
    attr = f'"{kind}"' if kind in attrs else "nullptr"
    if count:
        return f'node.inputs({_word(arg)}, "{count[0]}", {attr});'
    return f"node.input({_word(arg)}, {attr});"


def _cpp_type(kind: str, attrs: dict[str, Any]) -> str:
    (kind,) = _words(kind)
    return f'node.type("{kind}")' if kind in attrs else f"tensorflow::{_enum_name(kind)}"


if __name__ == "__main__":
    main(sys.argv[1])
