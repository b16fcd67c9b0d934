"""What dataset nodes are made with: numbers and seeds as tensors, static batch sizes, states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dimension, dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.seeds import get_seed
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.math import comparison, select
from penstock.training.data import specs
from penstock.training.data.mapped import Mapped


def int64(value: Any, name: str) -> Tensor:
    """An int64 tensor."""
    return convert_to_tensor(value, dtypes.int64, name)


def two_seeds(seed: Any) -> tuple[Tensor, Tensor]:
    """The seed tensors of a node; both 0 where nothing is to be repeatable.

    Args:
      seed: an int, an int64 scalar, or None.
    """
    first, second = (0 if part is None else part for part in get_seed(seed))
    if not isinstance(second, Tensor):
        return int64(first, "seed"), int64(second, "seed2")
    # Both zero would mean "not seeded" to the node.
    graph_seed, op_seed = int64(first, "seed"), int64(second, "seed2")
    unseeded = comparison.logical_and(
        comparison.equal(graph_seed, int64(0, "zero")), comparison.equal(op_seed, int64(0, "zero"))
    )
    return graph_seed, select.where(unseeded, int64(2**31 - 1, "largest"), op_seed)


def variant(op_type: str, structure: Any, *inputs: Any, **attrs: Any) -> Any:
    """The node of a dataset, with the usual attrs."""
    return make(
        op_type, *inputs, output_types=specs.flat_types(structure),
        output_shapes=specs.flat_shapes(structure), **attrs,
    )  # fmt: skip


def slices(structure: Any) -> Any:
    """The structure of the slices of a batch.

    Raises:
      ValueError: its parts have no first dim, or differ in it.
    """
    size = dimension.Dimension(None)
    for spec in specs.flatten(structure):
        size = size.merge_with(spec.shape.with_rank_at_least(1)[0])
    return specs.map_leaves(specs.unbatched, structure)


def sparse_rows(sparse_tensor: Any) -> Any:
    """The structure of the rows of a sparse tensor: indices, values and dense shape.

    Raises:
      TypeError: it is none.
    """
    if not isinstance(sparse_tensor, SparseTensor):
        raise TypeError(f"`sparse_tensor` must be a `SparseTensor`; found {sparse_tensor!r}")
    rank = (sparse_tensor.dense_shape.shape.with_rank(1).sizes or (None,))[0]
    rank = None if rank is None else rank - 1
    return (
        specs.TensorSpec([None, rank], dtypes.int64),
        specs.TensorSpec([None], sparse_tensor.dtype),
        specs.TensorSpec([rank], dtypes.int64),
    )


def batch_dim(size: Tensor, whole: Tensor) -> int | None:
    """The static size of a batch, where no batch is smaller."""
    known, dropped = static.constant_value(size), static.constant_value(whole)
    if known is None or dropped is None or not bool(dropped):
        return None
    return int(known)


def with_state(
    function: Callable[..., Any], state: Any, structure: Any, element: Any, asker: str,
    state_of: Callable[[Any], Any],
) -> tuple[Mapped, Any]:  # fmt: skip
    """Traces a function of (state, element), with dims that change from call to call left open.

    Args:
      function: the function.
      state, structure: the first state and its specs.
      element: specs of an element.
      asker: for messages.
      state_of: picks the next state's specs from the specs of what is returned.

    Returns:
      The traced function, and the specs of a state.

    Raises:
      TypeError: the next state is of other types, classes or another nesting.
    """
    while True:
        mapped = Mapped(function, (structure, element), asker, several=True)
        found = state_of(mapped.structure)
        try:
            leaves = specs.flatten_as(structure, found)
        except ValueError as error:
            raise TypeError(str(error)) from None
        pairs = list(zip(specs.flatten(structure), leaves, strict=True))
        for old, new in pairs:
            if type(old) is not type(new) or old.dtype is not new.dtype:
                raise TypeError(
                    "The element types for the new state must match the initial state. Expected"
                    f" {specs.legacy_types(structure)}; got {specs.legacy_types(found)}."
                )
        weaker = specs.pack(structure, [a.most_specific_compatible_type(b) for a, b in pairs])
        if weaker == structure:
            return mapped, structure
        structure = weaker
