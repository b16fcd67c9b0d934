"""``tf.data.Dataset``: pipelines of elements, one node a transformation.

State: the variant tensor of its node, the structure of an element, the datasets it is made of and
their functions (to see what they captured).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import drawing
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.scopes import default_graph_scope, get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import VariantSpec
from penstock.training.data import generator, iterator, listing, nodes, padding, specs
from penstock.training.data.frameworks import FrameworkSources
from penstock.training.data.mapped import Mapped
from penstock.training.data.nodes import batch_dim, int64, two_seeds, with_state
from penstock.training.data.options import Options

_OPTIMIZATIONS = ["map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"]
_BY_VALUE_TYPES = ("MatchingFiles", "Assert", "PyFunc", "DatasetToSingleElement", "ReduceDataset")


class Dataset(specs.Structured, FrameworkSources):
    """A sequence of elements, each a nesting of tensors.

    The functions ``from_...``, ``range`` and ``zip`` make datasets, and methods others from them.

    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     dataset = tf.data.Dataset.range(5).map(lambda x: x * x).batch(3)
    ...     session.run(dataset.make_one_shot_iterator().get_next()).tolist()
    [0, 1, 4]
    """

    _variant_tensor: Any
    structure: Any

    def __init__(self) -> None:
        self._options = Options()
        self._sources: tuple[Dataset, ...] = ()
        self.mapped_functions: tuple[Mapped, ...] = ()
        self._graph = get_default_graph()

    @staticmethod
    def of(
        variant: Any, structure: Any, inputs: tuple[Dataset, ...] = (), *functions: Mapped
    ) -> Dataset:
        made = Dataset()
        made._set(variant, structure, inputs, *functions)
        return made

    def _set(
        self, variant: Any, structure: Any, inputs: tuple[Dataset, ...] = (), *functions: Mapped
    ) -> None:
        self._variant_tensor, self.structure = variant, structure
        self._sources, self.mapped_functions = inputs, functions
        for one in inputs:
            self._options = self._options.merge(one.options())

    def node(self, op_type: str, *inputs: Any, structure: Any = None, **attrs: Any) -> Dataset:
        """A dataset over this one whose node has the usual attrs."""
        spec = self.structure if structure is None else structure
        made = nodes.variant(op_type, spec, self._variant_tensor, *inputs, **attrs)
        return Dataset.of(made, spec, (self,))

    def called(
        self, op_type: str, function: Mapped, *inputs: Any, structure: Any = None,
        attr: str = "f", **attrs: Any,
    ) -> Dataset:  # fmt: skip
        spec = function.structure if structure is None else structure
        variant = nodes.variant(
            op_type, spec, self._variant_tensor, function.captured, *inputs,
            **{attr: function.graph}, **attrs,
        )  # fmt: skip
        return Dataset.of(variant, spec, (self,), function)

    def own_spec(self) -> DatasetSpec:
        return DatasetSpec(self.structure)

    # ---- sources -----------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element: the nesting of tensors itself."""
        element = specs.normalized(tensors)
        structure = specs.spec_of(element)
        variant = make(
            "TensorDataset", specs.to_flat(structure, element),
            output_shapes=specs.flat_shapes(structure),
        )  # fmt: skip
        return Dataset.of(variant, structure)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The slices of tensors along their first dim.

        Args:
          tensors: a nesting of tensors (or arrays) of the same first dim, else a ValueError.

        Example:
          >>> dataset = tf.data.Dataset.from_tensor_slices((np.zeros([3, 28, 28]), [7, 8, 9]))
          >>> image, label = dataset.make_one_shot_iterator().get_next()
          >>> with tf.Session() as session:
          ...     image.shape.as_list(), [int(session.run(label)) for _ in range(3)]
          ([28, 28], [7, 8, 9])
        """
        element = specs.normalized(tensors)
        batch = specs.spec_of(element)
        structure = nodes.slices(batch)
        leaves = zip(specs.flatten(batch), specs.flatten(element), strict=True)
        flat = [tensor for spec, leaf in leaves for tensor in spec.to_slices(leaf)]
        variant = make("TensorSliceDataset", flat, output_shapes=specs.flat_shapes(structure))
        return Dataset.of(variant, structure)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """The rows of a sparse tensor, each as a tuple of indices, values and dense shape."""
        structure = nodes.sparse_rows(sparse_tensor)
        parts = (sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape)
        return Dataset.of(make("SparseTensorSliceDataset", *parts), structure)

    @staticmethod
    def from_generator(
        generator: Any, output_types: Any, output_shapes: Any = None, args: Any = None
    ) -> Dataset:
        """What a Python generator yields.

        Args:
          generator: returns something that ``iter`` takes; called again for each iterator.
          output_types: nesting of dtypes of an element.
          output_shapes: nesting of shapes; unknown where None.
          args: tensors whose values (arrays) the generator is called with.
        """
        return _from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """int64 numbers as Python's ``range`` has them: (stop), (start, stop), (start, stop, step).

        Raises:
          ValueError: no argument, or more than three.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        bounds = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
        named = [int64(v, n) for v, n in zip(bounds, ("start", "stop", "step"), strict=True)]
        structure = specs.TensorSpec([], dtypes.int64)
        return Dataset.of(nodes.variant("RangeDataset", structure, *named), structure)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Elements of several datasets side by side, until one ends.

        Args:
          datasets: a nesting of datasets, which is the nesting of the elements.

        Example:
          >>> pairs = tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(7, 9)))
          >>> with tf.Session() as session:
          ...     [int(n) for n in session.run(pairs.make_one_shot_iterator().get_next())]
          [0, 7]
        """
        flat = specs.flatten(datasets)
        for one in flat:
            if not isinstance(one, Dataset):
                raise TypeError(
                    "The argument to `Dataset.zip()` must be a nested structure of `Dataset`"
                    f" objects. Nested structures do not support Python lists; found {one!r}"
                )
        structure = specs.pack(datasets, [d.structure for d in flat])
        variant = nodes.variant("ZipDataset", structure, [d._variant_tensor for d in flat])
        return Dataset.of(variant, structure, tuple(flat))

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: Any = None) -> Dataset:
        """The names of files that match.

        Args:
          file_pattern: string tensor or strings: shell patterns.
          shuffle: random order (the default) or sorted.
          seed: of the order.

        Raises:
          tf.errors.InvalidArgumentError: when it runs, if nothing matches.
        """
        with name_scope("list_files"):
            shuffled = True if shuffle is None else shuffle
            pattern = convert_to_tensor(file_pattern, dtypes.string, "file_pattern")
            files = listing.matching(pattern)
            dataset = _string_slices(files)
            if shuffled:
                dataset = dataset.shuffle(listing.at_least_one(files), seed=seed)
            return dataset

    # ---- transformations ---------------------------------------------------------------------

    def concatenate(self, dataset: Any) -> Dataset:
        """These elements, then those of ``dataset``.

        Raises:
          TypeError: elements of other types or classes.
        """
        mine, theirs = self.structure, dataset.structure
        try:
            pairs = list(zip(specs.flatten(mine), specs.flatten_as(mine, theirs), strict=True))
        except ValueError as error:
            raise TypeError(str(error)) from None
        for one, other in pairs:
            if type(one) is not type(other) or one.dtype is not other.dtype:
                raise TypeError(
                    "Two datasets to concatenate have different types"
                    f" {specs.legacy_types(mine)} and {specs.legacy_types(theirs)}"
                )
        structure = specs.pack(mine, [a.most_specific_compatible_type(b) for a, b in pairs])
        variant = nodes.variant(
            "ConcatenateDataset", structure, self._variant_tensor, dataset._variant_tensor
        )
        return Dataset.of(variant, structure, (self, dataset))

    def prefetch(self, buffer_size: Any) -> Dataset:
        """Elements made ahead by a thread, up to ``buffer_size``; -1: as the runtime likes."""
        size = int64(-1 if buffer_size is None else buffer_size, "buffer_size")
        return self.node("PrefetchDataset", size)

    def repeat(self, count: Any = None) -> Dataset:
        """The elements ``count`` times; None or -1: without end."""
        return self.node("RepeatDataset", int64(-1 if count is None else count, "count"))

    def enumerate(self, start: Any = 0) -> Dataset:
        """Pairs of a number, from ``start`` on, and an element."""
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """Elements in random order, mixed within a buffer.

        Args:
          buffer_size: elements that are held to choose from.
          seed: of the order.
          reshuffle_each_iteration: another order in each pass; the default is True.
        """
        size = int64(buffer_size, "buffer_size")
        first, second = two_seeds(seed)
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        return self.node("ShuffleDataset", size, first, second, reshuffle_each_iteration=again)

    def cache(self, filename: Any = "") -> Dataset:
        """The elements, kept after the first pass: in memory, or in the file of that name."""
        return self.node("CacheDataset", convert_to_tensor(filename, dtypes.string, "filename"))

    def take(self, count: Any) -> Dataset:
        """The first ``count`` elements; all where it is -1."""
        return self.node("TakeDataset", int64(count, "count"))

    def skip(self, count: Any) -> Dataset:
        """All but the first ``count`` elements; none where it is -1."""
        return self.node("SkipDataset", int64(count, "count"))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every ``num_shards``-th element, from ``index`` on."""
        return self.node("ShardDataset", int64(num_shards, "num_shards"), int64(index, "index"))

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Elements in batches.

        Args:
          batch_size: elements of a batch.
          drop_remainder: leave a smaller last batch out; the size is then known statically.
        """
        size = int64(batch_size, "batch_size")
        whole = convert_to_tensor(drop_remainder, dtypes.bool, "drop_remainder")
        known = batch_dim(size, whole)
        structure = specs.map_leaves(lambda s: specs.batched(s, known), self.structure)
        return self.node("BatchDatasetV2", size, whole, structure=structure)

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any, padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:  # fmt: skip
        """Elements padded to one shape, in batches.

        Args:
          batch_size: elements of a batch.
          padded_shapes: nesting of shapes; None or -1 for a dim: the largest of the batch.
          padding_values: nesting of scalars; 0 or "" where None.
          drop_remainder: leave a smaller last batch out.
        """
        made = padding.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)
        return Dataset.of(*made, (self,))

    def unbatch(self) -> Dataset:
        """The slices of each element along its first dim."""
        normal = self.map(lambda *parts: parts if len(parts) > 1 else parts[0])
        structure = nodes.slices(self.structure)
        return normal.node("UnbatchDataset", structure=structure)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """What ``map_func`` makes of each element.

        Args:
          map_func: from the element (from its parts, where it is a tuple) to a nesting of tensors;
            called once, to build the graph of it.
          num_parallel_calls: elements made at a time by threads; -1: as many as processors.
        """
        function = Mapped(map_func, self.structure, "Dataset.map()")
        if num_parallel_calls is None:
            return self.called("MapDataset", function)
        calls = convert_to_tensor(num_parallel_calls, dtypes.int32, "num_parallel_calls")
        return self.called("ParallelMapDataset", function, calls)

    def map_with_legacy_function(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None
    ) -> Dataset:
        """The same as ``map``."""
        return self.map(map_func, num_parallel_calls)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the datasets that ``map_func`` makes, one dataset after the other."""
        function = Mapped(map_func, self.structure, "Dataset.flat_map()")
        return self.called("FlatMapDataset", function, structure=_inner(function, "flat_map"))

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: Any = -1, block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:  # fmt: skip
        """The elements of the datasets that ``map_func`` makes, in turns.

        Args:
          map_func: from an element to a dataset.
          cycle_length: datasets open at once; -1: as many as processors.
          block_length: elements of one that come together.
          num_parallel_calls: read the open datasets ahead, with threads.
        """
        function = Mapped(map_func, self.structure, "Dataset.interleave()")
        inner = _inner(function, "interleave")
        numbers = [int64(cycle_length, "cycle_length"), int64(block_length, "block_length")]
        if num_parallel_calls is None:
            return self.called("InterleaveDataset", function, *numbers, structure=inner)
        numbers.append(int64(num_parallel_calls, "num_parallel_calls"))
        return self.called("ParallelInterleaveDatasetV2", function, *numbers, structure=inner)

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements of which ``predicate`` says True.

        Raises:
          ValueError: it gives no bool scalar.
        """
        function = Mapped(predicate, self.structure, "Dataset.filter()")
        spec = function.structure
        if (
            not isinstance(spec, specs.TensorSpec)
            or spec.dtype is not dtypes.bool
            or not spec.shape.is_compatible_with([])
        ):
            words = "`predicate` return type must be convertible to a scalar boolean tensor. Was"
            raise ValueError(f"{words} {spec!r}.")
        return self.called("FilterDataset", function, structure=self.structure, attr="predicate")

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """The same as ``filter``."""
        return self.filter(predicate)

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Dataset:
        """Windows of elements, each component a dataset of its own.

        Args:
          size: elements of a window.
          shift: from the start of one to the start of the next; default ``size``.
          stride: from one element of a window to the next.
          drop_remainder: leave smaller last windows out.
        """
        wide = int64(size, "size")
        step = int64(size if shift is None else shift, "shift")
        apart = int64(stride, "stride")
        whole = convert_to_tensor(drop_remainder, dtypes.bool, "drop_remainder")
        structure = specs.map_leaves(lambda s: DatasetSpec(s), self.structure)
        return self.node("WindowDataset", wide, step, apart, whole, structure=structure)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """What ``reduce_func`` makes of all elements, one after the other.

        Args:
          initial_state: a nesting of tensors.
          reduce_func: from (state, element) to the next state.

        Returns:
          The last state.
        """
        with name_scope("initial_state"):
            state = specs.normalized(initial_state)
        structure = specs.spec_of(state)
        function, structure = with_state(
            reduce_func, state, structure, self.structure, "reduce()", lambda s: s
        )
        flat = make(
            "ReduceDataset", self.in_workers(), specs.to_flat(structure, state),
            function.captured, f=function.graph,
            output_types=specs.flat_types(structure), output_shapes=specs.flat_shapes(structure),
        )  # fmt: skip
        return specs.from_flat(structure, flat)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Any:
        """What ``transformation_func`` makes of the dataset.

        Raises:
          TypeError: it makes no dataset.
        """
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError("`transformation_func` must return a Dataset.")
        return made

    def with_options(self, options: Options) -> Dataset:
        """The dataset with options."""
        made = Dataset.of(self._variant_tensor, self.structure, (self,))
        made._options = made._options.merge(options)
        return made

    def options(self) -> Options:
        """The options of this dataset and of those it is made of."""
        return self._options

    def __iter__(self) -> Any:
        """The elements, where operations run as they are called; else RuntimeError."""
        return iterator.running(self)

    # ---- iterators ---------------------------------------------------------------------------

    def make_initializable_iterator(self, shared_name: str | None = None) -> iterator.Iterator:
        """An iterator that its ``initializer`` starts; the dataset may depend on placeholders."""
        return iterator.initializable(self, shared_name)

    def make_one_shot_iterator(self) -> iterator.Iterator:
        """An iterator that starts by itself, once.

        Raises:
          ValueError: the dataset uses a placeholder, a variable or other state.
        """
        if get_default_graph().executes:
            return iterator.running(self)
        graph = FunctionGraph("_make_dataset", by_value=True, stateful_allowed=_may_be_copied)
        try:
            with default_graph_scope(graph):
                variant = self.apply_options(graph)
        except ValueError as error:
            if "Cannot capture a stateful node" not in str(error):
                raise
            raise iterator.needs_an_initializer(error) from None
        graph.outputs = [graph.capture(variant)]
        handle = make(
            "OneShotIterator", dataset_factory=graph,
            output_types=specs.flat_types(self.structure),
            output_shapes=specs.flat_shapes(self.structure),
        )  # fmt: skip
        return iterator.Iterator.made_of(handle, None, self.structure)

    def apply_options(self, graph: Any = None) -> Any:
        """The variant, behind the nodes that TF adds to tell its runtime about options."""
        variant = self.in_workers()
        variant = variant if graph is None else graph.capture(variant)
        if not self._captured_ref():
            listed = np.array(_OPTIMIZATIONS, object)
            names = convert_to_tensor(listed, dtypes.string, "optimizations")
            variant = nodes.variant(
                "OptimizeDataset", self.structure, variant, names,
                optimization_configs=["map_vectorization:use_choose_fastest:false"],
            )  # fmt: skip
        variant = nodes.variant("ModelDataset", self.structure, variant)
        wanted = self._options.experimental_stats
        if wanted.aggregator is None:
            return variant
        handle = wanted.aggregator._resource
        return nodes.variant(
            "SetStatsAggregatorDataset", self.structure, variant,
            handle if graph is None else graph.capture(handle), wanted.prefix,
            wanted.counter_prefix,
        )  # fmt: skip

    def in_workers(self) -> Any:
        """The variant; behind a node that has Python run in processes where options say so."""
        count = self._options.python_workers
        if count is None:
            return self._variant_tensor
        number = int64(count, "python_workers")
        return nodes.variant("PythonWorkersDataset", self.structure, self._variant_tensor, number)

    def _captured_ref(self) -> bool:
        """Whether a function uses the value of a reference variable."""
        own = any(_from_ref(t) for f in self.mapped_functions for t in f.captured)
        return own or any(d._captured_ref() for d in self._sources)

    def _inputs(self) -> list[Dataset]:
        """The datasets that this one is made of, under the name that libraries know."""
        return list(self._sources)

    def _repr_html_(self) -> str:
        return drawing.table([("Dataset", type(self).__name__), ("elements", self.structure)])

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} shapes: {specs.legacy_shapes(self.structure)},"
            f" types: {specs.legacy_types(self.structure)}>"
        )


class DatasetSpec(VariantSpec):
    """What a dataset is made of, as a part of an element.

    Args:
      element_spec: nesting of specs of its elements.
      dataset_shape: shape of the tensor of datasets.
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(dataset_shape)
        self._element_spec = element_spec

    @property
    def value_type(self) -> Any:
        """The class of its values."""
        return Dataset

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a dataset or spec has elements that fit."""
        if not isinstance(spec_or_value, DatasetSpec | Dataset):
            return False
        other = spec_or_value
        return specs.are_compatible(
            self._element_spec,
            other._element_spec if isinstance(other, DatasetSpec) else other.element_spec,
        )

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The spec of what may be either."""
        merged = specs.map_leaves(
            lambda a, b: a.most_specific_compatible_type(b), self._element_spec,
            other._element_spec,
        )  # fmt: skip
        return DatasetSpec(merged)

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._shape

    def _from_components(self, components: Any) -> Any:
        return Dataset.of(components, self._element_spec)

    def to_slices(self, value: Any) -> list[Tensor]:
        return [value._variant_tensor]

    def with_shape(self, shape: Any) -> Any:
        return DatasetSpec(self._element_spec, shape)

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._shape})"


def _string_slices(files: Tensor) -> Dataset:
    structure = specs.TensorSpec([], dtypes.string)
    return Dataset.of(make("TensorSliceDataset", [files], output_shapes=[[]]), structure)


def _may_be_copied(op_type: str) -> bool:
    return any(k in op_type for k in ("Dataset", "Sparse", "Ragged")) or op_type in _BY_VALUE_TYPES


def _from_ref(tensor: Tensor) -> bool:
    return tensor.dtype.is_ref or any(_from_ref(t) for t in tensor.op.inputs)


def _inner(function: Mapped, name: str) -> Any:
    if not isinstance(function.structure, DatasetSpec):
        raise TypeError(
            f"`map_func` must return a `Dataset` object. Got {function.structure!r} from {name}."
        )
    return function.structure._element_spec


def _from_generator(function: Any, output_types: Any, output_shapes: Any, args: Any) -> Dataset:
    if not callable(function):
        raise TypeError("`generator` must be callable.")
    structure = specs.from_legacy(output_types, output_shapes)
    given = () if args is None else tuple(convert_to_tensor(a, name="args") for a in args)
    source = generator.Source(function, structure)
    dummy = specs.TensorSpec([], dtypes.int32)

    # As in TF the generator's node is made in a function, so that each iterator starts anew.
    def flat_map_fn(zero: Tensor) -> Dataset:
        asker = "Dataset.from_generator()"
        init = Mapped(lambda _: source.start(*given), dummy, asker)
        following = Mapped(source.following, init.structure, asker)
        final = Mapped(source.final, init.structure, asker)
        variant = make(
            "GeneratorDataset", [zero, *init.captured], following.captured, final.captured,
            init_func=init.graph, next_func=following.graph, finalize_func=final.graph,
            output_types=specs.flat_types(structure), output_shapes=specs.flat_shapes(structure),
        )  # fmt: skip
        return Dataset.of(variant, structure)

    return Dataset.from_tensors(0).flat_map(flat_map_fn)
