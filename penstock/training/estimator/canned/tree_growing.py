"""How boosted trees are trained: buckets of features, gradients, and a layer a step.

A step sums the gradients and hessians of its examples a node and bucket; when ``n_batches`` steps
have, the best splits of these sums become the next layer.  Before that the boundaries of buckets
are found, where features are plain numbers, and, where asked, the bias is moved to where the loss
is least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.autodiff.gradients import gradients
from penstock.library.control_flow.cond import cond
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.ops.array import fill, join, reshape, shape as shaping, split
from penstock.ops.array.cast import cast
from penstock.ops.control.control import group, no_op
from penstock.ops.math import elementwise, reduction, reductions
from penstock.ops.state.state import assign
from penstock.ops.state.state_update import assign_add
from penstock.training.data.accumulators import ConditionalAccumulator
from penstock.training.estimator.canned.tree_state import (
    BatchCache,
    QuantileAccumulator,
    TreeEnsemble,
)
from penstock.training.feature_column.column import Features
from penstock.training.feature_column.embedding import IndicatorColumn
from penstock.training.feature_column.numeric import BucketizedColumn, NumericColumn

PRUNING = {"none": 0, "pre": 1, "post": 2}


class TreeOptions(NamedTuple):
    """How trees grow; arguments are those of ``BoostedTreesEstimator``."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float


class Buckets:
    """The features of a batch, as buckets.

    Args:
      features: the features by name.
      columns: bucketized, indicator and numeric columns.
      epsilon: the bound on the error of quantiles.

    Raises:
      ValueError: a column of another kind.
    """

    def __init__(self, features: Any, columns: Sequence[Any], epsilon: float) -> None:
        self.names: list[str] = []
        self.ids: list[Any] = []
        self.groups: dict[int, list[int]] = {}
        self.numbers: list[Any] = []
        self.buckets_of_numbers = int(1.0 / epsilon)
        given, ordered = Features(features), sorted(columns, key=lambda each: each.name)
        bounds = [len(c.boundaries) for c in ordered if isinstance(c, BucketizedColumn)]
        wide = max(bounds, default=0) + 1
        places: list[int] = []
        for column in ordered:
            values, size = _values_of(column, given), 2
            if isinstance(column, BucketizedColumn):
                size = wide
            elif isinstance(column, NumericColumn):
                size = self.buckets_of_numbers
            for value in values:
                number = len(self.ids)
                self.names.append(column.name)
                self.groups.setdefault(size, []).append(number)
                if isinstance(column, NumericColumn):
                    places.append(number)
                    self.numbers.append(value)
                self.ids.append(value)
        self.quantiles = self._bucketize(places, epsilon) if places else None

    def _bucketize(self, places: Sequence[int], epsilon: float) -> QuantileAccumulator:
        """Puts numbers into the buckets of their quantiles."""
        made = QuantileAccumulator(epsilon, len(places), self.buckets_of_numbers)
        found = made.get_bucket_boundaries()
        for place, number, bounds in zip(places, self.numbers, found, strict=True):
            found = make("BoostedTreesBucketize", [number], [bounds])
            self.ids[place] = found[0] if isinstance(found, list | tuple) else found
        return made


def names_of(columns: Sequence[Any]) -> list[str]:
    """The column of each feature, by the features' numbers."""
    found = []
    for column in sorted(columns, key=lambda each: each.name):
        count, name = 1, column.name
        if isinstance(column, IndicatorColumn):
            count = column.variable_shape.num_elements() or 0  # of a column, always known
            name = column.categorical_column.name
        elif isinstance(column, NumericColumn):
            count = _count(column.shape)
        elif isinstance(column, BucketizedColumn):
            count = _count(column.source_column.shape)
        found += [name] * count
    return found


def _count(shape: Sequence[int]) -> int:
    count = 1
    for each in shape:
        count *= each
    return count


def _values_of(column: Any, features: Features) -> list[Any]:
    """The values of a column, a vector a feature."""
    if not isinstance(column, BucketizedColumn | IndicatorColumn | NumericColumn):
        raise ValueError(
            "For now, only bucketized_column, indicator_column and numeric_column are supported but"
            f" got: {column!r}"
        )
    found = features.get(column)
    if isinstance(column, NumericColumn):
        found = cast(found, dtypes.float32)
    else:
        found = cast(found, dtypes.int32)
    if found.shape.ndims != 2:
        found = reshape.reshape(found, [shaping.shape(found)[0], -1])
    return list(split.unstack(found, axis=1))


class Growing:
    """The ops of training.

    Args:
      ensemble: the trees.
      buckets: the features of the batch.
      options: how trees grow.
      n_batches: how many batches a layer is grown of.
      weights: of the examples, for quantiles; or None.
      in_memory: whether the one batch is kept in variables, with where its examples are.
    """

    def __init__(
        self, ensemble: TreeEnsemble, buckets: Buckets, options: TreeOptions, n_batches: Any,
        weights: Any, in_memory: bool = False,
    ) -> None:  # fmt: skip
        self._ensemble, self._buckets, self._options = ensemble, buckets, options
        self._n_batches, self._weights = n_batches, weights
        self.stamp, _, self.finished, self.layers, self._range = ensemble.get_states()
        self._splits = (1 << options.max_depth) - 1
        self._ready = _flag("are_boundaries_ready", buckets.quantiles is None)
        self._centering = _flag("center_bias_needed", options.center_bias)
        self._cache = BatchCache(buckets.ids) if in_memory else None
        if self._cache:
            buckets.ids = self._cache.features(buckets.ids)
            trees, nodes, logits = self._cache.start()
        else:
            batch: Any = shaping.shape(buckets.ids[0])[0]
            trees = fill.zeros([batch], dtypes.int32)
            nodes = -fill.ones([batch], dtypes.int32)
            logits = fill.zeros([batch, 1])
        change, self._trees, self._nodes = make(
            "BoostedTreesTrainingPredict", ensemble.resource_handle, trees, nodes, buckets.ids,
            logits_dimension=1,
        )  # fmt: skip
        self.logits = logits + change
        self._sums = [
            ConditionalAccumulator(
                dtypes.float32, [len(places), self._splits, size, 2],
                shared_name=f"numeric_stats_summary_accumulator_{i}",
            )
            for i, (size, places) in enumerate(buckets.groups.items())
        ]  # fmt: skip
        self._bias = ConditionalAccumulator(dtypes.float32, [2, 1], shared_name="bias_accumulator")
        self._turn = ConditionalAccumulator(dtypes.float32, [], shared_name="quantiles_accumulator")

    def begin(self) -> Any:
        """The op by which sums are held to what the ensemble's stamp says."""
        accumulators = [*self._sums, self._bias, self._turn]
        return group(*(each.set_global_step(self.stamp) for each in accumulators))

    def train_op(self, loss: Any) -> Any:
        """The op of a step, by the gradients of a loss."""
        (grads,) = gradients(loss, [self.logits], name="Gradients")
        (hessians,) = gradients(grads, [self.logits], name="Hessians")
        if self._buckets.quantiles is None:
            return self._counted(grads, hessians)
        made = cond(
            self._ready.read_value(),
            lambda: _done(self._counted(grads, hessians)),
            lambda: _done(self._update_quantiles()),
        )
        return made.op

    def _counted(self, grads: Any, hessians: Any) -> Any:
        if self._options.center_bias:
            grown = cond(
                self._centering.read_value(),
                lambda: _done(self._center(grads, hessians)),
                lambda: _done(self._kept_and_grown(grads, hessians)),
            ).op
        else:
            grown = self._kept_and_grown(grads, hessians)
        with scopes.control_dependencies([grown]):
            return group(assign_add(get_global_step(), 1))

    def _when_enough(self, applied: Sequence[Any], accumulators: Sequence[Any], then: Any) -> Any:
        """Runs something when there are as many batches as a layer takes."""
        with scopes.control_dependencies(list(applied)):
            counts = join.stack([each.num_accumulated() for each in accumulators])
            enough = reductions.reduce_min(counts) >= self._n_batches
        return cond(enough, lambda: _done(then()), lambda: _done(no_op())).op

    def _center(self, grads: Any, hessians: Any) -> Any:
        both = reduction.reduce_mean(join.stack([grads, hessians]), axis=1)
        return self._when_enough(
            [self._bias.apply_grad(both, self.stamp)], [self._bias], self._move_bias
        )

    def _move_bias(self) -> Any:
        gradient, hessian = split.unstack(self._bias.take_grad(1))
        again = make(
            "BoostedTreesCenterBias", self._ensemble.resource_handle,
            reshape.expand_dims(gradient, 0), reshape.expand_dims(hessian, 0),
            self._options.l1, self._options.l2,
        )  # fmt: skip
        # The sums of layers are of a later stamp then.
        with scopes.control_dependencies([assign(self._centering, again)]):
            return group(*(each.set_global_step(self.stamp + 1) for each in self._sums))

    def _kept_and_grown(self, grads: Any, hessians: Any) -> Any:
        if self._cache is None:
            return self._grow(grads, hessians)
        # Not while the bias moves: what is added to kept logits is what trees have grown by.
        place = self._trees, self._nodes, self.logits
        with scopes.control_dependencies([self._cache.keep(self._buckets.ids, *place)]):
            return self._grow(grads, hessians)

    def _grow(self, grads: Any, hessians: Any) -> Any:
        applied = []
        for sums, (size, places) in zip(self._sums, self._buckets.groups.items(), strict=True):
            found = make(
                "BoostedTreesMakeStatsSummary", self._nodes, grads, hessians,
                [self._buckets.ids[i] for i in places], max_splits=self._splits, num_buckets=size,
            )  # fmt: skip
            applied.append(sums.apply_grad(found, self.stamp))
        return self._when_enough(applied, self._sums, self._add_layer)

    def _add_layer(self) -> Any:
        options = self._options
        found: list[list[Any]] = [[], [], [], [], []]
        for sums, places in zip(self._sums, self._buckets.groups.values(), strict=True):
            best = make(
                "BoostedTreesCalculateBestGainsPerFeature", self._range,
                split.unstack(sums.take_grad(1), num=len(places)), options.l1, options.l2,
                options.tree_complexity, options.min_node_weight, max_splits=self._splits,
            )  # fmt: skip
            count = len(places)
            flat = [
                x for each in best for x in (each if isinstance(each, list | tuple) else [each])
            ]
            for i, one in enumerate(found):
                one += flat[i * count : (i + 1) * count]
        numbers = [i for places in self._buckets.groups.values() for i in places]
        return make(
            "BoostedTreesUpdateEnsemble", self._ensemble.resource_handle,
            convert_to_tensor(numbers, dtypes.int32), *found, options.max_depth,
            options.learning_rate, pruning_mode=PRUNING[options.pruning_mode],
        )  # fmt: skip

    def _update_quantiles(self) -> Any:
        quantiles: Any = self._buckets.quantiles
        numbers = self._buckets.numbers
        weights = fill.ones([1]) if self._weights is None else self._weights
        weights = elementwise.ones_like(numbers[0]) * reshape.reshape(weights, [-1])
        added = quantiles.add_summaries(numbers, weights)
        applied = self._turn.apply_grad(0.0, self.stamp)
        return self._when_enough([added, applied], [self._turn], self._make_boundaries)

    def _make_boundaries(self) -> Any:
        quantiles: Any = self._buckets.quantiles
        with scopes.control_dependencies([quantiles.flush(), self._turn.take_grad(1).op]):
            return group(assign(self._ready, True))


def _flag(name: str, value: bool) -> Any:
    return ResourceVariable(value, trainable=False, name=name)


def _done(made: Any) -> Any:
    """True, after an op."""
    with scopes.control_dependencies([made]):
        return convert_to_tensor(True)
