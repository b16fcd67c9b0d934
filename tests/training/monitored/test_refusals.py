"""What hooks and timers refuse, in TensorFlow's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf

REFUSED: dict[str, Callable[[], Any]] = {
    "One of num_steps or last_step must be specified": lambda: tf.train.StopAtStepHook(),
    "Only one of num_steps or last_step can be": lambda: tf.train.StopAtStepHook(1, 2),
    "Either every_secs or every_steps should be": lambda: tf.train.CheckpointSaverHook("x"),
    "Can not provide both every_secs and every_st": lambda: tf.train.SecondOrStepTimer(1, 2),
    "You cannot provide both saver and scaffold": lambda: tf.train.CheckpointSaverHook(
        "x", save_steps=1, saver=tf.train.Saver(allow_empty=True), scaffold=tf.train.Scaffold()
    ),
    "exactly one of every_n_steps and every_n_secs": lambda: tf.train.StepCounterHook(1, 2),
    "Exactly one of scaffold or summary_op must be": lambda: tf.train.SummarySaverHook(1),
    "either at_end and/or exactly one of every_n_i": lambda: tf.train.LoggingTensorHook(["a"]),
    "invalid every_n_iter=0": lambda: tf.train.LoggingTensorHook(["a"], every_n_iter=0),
}


@pytest.mark.parametrize("words", list(REFUSED))
def test_arguments_are_refused(words: str) -> None:
    with pytest.raises(ValueError) as caught:
        REFUSED[words]()
    assert str(caught.value).startswith(words)


def test_a_hook_that_needs_a_global_step() -> None:
    with tf.Graph().as_default(), pytest.raises(RuntimeError) as caught:
        tf.train.StopAtStepHook(num_steps=1).begin()
    assert str(caught.value).startswith("Global step should be created to use StopAtStepHook")
