"""``tf.contrib.opt``'s optimizers of SciPy, which TensorFlow's environment here does not have."""

import numpy as np
import pytest

import penstock as tf

pytest.importorskip("scipy")


@pytest.fixture
def problem():
    with tf.Graph().as_default(), tf.Session() as session:
        vector = tf.Variable([7.0, 7.0], name="vector")
        loss = tf.reduce_sum(tf.square(vector))
        yield vector, loss, session


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        (lambda v: {"options": {"maxiter": 100}}, [0, 0]),
        (lambda v: {"var_to_bounds": {v: ([1, 2], np.inf)}}, [1, 2]),
        (lambda v: {"inequalities": [v[0] - 3.0], "equalities": [v[1] - 2.0]}, [3, 2]),
    ],
)
def test_minimum_with_bounds_and_constraints(problem, arguments, wanted):
    vector, loss, session = problem
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, **arguments(vector))
    session.run(tf.global_variables_initializer())
    seen = []
    optimizer.minimize(session, fetches=[loss], loss_callback=seen.append)
    np.testing.assert_allclose(session.run(vector), wanted, atol=1e-4)
    assert seen[0] == 98.0 and len(seen) > 1


def test_base_class_has_no_method(problem):
    _, loss, session = problem
    session.run(tf.global_variables_initializer())
    base = tf.contrib.opt.ExternalOptimizerInterface(loss)
    with pytest.raises(NotImplementedError, match="override _minimize"):
        base.minimize(session)
