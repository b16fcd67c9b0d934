"""``tf.keras.preprocessing.image``: the package keras-preprocessing, whose iterators are sequences
of this one.
"""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace
from typing import Any

from penstock.library.layer_base import settings
from penstock.training.keras_models.enqueuers import Sequence

_NAMES = (
    "DirectoryIterator", "ImageDataGenerator", "Iterator", "NumpyArrayIterator",
    "apply_affine_transform", "apply_brightness_shift", "apply_channel_shift", "array_to_img",
    "img_to_array", "load_img", "random_brightness", "random_channel_shift", "random_rotation",
    "random_shear", "random_shift", "random_zoom", "save_img",
)  # fmt: skip


def names() -> list[str]:
    """The public names."""
    return list(_NAMES)


def attribute(name: str) -> Any:
    """What the package has under a name.

    Raises:
      AttributeError: it is none of the public ones.
      ImportError: the package is not installed.
    """
    if name not in _NAMES:
        raise AttributeError(f"module 'tf.keras.preprocessing.image' has no attribute {name!r}")
    try:
        package: Any = importlib.import_module("keras_preprocessing")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"tf.keras.preprocessing.image.{name} is of the package keras-preprocessing, which is"
            " not installed: pip install 'penstock[applications]'"
        ) from error
    if "keras" not in sys.modules:  # which gives the package its own
        package.set_keras_submodules(
            SimpleNamespace(floatx=settings.floatx, image_data_format=settings.image_data_format),
            SimpleNamespace(Sequence=Sequence),
        )
    return getattr(importlib.import_module("keras_preprocessing.image"), name)
