"""Slices of a variable that can be assigned to: ``v[1:3].assign(x)``.

State: per graph, which variable each slice was taken from.
"""

from __future__ import annotations

import weakref
from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import slicing

_SLICES = "variables.slices"


class VariableSlice(Tensor):
    """A slice of a variable: a tensor, with ``assign``.

    Adds no slots, so that the tensor that slicing made can become one.
    """

    __slots__ = ()

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Sets this part of the variable.

        Args:
          value: tensor of the variable's type and the slice's shape.

        Returns:
          The variable as it is after the assignment.
        """
        op = self.op
        variable = op.graph.attached[_SLICES][self]
        masks = {key: attr for key, attr in op.attrs.items() if key.endswith("_mask")}
        name = name or f"{op.name}/_assign"
        bounds = op.inputs[1:]
        if variable.dtype.is_ref:
            return make("StridedSliceAssign", variable._ref(), *bounds, value, name=name, **masks)
        tensor = convert_to_tensor(value, variable.dtype)
        made = make(
            "ResourceStridedSliceAssign", variable.handle, *bounds, tensor, name=name, **masks
        )
        return variable.after_write(made)


def sliced(variable: Any, item: Any) -> Any:
    """``variable[item]``."""
    result = slicing.getitem(variable._AsTensor(), item)
    if type(result) is Tensor and result.op.type == "StridedSlice":
        result.__class__ = VariableSlice
        slices = result.graph.attached.setdefault(_SLICES, weakref.WeakKeyDictionary())
        slices[result] = variable
    return result
