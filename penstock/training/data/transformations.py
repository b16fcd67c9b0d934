"""``tf.data.experimental``: transformations for ``Dataset.apply``, and what stands beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autograph.operators import attempt
from penstock.ops.math.select import where
from penstock.ops.random.stateless_random import stateless_multinomial
from penstock.storage.checkpoint.saveable import SaveableObject, SaveSpec
from penstock.training.data import nodes, specs
from penstock.training.data.dataset import Dataset, DatasetSpec
from penstock.training.data.mapped import Mapped
from penstock.training.data.nodes import batch_dim, int64, two_seeds, with_state

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
_HERE = "tf.data.experimental."
Transformation = Callable[[Dataset], Dataset]


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """Shuffles, and repeats with another order each time; the buffer stays full between passes.

    Args:
      buffer_size, seed: as for ``Dataset.shuffle``.
      count: as for ``Dataset.repeat``.
    """

    def transform(dataset: Dataset) -> Dataset:
        size = int64(buffer_size, "buffer_size")
        times = int64(-1 if count is None else count, "count")
        return dataset.node("ShuffleAndRepeatDataset", size, *two_seeds(seed), times)

    return transform


def map_and_batch(
    map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any = None,
    drop_remainder: Any = False, num_parallel_calls: Any = None,
) -> Transformation:  # fmt: skip
    """``map`` in threads, then ``batch``.

    Args:
      map_func: as for ``Dataset.map``.
      batch_size, drop_remainder: as for ``Dataset.batch``.
      num_parallel_batches: batches made at a time.
      num_parallel_calls: elements made at a time; only one of the two may be given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive."
        )
    calls = num_parallel_calls
    if calls is None:
        calls = batch_size * (1 if num_parallel_batches is None else num_parallel_batches)

    def transform(dataset: Dataset) -> Dataset:
        function = Mapped(map_func, dataset.structure, f"{_HERE}map_and_batch()")
        size = int64(batch_size, "batch_size")
        at_once = int64(calls, "num_parallel_calls")
        whole = convert_to_tensor(drop_remainder, dtypes.bool, "drop_remainder")
        known = batch_dim(size, whole)
        structure = specs.map_leaves(lambda s: specs.batched(s, known), function.structure)
        return dataset.called(
            "MapAndBatchDataset", function, size, at_once, whole, structure=structure,
            preserve_cardinality=True,
        )  # fmt: skip

    return transform


map_and_batch_with_legacy_function = map_and_batch


def unbatch() -> Transformation:
    """``Dataset.unbatch``."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: Any = 0) -> Transformation:
    """``Dataset.enumerate``."""
    return lambda dataset: dataset.enumerate(start)


def ignore_errors() -> Transformation:
    """Leaves out elements that cannot be made."""
    return lambda dataset: dataset.node("IgnoreErrorsDataset")


def unique() -> Transformation:
    """Each value once; for elements of one scalar int32, int64 or string."""

    def transform(dataset: Dataset) -> Dataset:
        kinds = specs.flat_types(dataset.structure)
        if len(kinds) != 1 or kinds[0] not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`,"
                " `tf.int64`, or `tf.string` component."
            )
        return dataset.node("UniqueDataset")

    return transform


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """What a function makes of each element and of a state that it hands on.

    Args:
      initial_state: nesting of tensors.
      scan_func: from (state, element) to (state, output).
    """

    def transform(dataset: Dataset) -> Dataset:
        state = specs.normalized(initial_state)

        def state_of(returned: Any) -> Any:
            if not isinstance(returned, tuple) or len(returned) != 2:
                raise TypeError(
                    "The scan function must return a pair comprising the new state and the output"
                    " value."
                )
            return returned[0]

        function, structure = with_state(
            scan_func, state, specs.spec_of(state), dataset.structure, f"{_HERE}scan()", state_of
        )
        output = function.structure[1]
        variant = nodes.variant(
            "ScanDataset", output, dataset._variant_tensor, specs.to_flat(structure, state),
            function.captured, f=function.graph, preserve_cardinality=True,
        )  # fmt: skip
        return Dataset.of(variant, output, (dataset,), function)

    return transform


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first of which ``predicate`` says False."""

    def transform(dataset: Dataset) -> Dataset:
        function = Mapped(predicate, dataset.structure, f"{_HERE}take_while()")
        spec = function.structure
        if not specs.TensorSpec([], dtypes.bool).is_compatible_with(spec):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        return dataset.called(
            "TakeWhileDataset", function, structure=dataset.structure, attr="predicate"
        )

    return transform


def _scalar_of(function: Mapped, what: str) -> None:
    if not specs.TensorSpec([], dtypes.int64).is_compatible_with(function.structure):
        raise ValueError(
            f"`{what}` must return a single tf.int64 scalar tensor; found {function.structure!r}"
        )


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:  # fmt: skip
    """Windows of elements of one key, each reduced to a dataset.

    Args:
      key_func: from an element to an int64 scalar.
      reduce_func: from a key and a dataset of its elements to a dataset.
      window_size: most elements of a window.
      window_size_func: the same from a key; one of the two must be given.
    """
    if (window_size is not None) == (window_size_func is not None):
        raise ValueError("Must pass either window_size or window_size_func.")
    sized = window_size_func
    if sized is None:
        sized = _constant(window_size)
    size_of = sized

    def transform(dataset: Dataset) -> Dataset:
        asker = f"{_HERE}group_by_window()"
        number = specs.TensorSpec([], dtypes.int64)
        key = Mapped(_as_int64(key_func), dataset.structure, asker)
        _scalar_of(key, "key_func")
        reduce = Mapped(reduce_func, (number, DatasetSpec(dataset.structure)), asker)
        if not isinstance(reduce.structure, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        size = Mapped(_as_int64(size_of), number, asker)
        _scalar_of(size, "window_size_func")
        inner = reduce.structure._element_spec
        variant = nodes.variant(
            "GroupByWindowDataset", inner, dataset._variant_tensor, key.captured, reduce.captured,
            size.captured, key_func=key.graph, reduce_func=reduce.graph,
            window_size_func=size.graph,
        )  # fmt: skip
        return Dataset.of(variant, inner, (dataset,), key, reduce, size)

    return transform


def _constant(value: Any) -> Callable[..., Any]:
    return lambda key: convert_to_tensor(value, dtypes.int64)


def _as_int64(function: Callable[..., Any]) -> Callable[..., Any]:
    converted = attempt(function)

    def wrapped(*args: Any) -> Any:
        value = converted(*args)
        return convert_to_tensor(value, dtypes.int64)

    wrapped.__name__ = f"{getattr(function, '__name__', 'function')}_wrapper"
    return wrapped


class Reducer:
    """Three functions that make one value of many elements.

    Args:
      init_func: from a key to the first state.
      reduce_func: from (state, element) to the next state.
      finalize_func: from the last state to the value.
    """

    def __init__(
        self, init_func: Callable[..., Any], reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:  # fmt: skip
        self._functions = (init_func, reduce_func, finalize_func)

    @property
    def init_func(self) -> Callable[..., Any]:
        """Makes the first state."""
        return self._functions[0]

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """Makes the next state."""
        return self._functions[1]

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """Makes the value."""
        return self._functions[2]


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """One element a key: what the reducer makes of its elements."""

    def transform(dataset: Dataset) -> Dataset:
        asker = f"{_HERE}group_by_reducer()"
        key = Mapped(_as_int64(key_func), dataset.structure, asker)
        init = Mapped(reducer.init_func, specs.TensorSpec([], dtypes.int64), asker)
        reduce, state = with_state(
            reducer.reduce_func, None, init.structure, dataset.structure, asker, lambda s: s
        )
        final = Mapped(reducer.finalize_func, state, asker)
        variant = nodes.variant(
            "GroupByReducerDataset", final.structure, dataset._variant_tensor, key.captured,
            init.captured, reduce.captured, final.captured, key_func=key.graph,
            init_func=init.graph, reduce_func=reduce.graph, finalize_func=final.graph,
        )  # fmt: skip
        return Dataset.of(variant, final.structure, (dataset,), key, init, reduce, final)

    return transform


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
    pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
) -> Transformation:  # fmt: skip
    """Batches of elements of similar length.

    Args:
      element_length_func: from an element to its length, an int32 scalar.
      bucket_boundaries: upper bounds of the buckets' lengths.
      bucket_batch_sizes: batch size of each bucket, one more than there are bounds.
      padded_shapes, padding_values: as for ``Dataset.padded_batch``; shapes default to those of
        the elements.
      pad_to_bucket_boundary: pad unknown dims to the bound of the bucket less one.
      no_padding: batch without padding.
      drop_remainder: leave smaller batches out.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")

    def transform(dataset: Dataset) -> Dataset:
        with name_scope("bucket_by_seq_length"):
            sizes: Any = convert_to_tensor(np.array(bucket_batch_sizes, np.int64), dtypes.int64)
            lower = np.array([np.iinfo(np.int32).min, *bucket_boundaries], np.int32)
            upper = np.array([*bucket_boundaries, np.iinfo(np.int32).max], np.int32)

            def key_func(*element: Any) -> Any:
                length = element_length_func(*element)
                inside = make(
                    "LogicalAnd", make("LessEqual", lower, length), make("Less", length, upper)
                )
                return make("Min", where(inside), np.array([0, 1], np.int32))

            def size_func(bucket: Tensor) -> Any:
                return sizes[bucket]

            def reduce_func(bucket: Tensor, grouped: Dataset) -> Dataset:
                size = sizes[bucket]
                if no_padding:
                    return grouped.batch(size, drop_remainder=drop_remainder)
                none_filler = None
                if pad_to_bucket_boundary:
                    bounds: Any = convert_to_tensor(np.array(bucket_boundaries, np.int64))
                    none_filler = bounds[bucket] - 1
                wanted = _filled(
                    padded_shapes if padded_shapes is not None
                    else specs.legacy_shapes(grouped.structure), none_filler,
                )  # fmt: skip
                return grouped.padded_batch(size, wanted, padding_values, drop_remainder)

        return group_by_window(key_func, reduce_func, window_size_func=size_func)(dataset)

    return transform


def _filled(structure: Any, filler: Any) -> Any:
    if filler is None:
        return structure
    if specs.is_nested(structure) and not _is_shape(structure):
        return specs.map_leaves(lambda shape: _filled(shape, filler), structure)
    dims = shapes.as_shape(structure).sizes or ()
    parts = [filler if d is None else np.int64(d) for d in dims]
    return make("Pack", parts) if parts else np.zeros([0], np.int64)


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(d, int | None) for d in value)


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """Elements of several datasets, as a dataset of int64 numbers says."""
    if not specs.TensorSpec([], dtypes.int64).is_compatible_with(choice_dataset.element_spec):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _directed(choice_dataset, datasets)


def _directed(selector: Dataset, datasets: Sequence[Dataset]) -> Dataset:
    structure = datasets[0].structure
    for other in datasets[1:]:
        structure = specs.map_leaves(
            lambda a, b: a.most_specific_compatible_type(b), structure, other.structure
        )
    variant = nodes.variant(
        "DirectedInterleaveDataset", structure, selector._variant_tensor,
        [d._variant_tensor for d in datasets],
    )  # fmt: skip
    return Dataset.of(variant, structure, (selector, *datasets))


def sample_from_datasets(
    datasets: Sequence[Dataset], weights: Any = None, seed: Any = None
) -> Dataset:
    """Elements of datasets chosen at random.

    Args:
      datasets: the datasets.
      weights: a probability for each, or a dataset of those; equal ones where None.
      seed: of the choice.
    """
    count = len(datasets)
    if isinstance(weights, Dataset):
        logits = weights.map(lambda p: make("Log", p))
        paired = Dataset.zip((logits, RandomDataset(seed).batch(2)))
        return _directed(paired.map(lambda p, s: _chosen(p, s)), datasets)
    given = [1.0 / count] * count if weights is None else weights
    if not isinstance(given, Tensor) and len(given) != count:
        raise ValueError("`weights` must be a vector of length `len(datasets)`.")
    odds = convert_to_tensor(given, None if isinstance(given, Tensor) else dtypes.float32)
    logits_now = make("Log", odds, name="logits")
    chosen = RandomDataset(seed).batch(2).map(lambda s: _chosen(logits_now, s))
    return _directed(chosen, datasets)


def _chosen(logits: Any, seed: Any) -> Any:
    drawn = stateless_multinomial(make("ExpandDims", logits, 0), 1, seed=seed)
    return make("Squeeze", drawn, squeeze_dims=[0, 1])


class RandomDataset(Dataset):
    """Random integers without end, as int64 scalars.

    Args:
      seed: of the numbers.
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__()
        structure = specs.TensorSpec([], dtypes.int64)
        self._set(nodes.variant("RandomDataset", structure, *two_seeds(seed)), structure)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """Numbers from ``start`` on, in steps, without end."""
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype, "start")
        more = convert_to_tensor(step, dtype, "step")
        zeros = Dataset.from_tensors(0).repeat(None)
        return scan(first, lambda state, _: (state + more, state))(zeros)


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset; running it fails where there is none or another."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"`dataset` must be a `tf.data.Dataset` object; found {dataset!r}")
    structure = dataset.structure
    flat = make(
        "DatasetToSingleElement", dataset.in_workers(),
        output_types=specs.flat_types(structure), output_shapes=specs.flat_shapes(structure),
    )  # fmt: skip
    return specs.from_flat(structure, flat)


def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements as an int64 scalar: -1 infinite, -2 not known."""
    return make_tensor("DatasetCardinality", dataset._variant_tensor)


def get_structure(dataset_or_iterator: Any) -> Any:
    """The nesting of specs of an element."""
    return dataset_or_iterator.element_spec


def to_variant(dataset: Dataset) -> Tensor:
    """The variant tensor of a dataset."""
    made: Tensor = dataset._variant_tensor
    return made


def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """The dataset of a variant tensor, its elements of that nesting of specs."""
    return Dataset.of(variant, structure)


class _Position(SaveableObject):
    """The position of an iterator, saved and restored with a checkpoint."""

    def __init__(self, handle: Any) -> None:
        state = make("SerializeIterator", handle)
        spec = SaveSpec(state, "", f"{handle.op.name}-state")
        super().__init__(handle, [spec], handle.op.name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Adds the node that goes on where the checkpoint was."""
        with name_scope("", "deserialize", [self.op]):
            return make("DeserializeIterator", self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator: Any) -> SaveableObject:
    """What a ``tf.train.Saver`` saves of an iterator: its position, buffers and random state.

    Args:
      iterator: add what is returned to the collection ``tf.GraphKeys.SAVEABLE_OBJECTS``.

    A restored iterator that was not initialized yet goes on there when its initializer runs.
    """
    return saveable_of_resource(iterator._iterator_resource)


def saveable_of_resource(resource: Any) -> SaveableObject:
    """``make_saveable_from_iterator`` of an iterator's node.

    Args:
      resource: the node's output.
    """
    return _Position(resource)
