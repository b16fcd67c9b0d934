"""Penstock as a backend of ``tests.conformance.jobs``; rows bound to the dtypes an op allows."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import registry
from penstock.foundation.opdef.opdef import OpDef
from tests.conformance.jobs import base_name
from tests.ops.cases import all_cases
from tests.ops.opcase import COMPLEX, FLOATS, Bound, OpCase, cast


def _operation(result: Any) -> Any:
    while isinstance(result, list | tuple):
        if not result:
            return tf.get_default_graph().get_operations()[-1]
        result = result[0]
    return getattr(result, "op", result)


class Penstock:
    """The backend: what ``jobs.run_job`` needs to build and run one op."""

    tf = tf

    def graph(self, op: str) -> tf.Graph:
        """A new graph."""
        return tf.Graph()

    def make(self, op: str, inputs: list[Any], attrs: dict[str, Any]) -> Any:
        """Builds one node; returns its Operation."""
        if "value" in attrs and "dtype" in attrs:  # the tensor of a Const
            value = self.to_const(cast(attrs["value"], attrs["dtype"]), attrs["dtype"])
            attrs = {**attrs, "value": value}
        return _operation(make(op, *inputs, **attrs))

    def to_feed(self, array: np.ndarray, dtype: str) -> Any:
        """A copy of the array in the dtype's own NumPy type."""
        return array.astype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.array(array)

    def to_const(self, array: np.ndarray, dtype: str) -> Any:
        """The same for a constant's value."""
        return self.to_feed(array, dtype)

    def from_fetch(self, value: Any, dtype: str) -> np.ndarray:
        """Fetched value as an array, bfloat16 as float32."""
        # A string scalar is fetched as bytes, which NumPy would make fixed-width.
        array = np.asarray(value, object if isinstance(value, bytes) else None)
        return array.astype(np.float32) if dtype == "bfloat16" else array

    def session(self) -> Any:
        """A session for the default graph."""
        return tf.Session()


BACKEND = Penstock()


def definition_of(case: OpCase) -> OpDef | None:
    """The op's definition; None for rows of what is not a single op."""
    # Asked for once a row and dtype at collection: a look at the registry, not a copy of it.
    return registry.OPS[case.op] if case.op in registry.OPS else None


def allowed_dtypes(case: OpCase) -> tuple[str, ...]:
    """The sweep of a row, less what the op's definition does not allow."""
    definition = definition_of(case)
    attr = None if definition is None else definition.attrs.get(case.type_attr)
    if attr is None or attr.allowed is None:
        return case.dtypes
    allowed = {base_name(d) for d in attr.allowed}
    return tuple(d for d in case.dtypes if d in allowed)


def sweep() -> list[Bound]:
    """Every row with every dtype of its sweep that the op allows."""
    return [case.bind(dtype) for case in all_cases() for dtype in allowed_dtypes(case)]


def precise_dtypes(case: OpCase) -> tuple[str, ...]:
    """The dtypes in which gradients of a row are checked numerically.

    float64 for rows that sweep (or default to) floating dtypes, complex128 for complex ones, even
    where the sweep leaves them out, if the op allows them; else float32.
    """
    definition = registry.lookup(case.op)
    attr = definition.attrs.get(case.type_attr)
    if attr is None:
        return (case.dtypes[0],)
    allowed = None if attr.allowed is None else {base_name(d) for d in attr.allowed}
    wanted = ["float64"] if set(case.dtypes) & set(FLOATS) else []
    wanted += ["complex128"] if set(case.dtypes) & set(COMPLEX) else []
    precise = tuple(d for d in wanted if allowed is None or d in allowed)
    return precise or tuple(d for d in ("float32",) if d in case.dtypes)
