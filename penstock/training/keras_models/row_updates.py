"""How the rows of a variable move that have a gradient, as embeddings' do; the others stay.

Rows are read and written by their indices, each once: the gradients of a row that comes again are
summed first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.ops.array import gather
from penstock.training.train.optimizer import _deduplicate_indexed_slices


class Rows(NamedTuple):
    """Gradients of rows: values [n, ...], and which rows they are of, each once."""

    values: Any
    indices: Any


def summed(grad: Any) -> Rows:
    """Slices whose rows come once."""
    return Rows(*_deduplicate_indexed_slices(grad.values, grad.indices))


def of(variable: Any, indices: Any) -> Any:
    """The rows of a variable as they are now."""
    return gather.gather(variable, indices)


def set_to(variable: Any, indices: Any, values: Any) -> Any:
    """Writes rows; gives the values, once they are written."""
    written = make("ResourceScatterUpdate", variable.handle, indices, values)
    return values if written is None else _after(written, values)


def added_to(variable: Any, indices: Any, values: Any) -> Any:
    """The op that adds to rows."""
    return make("ResourceScatterAdd", variable.handle, indices, values)


def _after(op: Any, values: Any) -> Any:
    with scopes.control_dependencies([op]):
        return make("Identity", values)
