"""ONNX graphs as nodes of the default graph: values by name, and the rules of the operators.

A rule is a function of the reader, the ONNX node and its inputs; it adds nodes and gives the
outputs.  Images stay channels-first, as ONNX has them.  A file is data: nothing in it is run but
the operators that it names, and those that have no rule here are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert, scopes
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import static
from penstock.ops.array.constant import constant
from penstock.storage.interchange.model import Unportable

Rule = Callable[..., Any]


def dtype_of(number: int) -> dtypes.DType:
    """The dtype for ONNX's number of one.

    Raises:
      Unportable: Penstock has none.
    """
    if number == onnx.TensorProto.BFLOAT16:
        return dtypes.bfloat16
    try:
        return dtypes.as_dtype(helper.tensor_dtype_to_np_dtype(number))
    except (TypeError, KeyError):
        name = onnx.TensorProto.DataType.Name(number)
        raise Unportable(f"there is no dtype for ONNX's {name}") from None


class Reader:
    """Adds the nodes of an ONNX graph to the default graph.

    Args:
      rules: by operator.
      functions: model-local functions, by domain and name.
      opset: the version of the operators.
    """

    def __init__(self, rules: Mapping[str, Rule], functions: Any, opset: int) -> None:
        self.rules, self.functions, self.opset = rules, functions, opset
        self.values: dict[str, Any] = {"": None}

    # ---- values ------------------------------------------------------------------------------

    def tensor(self, name: str) -> Any:
        """A value by its name; None for an input that is left out."""
        if name not in self.values:
            raise Unportable(f"the graph has no value {name!r}")
        found = self.values[name]
        if isinstance(found, np.ndarray):
            found = self.values[name] = constant(found, name=_scope_name(name))
        return found

    def known(self, tensor: Any, what: str) -> np.ndarray:
        """The value of a tensor that must be a constant.

        Raises:
          Unportable: it is none.
        """
        found = static.constant_value(tensor)
        if found is None:
            raise Unportable(f"its {what} is no constant")
        return np.asarray(found)

    def attrs(self, node: Any) -> dict[str, Any]:
        """Attributes by name; text as ``str``."""
        found = {}
        for each in node.attribute:
            value = helper.get_attribute_value(each)
            if isinstance(value, bytes):
                value = value.decode()
            found[each.name] = value
        return found

    # ---- graphs ------------------------------------------------------------------------------

    def read(self, graph: Any) -> None:
        """Adds the nodes of a graph; its inputs have values already."""
        for each in graph.initializer:
            self.values[each.name] = numpy_helper.to_array(each)
        if graph.sparse_initializer:
            raise Unportable("sparse constants are not read")
        for node in graph.node:
            self.node(node)

    def node(self, node: Any) -> None:
        """Adds what a node stands for.

        Raises:
          Unportable: its operator has no rule, or not for these attributes.
        """
        where = f"{node.op_type} {node.name or (node.output[0] if node.output else '')!r}"
        function = self.functions.get((node.domain, node.op_type))
        if function is not None:
            self._call(function, node)
            return
        rule = self.rules.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        if rule is None:
            domain = f" of {node.domain}" if node.domain else ""
            raise Unportable(f"{where}{domain} is not imported: it has no rule")
        inputs = [self.tensor(name) for name in node.input]
        try:
            with scopes.name_scope(_scope_name(node.name or node.op_type)):
                made = rule(self, node, *inputs, **self.attrs(node))
        except Unportable as error:
            raise Unportable(f"{where} is not imported: {error}") from None
        except (ValueError, TypeError) as error:
            raise Unportable(f"{where} is not imported: {error}") from error
        outputs = list(made) if isinstance(made, list | tuple) else [made]
        for name, value in zip(node.output, outputs):
            if name:
                self.values[name] = value

    def _call(self, function: Any, node: Any) -> None:
        inner = Reader(self.rules, self.functions, self.opset)
        for name, given in zip(function.input, node.input):
            inner.values[name] = self.tensor(given)
        given_attrs = {each.name: each for each in node.attribute}
        for each in function.node:
            copied = type(each).FromString(each.SerializeToString())
            for attribute in copied.attribute:
                if attribute.ref_attr_name in given_attrs:
                    name = attribute.name
                    attribute.CopyFrom(given_attrs[attribute.ref_attr_name])
                    attribute.name = name
            inner.node(copied)
        for name, output in zip(function.output, node.output):
            self.values[output] = inner.values[name]

    def within(self, graph: Any, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of a graph within a node, for these inputs; it sees all values around it."""
        inner = Reader(self.rules, self.functions, self.opset)
        inner.values = dict(self.values)
        inner.values.update({each.name: value for each, value in zip(graph.input, inputs)})
        inner.read(graph)
        return [inner.tensor(each.name) for each in graph.output]


def _scope_name(name: str) -> str:
    """A name of ONNX's as one that a scope may have."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-/") else "_" for c in name)
    kept = kept.strip("/")
    return kept if kept[:1].isalnum() or kept[:1] == "." else f"onnx{kept}"


def read_model(
    source: Any, rules: Mapping[str, Rule], inputs: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Adds an ONNX model to the default graph.

    Args:
      source: a path, or a ``ModelProto``.
      rules: by operator.
      inputs: tensors for inputs, by name; the others become placeholders.

    Returns:
      Inputs and outputs by name.

    Raises:
      Unportable: an operator has no rule.
      ValueError: ``inputs`` names what the model has not.
    """
    model = source if isinstance(source, onnx.ModelProto) else onnx.load_model(source)
    opsets = {each.domain: each.version for each in model.opset_import}
    functions = {(each.domain, each.name): each for each in model.functions}
    reader = Reader(rules, functions, opsets.get("", opsets.get("ai.onnx", 1)))
    constants = {each.name for each in model.graph.initializer}
    taken = [each for each in model.graph.input if each.name not in constants]
    unknown = sorted(set(inputs or ()) - {each.name for each in taken})
    if unknown:
        raise ValueError(f"the model has no input {unknown[0]!r}")
    for each in taken:
        given = None if inputs is None else inputs.get(each.name)
        reader.values[each.name] = (
            _placeholder(each) if given is None else convert.convert_to_tensor(given)
        )
    reader.read(model.graph)
    found = {each.name: reader.values[each.name] for each in taken}
    return found, {each.name: reader.tensor(each.name) for each in model.graph.output}


def _placeholder(info: Any) -> Any:
    kind = info.type.tensor_type
    if not info.type.HasField("tensor_type"):
        raise Unportable(f"input {info.name!r} is no tensor")
    dims = None
    if kind.HasField("shape"):
        dims = [d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim]
    return make("Placeholder", dtype=dtype_of(kind.elem_type), shape=dims,
                name=_scope_name(info.name))  # fmt: skip
