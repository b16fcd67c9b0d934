"""``ProfileContext``; which steps are traced and written is TensorFlow 1.15's where it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.foundation.formats.tfprof_messages import ProfileProto

_OPTIONS = (
    tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.time_and_memory())
    .with_empty_output()
    .build()
)


def _product() -> tf.Tensor:
    return tf.matmul(tf.random_normal([4, 4]), tf.ones([4, 4]), name="product")


def _steps(folder: Path) -> dict[str, list[int]]:
    """The steps that each profile of a folder has traced."""
    return {
        path.name: list(ProfileProto.FromString(path.read_bytes()).steps)
        for path in sorted(folder.iterdir())
    }


def _run(count: int, **more: Any) -> None:
    product = _product()
    with tf.contrib.tfprof.ProfileContext(**more), tf.Session() as session:
        for _ in range(count):
            session.run(product)


def test_steps_that_are_said(tmp_path: Path) -> None:
    _run(6, profile_dir=str(tmp_path), trace_steps=[1, 3], dump_steps=[2, 4])
    assert _steps(tmp_path) == {"profile_2": [1], "profile_4": [1, 3]}


def test_without_a_word_the_hundredth_step_is_written(tmp_path: Path) -> None:
    _run(130, profile_dir=str(tmp_path))
    ((name, traced),) = _steps(tmp_path).items()
    assert name == "profile_100" and traced[0] == 11 and 5 < len(traced) < 40


def test_the_next_step(tmp_path: Path) -> None:
    product = _product()
    folder = str(tmp_path)
    with tf.contrib.tfprof.ProfileContext(folder, [], []) as context, tf.Session() as session:
        assert context.profiler is None
        session.run(product)
        context.trace_next_step()
        session.run(product)
        context.dump_next_step()
        session.run(product)
        session.run(product)
        assert isinstance(context.profiler, tf.profiler.Profiler)
    assert _steps(tmp_path) == {"profile_2": [1, 2]}


def test_views_are_made_after_steps(tmp_path: Path) -> None:
    product = _product()
    with tf.contrib.tfprof.ProfileContext(str(tmp_path), trace_steps=[1, 3]) as context:
        context.add_auto_profiling("op", _OPTIONS, [2, 3])
        context.add_auto_profiling("scope", _OPTIONS, [3])
        with tf.Session() as session:
            for _ in range(5):
                session.run(product)
        found = context.get_profiles("op")
        assert sorted(found) == [2, 3] and sorted(context.get_profiles("scope")) == [3]
        assert 0 < found[2].total_exec_micros
        with pytest.raises(ValueError, match="No autoprofiler for command: code, was run"):
            context.get_profiles("code")


def test_a_step_has_what_it_asked_for(tmp_path: Path) -> None:
    told, product = tf.RunMetadata(), _product()
    folder = str(tmp_path)
    with tf.contrib.tfprof.ProfileContext(folder, [0]), tf.Session() as session:
        assert session.run({"a": product}, run_metadata=told)["a"].shape == (4, 4)
    assert told.step_stats.dev_stats


def test_sessions_are_as_before_afterwards(tmp_path: Path) -> None:
    before = tf.Session.run
    with pytest.raises(RuntimeError), tf.contrib.tfprof.ProfileContext(str(tmp_path)):
        raise RuntimeError
    assert tf.Session.run is before
    with tf.contrib.tfprof.ProfileContext("", enabled=False) as context:
        context.trace_next_step()
        assert tf.Session.run is before and context.profiler is None
    with pytest.raises(ValueError, match="Must have a directory for profile."):
        tf.contrib.tfprof.ProfileContext("")
