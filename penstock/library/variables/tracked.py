"""Which objects a checkpoint of objects (``storage.checkpoint.trackable``) can be made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.library.variables.variable import Variable

# What is to be done when an object or variable has come to be; each says whether it goes on.
_WAITING: list[Callable[[], bool]] = []


def when_attached(look: Callable[[], bool]) -> None:
    """Has ``look`` called whenever objects have come to be, until it returns False."""
    _WAITING.append(look)


def attached() -> None:
    """Says that an object has variables, or is an attribute, that it was not before."""
    if _WAITING:
        _WAITING[:] = [look for look in tuple(_WAITING) if look()]


def is_trackable(item: Any) -> bool:
    """Whether an object can be part of a ``tf.train.Checkpoint``."""
    known = isinstance(item, Variable | list | tuple | dict)
    return known or has_slots(item) or hasattr(item, "_checkpoint_dependencies") or is_table(item)


def has_slots(item: Any) -> bool:
    """Whether an object is an optimizer; the room of optimizers is not known here."""
    return hasattr(item, "get_slot_names") and hasattr(item, "_non_slot_dict")


def slot_of(optimizer: Any, variable: Any, name: str) -> Any:
    """An optimizer's slot of a variable, or None."""
    try:
        return optimizer.get_slot(variable, name)
    except KeyError:  # so those of Keras say that there is none
        return None


def is_table(item: Any) -> bool:
    """Whether an object has state besides variables: it says under which attribute."""
    return hasattr(item, "_checkpoint_attribute")


def attribute_of(table: Any) -> str:
    """Under which attribute a table's state is kept."""
    name: str = table._checkpoint_attribute
    return name


def unslotted(optimizer: Any) -> dict[Any, Any]:
    """An optimizer's variables that belong to no other variable: by name and graph."""
    held: dict[Any, Any] = optimizer._non_slot_dict
    return held
