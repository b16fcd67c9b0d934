"""Summing the gradients that reach one tensor.

Dense ones are added by one ``AddN`` (colocated with the first), pairwise, or by ``accumulate_n``.
Sparse ones (IndexedSlices) are concatenated, which is a sum because repeated rows add up.  A mix is
added densely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import colocate_with, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.aggregate_slices import aggregate_slices
from penstock.library.autodiff.options import AggregationMethod

_METHODS = (
    AggregationMethod.ADD_N,
    AggregationMethod.EXPERIMENTAL_TREE,
    AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
)


def check_method(method: int | None) -> int:
    """``method``, or the default for None.

    Raises:
      ValueError: it is not one of ``AggregationMethod``.
    """
    if method is None:
        return AggregationMethod.DEFAULT
    if method not in _METHODS:
        raise ValueError(
            f"Invalid aggregation_method specified {method!r}; allowed are those of"
            f" tf.AggregationMethod, {_METHODS}"
        )
    return method


def aggregate(op: Operation, terms: Sequence[Any], method: int) -> Any:
    """The sum of gradients of one output of ``op``; None when there are none."""
    if not terms:
        return None
    for term in terms:
        if not isinstance(term, Tensor | IndexedSlices):
            raise TypeError(
                f"a gradient of {op.name!r} must be a Tensor or IndexedSlices; found {term!r}"
            )
    if len(terms) == 1:
        return terms[0]
    if not all(isinstance(t, Tensor) for t in terms):
        return aggregate_slices(terms)
    if method == AggregationMethod.ADD_N:
        return _add_by_device(terms)
    accumulate = method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N
    if accumulate and len(terms) > 2 and _is_shape_known(terms):
        return _accumulate_n(terms)
    with name_scope(f"{op.name}_gradient_sum"):
        total = terms[0]
        for term in terms[1:]:
            total = make("AddN", [total, term])
        return total


def _accumulate_n(terms: Sequence[Tensor]) -> Tensor:
    return make_tensor("AccumulateNV2", list(terms), shape=terms[0].shape)


def _is_shape_known(terms: Sequence[Tensor]) -> bool:
    dims = None
    for term in terms:
        dims = shapes.merge_static(dims, term.sizes)
    return dims is not None and None not in dims


def _add_by_device(terms: Sequence[Tensor]) -> Tensor:
    """Sums within each device first, so that one tensor a device travels."""
    by_device: dict[str, list[Tensor]] = {}
    for term in terms:
        by_device.setdefault(term.device or "", []).append(term)
    sums = []
    for where in sorted(by_device):
        group = by_device[where]
        with colocate_with(group[0].op, ignore_existing=True):
            sums.append(_add_n(group))
    return _add_n(sums)


def _add_n(terms: list[Tensor]) -> Tensor:
    return terms[0] if len(terms) == 1 else make("AddN", terms)
