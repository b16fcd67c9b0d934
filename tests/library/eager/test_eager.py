"""Operations that run as they are called: values, tensors as Python's values, misuse."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.suite import warm

pytestmark = pytest.mark.usefixtures("eagerly")


def test_a_call_gives_its_value() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert tf.executing_eagerly()
    np.testing.assert_array_equal(tf.matmul(x, x).numpy(), [[7, 10], [15, 22]])
    np.testing.assert_array_equal((2.0 - x * 3).numpy(), [[-1, -4], [-7, -10]])
    np.testing.assert_array_equal(x[1:, 0].numpy(), [3])
    assert [row.numpy().tolist() for row in x] == [[1, 2], [3, 4]]
    assert len(x) == 2
    assert tf.string_join(["a", "b"]).numpy() == b"ab"


def test_scalars_are_pythons() -> None:
    assert int(tf.constant(7)) == 7
    assert float(tf.constant(1.5)) == 1.5
    assert bool(tf.constant(2) > 1)
    assert [10, 20, 30][tf.constant(1)] == 20
    assert f"{tf.constant(1.25):.1f}" == "1.2"
    with pytest.raises(TypeError, match="Scalar tensor has no"):
        len(tf.constant(1))
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        iter(tf.constant(1))


def test_it_is_shown_as_tensorflow_shows_it() -> None:
    text = repr(tf.constant([1.0, 2.0]))
    assert text.endswith("shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>")
    assert text.startswith("<tf.Tensor: id=")
    assert str(tf.constant(1)) == "tf.Tensor(1, shape=(), dtype=int32)"
    assert repr(tf.constant(0.1)).endswith("shape=(), dtype=float32, numpy=0.1>")
    assert str(tf.constant("x")) == "tf.Tensor(b'x', shape=(), dtype=string)"
    variable = tf.Variable(1.0)
    assert repr(variable) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>"


def test_a_number_that_was_seen_before_is_itself() -> None:
    x = tf.constant(1.0)
    assert np.signbit((x * 0.0).numpy()) == 0
    assert np.signbit((x * -0.0).numpy()) == 1
    assert (tf.constant(1, tf.int64) * 3).dtype is tf.int64


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.ones([2]) + tf.ones([3]), "Incompatible shapes|must be equal"),
        (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])), "MatMul"),
        (lambda: tf.constant(1) + 1.0, "was expected to be a int32 tensor but is a float tensor"),
        (lambda: tf.ones([2]) + tf.constant(1), "cannot compute AddV2 as input #1"),
        (lambda: tf.ones([2])[5], "StridedSlice"),
        (lambda: tf.gather(tf.ones([2]), [7]), r"indices\[0\] = 7 is not in \[0, 2\)"),
        (lambda: tf.reshape(tf.ones([2]), [3]), "Input to reshape is a tensor with 2 values"),
        (lambda: tf.assert_equal(1, 2), "did not hold"),
    ],
)
def test_a_call_that_fails_says_so_at_once(call: Any, words: str) -> None:
    for _ in range(2):  # the second time the call is known
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            call()


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: tf.placeholder(tf.float32), RuntimeError, "not compatible with eager execution"),
        (lambda: tf.gradients(tf.ones([]), []), RuntimeError, "not supported when eager execution"),
        (lambda: tf.ones([]).op, AttributeError, "Tensor.op is meaningless when eager"),
        (lambda: tf.ones([]).name, AttributeError, "Tensor.name is meaningless when eager"),
        (lambda: tf.ones([]).graph, AttributeError, "Tensor.graph is meaningless when eager"),
        (lambda: tf.ones([]).eval(), NotImplementedError, "eval is not supported when eager"),
        (lambda: tf.ones([2]).set_shape([3]), ValueError, "is not compatible with supplied shape"),
        (
            lambda: tf.train.AdamOptimizer().minimize(tf.ones([])),
            RuntimeError,
            "should be a function when eager execution is enabled",
        ),
    ],
)
def test_what_only_a_graph_has_is_refused(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_what_was_read_of_a_variable_stays() -> None:
    variable = tf.Variable([1.0, 2.0])
    before = variable.value()
    view = tf.reshape(before, [2, 1])
    variable.assign_add([1.0, 1.0])
    variable[0].numpy()
    np.testing.assert_array_equal(before.numpy(), [1, 2])
    np.testing.assert_array_equal(view.numpy(), [[1], [2]])
    np.testing.assert_array_equal(variable.numpy(), [2, 3])
    array = variable.numpy()
    variable.assign([9.0, 9.0])
    np.testing.assert_array_equal(array, [2, 3])


def test_get_variable_makes_a_new_one_each_time() -> None:
    first, second = (tf.get_variable("w", [2]) for _ in range(2))
    assert first is not second
    assert first.name == "w:0"
    assert tf.trainable_variables() == []


def test_seeds_begin_anew() -> None:
    tf.set_random_seed(3)
    first = [float(tf.random_uniform([])) for _ in range(3)]
    tf.set_random_seed(3)
    assert [float(tf.random_uniform([])) for _ in range(3)] == first
    assert len(set(first)) == 3


def test_control_flow_is_pythons() -> None:
    assert int(tf.while_loop(lambda i: i < 5, lambda i: i + 2, [0])) == 6
    assert tf.cond(tf.constant(True), lambda: 1, lambda: 2) == 1
    assert tf.case([(tf.constant(False), lambda: 1)], lambda: 2) == 2
    np.testing.assert_array_equal(tf.map_fn(lambda x: x * 2, tf.constant([1, 2])).numpy(), [2, 4])
    outputs, _ = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.BasicLSTMCell(3), tf.ones([2, 5, 4]), dtype=tf.float32
    )
    assert outputs.shape.as_list() == [2, 5, 3]


def test_a_dataset_is_gone_through() -> None:
    scale = tf.Variable(3.0)
    dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).map(lambda x: x * 2 + scale)
    assert [x.numpy().tolist() for x in dataset.batch(2)] == [[5, 7], [9]]


def test_an_iterator_is_gone_through_and_asked() -> None:
    pairs = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [4, 5, 6]))
    iterator = pairs.make_one_shot_iterator()
    assert iterator.output_types == (tf.float32, tf.int32)
    assert [x.numpy() for x in iterator.get_next()] == [1.0, 4]
    assert [float(x) for x, _ in iterator] == [2.0, 3.0]
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(StopIteration):
        next(iterator)
    assert int(iter(tf.data.Dataset.range(2)).next()) == 0
    with pytest.raises(RuntimeError, match="make_initializable_iterator is not supported when"):
        pairs.make_initializable_iterator()


def test_a_graph_inside_is_a_graph() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert not tf.executing_eagerly()
        x = tf.placeholder(tf.float32)
        assert session.run(x * 2, {x: 3.0}) == 6.0


@pytest.mark.long
def test_a_program_switches_at_its_start() -> None:
    program = (
        "import penstock as tf\ntf.enable_eager_execution()\nprint(float(tf.constant(2.0) * 3))\n"
    )
    run = warm.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "6.0\n"
    late = "import penstock as tf\ntf.constant(1)\ntf.enable_eager_execution()\n"
    run = warm.run([sys.executable, "-c", late], capture_output=True, text=True, check=False)
    assert "must be called at program startup" in run.stderr


def test_scopes_find_or_make_variables_whatever_reuse_is(eagerly: None) -> None:
    for reuse in (None, False, True, tf.AUTO_REUSE):
        with tf.variable_scope("a", reuse=reuse) as scope:
            one, other = tf.get_variable("w", [2]), tf.get_variable("w", [2])
        assert scope.reuse is tf.AUTO_REUSE
        assert one.name == other.name == "a/w:0" and one is not other
    store = tf.contrib.eager.EagerVariableStore()
    with store.as_default(), tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [2]) is tf.get_variable("w", [2])
    tf.get_variable_scope().reuse_variables()
    assert tf.get_variable("z", [1]).name == "z:0"


def test_the_initialized_value_is_the_value(eagerly: None) -> None:
    variable = tf.get_variable("m", initializer=3.0)
    variable.assign(4.0)
    assert variable.initialized_value().numpy() == 4.0


def test_the_global_step_of_a_program(eagerly: None) -> None:
    assert tf.train.get_global_step() is None
    tf.Variable(1, name="global_step", dtype=tf.int64)
    assert tf.train.get_global_step() is None
    made = tf.train.get_or_create_global_step()
    made.assign_add(2)
    assert tf.train.get_global_step() is made and tf.train.global_step(None, made) == 2
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()
    tf.train.assert_global_step(tf.constant(1))
    with pytest.raises(TypeError, match='"global_step" does not have integer type: float32'):
        tf.train.assert_global_step(tf.constant(1.0))
