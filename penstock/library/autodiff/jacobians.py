"""The gradient of each element of a tensor: unrolled where they are few, or else a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.ops.array import (
    constant,
    join,
    nodes,
    ranks,
    reshape as reshape_ops,
    shape as shape_ops,
)

# As many elements as are differentiated by nodes of their own.
_UNROLLED = 16


def stacked_gradients(
    gradient: Callable[[Tensor], Sequence[Any]],
    element: Callable[[Any], Tensor],
    count: int | None,
    size: Any,
    sources: Sequence[Any],
) -> list[Tensor | None]:
    """Gradients with respect to sources, stacked along a new first dim.

    Args:
      gradient: from a tensor to its gradients with respect to each source; None where there is
        none.
      element: the tensor of a number.
      count: how many there are, if that is known; ``size`` is the same as a scalar.
      sources: tensors or variables.
    """
    if count is not None and count <= _UNROLLED:
        rows = [list(gradient(element(index))) for index in range(count)]
        columns = zip(*rows, strict=True) if rows else [[None]] * len(sources)
        return [_stack(column) for column in columns]
    return _looped(gradient, element, size, sources)


def _stack(parts: Sequence[Any]) -> Tensor | None:
    if any(part is None for part in parts):
        return None
    return join.stack([convert_to_tensor(part) for part in parts])


def _looped(
    gradient: Callable[[Tensor], Sequence[Any]],
    element: Callable[[Any], Tensor],
    size: Any,
    sources: Sequence[Any],
) -> list[Tensor | None]:
    lacking: set[int] = set()

    def row(index: Any, *arrays: Any) -> list[Any]:
        found = list(gradient(element(index)))
        lacking.update(at for at, part in enumerate(found) if part is None)
        written = [
            array if part is None else array.write(index, convert_to_tensor(part))
            for array, part in zip(arrays, found, strict=True)
        ]
        return [index + 1, *written]

    first = [constant.constant(0), *(TensorArray(s.dtype.base_dtype, size) for s in sources)]
    _, *arrays = while_loop(lambda index, *_: index < size, row, first)
    return [None if at in lacking else array.stack() for at, array in enumerate(arrays)]


def jacobian_of(
    gradient: Callable[[Tensor], Sequence[Any]], target: Tensor, sources: Sequence[Any]
) -> list[Tensor | None]:
    """For each source a tensor [*target's dims, *source's dims], or None.

    Args:
      gradient: from a tensor to its gradients with respect to each source.
      target: a tensor.
      sources: tensors or variables.
    """
    flat = reshape_ops.reshape(target, [-1])
    count = target.shape.num_elements()
    stacked = stacked_gradients(
        gradient, lambda index: flat[index], count, ranks.size(flat), sources
    )
    return [
        None if rows is None else _shaped(rows, shape_ops.shape(target), target, source, 0)
        for rows, source in zip(stacked, sources, strict=True)
    ]


def batch_jacobian_of(
    gradient: Callable[[Tensor], Sequence[Any]], target: Tensor, source: Any
) -> Tensor | None:
    """A tensor [batch, *dims of a target's row, *dims of a source's row], or None.

    Args:
      gradient: from a tensor to a list of its gradient with respect to the source.
      target: a tensor [batch, ...].
      source: a tensor [batch, ...].
    """
    dims = nodes.shape(target)
    flat = reshape_ops.reshape(target, join.stack([dims[0], -1]))
    count = target.shape[1:].num_elements()
    (columns,) = stacked_gradients(
        gradient, lambda index: flat[:, index], count, nodes.shape(flat)[1], [source]
    )
    if columns is None:
        return None
    order = [1, 0, *range(2, len(source.shape) + 1)]
    return _shaped(nodes.transpose(columns, order), dims, target, source, 1)


def _shaped(rows: Tensor, dims: Any, target: Tensor, source: Any, shared: int) -> Tensor:
    """``rows`` in the dims of the target and those of the source that it does not share."""
    shape = join.concat([dims, nodes.shape(convert_to_tensor(source))[shared:]], 0)
    made = reshape_ops.reshape(rows, shape)
    made.set_shape(target.shape.concatenate(source.shape[shared:]))
    return made
