"""Buckets of numbers for boosted trees: quantiles of what streams by, and who falls where.

The state is a ``resources.quantile_stream``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.engine.resources.quantile_stream import QuantileStream, summary_of
from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs, scalar
from penstock.foundation.opdef.shared_state import SharedState

_NO_GRADIENT = "buckets are not differentiable"
_HANDLE = "quantile_stream_resource_handle"
_CHANGED = {"writes": (_HANDLE,), "stateful": True, "no_gradient": _NO_GRADIENT, "on_host": True}
_ASKED = {"reads": (_HANDLE,), "stateful": True, "no_gradient": _NO_GRADIENT, "on_host": True}


def _make_state(attrs: dict[str, Any], name: str) -> QuantileStream:
    return QuantileStream(attrs["shared_name"] or name)


define_op(
    "BoostedTreesQuantileStreamResourceHandleOp",
    "-> resource: resource",
    attrs=['container: string = ""', 'shared_name: string = ""'],
    shape=scalar,
    state=SharedState("quantile stream", _make_state),
    stateful=True,
    no_gradient=_NO_GRADIENT,
)


def _create(
    quantile_stream_resource_handle: QuantileStream, epsilon: Any, num_streams: Any,
    max_elements: int,
) -> None:  # fmt: skip
    state = quantile_stream_resource_handle
    with state.lock:
        if not state.initialized:
            state.create(float(epsilon), int(num_streams), max_elements)


def _ready(state: QuantileStream) -> QuantileStream:
    if not state.initialized:
        raise errors.FailedPreconditionError(
            None, None, f"Quantile stream {state.name} is not initialized; run its initializer"
        )
    return state


def _is_initialized(quantile_stream_resource_handle: QuantileStream) -> torch.Tensor:
    return torch.tensor(quantile_stream_resource_handle.initialized)


def _add(
    quantile_stream_resource_handle: QuantileStream, summaries: Any, num_features: int
) -> None:
    state = _ready(quantile_stream_resource_handle)
    with state.lock:
        for stream, summary in zip(state.streams, summaries, strict=True):
            stream.add(summary.numpy())


def _flush(
    quantile_stream_resource_handle: QuantileStream, num_buckets: Any, generate_quantiles: bool
) -> None:
    state = _ready(quantile_stream_resource_handle)
    with state.lock:
        state.flush(int(num_buckets), generate_quantiles)


def _deserialize(
    quantile_stream_resource_handle: QuantileStream, bucket_boundaries: Any, num_streams: int
) -> None:
    state = _ready(quantile_stream_resource_handle)
    with state.lock:
        state.boundaries = [each.reshape(-1).numpy().copy() for each in bucket_boundaries]


def _boundaries(quantile_stream_resource_handle: QuantileStream, num_features: int) -> Any:
    state = _ready(quantile_stream_resource_handle)
    with state.lock:
        return [torch.from_numpy(each.copy()) for each in state.boundaries]


def _vectors(ctx: ShapeContext) -> Any:
    return [(None,)] * ctx.attr("num_features")


define_op(
    "BoostedTreesCreateQuantileStreamResource",
    f"{_HANDLE}: resource, epsilon: float, num_streams: int64 ->",
    attrs=["max_elements: int = 1099511627776"],
    shape=no_outputs,
    kernel=_create,
    effect=True,
    **_CHANGED,
)
define_op(
    "IsBoostedTreesQuantileStreamResourceInitialized",
    f"{_HANDLE}: resource -> is_initialized: bool",
    shape=scalar,
    kernel=_is_initialized,
    **_ASKED,
)
define_op(
    "BoostedTreesQuantileStreamResourceAddSummaries",
    f"{_HANDLE}: resource, summaries: num_features * float ->",
    attrs=["num_features: int >= 0"],
    shape=no_outputs,
    kernel=_add,
    effect=True,
    **_CHANGED,
)
define_op(
    "BoostedTreesQuantileStreamResourceFlush",
    f"{_HANDLE}: resource, num_buckets: int64 ->",
    attrs=["generate_quantiles: bool = False"],
    shape=no_outputs,
    kernel=_flush,
    effect=True,
    **_CHANGED,
)
define_op(
    "BoostedTreesQuantileStreamResourceDeserialize",
    f"{_HANDLE}: resource, bucket_boundaries: num_streams * float ->",
    attrs=["num_streams: int >= 1"],
    shape=no_outputs,
    kernel=_deserialize,
    effect=True,
    **_CHANGED,
)
define_op(
    "BoostedTreesQuantileStreamResourceGetBucketBoundaries",
    f"{_HANDLE}: resource -> bucket_boundaries: num_features * float",
    attrs=["num_features: int >= 0"],
    shape=_vectors,
    kernel=_boundaries,
    **_ASKED,
)


def _make_summaries(
    float_values: Any, example_weights: Any, epsilon: Any, num_features: int
) -> Any:
    weights = example_weights.reshape(-1).numpy()
    found = []
    for each in float_values:
        values = each.reshape(-1).numpy()
        wide = np.broadcast_to(weights, values.shape)
        found.append(torch.from_numpy(summary_of(values, wide, float(epsilon))))
    return found


def _bucketize(float_values: Any, bucket_boundaries: Any, num_features: int) -> Any:
    found = []
    for values, bounds in zip(float_values, bucket_boundaries, strict=True):
        at = np.searchsorted(bounds.numpy(), values.reshape(-1).numpy(), side="left")
        found.append(torch.from_numpy(np.clip(at, 0, max(len(bounds) - 1, 0)).astype(np.int32)))
    return found


def _bucketized_shape(ctx: ShapeContext) -> Any:
    return [(dims[0] if dims else None,) for dims in ctx["float_values"]]


define_op(
    "BoostedTreesMakeQuantileSummaries",
    "float_values: num_features * float, example_weights: float, epsilon: float"
    " -> summaries: num_features * float",
    attrs=["num_features: int >= 0"],
    shape=lambda ctx: [(None, 4)] * ctx.attr("num_features"),
    kernel=_make_summaries,
    on_host=True,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "BoostedTreesBucketize",
    "float_values: num_features * float, bucket_boundaries: num_features * float"
    " -> buckets: num_features * int32",
    attrs=["num_features: int >= 0"],
    shape=_bucketized_shape,
    kernel=_bucketize,
    on_host=True,
    no_gradient=_NO_GRADIENT,
)
