"""What datasets measure: bytes and times of elements, as histograms that a summary shows.

State: an aggregator is a resource of the session, shared by container and name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.engine.resources.dataset import statistics
from penstock.foundation.formats.messages import Summary
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import scalar
from penstock.ops.control.summary import _LIMITS
from penstock.ops.data.dataset import TYPES, define_dataset, text

_REASON = "what is measured is no function of numbers"


def _aggregator(attrs: dict[str, Any], name: str) -> statistics.Aggregator:
    return statistics.Aggregator(_LIMITS)


def _summary(iterator: statistics.Aggregator) -> np.ndarray:
    summary = Summary()
    for tag, found in iterator.histograms():
        value = summary.value.add(tag=tag)
        histogram = value.histo
        histogram.min, histogram.max, histogram.num = found.low, found.high, found.count
        histogram.sum, histogram.sum_squares = found.total, found.squares
        used = np.flatnonzero(found.counts)
        # A bucket that is empty ends where one that is not begins.
        kept = sorted({*used.tolist(), *(max(int(i) - 1, 0) for i in used), len(_LIMITS) - 1})
        histogram.bucket_limit.extend(_LIMITS[kept].tolist())
        histogram.bucket.extend(found.counts[kept].astype(float).tolist())
    made = np.empty((), object)
    made[()] = summary.SerializeToString()
    return made


def _set(input_dataset: Any, stats_aggregator: Any, tag: Any, counter_prefix: Any) -> Any:
    return statistics.Measured(input_dataset, stats_aggregator, text(tag))


def _bytes(input_dataset: Any, tag: Any) -> Any:
    return statistics.Bytes(input_dataset, text(tag))


def _latency(input_dataset: Any, tag: Any) -> Any:
    return statistics.Latency(input_dataset, text(tag))


for _name in ("StatsAggregatorHandle", "StatsAggregatorHandleV2"):
    define_op(
        _name, "-> handle: resource",
        attrs=['container: string = ""', 'shared_name: string = ""'], shape=scalar,
        state=_aggregator, stateful=True, no_gradient=_REASON,
    )  # fmt: skip
define_op(
    "StatsAggregatorSummary", "iterator: resource -> summary: string", shape=scalar,
    kernel=_summary, reads=("iterator",), stateful=True, no_gradient=_REASON,
)  # fmt: skip
define_dataset(
    "SetStatsAggregatorDataset",
    "input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string",
    TYPES, _set,
)  # fmt: skip
define_dataset("BytesProducedStatsDataset", "input_dataset: variant, tag: string", TYPES, _bytes)
define_dataset("LatencyStatsDataset", "input_dataset: variant, tag: string", TYPES, _latency)
