"""``tf.keras.applications`` and ``tf.keras.preprocessing.image``, on small images."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

# The number of layers and of parameters, and the first prediction, as TensorFlow 1.15 has them.
_FOUND = {
    "MobileNet": (32, 93, 3233989, [0.2062, 0.199, 0.2075, 0.2037, 0.1836]),
    "MobileNetV2": (32, 157, 2264389, [0.1617, 0.2102, 0.1687, 0.218, 0.2415]),
    "ResNet50": (32, 177, 23597957, [0.9992, 0.0, 0.0, 0.0001, 0.0007]),
}


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def _drawn(variable: Any, rng: Any) -> Any:
    shape = variable.shape.as_list()
    if "var" in variable.name:
        return np.ones(shape, "f")
    return (rng.randn(*shape) * 0.05 + (1.0 if "gamma" in variable.name else 0.0)).astype("f")


@pytest.mark.long
@pytest.mark.parametrize("name", _FOUND)
def test_networks_are_tensorflows(name: str) -> None:
    pytest.importorskip("keras_applications")
    size, layers, parameters, first = _FOUND[name]
    make = getattr(tf.keras.applications, name)
    model = make(weights=None, input_shape=(size, size, 3), classes=5)
    rng = np.random.RandomState(0)
    model.set_weights([_drawn(variable, rng) for variable in model.weights])
    x = rng.rand(2, size, size, 3).astype("f")
    assert (len(model.layers), model.count_params()) == (layers, parameters)
    np.testing.assert_allclose(model.predict(x)[0], first, atol=1e-4)


def test_a_network_without_its_top_on_a_tensor() -> None:
    pytest.importorskip("keras_applications")
    given = tf.keras.Input([32, 32, 3])
    model = tf.keras.applications.VGG16(weights=None, include_top=False, input_tensor=given)
    assert model.output_shape == (None, 1, 1, 512)
    assert tf.keras.utils.get_source_inputs(model.output) == [given]
    assert not model.layers[0].weights and model.inputs == [given]


def test_rooms_have_their_helps() -> None:
    room = importlib.import_module("penstock.api.keras.applications.resnet50")
    assert dir(room) == ["ResNet50", "decode_predictions", "preprocess_input"]
    with pytest.raises(AttributeError, match="applications.resnet50' has no attribute 'VGG16'"):
        room.VGG16
    pytest.importorskip("keras_applications")
    image = np.full([1, 2, 2, 3], 100.0)
    np.testing.assert_allclose(
        room.preprocess_input(image.copy())[0, 0, 0], [-3.939, -16.779, -23.68]
    )


def test_images_of_a_directory_are_trained_on(tmp_path: Path) -> None:
    pytest.importorskip("keras_preprocessing")
    room = tf.keras.preprocessing.image
    rng = np.random.RandomState(0)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(6):
            room.array_to_img(rng.rand(9, 9, 3)).save(tmp_path / name / f"{number}.png")
    made = room.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True, validation_split=0.34)
    train, held = (
        made.flow_from_directory(
            str(tmp_path), target_size=(8, 8), batch_size=4, subset=subset, seed=1
        )
        for subset in ("training", "validation")
    )
    model = tf.keras.Sequential([
        tf.keras.layers.Flatten(input_shape=[8, 8, 3]), tf.keras.layers.Dense(2, "softmax"),
    ])  # fmt: skip
    model.compile("sgd", "categorical_crossentropy", metrics=["acc"])
    history = model.fit_generator(train, epochs=2, validation_data=held, verbose=0).history
    assert sorted(history) == ["acc", "loss", "val_acc", "val_loss"]
    assert (len(train), len(held), train[0][0].shape) == (2, 1, (4, 8, 8, 3))
    image = room.img_to_array(room.load_img(str(tmp_path / "a" / "0.png"), target_size=(4, 4)))
    assert image.shape == (4, 4, 3) and image.dtype == np.float32


@pytest.mark.parametrize(
    "ask, package",
    [
        (lambda: tf.keras.applications.VGG16(weights=None), "keras-applications"),
        (lambda: tf.keras.preprocessing.image.load_img, "keras-preprocessing"),
    ],
)
def test_a_package_that_lacks_is_named(
    ask: Any, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def lacking(name: str, *args: Any) -> Any:
        if name.startswith("keras_"):
            raise ModuleNotFoundError(name)
        return real(name, *args)

    monkeypatch.setattr(importlib, "import_module", lacking)
    with pytest.raises(ImportError, match=f"{package}, which is not installed: pip install"):
        ask()
