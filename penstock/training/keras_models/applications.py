"""``tf.keras.applications``: known networks, which the package keras-applications writes down.

That package is given the layers, models and backend of this one, as TensorFlow gives it its own; it
is loaded when a network is first made.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from penstock.foundation.graph import scopes
from penstock.library.keras import layers
from penstock.library.layer_base import settings, tensors
from penstock.training.keras_models import (
    backend,
    backend_batches,
    backend_images,
    backend_math,
    backend_steps,
    connected_layers,
    files,
)
from penstock.training.keras_models.model import Model

_NETWORKS = {
    "densenet": ("DenseNet121", "DenseNet169", "DenseNet201"),
    "imagenet_utils": (),
    "inception_resnet_v2": ("InceptionResNetV2",),
    "inception_v3": ("InceptionV3",),
    "mobilenet": ("MobileNet",),
    "mobilenet_v2": ("MobileNetV2",),
    "nasnet": ("NASNetLarge", "NASNetMobile"),
    "resnet": ("ResNet50", "ResNet101", "ResNet152"),
    "resnet50": ("ResNet50",),
    "resnet_v2": ("ResNet50V2", "ResNet101V2", "ResNet152V2"),
    "vgg16": ("VGG16",),
    "vgg19": ("VGG19",),
    "xception": ("Xception",),
}
_HELP = ("decode_predictions", "preprocess_input")
# ``resnet`` has the networks of ``resnet50`` in this package's newer form, as in TensorFlow 1.15.
_ROOMS = {"resnet50": "resnet"}


def is_keras_tensor(x: Any) -> bool:
    """Whether a layer, or ``tf.keras.Input``, has made a tensor.

    Raises:
      ValueError: it is no tensor.
    """
    if not hasattr(x, "has_value"):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic"
                         " tensor instance.")  # fmt: skip
    return tensors.history_of(x) is not None


def _given() -> dict[str, Any]:
    """What the package works with."""
    return {
        "backend": SimpleNamespace(
            backend=backend_batches.backend, bias_add=backend_images.bias_add,
            cast=backend_math.cast, floatx=settings.floatx, name_scope=scopes.name_scope,
            image_data_format=settings.image_data_format, int_shape=backend.int_shape,
            is_keras_tensor=is_keras_tensor, ndim=backend.ndim,
            constant=backend_steps.constant_, dtype=lambda x: x.dtype.base_dtype.name,
            set_image_data_format=settings.set_image_data_format,
        ),
        "layers": layers,
        "models": SimpleNamespace(Model=Model),
        "utils": SimpleNamespace(
            get_file=files.get_file, get_source_inputs=connected_layers.source_inputs
        ),
    }  # fmt: skip


def _function(room: str, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            module = importlib.import_module(f"keras_applications.{_ROOMS.get(room, room)}")
        except ModuleNotFoundError as error:
            raise ImportError(
                f"tf.keras.applications.{name} is written down in the package keras-applications,"
                " which is not installed: pip install 'penstock[applications]'"
            ) from error
        return getattr(module, name)(*args, **{**kwargs, **_given()})

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"``{name}`` of ``keras_applications.{room}``, made of this package's layers."
    return call


def of_room(room: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of ``tf.keras.applications.<room>``."""
    names = [*_NETWORKS[room], *_HELP]
    return _access(dict.fromkeys(names, room), f"tf.keras.applications.{room}")


def of_package() -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of ``tf.keras.applications``."""
    rooms = {name: room for room, names in _NETWORKS.items() for name in names}
    return _access(rooms, "tf.keras.applications")


def _access(
    rooms: dict[str, str], where: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in rooms:
            raise AttributeError(f"module {where!r} has no attribute {name!r}")
        if name not in made:
            made[name] = _function(rooms[name], name)
        return made[name]

    return get, lambda: sorted(rooms)
