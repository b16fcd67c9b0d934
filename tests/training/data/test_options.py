"""Options of datasets: types, and what may not be asked for at once."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf


def _options(**values: Any) -> tf.data.Options:
    made = tf.data.Options()
    for name, value in values.items():
        setattr(made, name, value)
    return made


def _with(*several: tf.data.Options) -> tf.data.Options:
    dataset = tf.data.Dataset.range(3)
    for one in several:
        dataset = dataset.with_options(one)
    return dataset.options()


def test_options_that_contradict_are_refused() -> None:
    yes, no = (_options(experimental_deterministic=v) for v in (True, False))
    words = r"incompatible values \(True and False\) of option: experimental_deterministic"
    with pytest.raises(ValueError, match=words):
        _with(yes, no)
    first, second = (tf.data.Dataset.range(3).with_options(o) for o in (yes, no))
    with pytest.raises(ValueError, match=words):
        tf.data.Dataset.zip((first, second)).options()
    assert _with(yes, yes, tf.data.Options()).experimental_deterministic is True


def test_options_of_a_group_are_merged_one_by_one() -> None:
    one, two, three = tf.data.Options(), tf.data.Options(), tf.data.Options()
    one.experimental_threading.private_threadpool_size = 1
    two.experimental_threading.max_intra_op_parallelism = 2
    three.experimental_threading.private_threadpool_size = 3
    merged = _with(one, two).experimental_threading
    assert (merged.private_threadpool_size, merged.max_intra_op_parallelism) == (1, 2)
    with pytest.raises(ValueError, match=r"\(1 and 3\) of option: private_threadpool_size"):
        _with(one, two, three)


def test_statistics_without_a_prefix_contradict_nothing() -> None:
    one, two = tf.data.Options(), tf.data.Options()
    one.experimental_stats.prefix = "a"
    two.experimental_stats.counter_prefix = "b"
    merged = _with(one, two).experimental_stats
    assert (merged.prefix, merged.counter_prefix) == ("a", "b")


def test_an_option_has_a_type() -> None:
    words = r"Property \"experimental_deterministic\" must be of type <class 'bool'>, got: 3"
    with pytest.raises(TypeError, match=words):
        _options(experimental_deterministic=3)
