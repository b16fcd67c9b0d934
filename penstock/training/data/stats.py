"""``tf.data.experimental.StatsAggregator`` and the transformations that measure elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.training.data.dataset import Dataset

Transformation = Callable[[Dataset], Dataset]


class StatsAggregator:
    """Takes what a pipeline measures, where ``options.experimental_stats.aggregator`` names it.

    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     aggregator = tf.data.experimental.StatsAggregator()
    ...     options = tf.data.Options()
    ...     options.experimental_stats.aggregator = aggregator
    ...     dataset = tf.data.Dataset.range(2).apply(tf.data.experimental.bytes_produced_stats("b"))
    ...     iterator = dataset.with_options(options).make_initializable_iterator()
    ...     element, summary = iterator.get_next(), aggregator.get_summary()
    ...     _ = session.run(iterator.initializer), session.run(element)
    ...     tf.Summary.FromString(session.run(summary)).value[0].histo.sum
    8.0
    """

    def __init__(self) -> None:
        self._resource = make("StatsAggregatorHandle")

    def get_summary(self) -> Tensor:
        """A serialized ``Summary`` message, string scalar: one histogram a tag."""
        return make_tensor("StatsAggregatorSummary", self._resource)


def bytes_produced_stats(tag: Any) -> Transformation:
    """Measures the bytes of each element; ``tag`` names the histogram."""
    return _measured("BytesProducedStatsDataset", tag)


def latency_stats(tag: Any) -> Transformation:
    """Measures the microseconds that each element takes; ``tag`` names the histogram."""
    return _measured("LatencyStatsDataset", tag)


def _measured(op_type: str, tag: Any) -> Transformation:
    def transform(dataset: Dataset) -> Dataset:
        return dataset.node(op_type, convert_to_tensor(tag, dtypes.string))

    return transform
