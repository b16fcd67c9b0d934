"""Models and weights in HDF5: here, from TensorFlow 1.15 and to it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.formats import hdf5
from tests.contrib.recorded import check
from tests.library.eager.conftest import eagerly as eagerly
from tests.peers import TF115, needed
from tests.training.keras_models import hdf5_models as models

h5py: Any = pytest.importorskip("h5py", reason="h5py is an optional dependency")


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def same(found: Any, wanted: Any) -> None:
    check(found, wanted, rtol=1e-4, atol=1e-5)


def test_a_model_comes_back_with_its_training(tmp_path: Path) -> None:
    wanted = models.save(tf, str(tmp_path))
    tf.keras.backend.clear_session()
    same(models.load(tf, str(tmp_path)), wanted)


@pytest.mark.usefixtures("eagerly")
def test_eagerly_too(tmp_path: Path) -> None:
    wanted = models.save(tf, str(tmp_path))
    same(models.load(tf, str(tmp_path)), wanted)


def peer(what: str, folder: Path) -> Any:
    command = [str(TF115), str(Path(models.__file__)), what, str(folder)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
@needed(TF115)
def test_tensorflow_reads_it(tmp_path: Path) -> None:
    wanted = models.save(tf, str(tmp_path))
    same(peer("load", tmp_path), wanted)


@pytest.mark.long
@needed(TF115)
def test_tensorflows_file_is_read(tmp_path: Path) -> None:
    wanted = peer("save", tmp_path)
    same(models.load(tf, str(tmp_path)), wanted)


def test_the_layout_is_keras(tmp_path: Path) -> None:
    models.save(tf, str(tmp_path))
    with h5py.File(tmp_path / "model.h5") as file:
        assert sorted(file) == ["model_weights", "optimizer_weights"]
        assert sorted(file.attrs) == [
            "backend", "keras_version", "model_config", "training_config",
        ]  # fmt: skip
        assert json.loads(file.attrs["model_config"])["class_name"] == "Model"
        training = json.loads(file.attrs["training_config"])
        assert training["loss"] == "mse" and training["metrics"] == ["mae"]
        assert training["optimizer_config"]["class_name"] == "Adam"
        group = file["model_weights"]
        names = hdf5.read_names(group, "layer_names")
        assert names == ["given", "first", "norm", "inner", "last"]
        assert hdf5.read_names(group["first"], "weight_names") == ["first/kernel:0", "first/bias:0"]
        assert group["first"]["first/kernel:0"].shape == (3, 4)


def test_weights_by_name_and_what_does_not_fit(tmp_path: Path) -> None:
    models.save(tf, str(tmp_path))
    path = str(tmp_path / "weights.h5")
    dense = tf.keras.layers.Dense
    other = tf.keras.Sequential([dense(5, input_shape=[3], name="own"), dense(3, name="x")])
    with pytest.raises(ValueError, match="containing 4 layers into a model with 2 layers"):
        other.load_weights(path)
    named = tf.keras.Sequential([dense(4, input_shape=[3], name="first"), dense(3, name="new")])
    before = named.layers[1].get_weights()
    named.load_weights(path, by_name=True)
    with h5py.File(path) as file:
        kernel = np.asarray(file["first"]["first/kernel:0"])
    np.testing.assert_array_equal(named.layers[0].get_weights()[0], kernel)
    np.testing.assert_array_equal(named.layers[1].get_weights()[0], before[0])
    wrong = tf.keras.Sequential([dense(4, input_shape=[7], name="first")])
    with pytest.raises(ValueError, match='Layer #1 \\(named "first"\\), weight .* has shape'):
        wrong.load_weights(path, by_name=True)
    with pytest.raises(ValueError, match="No model found in config file"):
        tf.keras.models.load_model(path)
    with pytest.raises(OSError, match="does not exist at"):
        tf.keras.models.load_model(str(tmp_path / "none.h5"))


def test_what_a_checkpoint_callback_saves_is_a_model(tmp_path: Path) -> None:
    model = models.network(tf)
    model.compile("sgd", "mse")
    saver = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "at-{epoch}.h5"))
    model.fit(models.X, models.Y, epochs=2, verbose=0, callbacks=[saver])
    loaded = tf.keras.models.load_model(str(tmp_path / "at-2.h5"), compile=False)
    np.testing.assert_allclose(loaded.predict(models.X), model.predict(models.X), rtol=1e-5)
    assert loaded.optimizer is None


def test_subclasses_and_code_are_refused(tmp_path: Path) -> None:
    class Own(tf.keras.Model):
        def call(self, inputs: Any) -> Any:
            return inputs

    with pytest.raises(NotImplementedError, match="requires the model to be a Functional model"):
        Own().save(str(tmp_path / "own.h5"))
    model = tf.keras.Sequential([tf.keras.layers.Lambda(lambda x: x * 2.0, input_shape=[2])])
    path = str(tmp_path / "code.h5")
    model.save(path)
    with h5py.File(path, "r+") as file:
        config = file.attrs["model_config"]
        text = config if isinstance(config, str) else config.decode()
        layer = json.loads(text)["config"]["layers"][0]["config"]
        layer["function"][0] = layer["function"][0][:-8] + "AAAAAAA="
        described = json.loads(text)
        described["config"]["layers"][0]["config"] = layer
        file.attrs["model_config"] = json.dumps(described).encode()
    with pytest.raises(ValueError, match="Python code of who wrote the configuration"):
        tf.keras.models.load_model(path)


def test_long_lists_of_names_are_split(tmp_path: Path) -> None:
    names = [f"layer_{i:060}" for i in range(2000)]
    with h5py.File(tmp_path / "names.h5", "w") as file:
        hdf5.write_names(file, "layer_names", names)
        assert "layer_names0" in file.attrs
        assert hdf5.read_names(file, "layer_names") == names
        with pytest.raises(RuntimeError, match="cannot be saved to HDF5 file because they are lar"):
            hdf5.write_names(file, "more", ["x" * 70000])
