"""Resources that are no variables and must be made before a model is ready.

They stand in the collections ``RESOURCES`` and ``LOCAL_RESOURCES`` as objects with a ``handle``, an
op ``create`` and a tensor ``is_initialized``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import constant, slicing
from penstock.ops.control import control


class Resource(NamedTuple):
    """A resource that an op creates and a tensor tells of."""

    handle: Any
    create: Operation
    is_initialized: Tensor


def shared_resources() -> list[Resource]:
    """Those that all sessions of a server share."""
    return list(collecting.get_collection(GraphKeys.RESOURCES))


def local_resources() -> list[Resource]:
    """Those that each process makes for itself."""
    return list(collecting.get_collection(GraphKeys.LOCAL_RESOURCES))


def initialize_resources(resources: Sequence[Resource], name: str = "init") -> Operation:
    """An op that makes them all."""
    made: Operation
    if resources:
        made = control.group(*[r.create for r in resources], name=name)
    else:
        made = control.no_op(name=name)
    return made


def report_uninitialized_resources(
    resources: Sequence[Resource] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """Names of those that do not exist yet, as a 1-D string tensor."""
    listed = shared_resources() + local_resources() if resources is None else resources
    with scopes.name_scope(name), scopes.device("/cpu:0"):
        if not listed:
            return constant.constant([], dtype=dtypes.string)
        missing = make(
            "LogicalNot", make("Pack", [r.is_initialized for r in listed], axis=0, name="stack")
        )
        names = constant.constant(np.array([r.handle.name.encode() for r in listed], object))
        return slicing.boolean_mask(names, missing)
