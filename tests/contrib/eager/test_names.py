"""``tf.contrib.eager``: functions of gradients, iterators, a program's main function."""

from __future__ import annotations

import sys

import pytest

import penstock as tf
from penstock.contrib import eager as tfe
from tests.library.eager.conftest import eagerly as eagerly
from tests.suite import warm

pytestmark = pytest.mark.usefixtures("eagerly")


def test_gradients_by_arguments() -> None:
    assert [g.numpy() for g in tfe.gradients_function(lambda x, y: x * y)(2.0, 3.0)] == [3.0, 2.0]
    by_y = tfe.value_and_gradients_function(lambda x, y: x * y, params=["y"])
    value, grads = by_y(2.0, 3.0, dy=tf.constant(10.0))
    assert (value.numpy(), [g.numpy() for g in grads]) == (6.0, [20.0])
    with pytest.raises(ValueError, match="params may only contain"):
        tfe.gradients_function(lambda x: x, params=["z"])(1.0)
    second = tfe.gradients_function(lambda x: tfe.gradients_function(lambda z: z**3.0)(x)[0])
    assert second(2.0)[0].numpy() == 12.0


def test_gradients_by_the_variables_that_are_read() -> None:
    v = tfe.Variable(4.0)
    value, [(grad, variable)] = tfe.implicit_value_and_gradients(lambda x: x * v)(2.0)
    assert (value.numpy(), grad.numpy()) == (8.0, 2.0)
    assert variable is v
    assert tfe.implicit_gradients(lambda x: x * v)(3.0)[0][0].numpy() == 3.0
    with pytest.raises(ValueError, match="No trainable variables were accessed"):
        tfe.implicit_gradients(lambda x: x)(tf.constant(1.0))
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(lambda: v * v)
    assert v.numpy() < 4.0
    assert len(tfe.get_optimizer_variables(optimizer)) == 4


def test_iterators() -> None:
    iterator = tfe.Iterator(tf.data.Dataset.range(3))
    assert iterator.next().numpy() == 0
    assert iterator.get_next().numpy() == 1
    assert [int(x) for x in iterator] == [2]
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="only supported when eager"):
        tfe.Iterator(tf.data.Dataset.range(3))


def test_modes() -> None:
    assert tfe.executing_eagerly()
    assert tfe.in_eager_mode()
    assert tfe.num_gpus() == 0
    assert len(tfe.list_devices()) == 1
    assert tfe.py_func(lambda x: x + 1, [tf.constant(1.0)], tf.float32).numpy() == 2.0


@pytest.mark.long
def test_run() -> None:
    program = (
        "from penstock.contrib import eager as tfe\n"
        "tfe.run(lambda argv: 3 if tfe.executing_eagerly() and argv == ['a'] else 1, ['a'])\n"
    )
    assert warm.run([sys.executable, "-c", program], check=False).returncode == 3
