"""How a layer of Keras makes a variable: a resource variable, named by the name scope."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.library.layer_base import initializers
from penstock.library.variables.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)


def make_variable(
    name: str | None,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    trainable: bool | None = None,
    constraint: Any = None,
    use_resource: bool | None = None,
    collections: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    partitioner: Any = None,
) -> Variable:
    """A new variable; arguments as of ``tf.get_variable``, the partitioner is not asked."""
    value, kind = initializer, None
    given: Any = initializer
    if callable(initializer):
        if isinstance(given, type):
            given = given(dtype=dtypes.float32)
        value, kind = lambda: given(shape, dtype=dtype), dtypes.as_dtype(dtype).base_dtype
    made: Variable = Variable(
        initial_value=value, name=name, trainable=trainable, dtype=kind, constraint=constraint,
        use_resource=True if use_resource is None else use_resource, collections=collections,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip
    return made


def resolved_trainable(trainable: bool | None, synchronization: VariableSynchronization) -> bool:
    """Whether a variable is trainable, which is True unless it is said or it is synced on read.

    Raises:
      ValueError: it is to be trainable and synced on read.
    """
    if synchronization is VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for"
                " non-trainable variables. You have specified trainable=True and"
                " synchronization=VariableSynchronization.ON_READ."
            )
        return False
    return trainable is None or bool(trainable)


def default_initializer(name: str | None, dtype: dtypes.DType, layer_name: str) -> Any:
    """Glorot uniform for floating types, zeros for integers and bools.

    Raises:
      ValueError: there is no default for the type.
    """
    if dtype.is_floating:
        return initializers.get("glorot_uniform")
    if dtype.is_integer or dtype.is_bool:
        return initializers.get("zeros")
    raise ValueError(
        f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer"
        f" {layer_name}"
    )
