"""Variables of layers as those of models: in MODEL_VARIABLES, under the names of contrib.

``tf.layers`` calls a kernel "kernel" and a bias "bias", ``contrib.layers`` "weights" and "biases":
a custom getter of the layer's variable scope renames them, and makes model variables of all.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers import plumbing
from penstock.foundation.graph import collecting
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization


def model_variable_getter(
    getter: Any,
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    rename: Mapping[str, str] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    **_: Any,
) -> Any:
    """A custom getter that makes model variables.

    Args:
      getter: what makes the variable.
      name: its name; ``rename`` has another for its last part.
      **_: arguments of ``tf.get_variable`` that model variables do not take.
    """
    scope, slash, short = name.rpartition("/")
    return model_variable(
        scope + slash + (rename or {}).get(short, short),
        shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
        collections=collections, trainable=trainable, caching_device=caching_device,
        partitioner=partitioner, custom_getter=getter, use_resource=use_resource,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip


def renaming(**rename: str) -> Any:
    """A custom getter that makes model variables, with other names for some."""
    return functools.partial(model_variable_getter, rename=rename)


def add_to_collections(variable: Any, variables_collections: Any, name: str) -> None:
    """Adds a variable, or its parts, to what ``variables_collections`` has for ``name``.

    Args:
      variable: a variable, or None.
      variables_collections: a list of collections, or a dictionary from names to such.
      name: what the layer calls the variable.
    """
    if variable is None:
        return
    whole = isinstance(variable, PartitionedVariable)
    for key in plumbing.get_variable_collections(variables_collections, name) or ():
        for part in list(variable) if whole else [variable]:
            if all(known is not part for known in collecting.get_collection(key)):
                collecting.add_to_collection(key, part)
