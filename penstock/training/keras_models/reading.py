"""Models from their configurations."""

from __future__ import annotations

import json
from typing import Any

import yaml

from penstock.library.keras.layers import serialization


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
    return serialization.deserialize(config, custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model of what ``to_yaml`` wrote, with new weights; tags of Python are refused."""
    return model_from_config(yaml.safe_load(yaml_string), custom_objects)


def as_yaml(described: Any) -> str:
    """A configuration, of what JSON can hold, as YAML."""
    text: str = yaml.safe_dump(described)
    return text


def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model of what ``to_json`` wrote, with new weights."""
    return model_from_config(json.loads(json_string), custom_objects)
