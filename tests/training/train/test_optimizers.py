"""What optimizers compute: against TensorFlow's values, and the rules of the base class."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.training.train import programs
from tests.training.train.expectations import STYLES, VALUES, assert_values

CASES = [(case, style) for case in programs.optimizers(tf) for style in STYLES]


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def _run(session: tf.Session, *fetches: Any) -> list[Any]:
    return [np.asarray(v) for v in session.run(list(fetches))]


@pytest.mark.parametrize(("case", "style"), CASES)
def test_ten_steps_as_tensorflow(case: str, style: str) -> None:
    found = programs.train(tf, case, STYLES[style])
    assert_values(found, VALUES["train"][f"{case}/{style}"])
    assert found["global_step"] == programs.STEPS


# Adam decays all of its slots, and so moves all rows, as TensorFlow's does.
@pytest.mark.parametrize(("case", "style"), [c for c in CASES if c[0] != "adam"])
def test_sparse_update_touches_only_the_rows_named(case: str, style: str) -> None:
    loss, _, table, scale = programs.model(tf, STYLES[style])
    step = tf.train.create_global_step()
    optimizer = programs.optimizers(tf)[case](step)
    update = optimizer.minimize(loss, step, var_list=[table])
    slots = [optimizer.get_slot(table, name) for name in optimizer.get_slot_names()]
    named = sorted(set(programs.INDICES))
    others = [i for i in range(programs.TABLE_ROWS) if i not in named]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = _run(session, table, *slots)
        session.run(update, {scale: 0.5})
        after = _run(session, table, *slots)
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(new[others], old[others])
    assert np.all(np.any(after[0][named] != before[0][named], axis=1))


@pytest.mark.parametrize("style", STYLES)
def test_locking_loses_no_update(style: str) -> None:
    var = tf.Variable(np.zeros(200, np.float32), use_resource=STYLES[style])
    optimizer = tf.train.GradientDescentOptimizer(1.0, use_locking=True)
    update = optimizer.apply_gradients([(tf.fill([200], -1.0), var)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def work() -> None:
            for _ in range(50):
                session.run(update)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(session.run(var), np.full(200, 200.0))


def test_hyper_parameters_may_be_tensors_and_functions() -> None:
    var = tf.Variable(1.0)
    rate = tf.placeholder(tf.float32, [])
    first = tf.train.GradientDescentOptimizer(rate).minimize(3.0 * var)
    second = tf.train.GradientDescentOptimizer(lambda: 0.5).minimize(2.0 * var)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(first, {rate: 1.0})
        assert session.run(var) == -2.0
        session.run(second)
        assert session.run(var) == -3.0


@pytest.mark.parametrize("case", sorted(programs.optimizers(tf)))
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_floating_types(case: str, dtype: str) -> None:
    var = tf.Variable(np.array([1.0, -2.0], dtype), name="W")
    step = tf.train.create_global_step()
    optimizer = programs.optimizers(tf)[case](step)
    update = optimizer.minimize(tf.reduce_sum(var * var))
    for name in optimizer.get_slot_names():
        assert optimizer.get_slot(var, name).dtype.base_dtype is var.dtype.base_dtype
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        value = session.run(var)
    assert value.dtype == dtype
    assert np.all(np.abs(value) < [1.0, 2.0])


@pytest.mark.parametrize("style", STYLES)
def test_constraint_is_applied_after_the_update(style: str) -> None:
    var = tf.Variable(
        [1.0, 2.0], use_resource=STYLES[style], constraint=lambda v: tf.minimum(v, 1.5)
    )
    optimizer = tf.train.GradientDescentOptimizer(0.25)
    update = optimizer.apply_gradients([(tf.constant([1.0, -1.0]), var)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        np.testing.assert_array_equal(session.run(var), [0.75, 1.5])


def test_constraint_with_sparse_gradient_is_refused() -> None:
    var = tf.Variable([[1.0], [2.0]], constraint=tf.abs)
    loss = tf.reduce_sum(tf.gather(var, [0]))
    with pytest.raises(RuntimeError, match="constraint and a sparse gradient"):
        tf.train.GradientDescentOptimizer(1.0).minimize(loss)


def test_partitioned_variable() -> None:
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        var = tf.get_variable("p", [4], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.square(tf.convert_to_tensor(var)))
    optimizer = tf.train.MomentumOptimizer(0.25, 0.9)
    update = optimizer.minimize(loss, var_list=[var])
    parts = list(var)
    slots = [optimizer.get_slot(part, "momentum") for part in parts]
    assert [s.op.name for s in slots] == ["s/p/part_0/Momentum", "s/p/part_1/Momentum"]
    info = slots[1]._get_save_slice_info()
    assert (info.full_name, info.full_shape, info.var_offset, info.var_shape) == (
        "s/p/Momentum", [4], [2], [2],
    )  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        for part in parts:
            np.testing.assert_array_equal(session.run(part), [0.5, 0.5])


@pytest.mark.parametrize("gate", ["GATE_NONE", "GATE_OP", "GATE_GRAPH"])
def test_gating_gives_the_same_gradients(gate: str) -> None:
    loss, dense, table, scale = programs.model(tf, False)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss, gate_gradients=getattr(tf.train.Optimizer, gate))
    assert [v for _, v in pairs] == [dense, table]
    plain = tf.gradients(loss, [dense])[0]
    assert isinstance(pairs[1][0], tf.IndexedSlices)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, wanted = session.run([pairs[0][0], plain], {scale: 0.5})
    np.testing.assert_allclose(found, wanted)


def test_gradients_of_tensors_are_computed_but_not_applied() -> None:
    x = tf.constant(3.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(x * x, [x])
    with tf.Session() as session:
        assert session.run(pairs[0][0]) == 6.0
    with pytest.raises(NotImplementedError, match="Tensor cannot be updated"):
        optimizer.apply_gradients(pairs)


def test_grad_loss_scales() -> None:
    var = tf.Variable(3.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    [(grad, _)] = optimizer.compute_gradients(var * var, grad_loss=tf.constant(10.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(grad) == 60.0


def test_none_gradients_are_skipped() -> None:
    used, unused = tf.Variable(1.0, name="used"), tf.Variable(5.0, name="unused")
    optimizer = tf.train.MomentumOptimizer(1.0, 0.5)
    update = optimizer.minimize(2.0 * used)
    assert optimizer.get_slot(unused, "momentum") is None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        assert session.run([used, unused]) == [-1.0, 5.0]


def test_no_gradient_at_all_names_the_variables() -> None:
    tf.Variable(1.0, name="lonely")
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    with pytest.raises(ValueError, match=r"No gradients provided for any variable.*lonely"):
        optimizer.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match=r"No gradients provided for any variable.*lonely"):
        optimizer.apply_gradients([(None, tf.trainable_variables()[0])])


def test_argument_errors() -> None:
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    with pytest.raises(ValueError, match="No variables to optimize"):
        optimizer.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    var = tf.Variable(1.0)
    with pytest.raises(ValueError, match="gate_gradients must be one of: .* found 7"):
        optimizer.minimize(var * 2.0, gate_gradients=7)
    with pytest.raises(NotImplementedError, match="only a Variable can be optimized"):
        optimizer.minimize(var * 2.0, var_list=["var"])
    with pytest.raises(TypeError, match="a gradient must be a Tensor"):
        optimizer.apply_gradients([(object(), var)])
    with pytest.raises(ValueError, match="Invalid type int32"):
        optimizer.minimize(tf.constant(1))
    with pytest.raises(ValueError, match="^Must specify the optimizer name"):
        tf.train.GradientDescentOptimizer(1.0, name="")
    with pytest.raises(ValueError, match="must be positive; found 0"):
        tf.train.AdagradOptimizer(1.0, initial_accumulator_value=0.0)
    with pytest.raises(ValueError, match="learning_rate_power 0.500000 needs to be negative"):
        tf.train.FtrlOptimizer(1.0, learning_rate_power=0.5)


def test_wrong_gradient_shape_names_the_update() -> None:
    var = tf.Variable([1.0, 2.0], name="W")
    with pytest.raises(ValueError, match=r"update_W/ApplyGradientDescent"):
        tf.train.GradientDescentOptimizer(1.0).apply_gradients([(tf.constant([1.0] * 3), var)])


@pytest.mark.parametrize("style", STYLES)
def test_index_out_of_range_is_an_error_and_changes_nothing(style: str) -> None:
    var = tf.Variable(np.ones((3, 2), np.float32), name="W", use_resource=STYLES[style])
    indices = tf.placeholder(tf.int32, [2])
    grad = tf.IndexedSlices(tf.ones([2, 2]), indices, tf.constant([3, 2]))
    update = tf.train.AdagradOptimizer(1.0).apply_gradients([(grad, var)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for bad in ([0, 3], [-1, 0]):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"update_W"):
                session.run(update, {indices: bad})
            np.testing.assert_array_equal(session.run(var), np.ones((3, 2)))


class SignDescent(tf.train.Optimizer):
    """An optimizer as TF 1.x users write one."""

    def __init__(self, learning_rate: float, name: str = "SignDescent") -> None:
        super().__init__(False, name)
        self._lr = learning_rate

    def _prepare(self) -> None:
        self._lr_t = tf.convert_to_tensor(self._call_if_callable(self._lr), name="learning_rate")

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "count", self._name)
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(0.0, "steps", first)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        count = self.get_slot(var, "count")
        counted = tf.assign_add(count, tf.ones_like(count))
        moved = tf.assign_sub(var, self._lr_t * tf.sign(grad))
        return tf.group(counted, moved)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply_dense(grad, var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return tf.scatter_sub(var, grad.indices, self._lr_t * tf.sign(grad.values))

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            steps = self._get_non_slot_variable("steps", tf.get_default_graph())
            counted = steps.assign_add(1.0)
        return tf.group(*update_ops, counted, name=name_scope)


@pytest.mark.parametrize("style", STYLES)
def test_users_subclass_dense(style: str) -> None:
    var = tf.Variable([1.0, -1.0], name="W", use_resource=STYLES[style])
    optimizer = SignDescent(0.25)
    update = optimizer.minimize(tf.reduce_sum(tf.square(var)))
    assert update.name == "SignDescent"
    assert [v.op.name for v in optimizer.variables()] == ["W/SignDescent", "steps"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        session.run(update)
        np.testing.assert_array_equal(session.run(var), [0.5, -0.5])
        np.testing.assert_array_equal(session.run(optimizer.get_slot(var, "count")), [2.0, 2.0])
        assert session.run(optimizer._get_non_slot_variable("steps", var.graph)) == 2.0


def test_users_subclass_gets_sparse_gradients_summed() -> None:
    var = tf.Variable([[1.0], [1.0], [1.0]], name="W")
    rows = tf.gather(var, [0, 2, 0]) * [[1.0], [1.0], [-3.0]]
    update = SignDescent(0.25).minimize(tf.reduce_sum(rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        # Row 0 gets 1 - 3, once.
        np.testing.assert_array_equal(session.run(var), [[1.25], [1.0], [0.75]])


def test_subclass_without_sparse_update_says_so() -> None:
    class DenseOnly(tf.train.Optimizer):
        def _apply_dense(self, grad: Any, var: Any) -> Any:
            return tf.group(grad)

    var = tf.Variable([[1.0], [1.0]])
    with pytest.raises(NotImplementedError, match="DenseOnly has no sparse update"):
        DenseOnly(False, "DenseOnly").minimize(tf.reduce_sum(tf.gather(var, [0])))


def test_slot_of_variable_of_unknown_shape() -> None:
    start = tf.placeholder(tf.float32, [None])
    var = tf.Variable(start, validate_shape=False, name="W")
    loss = tf.reduce_sum(var * 2.0)
    optimizers = [tf.train.MomentumOptimizer(0.5, 0.9), tf.train.AdagradOptimizer(0.5, 4.0)]
    updates = [optimizer.minimize(loss) for optimizer in optimizers]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer(), {start: [1.0, 2.0]})
        session.run(updates[0])
        np.testing.assert_array_equal(session.run(var), [0.0, 1.0])
        session.run(updates[1])
        np.testing.assert_allclose(session.run(var), [-0.353553, 0.646447], rtol=1e-5)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("case", ["sgd", "momentum", "adam", "rmsprop"])
def test_gradient_that_would_broadcast_is_refused_at_run_time(case: str, count: int) -> None:
    grad = tf.placeholder(tf.float32)
    variables = [tf.Variable([1.0, 2.0], name=f"W{i}") for i in range(count)]
    optimizer = programs.optimizers(tf)[case](None)
    update = optimizer.apply_gradients([(grad, v) for v in variables])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for bad in ([1.0], 1.0, [1.0, 1.0, 1.0]):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(update, {grad: bad})
        for var in variables:
            np.testing.assert_array_equal(session.run(var), [1.0, 2.0])
        session.run(update, {grad: [1.0, 1.0]})


@pytest.mark.parametrize("case", ["sgd", "momentum", "adam"])
def test_gradient_that_is_the_variable_turned_round(case: str) -> None:
    start = np.arange(1.0, 10.0, dtype=np.float32).reshape(3, 3)
    var, copied = tf.Variable(start), tf.Variable(start)
    optimizer = programs.optimizers(tf)[case](None)
    update = optimizer.apply_gradients([(tf.transpose(var), var)])
    wanted = programs.optimizers(tf)[case](None).apply_gradients([(tf.constant(start.T), copied)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([update])
        session.run([wanted])
        np.testing.assert_allclose(session.run(var), session.run(copied), rtol=1e-6)


# Reads of reference variables are not ordered with updates, so only resource variables promise it.
@pytest.mark.parametrize("case", ["sgd", "momentum", "adam", "rmsprop"])
def test_gradients_that_are_each_others_variables(case: str) -> None:
    results = []
    with tf.Session() as session:
        for read in (False, True):
            a = tf.Variable([1.0, 2.0], use_resource=True)
            b = tf.Variable([3.0, 5.0], use_resource=True)
            grads = [tf.constant([3.0, 5.0]), tf.constant([1.0, 2.0])]
            if read:
                grads = [tf.identity(b), tf.identity(a)]
            optimizer = programs.optimizers(tf)[case](None)
            update = optimizer.apply_gradients(zip(grads, [a, b], strict=True))
            session.run(tf.global_variables_initializer())
            session.run(update)
            results.append(session.run([a, b]))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
