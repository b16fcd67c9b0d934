"""Objects as ``{"class_name": ..., "config": ...}``, as configurations of layers hold them.

State: ``custom_objects``, classes and functions of the program by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

custom_objects: dict[str, Any] = {}


@contextmanager
def custom_object_scope(*args: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects named in ``args`` are known in a ``with`` block."""
    saved = dict(custom_objects)
    for more in args:
        custom_objects.update(more)
    try:
        yield custom_objects
    finally:
        custom_objects.clear()
        custom_objects.update(saved)


def serialized(item: Any, names: Mapping[type, str] | None = None) -> Any:
    """An object as a configuration; a function as its name; None as None.

    Args:
      item: has ``get_config``, or a name.
      names: class names that configurations use in place of the classes' own.

    Raises:
      ValueError: neither.
    """
    if item is None:
        return None
    if hasattr(item, "get_config"):
        name = (names or {}).get(type(item), type(item).__name__)
        return {"class_name": name, "config": item.get_config()}
    if hasattr(item, "__name__"):
        return item.__name__
    raise ValueError(f"Cannot serialize {item}")


def made_from(
    config: Any, known: Mapping[str, Any], kind: str, given: Mapping[str, Any] | None = None
) -> Any:
    """The object that a configuration, or a name, stands for.

    Args:
      config: ``{"class_name": ..., "config": ...}``, or a name.
      known: classes and functions by name.
      kind: what is looked for, for the error.
      given: classes and functions that come before all others.

    Raises:
      ValueError: nothing has that name.
    """
    if isinstance(config, str):
        found = _named(config, known, f"{kind}:", given)
        return found() if isinstance(found, type) else found
    if not isinstance(config, Mapping) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    found = _named(config["class_name"], known, f"{kind}: ", given)
    if hasattr(found, "from_config"):
        with custom_object_scope(given or {}):
            return found.from_config(dict(config["config"]))
    return found(**config["config"])


def get_custom_objects() -> dict[str, Any]:
    """Classes and functions of the program by name; what is put into it is known from then on."""
    return custom_objects


def made_from_object(
    identifier: Any, module_objects: Mapping[str, Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None, printable_module_name: str = "object",
) -> Any:  # fmt: skip
    """The object that a configuration, a name, itself or None stands for.

    Args:
      identifier: what stands for it.
      module_objects, custom_objects: classes and functions by name; the latter come first.
      printable_module_name: what is looked for, for the error.

    Raises:
      ValueError: nothing has that name.
    """
    if identifier is None or not isinstance(identifier, str | Mapping):
        return identifier
    return made_from(identifier, module_objects or {}, printable_module_name, custom_objects)


def _named(name: str, known: Mapping[str, Any], kind: str, given: Mapping[str, Any] | None) -> Any:
    for place in (given or {}, custom_objects, known):
        if place.get(name) is not None:
            return place[name]
    raise ValueError(f"Unknown {kind}{name}")
