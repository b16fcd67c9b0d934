"""``EagerVariableStore`` and its kin; what is expected is what TensorFlow 1.15 finds."""

import sys

import numpy as np
import pytest

import penstock as tf
from tests.library.eager.conftest import eagerly as eagerly
from tests.suite import warm

pytestmark = pytest.mark.usefixtures("eagerly")


def _layers():
    made = tf.layers.dense(tf.ones([1, 2]), 3, name="d")
    tf.get_variable("n", [2], trainable=False, initializer=tf.ones_initializer())
    tf.layers.batch_normalization(tf.ones([2, 2]), name="bn")
    return made.numpy()


def _names(variables):
    return [v.name for v in variables]


def test_calls_of_one_name_share_variables():
    store = tf.contrib.eager.EagerVariableStore()
    with store.as_default():
        first, second = _layers(), _layers()
    np.testing.assert_array_equal(first, second)
    trained = ["bn/beta:0", "bn/gamma:0", "d/bias:0", "d/kernel:0"]
    others = ["bn/moving_mean:0", "bn/moving_variance:0", "n:0"]
    assert _names(store.trainable_variables()) == trained
    assert _names(store.non_trainable_variables()) == others
    assert _names(store.variables()) == sorted(trained + others)


def test_a_copy_has_variables_of_its_own():
    store = tf.contrib.eager.EagerVariableStore()
    with store.as_default():
        first = _layers()
    copied = store.copy()
    with copied.as_default():
        np.testing.assert_array_equal(_layers(), first)
    assert _names(copied.variables()) == _names(store.variables())
    copied.variables()[4].assign_add([1.0, 1.0, 1.0])
    with store.as_default():
        np.testing.assert_array_equal(_layers(), first)


def test_another_store_is_refused():
    with pytest.raises(ValueError, match="Cannot construct EagerVariableStore"):
        tf.contrib.eager.EagerVariableStore(3)


@pytest.mark.long
def test_eager_execution_is_enabled_without_a_server():
    program = (
        "import penstock as tf; tf.contrib.eager.enable_remote_eager_execution();"
        " print(int((tf.constant(1) + 1).numpy()))"
    )
    command = [sys.executable, "-c", program]
    assert warm.run(command, check=True, capture_output=True).stdout.strip() == b"2"
    with pytest.raises(NotImplementedError, match="eager calls run in this process"):
        tf.contrib.eager.enable_remote_eager_execution(server_def=tf.train.ServerDef())
