"""Smaller models compute nearly the same, and unpacking is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def _model(weights: np.ndarray, table: np.ndarray) -> Any:
    helper = onnx.helper
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Gather", ["table", "ids"], ["e"]),
             helper.make_node("MatMul", ["e", "w"], ["y"])]  # fmt: skip
    graph = helper.make_graph(
        nodes, "made", [info("ids", onnx.TensorProto.INT64, [3])],
        [info("y", onnx.TensorProto.FLOAT, [3, weights.shape[1]])],
        [onnx.numpy_helper.from_array(v, k) for k, v in (("w", weights), ("table", table))],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 23)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=11)


def _run(model: Any) -> np.ndarray:
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return np.asarray(session.run(None, {"ids": np.array([0, 5, 29])})[0])


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(0)
    return random.randn(33, 40).astype(np.float32), random.randn(30, 33).astype(np.float32)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 0.999])
def test_what_is_unpacked_is_what_was_kept(arrays: Any, share: float) -> None:
    from penstock.storage.interchange import compressing

    pruned = compressing.pruned(_model(*arrays), share)
    kept = {v.name: onnx.numpy_helper.to_array(v) for v in pruned.graph.initializer}
    assert abs(np.mean(kept["w"] == 0) - share) < 0.01
    rounded = {}
    for name, axis in (("w", 0), ("table", 1)):
        scale = np.abs(kept[name]).max(axis=axis, keepdims=True) / np.float32(127)
        scale[scale == 0] = 1
        rounded[name] = np.round(kept[name] / scale).astype(np.float32) * scale
    expected = rounded["table"][[0, 5, 29]] @ rounded["w"]
    made = compressing.int8_weights(pruned)
    np.testing.assert_allclose(_run(made), expected, rtol=1e-5, atol=1e-5)


def test_low_rank_is_exact_for_matrices_of_low_rank() -> None:
    from penstock.storage.interchange import compressing

    random = np.random.RandomState(1)
    weights = (random.randn(64, 3) @ random.randn(3, 64)).astype(np.float32)
    table = (random.randn(30, 2) @ random.randn(2, 64)).astype(np.float32)
    model = _model(weights, table)
    made = compressing.low_rank(model, 0.999999)
    assert made.ByteSize() < 0.3 * model.ByteSize()
    np.testing.assert_allclose(_run(made), _run(model), rtol=1e-3, atol=1e-3)
    assert len(compressing.low_rank(_model(*_full()), 1.0).graph.node) == 2


def _full() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(2)
    return random.randn(32, 32).astype(np.float32), random.randn(30, 32).astype(np.float32)


def test_half_and_mistakes(arrays: Any) -> None:
    from penstock.storage.interchange import compressing

    model = _model(*arrays)
    made = compressing.half_weights(model)
    assert made.ByteSize() < 0.6 * model.ByteSize()
    np.testing.assert_allclose(_run(made), _run(model), atol=0.05)
    with pytest.raises(ValueError, match="found 1.5"):
        compressing.pruned(model, 1.5)
    with pytest.raises(ValueError, match="found 0"):
        compressing.low_rank(model, 0)
