"""``parallel_interleave``: datasets read ahead at the same time, their elements in turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.training.data.dataset import Dataset, DatasetSpec
from penstock.training.data.mapped import Mapped
from penstock.training.data.nodes import int64


def parallel_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1, sloppy: bool = False,
    buffer_output_elements: Any = None, prefetch_input_elements: Any = None,
) -> Callable[[Dataset], Dataset]:  # fmt: skip
    """Elements of the datasets that ``map_func`` makes, in turns, each dataset read by a thread.

    Args:
      map_func: from an element to a dataset.
      cycle_length: datasets open at once.
      block_length: elements of one that come together.
      sloppy: accepted; the order is the same one always.
      buffer_output_elements: elements read ahead of each; default twice ``block_length``.
      prefetch_input_elements: kept for other runtimes.

    Returns:
      A transformation for ``Dataset.apply``.
    """

    def transform(dataset: Dataset) -> Dataset:
        asker = "tf.data.experimental.parallel_interleave()"
        function = Mapped(map_func, dataset.structure, asker)
        if not isinstance(function.structure, DatasetSpec):
            raise TypeError(
                f"`map_func` must return a `Dataset` object. Got {function.structure!r}."
            )
        ahead = 2 * block_length if buffer_output_elements is None else buffer_output_elements
        more = 2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements
        return dataset.called(
            "ParallelInterleaveDataset", function, int64(cycle_length, "cycle_length"),
            int64(block_length, "block_length"), convert_to_tensor(sloppy, dtypes.bool, "sloppy"),
            int64(ahead, "buffer_output_elements"), int64(more, "prefetch_input_elements"),
            structure=function.structure._element_spec,
        )  # fmt: skip

    return transform
