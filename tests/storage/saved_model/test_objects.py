"""``tf.saved_model.save`` and ``load_v2``; against both TensorFlows where they are there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.formats.schema import SavedModel
from penstock.library.eager import mode
from tests.contrib.recorded import check
from tests.library.eager.conftest import eagerly as eagerly
from tests.peers import PEERS, TF115, needed
from tests.storage.saved_model import object_models as models

EXPECTED = json.loads(Path(__file__).with_name("object_models.json").read_text())


@pytest.fixture
def saved(eagerly: None, tmp_path: Path) -> str:
    models.save_all(tf, str(tmp_path))
    return str(tmp_path)


def test_what_is_loaded_gives_what_tensorflow_gives(saved: str) -> None:
    check(models.called(tf, tf.saved_model.load_v2, saved), EXPECTED)


def test_what_was_loaded_can_be_saved_again(saved: str, tmp_path: Path) -> None:
    again = tmp_path / "again"
    for name in ("net", "root", "words"):
        loaded = tf.saved_model.load_v2(os.path.join(saved, name))
        given = dict(loaded.signatures) or None
        tf.saved_model.save(loaded, str(again / name), signatures=given)
    check(models.called(tf, tf.compat.v2.saved_model.load, str(again)), EXPECTED)


@pytest.mark.parametrize("writer", ["p", "1", "2"])
@pytest.mark.parametrize("reader", ["p", "1", "2"])
@pytest.mark.long
@needed(TF115)
@needed(PEERS)
def test_files_go_every_way(eagerly: None, tmp_path: Path, writer: str, reader: str) -> None:
    if (writer, reader) == ("2", "1"):
        pytest.skip("TensorFlow 1.15 does not know TensorFlow 2.21's attr validate_shape")
    if writer == "p":
        models.save_all(tf, str(tmp_path))
    else:
        peer(writer, "save", tmp_path)
    if reader == "p":
        found = models.called(tf, tf.saved_model.load_v2, str(tmp_path))
    else:
        found = json.loads(peer(reader, "load", tmp_path).splitlines()[-1])
    check(found, EXPECTED)


def peer(which: str, what: str, folder: Path) -> str:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    python = TF115 if which == "1" else PEERS
    command = [str(python), str(Path(models.__file__)), what, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_graph_mode_goes_both_ways(tmp_path: Path) -> None:
    folder = str(tmp_path)
    with tf.Graph().as_default(), tf.Session() as sess:
        root = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0], use_resource=True, name="v"))
        root.add = tf.function(
            lambda x: x + root.v * 10.0, input_signature=[tf.TensorSpec([2], tf.float32)]
        )
        sess.run(root.v.initializer)
        tf.saved_model.save(root, folder)
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load_v2(folder, tags=["serve"])
        y = loaded.add(tf.constant([1.0, 1.0]))
        z = loaded.signatures["serving_default"](x=tf.constant([0.0, 0.0]))["output_0"]
        sess.run(tf.global_variables_initializer())
        assert sess.run([y, z])[0].tolist() == [11.0, 21.0]
        (grad,) = tf.gradients(y, loaded.v)
        assert sess.run([z, grad])[1].tolist() == [10.0, 10.0]
    with tf.Graph().as_default(), tf.Session() as sess:  # as any session loads it
        meta_graph = tf.saved_model.load(sess, ["serve"], folder)
        signature = meta_graph.signature_def["serving_default"]
        feed = {signature.inputs["x"].name: [1.0, 1.0]}
        assert sess.run(signature.outputs["output_0"].name, feed).tolist() == [11.0, 21.0]


def test_mistakes_are_told_as_tensorflow_tells_them(eagerly: None, tmp_path: Path) -> None:
    folder = str(tmp_path)
    with pytest.raises(ValueError, match="Expected a Trackable object for export, got 3."):
        tf.saved_model.save(3, folder)
    module = tf.Module()
    module.f = tf.function(lambda x: x)
    words = "Only `tf.functions` with an input signature or concrete functions can be used"
    with pytest.raises(ValueError, match=words):
        tf.saved_model.save(module, folder, signatures=module.f)
    lost = tf.Variable(1.0)
    module.g = tf.function(lambda: lost + 1.0, input_signature=[])
    with pytest.raises(AssertionError, match="references untracked object"):
        tf.saved_model.save(module, folder)

    @tf.function
    def inside() -> None:
        tf.saved_model.save(tf.Module(), folder)

    with pytest.raises(AssertionError, match="not supported inside a traced"):
        inside()
    tf.saved_model.save(tf.Module(), folder)
    with pytest.raises(ValueError, match="but got an incompatible argument tags"):
        tf.saved_model.load_v2(folder, tags=["train"])
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load_v2(folder + "/none")


def test_arguments_that_no_function_takes_are_refused(saved: str) -> None:
    net = tf.saved_model.load_v2(os.path.join(saved, "net"))
    with pytest.raises(ValueError, match="Could not find matching function to call loaded from"):
        net.serve(tf.constant([[1, 2, 3]]))
    with pytest.raises(TypeError, match="too many positional arguments"):
        net.serve(1, 2, 3)


def test_names_in_a_file_stay_attributes(saved: str) -> None:
    """A child called ``__class__`` changes no class; a path leads nowhere else."""
    path = os.path.join(saved, "words", "saved_model.pb")
    message = SavedModel.FromString(Path(path).read_bytes())
    (meta_graph,) = message.meta_graphs
    root = meta_graph.object_graph_def.nodes[0]
    root.children.add(node_id=root.children[0].node_id, local_name="__class__")
    Path(path).write_bytes(message.SerializeToString())
    loaded = tf.saved_model.load_v2(os.path.dirname(path))
    assert type(loaded).__name__ == "UserObject"
    meta_graph.asset_file_def[0].filename = "../../secret"
    Path(path).write_bytes(message.SerializeToString())
    with pytest.raises(tf.errors.PermissionDeniedError):
        tf.saved_model.load_v2(os.path.dirname(path))


def test_keras_models_keep_their_calls(eagerly: None, tmp_path: Path) -> None:
    x = np.random.RandomState(1).normal(size=[16, 3]).astype(np.float32)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(4, "relu", input_shape=[3]), layers.BatchNormalization(), layers.Dense(2)]
    )
    model.compile("sgd", "mse")
    model.fit(x, np.ones([16, 2]), epochs=2, verbose=0)
    model.save(str(tmp_path), save_format="tf")
    again = tf.keras.models.load_model(str(tmp_path))
    np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-5, atol=1e-6)
    loaded = tf.saved_model.load_v2(str(tmp_path))
    wanted = model.predict(x)
    np.testing.assert_allclose(loaded(tf.constant(x)), wanted, rtol=1e-5, atol=1e-6)
    named = loaded.signatures["serving_default"](tf.constant(x))
    np.testing.assert_allclose(named["dense_1"], wanted, rtol=1e-5, atol=1e-6)
    trained = loaded(tf.constant(x), training=True)
    np.testing.assert_allclose(trained, model(tf.constant(x), training=True), rtol=1e-5, atol=1e-6)
    assert [v.name for v in loaded.variables] == [v.name for v in model.weights]
    assert len(loaded.trainable_variables) == 6


@pytest.mark.usefixtures("eagerly")
def test_functions_are_concrete_by_request() -> None:
    v = tf.Variable(3.0, name="v")

    @tf.function
    def f(x: Any, training: bool = False) -> Any:
        return {"y": x * v if training else x - v}

    found = f.get_concrete_function(tf.TensorSpec([None], tf.float32, name="q"), training=True)
    assert f.get_concrete_function(tf.TensorSpec([None], tf.float32, name="q"), True) is found
    assert [t.name for t in found.inputs][0] == "q:0" and len(found.inputs) == 2
    assert found.structured_input_signature == (
        (tf.TensorSpec([None], tf.float32, name="q"), True), {},
    )  # fmt: skip
    assert found.output_dtypes == {"y": tf.float32}
    assert found.output_shapes["y"].as_list() == [None]
    assert found.name.startswith(b"__inference_f_") and found.graph.name.encode() == found.name
    assert found(q=tf.constant([2.0]))["y"].numpy().tolist() == [6.0]
    with tf.GradientTape() as tape:
        y = found(tf.constant([2.0]))["y"]
    assert tape.gradient(y, v).numpy() == 2.0
    with pytest.raises(ValueError, match="All inputs to `ConcreteFunction`s must be Tensors"):
        found(1.0)
    with pytest.raises(TypeError, match="Expected at most 1 positional arguments"):
        found(tf.constant([1.0]), tf.constant([1.0]))
    with pytest.raises(TypeError, match="Missing: \\['q'\\]"):
        found(z=tf.constant([1.0]))


def test_a_wrapped_function_is_cut() -> None:
    def f(x: Any, y: Any) -> Any:
        v = tf.Variable(5.0, name="v", use_resource=True)
        return tf.identity(x * v + y, name="b")

    spec = tf.TensorSpec([], tf.float32, name="x")
    for program in (tf.Graph(), mode.Program()):
        with program.as_default():
            wrapped = tf.wrap_function(f, [spec, tf.TensorSpec([], tf.float32)])
            part = wrapped.prune("x:0", {"m": "mul:0", "none": wrapped.graph.get_operations()[0]})
            assert [v.name for v in wrapped.graph.variables] == ["v:0"]
            with pytest.raises(Exception, match="Unable to lift tensor"):
                wrapped.prune([], "mul:0")
            found = [wrapped(tf.constant(2.0), 1.0), part(tf.constant(3.0))["m"]]
            if not program.executes:
                with tf.Session() as sess:
                    sess.run([v.initializer for v in wrapped.graph.variables])
                    found = sess.run(found)
            assert [float(each) for each in found] == [11.0, 15.0]
