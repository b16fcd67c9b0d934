"""Optional values: variants that hold the components of a value, or nothing.

State: none; an optional value is a Python object of its own that steps hand on.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.engine.resources.dataset.base import own
from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import scalar
from penstock.ops.data.dataset import TYPES, element_dims

_REASON = "whether there is a value is no number"


class OptionalValue:
    """The components of a value; None: there is none."""

    __slots__ = ("components",)

    def __init__(self, components: tuple[Any, ...] | None) -> None:
        self.components = components


def _from_value(components: list[Any]) -> OptionalValue:
    return OptionalValue(own(components))


def _none() -> OptionalValue:
    return OptionalValue(None)


def _has_value(optional: OptionalValue) -> Any:
    return torch.tensor(optional.components is not None)


def _get_value(optional: OptionalValue) -> Any:
    if optional.components is None:
        raise errors.invalid("The given optional does not have a value.")
    return own(optional.components)


def _get_next(iterator: Any) -> OptionalValue:
    try:
        return OptionalValue(tuple(iterator.next()))
    except errors.OutOfRangeError:
        return OptionalValue(None)


# Marked stateful, which TensorFlow's are not: a variant is no constant.
define_op(
    "OptionalFromValue", "components: list(Toutput_types) -> optional: variant",
    attrs=["Toutput_types: list(type) >= 1"], shape=scalar, kernel=_from_value, stateful=True,
    no_gradient=_REASON,
)  # fmt: skip
define_op(
    "OptionalNone", "-> optional: variant", shape=scalar, kernel=_none, stateful=True,
    no_gradient=_REASON,
)  # fmt: skip
define_op(
    "OptionalHasValue", "optional: variant -> has_value: bool", shape=scalar, kernel=_has_value,
    stateful=True, no_gradient=_REASON,
)  # fmt: skip
define_op(
    "OptionalGetValue", "optional: variant -> components: list(output_types)", attrs=TYPES,
    shape=element_dims, kernel=_get_value, stateful=True, no_gradient=_REASON,
)  # fmt: skip
define_op(
    "IteratorGetNextAsOptional", "iterator: resource -> optional: variant", attrs=TYPES,
    shape=scalar, kernel=_get_next, writes=("iterator",), stateful=True, blocking=True,
    no_gradient=_REASON,
)  # fmt: skip
