"""Batches of parsed ``Example`` messages as datasets, and older transformations of batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.ops.array.ensure_shape import ensure_shape
from penstock.training.data import nodes, specs
from penstock.training.data.dataset import Dataset
from penstock.training.data.dataset_readers import TFRecordDataset
from penstock.training.data.features import _PLAIN, _Specs
from penstock.training.data.interleaving import parallel_interleave
from penstock.training.data.nodes import int64
from penstock.training.data.transformations import Reducer, shuffle_and_repeat

Transformation = Callable[[Dataset], Dataset]


def parse_example_dataset(features: Any, num_parallel_calls: Any = 1) -> Transformation:
    """Batches of serialized ``Example`` messages as dicts of tensors.

    Args:
      features: as for ``tf.parse_example``.
      num_parallel_calls: batches parsed at a time.

    Raises:
      ValueError: no features.
      TypeError: elements are no string vectors.
    """
    if features is None:
        raise ValueError("Missing: features was None.")

    def transform(dataset: Dataset) -> Dataset:
        spec = dataset.structure
        if not specs.TensorSpec([None], dtypes.string).is_compatible_with(spec):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        wanted = _Specs(features, _PLAIN)
        wanted.check_padded()
        batch = spec.shape.with_rank(1)
        structure: dict[str, Any] = {
            key: specs.SparseTensorSpec(batch.concatenate([None]), dtype)
            for key, dtype in wanted.sparse.items()
        }
        dense_shapes = wanted.dense_shapes(padding=True)
        for key, shape in zip(wanted.dense, dense_shapes, strict=True):
            structure[key] = specs.TensorSpec(batch.concatenate(shape), wanted.dense[key][0])
        defaults = wanted.default_tensors(padding=True)
        variant = nodes.variant(
            "ParseExampleDataset", structure, dataset._variant_tensor, num_parallel_calls,
            defaults, sparse_keys=list(wanted.sparse), dense_keys=list(wanted.dense),
            sparse_types=wanted.sparse_types, Tdense=wanted.dense_types,
            dense_shapes=dense_shapes,
        )  # fmt: skip
        parsed = Dataset.of(variant, structure, (dataset,))
        if not wanted.merged:
            return parsed
        return parsed.map(wanted.with_merged, num_parallel_calls=num_parallel_calls)

    return transform


def shuffled_and_repeated(
    dataset: Dataset, num_epochs: Any, shuffle: bool, buffer_size: Any, seed: Any
) -> Dataset:
    """Records in random order, if wanted, ``num_epochs`` times; None: without end."""
    if num_epochs != 1 and shuffle:
        return shuffle_and_repeat(buffer_size, num_epochs, seed)(dataset)
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def make_batched_features_dataset(
    file_pattern: Any, batch_size: Any, features: Any, reader: Any = TFRecordDataset,
    label_key: str | None = None, reader_args: Any = None, num_epochs: Any = None,
    shuffle: bool = True, shuffle_buffer_size: Any = 10000, shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None, reader_num_threads: Any = None,
    parser_num_threads: Any = None, sloppy_ordering: bool = False, drop_final_batch: bool = False,
) -> Dataset:  # fmt: skip
    """Batches of parsed ``Example`` messages of files.

    Args:
      file_pattern: as for ``Dataset.list_files``.
      batch_size: examples of a batch.
      features: as for ``tf.parse_example``.
      reader: makes a dataset of a file's name: of messages, or of pairs of a key and a message.
      label_key: a feature that stands apart: elements are (features, label).
      reader_args: more arguments for ``reader``.
      num_epochs: passes over the files; None: without end.
      shuffle: files and messages in random order.
      shuffle_buffer_size, shuffle_seed: as for ``Dataset.shuffle``.
      prefetch_buffer_size: batches made ahead.
      reader_num_threads: files read at a time; default 1.
      parser_num_threads: batches parsed at a time; default 2.
      sloppy_ordering: accepted; the order is the same one always.
      drop_final_batch: leave a smaller last batch out.

    Raises:
      ValueError: ``label_key`` is no feature.
    """
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    more = [] if reader_args is None else reader_args
    threads = 1 if reader_num_threads is None else reader_num_threads
    dataset = parallel_interleave(
        lambda name: reader(name, *more), cycle_length=threads, sloppy=sloppy_ordering
    )(files)
    spec = dataset.structure
    if isinstance(spec, tuple) and len(spec) == 2:
        dataset = dataset.map(lambda _, message: message)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    calls = 2 if parser_num_threads is None else parser_num_threads
    dataset = parse_example_dataset(features, calls)(dataset)
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key!r}) must be one of the `features` keys."
            )
        dataset = dataset.map(lambda found: _apart(found, label_key))
    return dataset.prefetch(prefetch_buffer_size)


def _apart(found: dict[str, Any], key: str) -> tuple[Any, Any]:
    label = found.pop(key)
    return found, label


def read_batch_features(
    file_pattern: Any, batch_size: Any, features: Any, reader: Any = TFRecordDataset,
    reader_args: Any = None, randomize_input: bool = True, num_epochs: Any = None,
    capacity: Any = 10000,
) -> Any:  # fmt: skip
    """The next batch of parsed ``Example`` messages: a dict of tensors, new in each step.

    Args:
      file_pattern, batch_size, features, reader, reader_args, num_epochs: as for
        ``make_batched_features_dataset``.
      randomize_input: random order.
      capacity: messages that are held to choose from.
    """
    dataset = make_batched_features_dataset(
        file_pattern, batch_size, features, reader=reader, reader_args=reader_args,
        shuffle=randomize_input, num_epochs=num_epochs, shuffle_buffer_size=capacity,
    )  # fmt: skip
    return dataset.make_one_shot_iterator().get_next()


# ---- batches, devices ----------------------------------------------------------------------------


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Elements of different shapes as rows of a sparse tensor.

    Args:
      batch_size: elements of a batch.
      row_shape: the dense shape of a row; no element may be larger.

    Running it raises ``tf.errors.DataLossError`` for an element that is larger.
    """

    def transform(dataset: Dataset) -> Dataset:
        spec = dataset.structure
        if type(spec) is not specs.TensorSpec:
            raise TypeError(
                "`dense_to_sparse_batch` takes a dataset of one dense component; found elements"
                f" of {spec!r}"
            )
        row = shapes.as_shape(row_shape)
        dims = [-1 if d is None else d for d in row.as_list()]
        structure = specs.SparseTensorSpec(shapes.TensorShape([None]).concatenate(row), spec.dtype)
        sizes = convert_to_tensor(np.array(dims, np.int64), dtypes.int64)
        return dataset.node("DenseToSparseBatchDataset", batch_size, sizes, structure=structure)

    return transform


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Transformation:
    """Overlapping batches.

    Args:
      window_size: elements of a window.
      stride: older name of ``window_shift``.
      window_shift: from the start of a window to the start of the next; default 1.
      window_stride: from one element of a window to the next.

    Raises:
      ValueError: both ``stride`` and ``window_shift`` are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = 1 if stride is None and window_shift is None else stride or window_shift

    def transform(dataset: Dataset) -> Dataset:
        size = int64(window_size, "window_stride")
        apart = int64(window_stride, "window_stride")
        structure = specs.map_leaves(lambda s: specs.batched(s, None), dataset.structure)
        return dataset.node(
            "SlidingWindowDataset", size, int64(shift, "window_shift"), apart, structure=structure
        )

    return transform


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """The same elements, of which the shapes are known.

    Args:
      expected_shapes: nesting of shapes.

    Raises:
      ValueError: a static shape is another one; running it raises
        ``tf.errors.InvalidArgumentError`` for an element of another one.
    """

    def transform(dataset: Dataset) -> Dataset:
        def checked(*element: Any) -> Any:
            whole = element if len(element) > 1 else element[0]
            leaves = specs.shapes_as(whole, expected_shapes)
            return specs.pack(whole, list(map(_checked, specs.flatten(whole), leaves)))

        return dataset.map(checked)

    return transform


def _checked(tensor: Any, shape: shapes.TensorShape) -> Any:
    if not tensor.shape.is_compatible_with(shape):
        raise ValueError(f"Shapes {tensor.shape} and {shape} are not compatible")
    if tensor.shape.is_fully_defined():
        return tensor
    return ensure_shape(tensor, shape)


def copy_to_device(target_device: Any, source_device: str = "/cpu:0") -> Transformation:
    """Elements for a device; they are made in the host's memory, and steps move them.

    Args:
      target_device, source_device: names of devices; kept for other runtimes.
    """
    return lambda dataset: dataset


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """``Dataset.prefetch``; elements are made in the host's memory, and steps move them."""
    return lambda dataset: dataset.prefetch(buffer_size)


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Any:
    """The state after the reducer has seen all elements; as in TensorFlow it is not finalized."""
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)
