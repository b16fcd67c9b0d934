"""Datasets in the graph: one node a dataset, its output a variant that is the dataset at run time.

The kernels make the objects of ``resources.dataset``; a function attr arrives as something that
compiles and runs the function's body.  Nodes are marked stateful: a variant is no constant.

State: none; see ``dataset_iterator.py`` for iterators.
"""

from __future__ import annotations

from typing import Any

from penstock.engine.resources.dataset import (
    base,
    batches,
    cache,
    functional,
    interleave,
    order,
    parallel,
    sources,
)  # fmt: skip
from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import FailsAtRun, ShapeContext, scalar

_REASON = "datasets are no numbers"
TYPES = ["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"]
_SLICED = ["Toutput_types: list(type) >= 1", "output_shapes: list(shape) >= 1"]
_ARGUMENTS = "Targuments: list(type) >= 0"
_MAPPED = ["f: func", _ARGUMENTS, *TYPES]
_PREDICATE = ["predicate: func", _ARGUMENTS, *TYPES]


def text(value: Any) -> str:
    """A string scalar as text."""
    item = value.item() if hasattr(value, "item") else value
    return item.decode() if isinstance(item, bytes) else str(item)


def _zip(input_datasets: list[Any]) -> Any:
    return order.Zip(input_datasets)


def _cached(input_dataset: Any, filename: Any) -> Any:
    return cache.Cache(input_dataset, text(filename))


def _padded(
    input_dataset: Any, batch_size: int, padded_shapes: list[Any], padding_values: list[Any],
    drop_remainder: bool,
) -> Any:  # fmt: skip
    return batches.PaddedBatch(
        input_dataset, batch_size, padded_shapes, padding_values, drop_remainder
    )


def _padded_v1(
    input_dataset: Any, batch_size: int, padded_shapes: list[Any], padding_values: list[Any]
) -> Any:
    return batches.PaddedBatch(input_dataset, batch_size, padded_shapes, padding_values, False)


def _shuffle(
    input_dataset: Any, buffer_size: int, seed: int, seed2: int, reshuffle_each_iteration: bool
) -> Any:
    return order.Shuffle(input_dataset, buffer_size, (seed, seed2), reshuffle_each_iteration)


def _shuffle_repeat(input_dataset: Any, buffer_size: int, seed: int, seed2: int, count: int) -> Any:
    return order.Shuffle(input_dataset, buffer_size, (seed, seed2), True, count)


def _interleave(
    input_dataset: Any, other_arguments: list[Any], cycle_length: int, block_length: int, f: Any
) -> Any:
    cycle = parallel.processors() if cycle_length == parallel.AUTOTUNE else cycle_length
    return interleave.Interleave(input_dataset, f, other_arguments, cycle, block_length)


def _interleave_v2(
    input_dataset: Any, other_arguments: list[Any], cycle_length: int, block_length: int,
    num_parallel_calls: int, f: Any,
) -> Any:  # fmt: skip
    cycle = parallel.processors() if cycle_length == parallel.AUTOTUNE else cycle_length
    if num_parallel_calls != parallel.AUTOTUNE and not 1 <= num_parallel_calls <= cycle:
        raise errors.invalid(
            "num_parallel_calls must be greater than zero and less than or equal to cycle_length;"
            f" found {num_parallel_calls}, cycle_length {cycle}"
        )
    readers = cycle if num_parallel_calls == parallel.AUTOTUNE else num_parallel_calls
    return interleave.Interleave(
        input_dataset, f, other_arguments, cycle, block_length, readers, block_length
    )


def _parallel_interleave(
    input_dataset: Any, other_arguments: list[Any], cycle_length: int, block_length: int,
    sloppy: bool, buffer_output_elements: int, prefetch_input_elements: int, f: Any,
) -> Any:  # fmt: skip
    return interleave.Interleave(
        input_dataset, f, other_arguments, cycle_length, block_length, cycle_length,
        buffer_output_elements,
    )  # fmt: skip


def _map_and_batch(
    input_dataset: Any, other_arguments: list[Any], batch_size: int, num_parallel_calls: int,
    drop_remainder: bool, f: Any,
) -> Any:  # fmt: skip
    mapped = parallel.ParallelMap(input_dataset, f, other_arguments, num_parallel_calls)
    return batches.FixedBatch(mapped, batch_size, drop_remainder)


def _group_by_window(
    input_dataset: Any, key_func_other_arguments: list[Any],
    reduce_func_other_arguments: list[Any], window_size_func_other_arguments: list[Any],
    key_func: Any, reduce_func: Any, window_size_func: Any,
) -> Any:  # fmt: skip
    return functional.GroupByWindow(
        input_dataset, (key_func, key_func_other_arguments),
        (reduce_func, reduce_func_other_arguments),
        (window_size_func, window_size_func_other_arguments),
    )  # fmt: skip


def _group_by_reducer(
    input_dataset: Any, key_func_other_arguments: list[Any], init_func_other_arguments: list[Any],
    reduce_func_other_arguments: list[Any], finalize_func_other_arguments: list[Any],
    key_func: Any, init_func: Any, reduce_func: Any, finalize_func: Any,
) -> Any:  # fmt: skip
    return functional.GroupByReducer(
        input_dataset,
        [
            (key_func, key_func_other_arguments), (init_func, init_func_other_arguments),
            (reduce_func, reduce_func_other_arguments),
            (finalize_func, finalize_func_other_arguments),
        ],
    )  # fmt: skip


def _generator(
    init_func_other_args: list[Any], next_func_other_args: list[Any],
    finalize_func_other_args: list[Any], init_func: Any, next_func: Any, finalize_func: Any,
) -> Any:  # fmt: skip
    return sources.Generator(
        (init_func, init_func_other_args), (next_func, next_func_other_args),
        (finalize_func, finalize_func_other_args),
    )  # fmt: skip


class _InWorkers(order.Passing):
    """The same elements; the Python functions that make them run in worker processes."""

    def __init__(self, source: base.Dataset, count: int) -> None:
        super().__init__(source)
        self._count = count

    def iterator(self, context: base.Context) -> base.Iterator:
        return super().iterator(context.with_workers(self._count))


def _over(make: Any, *names: str) -> Any:
    """A kernel that passes its inputs on to a class."""
    arguments = ", ".join(names)
    scope = {"make": make}
    exec(f"def kernel({arguments}):\n    return make({arguments})", scope)
    function: Any = scope["kernel"]
    function.__name__ = f"make_{make.__name__.lower()}"
    return function


_IN = "input_dataset: variant"
_F = f"{_IN}, other_arguments: list(Targuments)"
_HINTS = ["use_inter_op_parallelism: bool = True", "preserve_cardinality: bool = False"]
_SLOPPY = "sloppy: bool = False"
_CALLED = ("input_dataset", "f", "other_arguments")
_PARALLEL_INTERLEAVE = (
    f"{_F}, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64,"
    " prefetch_input_elements: int64"
)

_DATASETS: list[tuple[str, str, list[str], Any]] = [
    # op type, inputs, attrs, kernel
    ("TensorDataset", "components: list(Toutput_types)", _SLICED,
     _over(sources.Tensors, "components")),
    ("TensorSliceDataset", "components: list(Toutput_types)", _SLICED,
     _over(sources.Slices, "components")),
    ("SparseTensorSliceDataset", "indices: int64, values: Tvalues, dense_shape: int64",
     ["Tvalues: type"], _over(sources.SparseSlices, "indices", "values", "dense_shape")),
    ("RangeDataset", "start: int64, stop: int64, step: int64", TYPES,
     _over(sources.Range, "start", "stop", "step")),
    ("RandomDataset", "seed: int64, seed2: int64", TYPES,
     _over(sources.RandomNumbers, "seed", "seed2")),
    ("GeneratorDataset",
     "init_func_other_args: list(Tinit_func_args), next_func_other_args: list(Tnext_func_args),"
     " finalize_func_other_args: list(Tfinalize_func_args)",
     ["init_func: func", "next_func: func", "finalize_func: func",
      "Tinit_func_args: list(type) >= 0", "Tnext_func_args: list(type) >= 0",
      "Tfinalize_func_args: list(type) >= 0", *TYPES], _generator),
    ("MapDataset", _F, [*_MAPPED, *_HINTS], _over(functional.Map, *_CALLED)),
    ("ParallelMapDataset", f"{_F}, num_parallel_calls: int32",
     [*_MAPPED, _HINTS[0], _SLOPPY, _HINTS[1]],
     _over(parallel.ParallelMap, *_CALLED, "num_parallel_calls")),
    ("MapAndBatchDataset", f"{_F}, batch_size: int64, num_parallel_calls: int64,"
     " drop_remainder: bool", [*_MAPPED, _HINTS[1]], _map_and_batch),
    ("FlatMapDataset", _F, _MAPPED, _over(functional.FlatMap, *_CALLED)),
    ("InterleaveDataset", f"{_F}, cycle_length: int64, block_length: int64", _MAPPED,
     _interleave),
    ("ParallelInterleaveDatasetV2", f"{_F}, cycle_length: int64, block_length: int64,"
     " num_parallel_calls: int64", [*_MAPPED, _SLOPPY], _interleave_v2),
    ("ParallelInterleaveDataset", _PARALLEL_INTERLEAVE, _MAPPED, _parallel_interleave),
    ("FilterDataset", _F, _PREDICATE,
     _over(functional.Filter, "input_dataset", "predicate", "other_arguments")),
    ("TakeWhileDataset", _F, _PREDICATE,
     _over(functional.TakeWhile, "input_dataset", "predicate", "other_arguments")),
    ("ScanDataset", f"{_IN}, initial_state: list(Tstate), other_arguments: list(Targuments)",
     ["f: func", "Tstate: list(type) >= 1", _ARGUMENTS, *TYPES, _HINTS[1]],
     _over(functional.Scan, "input_dataset", "initial_state", "f", "other_arguments")),
    ("GroupByWindowDataset",
     f"{_IN}, key_func_other_arguments: list(Tkey_func_other_arguments),"
     " reduce_func_other_arguments: list(Treduce_func_other_arguments),"
     " window_size_func_other_arguments: list(Twindow_size_func_other_arguments)",
     ["key_func: func", "reduce_func: func", "window_size_func: func",
      "Tkey_func_other_arguments: list(type) >= 0",
      "Treduce_func_other_arguments: list(type) >= 0",
      "Twindow_size_func_other_arguments: list(type) >= 0", *TYPES], _group_by_window),
    ("GroupByReducerDataset",
     f"{_IN}, key_func_other_arguments: list(Tkey_func_other_arguments),"
     " init_func_other_arguments: list(Tinit_func_other_arguments),"
     " reduce_func_other_arguments: list(Treduce_func_other_arguments),"
     " finalize_func_other_arguments: list(Tfinalize_func_other_arguments)",
     ["key_func: func", "init_func: func", "reduce_func: func", "finalize_func: func",
      "Tkey_func_other_arguments: list(type) >= 0", "Tinit_func_other_arguments: list(type) >= 0",
      "Treduce_func_other_arguments: list(type) >= 0",
      "Tfinalize_func_other_arguments: list(type) >= 0", *TYPES], _group_by_reducer),
    ("ZipDataset", "input_datasets: N*variant", [*TYPES, "N: int >= 1"], _zip),
    ("ConcatenateDataset", f"{_IN}, another_dataset: variant", TYPES,
     _over(order.Concatenate, "input_dataset", "another_dataset")),
    ("DirectedInterleaveDataset",
     "selector_input_dataset: variant, data_input_datasets: N*variant", [*TYPES, "N: int >= 1"],
     _over(order.Directed, "selector_input_dataset", "data_input_datasets")),
    ("BatchDataset", f"{_IN}, batch_size: int64", TYPES,
     lambda input_dataset, batch_size: batches.Batch(input_dataset, batch_size, False)),
    ("BatchDatasetV2", f"{_IN}, batch_size: int64, drop_remainder: bool",
     ["parallel_copy: bool = False", *TYPES],
     _over(batches.Batch, "input_dataset", "batch_size", "drop_remainder")),
    ("PaddedBatchDataset", f"{_IN}, batch_size: int64, padded_shapes: N*int64,"
     " padding_values: list(Toutput_types)", [*_SLICED, "N: int >= 1"], _padded_v1),
    ("PaddedBatchDatasetV2", f"{_IN}, batch_size: int64, padded_shapes: N*int64,"
     " padding_values: list(Toutput_types), drop_remainder: bool",
     ["parallel_copy: bool = False", *_SLICED, "N: int >= 1"], _padded),
    ("UnbatchDataset", _IN, TYPES, _over(batches.Unbatch, "input_dataset")),
    ("CacheDataset", f"{_IN}, filename: string", TYPES, _cached),
    ("PrefetchDataset", f"{_IN}, buffer_size: int64",
     [*TYPES, "slack_period: int = 0", "legacy_autotune: bool = True"],
     _over(parallel.Prefetch, "input_dataset", "buffer_size")),
    ("RepeatDataset", f"{_IN}, count: int64", TYPES,
     _over(order.Repeat, "input_dataset", "count")),
    ("TakeDataset", f"{_IN}, count: int64", TYPES, _over(order.Take, "input_dataset", "count")),
    ("SkipDataset", f"{_IN}, count: int64", TYPES, _over(order.Skip, "input_dataset", "count")),
    ("ShardDataset", f"{_IN}, num_shards: int64, index: int64",
     ["require_non_empty: bool = False", *TYPES],
     _over(order.Shard, "input_dataset", "num_shards", "index")),
    ("ShuffleDataset", f"{_IN}, buffer_size: int64, seed: int64, seed2: int64",
     ["reshuffle_each_iteration: bool = True", *TYPES], _shuffle),
    ("ShuffleAndRepeatDataset",
     f"{_IN}, buffer_size: int64, seed: int64, seed2: int64, count: int64", TYPES,
     _shuffle_repeat),
    ("WindowDataset", f"{_IN}, size: int64, shift: int64, stride: int64, drop_remainder: bool",
     TYPES, _over(order.Window, "input_dataset", "size", "shift", "stride", "drop_remainder")),
    ("IgnoreErrorsDataset", _IN, TYPES, _over(order.IgnoreErrors, "input_dataset")),
    ("UniqueDataset", _IN, TYPES, _over(order.Unique, "input_dataset")),
    ("ModelDataset", _IN, ["algorithm: int = 0", "cpu_budget: int = 0", *TYPES],
     _over(order.Passing, "input_dataset")),
    ("OptimizeDataset", f"{_IN}, optimizations: string",
     [*TYPES, "optimization_configs: list(string) = []"], _over(order.Passing, "input_dataset")),
]  # fmt: skip
# Numbers, bools and vectors that kernels want as Python values.
_HOST = {
    "start", "stop", "step", "seed", "seed2", "num_parallel_calls", "batch_size", "drop_remainder",
    "cycle_length", "block_length", "sloppy", "buffer_output_elements", "prefetch_input_elements",
    "padded_shapes", "buffer_size", "count", "num_shards", "index", "size", "shift", "stride",
    "python_workers", "row_shape", "window_size", "window_shift", "window_stride",
}  # fmt: skip


# Those of them that are vectors.
_VECTORS = {"padded_shapes", "row_shape"}


# Attrs that a later TensorFlow gave them.
_LATER = {
    "DirectedInterleaveDataset": ["stop_on_empty_dataset: bool = false"],
    "IgnoreErrorsDataset": ["log_warning: bool"],
    "MapDataset": ["force_synchronous: bool"],
    "ModelDataset": ["ram_budget: int"],
    "PrefetchDataset": ["buffer_size_min: int"],
    "RangeDataset": ["replicate_on_split: bool"],
    "ScanDataset": ["use_default_device: bool"],
    "ShuffleAndRepeatDataset": ["reshuffle_each_iteration: bool = true"],
    "TensorSliceDataset": ["is_files: bool", "replicate_on_split: bool"],
}
# Whose shape rule, in TensorFlow, leaves it to the run that sizes are scalars.
_LOOKED_AT_LATER = {
    "ParallelMapDataset", "InterleaveDataset", "ParallelInterleaveDataset",
    "ParallelInterleaveDatasetV2",
}  # fmt: skip


def _of_scalars(names: set[str], later: bool) -> Any:
    """Shape rule: a scalar handle, of inputs of which these are scalars."""

    def rule(ctx: Any) -> Any:
        for name in sorted(names):
            try:
                ctx.rank(name, 0)
            except ValueError as error:
                if later:
                    raise FailsAtRun(f"{name} must be a scalar: {error}", scalar(ctx)) from None
                raise
        return scalar(ctx)

    return rule


def define_dataset(name: str, inputs: str, attrs: list[str], kernel: Any) -> None:
    """Registers the op type of a dataset."""
    wanted = {part.split(":")[0].strip() for part in inputs.split(",")}
    define_op(
        name,
        f"{inputs} -> handle: variant",
        attrs=attrs,
        later=_LATER.get(name, ()),
        shape=_of_scalars((wanted & _HOST) - _VECTORS, name in _LOOKED_AT_LATER),
        kernel=kernel,
        host=sorted(wanted & _HOST),
        stateful=True,
        no_gradient=_REASON,
    )


for _row in _DATASETS:
    define_dataset(*_row)
# TensorFlow has no such op; it stands only where ``Options.python_workers`` is set.
define_dataset(
    "PythonWorkersDataset", f"{_IN}, python_workers: int64", TYPES,
    _over(_InWorkers, "input_dataset", "python_workers"),
)  # fmt: skip


def element_dims(ctx: ShapeContext) -> list[Any]:
    """Static dims of an element's components, as the node says."""
    return [s.sizes for s in ctx.attr("output_shapes")]


def _reduce(
    input_dataset: Any, initial_state: list[Any], other_arguments: list[Any], f: Any
) -> Any:
    return functional.reduce(input_dataset, initial_state, f, other_arguments)


define_op(
    "ReduceDataset",
    f"{_IN}, initial_state: list(Tstate), other_arguments: list(Targuments)"
    " -> components: list(output_types)",
    attrs=["f: func", "Tstate: list(type) >= 1", _ARGUMENTS, *TYPES, _HINTS[0]],
    shape=element_dims,
    kernel=_reduce,
    stateful=True,
    blocking=True,
    no_gradient=_REASON,
)


def _single(dataset: Any) -> Any:
    iterator = dataset.iterator(base.Context())
    try:
        element = iterator.next()
    except base.EndOfSequence:
        raise errors.invalid("Dataset was empty.") from None
    try:
        iterator.next()
    except base.EndOfSequence:
        return element if dataset.owned else base.own(element)
    raise errors.invalid("Dataset had more than one element.")


define_op(
    "DatasetToSingleElement",
    "dataset: variant -> components: list(output_types)",
    attrs=TYPES,
    shape=element_dims,
    kernel=_single,
    stateful=True,
    blocking=True,
    no_gradient=_REASON,
)
define_op(
    "DatasetCardinality",
    "input_dataset: variant -> cardinality: int64",
    shape=scalar,
    # Ranges and repetitions may have more elements than an int64 can say.
    kernel="torch.tensor(min({input_dataset}.cardinality(), 2**63 - 1))",
    stateful=True,
    no_gradient=_REASON,
    later=["cardinality_options: string"],
)
