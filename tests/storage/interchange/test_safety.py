"""A graph is data: no name, attr or constant of it runs in what is exported."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import penstock as tf
from penstock.storage.interchange import python_program
from penstock.storage.interchange.model import of_graph
from tests.storage.interchange.leaving import WAYS

HOSTILE = [
    "x\n    open('owned', 'w')", "x'; open('owned','w'); '", 'x"""\nimport os\n"""', "{x}", "{0}",
    "%s", "x\r\nraise SystemExit", "x\u2028raise SystemExit", "\\", "'" * 3, '"' * 3,
    "x # \f\nopen('owned','w')", "__import__('os').system('touch owned')", "f0", "model", "torch",
    "None", "\0",
]  # fmt: skip
_TEXT = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
)


def _model(inside: str, attr: str) -> Any:
    """A graph whose nodes, attrs and ends have names from outside, as a file may have them."""
    message = tf.GraphDef()
    x = message.node.add(name="x", op="Placeholder")
    x.attr["dtype"].type = tf.float32.as_datatype_enum
    x.attr["shape"].shape.dim.add().size = 3
    constant = message.node.add(name="c", op="Const")
    constant.attr["dtype"].type = tf.float32.as_datatype_enum
    constant.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.array([1, 2, 3], np.float32)))
    message.node.add(name="y", op="CheckNumerics", input=["x"]).attr["T"].type = 1
    message.node[-1].attr["message"].s = attr.encode("utf-8", "surrogatepass")
    message.node.add(name="z", op="Mul", input=["y", "c"]).attr["T"].type = 1
    message.node.add(name="out", op="Add", input=["z", "c"]).attr["T"].type = 1
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(message, name="")
    # What no check of names has looked at, as if a reader had let it through.
    for op in graph.get_operations():
        if op.name in ("y", "z"):
            op.name = inside + op.name
    return graph, graph.get_tensor_by_name


def _literals(text: str) -> set[Any]:
    """The texts that a program has as literals."""
    return {
        n.value for n in ast.walk(ast.parse(text))
        if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }  # fmt: skip


def _checked(text: str) -> None:
    """The program names what the kernels and torch have, and calls nothing else of Python's."""
    tree = ast.parse(text)
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call)
              and isinstance(n.func, ast.Name)}  # fmt: skip
    forbidden = {"open", "exec", "eval", "compile", "__import__", "getattr", "setattr", "input"}
    assert not called & forbidden
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert imported <= {"os", "torch", "math"}, imported


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(inside=_TEXT, attr=_TEXT, end=_TEXT)
def test_names_and_attrs_stay_data(
    tmp_path_factory: pytest.TempPathFactory, inside: str, attr: str, end: str
) -> None:
    folder = tmp_path_factory.mktemp("exported")
    graph, get = _model(inside, attr)
    outputs = [op for op in graph.get_operations() if op.name == "out"]
    model = of_graph(graph, {end: get("x:0")}, {end + "_": outputs[0].outputs[0]})
    text, _ = python_program.python_text(model, "exported")
    _checked(text)
    assert {end, end + "_", attr} <= _literals(text)
    feeds = {end: np.array([1, 2, 3], np.float32)}
    for way in ("python", "onnx"):
        if way == "onnx":
            pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
            if "\0" in end + inside:
                continue  # ends a name in C
        found = WAYS[way](model, folder, feeds)[0]
        np.testing.assert_allclose(found, [2, 6, 12], rtol=1e-6)
    assert not list(folder.glob("**/owned")) and not Path("owned").exists()


def test_a_file_beside_the_program_is_named_by_a_literal(tmp_path: Path) -> None:
    graph, get = _model("", "fine")
    model = of_graph(graph, {"x": get("x:0")}, {"y": get("out:0")})
    name = "a' + open('owned', 'w').name + '"
    text, _ = python_program.python_text(model, name)
    _checked(text)
    assert f"{name}.safetensors" in _literals(text)
