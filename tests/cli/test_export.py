"""``penstock export``, ``import`` and ``transform``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.suite import warm


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A SavedModel, what it is fed and what it gives."""
    folder = str(tmp_path_factory.mktemp("export") / "saved")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 32], name="x")
        hidden = tf.layers.dense(x, 256, tf.nn.relu)
        y = tf.nn.softmax(tf.layers.dense(hidden, 5), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
        fed = np.random.RandomState(0).randn(6, 32).astype(np.float32)
        return folder, fed, session.run(y, {x: fed})


def _with_onnxruntime(path: Path, fed: np.ndarray) -> np.ndarray:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    return np.asarray(onnxruntime.InferenceSession(str(path)).run(None, {"x": fed})[0])


@pytest.mark.long
def test_python_runs_without_penstock(saved: Any, penstock: Any, tmp_path: Path) -> None:
    folder, fed, expected = saved
    said = penstock("export", folder, tmp_path / "model.py")
    assert "model.py" in said and "model.safetensors" in said
    np.save(tmp_path / "fed.npy", fed)
    program = (
        "import sys, numpy as np, torch, model\n"
        "found = model.run(torch.from_numpy(np.load('fed.npy')))[0]\n"
        "np.save('found.npy', found.numpy())\n"
        "assert not [name for name in sys.modules if name.startswith('penstock')]\n"
    )
    warm.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "found.npy"), expected, rtol=1e-5, atol=1e-6)


def test_onnx_and_back(saved: Any, penstock: Any, tmp_path: Path) -> None:
    folder, fed, expected = saved
    path, back = tmp_path / "model.onnx", tmp_path / "back"
    penstock("export", folder, path)
    np.testing.assert_allclose(_with_onnxruntime(path, fed), expected, rtol=1e-5, atol=1e-6)
    said = penstock("import", path, "--to", back)
    assert "input x: float32 (?, 32)" in said
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.load(session, ["serve"], str(back)).signature_def
        names = signatures["serving_default"]
        found = session.run(names.outputs["y"].name, {names.inputs["x"].name: fed})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("words", "share", "near"),
    [
        (("--weights", "float16"), 0.6, 1e-3), (("--weights", "int8"), 0.4, 0.02),
        (("--quantize", "dynamic"), 0.6, 0.02), (("--quantize", "static"), 0.7, 0.05),
        (("--prune", "0.5", "--weights", "int8"), 0.33, 0.4),
        (("--low-rank", "0.999"), 1.1, 0.02),
    ],
)  # fmt: skip
def test_smaller(
    saved: Any, penstock: Any, tmp_path: Path, words: Any, share: float, near: float
) -> None:
    folder, fed, expected = saved
    penstock("export", folder, tmp_path / "whole.onnx")
    if "static" in words:
        np.savez(tmp_path / "samples.npz", x=fed)
        words = (*words, "--samples", tmp_path / "samples.npz")
    path = tmp_path / "small.onnx"
    penstock("export", folder, path, *words)
    assert path.stat().st_size < share * (tmp_path / "whole.onnx").stat().st_size
    np.testing.assert_allclose(_with_onnxruntime(path, fed), expected, atol=near)


def test_transform(saved: Any, penstock: Any, tmp_path: Path) -> None:
    folder, fed, expected = saved
    frozen, made = tmp_path / "frozen.pb", tmp_path / "made.pb"
    penstock("freeze", folder, frozen, "--outputs", "y")
    names = "fold_constants remove_nodes(op=Identity) obfuscate_names sort_by_execution_order"
    said = penstock("transform", frozen, made, "--inputs", "x", "--outputs", "y",
                    "--transforms", names)  # fmt: skip
    assert "nodes of" in said
    path = tmp_path / "made.onnx"
    penstock("export", made, path, "--input", "x=x:0", "--output", "y=y:0")
    np.testing.assert_allclose(_with_onnxruntime(path, fed), expected, rtol=1e-5, atol=1e-6)
    said = penstock("transform", frozen, made, "--outputs", "y", "--transforms", "nope", code=1)
    assert "Transform 'nope' not recognized" in said


def test_shapes_may_be_narrowed(saved: Any, penstock: Any, tmp_path: Path) -> None:
    folder, fed, expected = saved
    path = tmp_path / "one.onnx"
    penstock("export", folder, path, "--shape", "x=2,32")
    np.testing.assert_allclose(_with_onnxruntime(path, fed[:2]), expected[:2], rtol=1e-5, atol=1e-6)


def test_what_cannot_leave_is_named(penstock: Any, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3], name="x")
        y = tf.identity(x + tf.random_normal([3], name="noise"), name="y")
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"x": x}, {"y": y})
    for end, why in ((".py", "draws random numbers"), (".onnx", "has no rule")):
        said = penstock("export", tmp_path / "saved", tmp_path / f"model{end}", code=1)
        assert "RandomStandardNormal 'noise/RandomStandardNormal'" in said and why in said


def test_asked_wrongly(saved: Any, penstock: Any, tmp_path: Path) -> None:
    folder = saved[0]
    assert "--to says" in penstock("export", folder, tmp_path / "model.bin", code=2)
    assert "is no SavedModel" in penstock("export", tmp_path, tmp_path / "m.py", code=1)
    assert "no signature 'z'" in penstock(
        "export", folder, tmp_path / "m.py", "--signature", "z", code=1
    )
    words = ("export", folder, tmp_path / "m.onnx", "--quantize", "static")
    assert "needs --samples" in penstock(*words, code=2)
    assert "no input is called 'z'" in penstock(
        "export", folder, tmp_path / "m.py", "--shape", "z=1", code=1
    )
