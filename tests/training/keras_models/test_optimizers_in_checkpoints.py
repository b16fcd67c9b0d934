"""Optimizers of Keras in checkpoints of objects, where operations run as they are called.

In graphs: ``tests/contrib/programs_keras_exports.py``.  The values are TensorFlow 1.15's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.library.eager.conftest import eagerly as eagerly

pytestmark = pytest.mark.usefixtures("eagerly")


def _adam() -> Any:
    return tf.keras.optimizers.Adam(0.1)


def _momentum() -> Any:
    return tf.keras.optimizers.SGD(0.1, momentum=0.9)


def _step(variable: Any, optimizer: Any) -> None:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(variable * variable)
    optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])


@pytest.mark.parametrize(
    "make, saved, after",
    [
        (_adam, [0.8004128, 1.8001670], [0.7015867, 1.7006235]),
        (_momentum, [0.46, 0.92], [0.0620000, 0.1240000]),
    ],
)
def test_slots_are_restored_as_they_are_made(
    make: Callable[[], Any], saved: list[float], after: list[float], tmp_path: Path
) -> None:
    variable, optimizer = tf.Variable([1.0, 2.0]), make()
    _step(variable, optimizer)
    _step(variable, optimizer)
    path = tf.train.Checkpoint(v=variable, o=optimizer).save(str(tmp_path / "c"))
    variable, optimizer = tf.Variable([5.0, 5.0]), make()
    status = tf.train.Checkpoint(v=variable, o=optimizer).restore(path)
    np.testing.assert_allclose(variable.numpy(), saved, rtol=1e-6)
    _step(variable, optimizer)
    np.testing.assert_allclose(variable.numpy(), after, rtol=1e-6)
    status.assert_consumed()
    assert int(optimizer.iterations.numpy()) == 3


def test_a_slot_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        _adam().get_slot(tf.Variable([1.0]), "m")
