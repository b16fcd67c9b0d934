"""Models from their configurations."""

from __future__ import annotations

import json
from typing import Any

from penstock.training.keras_models import configuration


def model_from_config(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model of ``{"class_name": ..., "config": ...}``, with new weights.

    Raises:
      TypeError: a list, which is the configuration of a Sequential alone.
    """
    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use"
            " `Sequential.from_config(config)`?"
        )
    return configuration.layer_from(config, custom_objects)


def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model of what ``to_json`` wrote, with new weights."""
    return model_from_config(json.loads(json_string), custom_objects)
