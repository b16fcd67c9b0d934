"""Examples drawn anew: kept by a probability, repeated at a rate, or so that classes balance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.ragged_tensors.dispatched import (
    cast,
    equal,
    expand_dims,
    gather,
    identity,
    is_nan,
    less,
    logical_or,
    not_equal,
    one_hot,
    reduce_all,
    reduce_max,
    reduce_mean,
    reduce_sum,
    squeeze,
    truediv,
    where,
    zeros_like,
)
from penstock.library.variables.getting import get_local_variable
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.variable import Variable
from penstock.ops.array.ranges import range_
from penstock.ops.array.shape import shape
from penstock.ops.array.unique import searchsorted
from penstock.ops.control.check import (
    assert_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_non_negative,
    assert_positive,
)
from penstock.ops.control.control import stop_gradient
from penstock.ops.control.debug import Assert
from penstock.ops.math.cumulative import cumsum
from penstock.ops.random.random import random_uniform
from penstock.ops.random.random_gamma import random_poisson
from penstock.ops.state.state_update import assign_add
from penstock.training.data.batching import batch, maybe_batch
from penstock.training.train.moving_averages import assign_moving_average


def _after(ops: Sequence[Any], value: Any) -> Any:
    with control_dependencies(ops):
        return identity(value)


def _one_at_a_time(tensors: list[Any], threads: int, capacity: int) -> list[Any]:
    """Single examples from batches, by a queue."""
    batched = batch(
        tensors, batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True
    )
    made = batched if isinstance(batched, list) else [batched]
    return [squeeze(tensor, [0]) for tensor in made]


# ---- by queues -----------------------------------------------------------------------------------


def rejection_sample(
    tensors: Sequence[Any],
    accept_prob_fn: Callable[[list[Any]], Any],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Batches of examples, each kept with a probability.

    Args:
      tensors: list of tensors: one example, or with ``enqueue_many`` several.
      accept_prob_fn: from the tensors of one example to the probability.
      batch_size: examples of a batch.
      queue_threads: threads that fill the batches.
      enqueue_many: whether the first dim of each tensor counts examples.
      prebatch_capacity, prebatch_threads: of the queue that takes those apart.
      runtime_checks: whether probabilities out of range are an error.
      name: name of the scopes.

    Returns:
      A list of tensors with a dim in front.
    """
    with variable_scope(name, "rejection_sample", tensors):
        given = [convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            _check_batch(given, given[0].get_shape().with_rank_at_least(1)[0])
            given = _one_at_a_time(given, prebatch_threads, prebatch_capacity)
        chance = accept_prob_fn(given)
        if runtime_checks:
            checks = [assert_less_equal(0.0, chance), assert_less_equal(chance, 1.0)]
            chance = identity(_after(checks, chance), name="prob_with_checks")
        kept = maybe_batch(
            given,
            keep_input=less(random_uniform([]), chance),
            batch_size=batch_size,
            num_threads=queue_threads,
        )
        return list(kept) if isinstance(kept, list) else [kept]


def _check_batch(tensors: Sequence[Any], size: Any) -> None:
    for tensor in tensors:
        dims = tensor.get_shape().with_rank_at_least(1)
        dims[0].assert_is_compatible_with(size)


def stratified_sample(
    tensors: Sequence[Any],
    labels: Any,
    target_probs: Any,
    batch_size: int,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Any], Any]:
    """Batches of examples in which classes have given shares.

    Args:
      tensors: list of tensors: one example, or with ``enqueue_many`` several.
      labels: its class, or their classes.
      target_probs: [classes] shares that are wanted.
      batch_size: examples of a batch.
      init_probs: [classes] shares that the examples have; default counted as they come.
      enqueue_many: whether the first dim of each tensor counts examples.
      queue_capacity: of the queue that takes batches apart.
      threads_per_queue: threads that fill each queue.
      name: name scope.

    Returns:
      A list of tensors and the labels, with a dim in front.

    Raises:
      ValueError: shares of different lengths, or shapes that do not go together.
      InvalidArgumentError: when it runs: no shares, labels out of range, or a class that is wanted
        and never comes.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        given = [convert_to_tensor(tensor) for tensor in tensors]
        labels = convert_to_tensor(labels)
        target = convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            given = [expand_dims(tensor, 0) for tensor in given]
            labels = expand_dims(labels, 0)
        if init_probs is None:
            target.get_shape().assert_is_fully_defined()
            initial = _counted_shares(labels, target.get_shape().num_elements())
        else:
            initial = convert_to_tensor(init_probs, dtype=dtypes.float32)
        initial, target = _checked_shares(initial), _checked_shares(target)
        classes = initial.get_shape().num_elements()
        if target.get_shape().num_elements() != classes:
            raise ValueError(
                "Probability parameters must have the same length; found"
                f" {initial.get_shape()} and {target.get_shape()}."
            )
        given, labels = _checked_examples(given, labels, classes)
        accept = _acceptance(initial, target)
        *single, label = _one_at_a_time([*given, labels], threads_per_queue, queue_capacity)
        kept = maybe_batch(
            [*single, label],
            keep_input=less(random_uniform([]), gather(accept, label)),
            batch_size=batch_size,
            num_threads=threads_per_queue,
        )
        return list(kept[:-1]), kept[-1]


def _counted_shares(labels: Any, classes: Any, smoothing: int = 10) -> Any:
    """The shares of classes so far, as if each had come ``smoothing`` times at first."""
    counts: Any = Variable(
        [smoothing] * classes, trainable=False, name="class_count", dtype=dtypes.int64
    )
    seen = reduce_sum(one_hot(labels, classes, dtype=dtypes.int64), 0)
    counted = assign_add(counts, seen) + 0
    return cast(truediv(counted, reduce_sum(counted)), dtypes.float32)


def _checked_shares(shares: Any) -> Any:
    shares.get_shape().assert_is_fully_defined()
    shares.get_shape().assert_has_rank(1)
    total = reduce_sum(shares)
    checks = [
        assert_non_negative(shares),
        assert_less(total, 1.0 + 1e-6),
        assert_less(1.0 - 1e-6, total),
    ]
    return _after(checks, shares)


def _checked_examples(tensors: list[Any], labels: Any, classes: int) -> tuple[list[Any], Any]:
    labels.get_shape().assert_has_rank(1)
    _check_batch(tensors, labels.get_shape()[0])
    count = shape(labels)[0]
    some = assert_positive(count)
    checked = [_after([some, assert_equal(shape(t)[0], count)], t) for t in tensors]
    checks = [
        some,
        assert_integer(labels),
        assert_non_negative(labels),
        assert_less(labels, cast(classes, labels.dtype)),
    ]
    return checked, _after(checks, labels)


def _acceptance(initial: Any, target: Any) -> Any:
    """How likely an example of each class is kept: as its share is to grow, at most 1."""
    possible = Assert(
        reduce_all(logical_or(not_equal(initial, 0), equal(target, 0))),
        [
            "All classes with zero initial probability must also have zero target probability: ",
            initial,
            target,
        ],
    )
    growth = target / _after([possible], initial)
    growth = where(is_nan(growth), zeros_like(growth), growth)
    return growth / reduce_max(growth)


# ---- within a batch ------------------------------------------------------------------------------


def resample_at_rate(
    inputs: Sequence[Any],
    rates: Any,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Any]:
    """Each row a number of times, drawn from a Poisson distribution.

    Args:
      inputs: list of tensors [batch, ...].
      rates: [batch] floats: the mean number of each row.
      scope: name scope.
      seed: op-level seed.
      back_prop: whether the gradient flows to the indices.

    Returns:
      A list of tensors [other size, ...].
    """
    with name_scope(scope, default_name="resample_at_rate", values=[*inputs, rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = cast(random_poisson(rates, (), rates.dtype, seed=seed), dtypes.int32)
        rows = _repeated_range(counts)
        if not back_prop:
            rows = stop_gradient(rows)
        return [gather(tensor, rows) for tensor in inputs]


def _repeated_range(counts: Any) -> Any:
    """Each place i of ``counts``, ``counts[i]`` times."""
    with name_scope(None, "repeat_range", [counts]) as scope:
        # The k-th of the repeated numbers is how many rows have ended by k.
        ends = cumsum(counts)
        total = reduce_sum(counts)
        return searchsorted(ends, range_(total), side="right", name=scope)


def weighted_resample(
    inputs: Sequence[Any],
    weights: Any,
    overall_rate: Any,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Any], Any]:
    """Each row about as often as its weight says.

    Args:
      inputs: list of tensors [batch, ...].
      weights: [batch] floats.
      overall_rate: the mean number of rows out for each row in.
      scope: name scope, and the scope of the variable ``estimated_mean``.
      mean_decay: decay of the running average of the weights.
      seed: op-level seed.

    Returns:
      A list of tensors, and the rate of each row that is in them.
    """
    with name_scope(scope, "weighted_resample", inputs) as name:
        with variable_scope(scope, "estimate_mean", inputs):
            estimate = get_local_variable(
                "estimated_mean", initializer=cast(0, weights.dtype), dtype=weights.dtype
            )
            mean = assign_moving_average(estimate, reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        made = resample_at_rate([rates, *inputs], rates, scope=name, seed=seed)
        return made[1:], made[0]
