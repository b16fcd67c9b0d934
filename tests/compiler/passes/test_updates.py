"""Updates of one optimizer become one; not where that would change what is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.compiler.passes.rewriting import agree, rewritten, types


def _variables(resource: bool, dtype: Any = np.float32) -> list[Any]:
    return [tf.Variable(np.arange(1, n + 2).astype(dtype), use_resource=resource) for n in range(3)]


def _optimizer(name: str, **options: Any) -> Any:
    if name == "Momentum":
        return tf.train.MomentumOptimizer(0.1, 0.9, **options)
    return tf.train.AdamOptimizer(0.1, **options)


def _loss(variables: list[Any]) -> Any:
    return tf.add_n([tf.reduce_sum(tf.square(v)) for v in variables])


@pytest.mark.parametrize(
    ("name", "resource"), [("Momentum", False), ("Momentum", True), ("Adam", False)]
)
def test_updates_become_one(name: str, resource: bool) -> None:
    variables = _variables(resource)
    train = _optimizer(name).minimize(_loss(variables))
    found = types(rewritten([], run=[train]))
    assert found.count(f"_Multi{'Resource' if resource else 'Ref'}Apply{name}") == 1
    assert not any(t.endswith(f"Apply{name}") and not t.startswith("_") for t in found)
    agree([train], variables=tf.global_variables())


def test_nesterov_momentum_becomes_one() -> None:
    variables = _variables(False)
    train = _optimizer("Momentum", use_nesterov=True).minimize(_loss(variables))
    assert "_MultiRefApplyMomentum" in types(rewritten([], run=[train]))
    agree([train], variables=tf.global_variables())


@pytest.mark.parametrize("name", ["Momentum", "Adam"])
def test_locked_updates_and_half_precision_stay(name: str) -> None:
    train = _optimizer(name, use_locking=True).minimize(_loss(_variables(False)))
    assert types(rewritten([], run=[train])).count(f"Apply{name}") == 3
    train = _optimizer(name).minimize(_loss(_variables(False, np.float16)))
    assert types(rewritten([], run=[train])).count(f"Apply{name}") == 3


def test_one_update_stays_as_it_is() -> None:
    train = _optimizer("Momentum").minimize(_loss(_variables(False)[:1]))
    assert "ApplyMomentum" in types(rewritten([], run=[train]))


def test_updates_are_not_moved_past_a_read_of_their_variable() -> None:
    first, second = _variables(False)[1:]
    optimizer = _optimizer("Momentum")
    one = optimizer.apply_gradients([(tf.ones([2]), first)])
    with tf.control_dependencies([one]):
        between = tf.exp(first._ref())
    with tf.control_dependencies([between]):
        two = optimizer.apply_gradients([(tf.ones([3]), second)])
    assert types(rewritten([between], run=[one, two])).count("ApplyMomentum") == 2
    agree([between, one, two], variables=tf.global_variables())


def test_two_updates_of_one_variable_stay_two() -> None:
    (v,) = _variables(False)[:1]
    optimizer = _optimizer("Momentum")
    one = optimizer.apply_gradients([(tf.ones([1]), v)])
    with tf.control_dependencies([one]):
        two = optimizer.apply_gradients([(tf.ones([1]), v)])
    assert types(rewritten([], run=[two])).count("ApplyMomentum") == 2
    agree([two], variables=tf.global_variables())


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_of_zero_is_an_update_by_the_gradient(resource: bool, nesterov: bool) -> None:
    variables = _variables(resource)
    train = tf.train.MomentumOptimizer(0.1, 0.0, use_nesterov=nesterov).minimize(_loss(variables))
    agree([train], variables=tf.global_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert np.allclose(session.run(variables[1]), np.arange(1, 3) * 0.8)


@pytest.mark.parametrize("betas", [(0.9, 1.0), (0.0, 1.0), (0.9, 1.0 - 1e-12)])
def test_adam_with_a_decay_of_one_stays_finite(betas: tuple[float, float]) -> None:
    train = tf.train.AdamOptimizer(0.1, *betas).minimize(_loss(_variables(False, np.float64)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        found = session.run(tf.global_variables())
    assert all(np.isfinite(value).all() for value in found)
    if betas[1] == 1.0:  # TensorFlow's rate is zero
        assert np.array_equal(found[1], np.arange(1, 3))
