"""Keras models against what TensorFlow 1.15 has made of the same programs, and without it.

``python -m tests.training.keras_models.test_models`` under TensorFlow 1.15's Python writes
``golden.json`` anew.
"""

import json
import sys
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.training.keras_models.comparing import plain, same
from tests.training.keras_models.programs import PROGRAMS, classifier, data

GOLDEN = Path(__file__).with_name("golden.json")


def main():
    import tensorflow as tf

    found = {}
    for name, run in PROGRAMS.items():
        tf.keras.backend.clear_session()
        found[name] = plain(run(tf))
    GOLDEN.write_text(json.dumps(found, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
else:
    import pytest

    import penstock as tf

    @pytest.fixture(autouse=True)
    def _fresh():
        tf.keras.backend.clear_session()
        yield
        tf.keras.backend.clear_session()

    def test_weights_go_to_files_and_back(tmp_path):
        x, y = data()
        model = classifier(tf)
        model.compile("sgd", "categorical_crossentropy")
        log = str(tmp_path / "log.csv")
        callbacks = [
            tf.keras.callbacks.ModelCheckpoint(
                str(tmp_path / "at-{epoch}"), save_weights_only=True
            ),
            tf.keras.callbacks.CSVLogger(log),
        ]
        history = model.fit(x, y, epochs=2, verbose=0, callbacks=callbacks).history
        wanted = model.predict(x)
        other = tf.keras.models.model_from_json(model.to_json())
        assert not np.allclose(other.predict(x), wanted)
        other.load_weights(str(tmp_path / "at-2"))
        np.testing.assert_array_equal(other.predict(x), wanted)
        names = [name for name, _ in tf.train.list_variables(str(tmp_path / "at-2"))]
        assert "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE" in names
        lines = Path(log).read_text().splitlines()
        assert lines[0] == "epoch,loss"
        assert float(lines[2].split(",")[1]) == pytest.approx(history["loss"][1])

    def test_hdf5_without_h5py_is_refused(tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "h5py", None)
        with pytest.raises(ImportError, match="`save_weights` requires h5py: pip install"):
            classifier(tf).save_weights(str(tmp_path / "weights.h5"))
        with pytest.raises(ImportError, match="`save_model` requires h5py"):
            classifier(tf).save(str(tmp_path / "model.h5"))
        with pytest.raises(ValueError, match='Unknown format "foo"'):
            classifier(tf).save_weights(str(tmp_path / "weights"), save_format="foo")

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_program_is_as_tensorflows(name):
        wanted = json.loads(GOLDEN.read_text())[name]
        same(plain(PROGRAMS[name](tf)), wanted)

    def test_the_layer_after_a_given_input_is_described_with_its_shape():
        layers = tf.keras.layers
        model = tf.keras.Sequential([layers.InputLayer(input_shape=(4,)), layers.Dense(2)])
        config = model.get_config()
        assert sorted(config) == ["layers", "name"]
        assert config["layers"][0]["config"]["batch_input_shape"] == (None, 4)
        again = tf.keras.Sequential.from_config(config)
        assert again.output_shape == (None, 2)
        assert "batch_input_shape" not in model.layers[0].get_config()

    def test_class_weights_of_steps_are_refused():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3, 4))])
        model.compile("sgd", "mse")
        x, y = np.ones((2, 3, 4), np.float32), np.ones((2, 3, 2), np.float32)
        with pytest.raises(ValueError, match=r"`class_weight` not supported for 3\+ dimensional"):
            model.fit(x, y, class_weight={0: 1.0, 1: 2.0}, verbose=0)

    def test_features_become_a_layers_input():
        column = tf.feature_column
        layer = tf.keras.layers.DenseFeatures(
            [
                column.numeric_column("a"),
                column.embedding_column(column.categorical_column_with_identity("b", 3), 2),
            ]
        )
        y = layer({"a": tf.ones([2, 1]), "b": tf.constant([[0], [1]], tf.int64)})
        assert y.shape.as_list() == [2, 3]
        names = [v.name for v in layer.weights]
        assert names == ["dense_features/b_embedding/embedding_weights:0"]
