"""ONNX comes in: what was exported, and graphs as others make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.storage.interchange.model import Unportable, of_session
from tests.storage.interchange.networks import LARGE, SMALL, Network

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
helper = onnx.helper


def _read(model: Any, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    from penstock.storage.interchange.onnx_operators import RULES
    from penstock.storage.interchange.onnx_reader import read_model

    with tf.Graph().as_default(), tf.Session() as session:
        inputs, outputs = read_model(model, RULES)
        given = {inputs[name]: value for name, value in feeds.items() if name in inputs}
        return [np.asarray(v) for v in session.run(list(outputs.values()), given)]


def _round_trip(network: Network) -> None:
    from penstock.storage.interchange.onnx_file import onnx_model

    made = onnx_model(of_session(network.session, network.inputs, network.outputs))
    for want, have in zip(network.run(), _read(made, network.feeds), strict=True):
        assert have.dtype == want.dtype
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5 * max(1, np.abs(want).max()))


_QUICK = ("digits_cnn", "lstm_language_model")


@pytest.mark.parametrize(
    "name",
    [
        name if name in _QUICK else pytest.param(name, marks=pytest.mark.long)
        for name in sorted(SMALL)
    ],
)
def test_export_comes_in_again(name: str) -> None:
    _round_trip(SMALL[name]())


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_export_comes_in_again(name: str) -> None:
    _round_trip(LARGE[name]())


# ---- graphs as others make them ------------------------------------------------------------------


def _random(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.RandomState(len(shape) + sum(shape)).randn(*shape) * scale).astype(np.float32)


def _graph(
    nodes: list[Any], feeds: dict[str, np.ndarray], constants: dict[str, np.ndarray],
    outputs: list[str], opset: int = 17,
) -> Any:  # fmt: skip
    infos = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for k, v in feeds.items()
    ]
    ends = [helper.make_empty_tensor_value_info(name) for name in outputs]
    kept = [onnx.numpy_helper.from_array(v, k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "made", infos, ends, kept)
    opsets = [helper.make_opsetid("", opset)]
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=opsets, ir_version=9)
    )


def _node(kind: str, inputs: str, outputs: str, **attrs: Any) -> Any:
    given = [name if name != "-" else "" for name in inputs.split()]
    return helper.make_node(kind, given, outputs.split(), **attrs)


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def classifier() -> Any:
    """Convolutions, batch normalization, pools and Gemm, as of image models."""
    nodes = [
        _node("Conv", "x w", "a", pads=[1, 1, 1, 1], strides=[2, 2]),
        _node("BatchNormalization", "a s b m v", "n"), _node("Relu", "n", "r"),
        _node("MaxPool", "r", "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        _node("GlobalAveragePool", "p", "g"), _node("Flatten", "g", "f"),
        _node("Gemm", "f d c", "l", transB=1, alpha=0.5), _node("Softmax", "l", "y"),
    ]  # fmt: skip
    kept = {"w": _random(8, 3, 3, 3), "s": _random(8), "b": _random(8), "m": _random(8),
            "v": np.abs(_random(8)) + 1, "d": _random(5, 8), "c": _random(5)}  # fmt: skip
    return _graph(nodes, {"x": _random(2, 3, 17, 17)}, kept, ["y"]), {"x": _random(2, 3, 17, 17)}


def residual() -> Any:
    nodes = [
        _node("Conv", "x w1 b1", "a", auto_pad="SAME_UPPER"), _node("LeakyRelu", "a", "r"),
        _node("Conv", "r w2 b1", "c", pads=[1, 1, 1, 1], group=4), _node("Add", "x c", "s"),
        _node("Clip", "s low high", "y"),
    ]  # fmt: skip
    kept = {"w1": _random(4, 4, 3, 3), "b1": _random(4), "w2": _random(4, 1, 3, 3),
            "low": np.float32(0).reshape(()), "high": np.float32(6).reshape(())}  # fmt: skip
    return _graph(nodes, {"x": _random(1, 4, 6, 7)}, kept, ["y"]), {"x": _random(1, 4, 6, 7)}


def transformer_block() -> Any:
    nodes = [
        _node("LayerNormalization", "x s b", "n", axis=-1),
        _node("MatMul", "n q", "a"), _node("Reshape", "a heads", "h"),
        _node("Transpose", "h", "t", perm=[0, 2, 1, 3]), _node("Transpose", "h", "k",
                                                              perm=[0, 2, 3, 1]),
        _node("MatMul", "t k", "scores"), _node("Div", "scores root", "scaled"),
        _node("Softmax", "scaled", "p", axis=-1), _node("MatMul", "p t", "mixed"),
        _node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
        _node("Reshape", "back flat", "o"), _node("Add", "x o", "y"),
        _node("Gelu", "y", "g", approximate="tanh"),
    ]  # fmt: skip
    kept = {"s": _random(8), "b": _random(8), "q": _random(8, 8), "heads": _ints(0, 0, 2, 4),
            "flat": _ints(0, 0, -1), "root": np.float32(2).reshape(())}  # fmt: skip
    feeds = {"x": _random(2, 5, 8)}
    return _graph(nodes, feeds, kept, ["y", "g"], 20), feeds


def embedding_lookup() -> Any:
    nodes = [
        _node("Gather", "table ids", "e"), _node("ReduceMean", "e axes", "m", keepdims=0),
        _node("MatMul", "m w", "l"), _node("ArgMax", "l", "y", axis=-1, keepdims=0),
        _node("TopK", "l k", "top places", axis=-1),
    ]  # fmt: skip
    kept = {"table": _random(20, 6), "w": _random(6, 9), "axes": _ints(1), "k": _ints(3)}
    feeds = {"ids": np.array([[0, -1, 7], [3, 3, 19]], np.int64)}
    return _graph(nodes, feeds, kept, ["y", "top", "places"], 18), feeds


def slices_and_shapes() -> Any:
    nodes = [
        _node("Shape", "x", "s"), _node("Slice", "s zero two", "head"),
        _node("Concat", "head minus", "wanted", axis=0), _node("Reshape", "x wanted", "r"),
        _node("Slice", "r starts ends axes steps", "cut"), _node("Squeeze", "one first", "q"),
        _node("Unsqueeze", "cut first", "u"), _node("Tile", "u times", "y"),
        _node("Expand", "q wide", "z"), _node("Pad", "cut pads", "p"),
    ]  # fmt: skip
    kept = {"zero": _ints(0), "two": _ints(2), "minus": _ints(-1), "starts": _ints(-1, 1),
            "ends": _ints(-100, 1000), "axes": _ints(2, 1), "steps": _ints(-2, 1),
            "first": _ints(0), "times": _ints(2, 1, 1, 1), "one": _random(1, 1, 3),
            "wide": _ints(4, 3), "pads": _ints(0, 1, 0, 0, 0, 2)}  # fmt: skip
    feeds = {"x": _random(2, 3, 4, 5)}
    return _graph(nodes, feeds, kept, ["y", "z", "p"]), feeds


def older_opset() -> Any:
    """Attributes where newer ones have inputs."""
    nodes = [
        _node("Slice", "x", "a", starts=[1], ends=[3], axes=[1]),
        _node("Unsqueeze", "a", "b", axes=[0]), _node("Clip", "b", "c", min=-1.0, max=1.0),
        _node("ReduceSum", "c", "d", axes=[2], keepdims=0), _node("Softmax", "d", "e"),
        _node("Squeeze", "e", "f", axes=[0]), _node("Split", "f", "g h", axis=0, split=[1, 2]),
        _node("Dropout", "h", "y"), _node("Identity", "g", "z"),
    ]  # fmt: skip
    feeds = {"x": _random(3, 4)}
    return _graph(nodes, feeds, {}, ["y", "z"], 9), feeds


def upsampling() -> Any:
    nodes = [
        _node("ConvTranspose", "x w b", "t", strides=[2, 2], pads=[1, 1, 1, 1],
              output_padding=[1, 1]),
        _node("Resize", "t - - sizes", "r", mode="linear",
              coordinate_transformation_mode="half_pixel"),
        _node("Resize", "x - scales", "n", mode="nearest",
              coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        _node("InstanceNormalization", "r s s", "y"), _node("PRelu", "n slope", "z"),
    ]  # fmt: skip
    kept = {"w": _random(4, 3, 3, 3), "b": _random(3), "sizes": _ints(2, 3, 11, 13),
            "scales": np.array([1, 1, 2, 3], np.float32), "s": _random(3),
            "slope": _random(4, 1, 1)}  # fmt: skip
    feeds = {"x": _random(2, 4, 5, 5)}
    return _graph(nodes, feeds, kept, ["y", "z"]), feeds


def loop_of_sums() -> Any:
    """A loop with a variable, and a row for each round."""
    info = helper.make_tensor_value_info
    kind, whole, truth = (onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL)
    body = helper.make_graph(
        [_node("Add", "v x", "w"), _node("Identity", "going", "on"), _node("Mul", "w w", "row")],
        "body", [info("i", whole, []), info("going", truth, []), info("v", kind, [3])],
        [info("on", truth, []), info("w", kind, [3]), info("row", kind, [3])],
    )  # fmt: skip
    nodes = [_node("Loop", "count - start", "last rows", body=body)]
    kept = {"count": np.int64(4).reshape(()), "start": _random(3)}
    feeds = {"x": _random(3)}
    return _graph(nodes, feeds, kept, ["last", "rows"]), feeds


def choice() -> Any:
    """A conditional that takes values from around it."""
    info = helper.make_tensor_value_info
    branches = [
        helper.make_graph([_node(kind, "x y", "out")], kind, [],
                          [info("out", onnx.TensorProto.FLOAT, [3])])
        for kind in ("Add", "Sub")
    ]  # fmt: skip
    nodes = [_node("ReduceSum", "x", "s", keepdims=0), _node("Greater", "s zero", "test"),
             _node("If", "test", "z", then_branch=branches[0],
                   else_branch=branches[1])]  # fmt: skip
    feeds = {"x": _random(3), "y": _random(3) * 2}
    return _graph(nodes, feeds, {"zero": np.float32(0).reshape(())}, ["z"]), feeds


def quantized() -> Any:
    """Weights and values by QuantizeLinear and DequantizeLinear."""
    nodes = [
        _node("QuantizeLinear", "x sx zx", "q"), _node("DequantizeLinear", "q sx zx", "d"),
        _node("DequantizeLinear", "w sw zw", "e", axis=0),
        _node("Conv", "d e", "y", pads=[1, 1, 1, 1]),
    ]  # fmt: skip
    kept = {"sx": np.float32(0.05).reshape(()), "zx": np.uint8(120).reshape(()),
            "w": (_random(4, 3, 3, 3) * 40).clip(-127, 127).astype(np.int8),
            "sw": np.abs(_random(4)) + 0.01, "zw": np.zeros(4, np.int8)}  # fmt: skip
    feeds = {"x": _random(1, 3, 6, 6)}
    return _graph(nodes, feeds, kept, ["y"]), feeds


def numbers_and_masks() -> Any:
    nodes = [
        _node("Greater", "x y", "g"), _node("Where", "g x y", "w"), _node("NonZero", "g", "places"),
        _node("Cast", "g", "c", to=onnx.TensorProto.INT64), _node("CumSum", "c axis", "s"),
        _node("Mod", "s three", "m"), _node("OneHot", "m depth values", "hot", axis=1),
        _node("ScatterND", "x index updates", "put"), _node("Max", "x y w", "top"),
        _node("Einsum", "x y", "e", equation="ij,kj->ik"), _node("Trilu", "e", "t", upper=0),
    ]  # fmt: skip
    kept = {"axis": np.int64(1).reshape(()), "three": _ints(3), "depth": _ints(3),
            "values": np.array([0.5, 2], np.float32), "index": np.array([[2], [0]], np.int64),
            "updates": _random(2, 4)}  # fmt: skip
    feeds = {"x": _random(3, 4), "y": _random(3, 4)[::-1].copy()}
    return _graph(nodes, feeds, kept, ["w", "places", "hot", "put", "top", "t"]), feeds


def with_functions() -> Any:
    """A function of the model's own, called twice."""
    square = helper.make_function(
        "own", "ScaledSquare", ["a"], ["b"],
        [_node("Mul", "a a", "c"), _node("Constant", "", "k", value_float=0.5),
         _node("Mul", "c k", "b")],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    nodes = [helper.make_node("ScaledSquare", ["x"], ["h"], domain="own"),
             helper.make_node("ScaledSquare", ["h"], ["y"], domain="own")]  # fmt: skip
    kind = onnx.TensorProto.FLOAT
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "made", [info("x", kind, [4])], [info("y", kind, [4])])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    made = helper.make_model(graph, functions=[square], opset_imports=opsets, ir_version=9)
    return made, {"x": _random(4)}


GRAPHS: list[Callable[[], Any]] = [
    classifier, residual, transformer_block, embedding_lookup, slices_and_shapes, older_opset,
    upsampling, loop_of_sums, choice, quantized, numbers_and_masks, with_functions,
]  # fmt: skip


@pytest.mark.parametrize("make", GRAPHS, ids=[g.__name__ for g in GRAPHS])
def test_graph_comes_in(make: Callable[[], Any]) -> None:
    model, feeds = make()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    for want, have in zip(session.run(None, feeds), _read(model, feeds), strict=True):
        assert have.dtype == want.dtype
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5 * max(1, np.abs(want).max()))


def test_what_has_no_rule_is_named() -> None:
    model = _graph([_node("Det", "x", "y")], {"x": _random(3, 3)}, {}, ["y"])
    with pytest.raises(Unportable, match="Det 'y' is not imported: it has no rule"):
        _read(model, {"x": _random(3, 3)})
