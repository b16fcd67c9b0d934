"""Keras's defaults, which a program may set; the values are TensorFlow 1.15's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.library.layer_base.reachable import reached_from

K = tf.keras.backend


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    K.set_floatx("float32")
    K.set_epsilon(1e-7)
    K.set_image_data_format("channels_last")
    K.manual_variable_initialization(False)


def _value(tensor: Any) -> Any:
    with tf.Session() as session:
        return session.run(tensor)


def test_the_type_holds_for_all_of_keras() -> None:
    K.set_floatx("float64")
    double = tf.constant([1.0], tf.float64)
    dense = tf.keras.layers.Dense(2)
    made = [
        K.constant([1]), K.zeros([2]), K.placeholder([2]), dense(tf.keras.Input([3])), dense.kernel,
        tf.keras.metrics.categorical_accuracy(tf.eye(2), tf.eye(2)), tf.keras.metrics.Mean()(3.0),
        tf.keras.activations.relu(double, threshold=0.5), tf.keras.regularizers.l1(0.1)(double),
        tf.keras.constraints.NonNeg()(double), tf.keras.layers.Embedding(3, 2)(tf.constant([1])),
        tf.keras.layers.ThresholdedReLU()(tf.keras.Input([3])), K.mean(tf.constant([True])),
        K.random_normal([2]),
    ]  # fmt: skip
    assert [one.dtype.base_dtype for one in made] == [tf.float64] * len(made)
    assert K.cast_to_floatx([1]).dtype == np.float64
    assert K.floatx() == "float64"
    with pytest.raises(ValueError, match="Unknown floatx type: bfloat16"):
        K.set_floatx("bfloat16")


def test_a_model_of_doubles() -> None:
    K.set_floatx("float64")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
    assert model.predict(np.ones([1, 2])).dtype == np.float64
    assert [w.dtype for w in model.optimizer.get_weights()] == [np.int64] + [np.float64] * 4


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("categorical_crossentropy", 0.2231435328722), ("poisson", 0.4035737216472626),
        ("binary_crossentropy", 0.14048068225383759),
        ("kullback_leibler_divergence", 0.1931862235069275),
        ("mean_absolute_percentage_error", 673.3333740234375),
        ("mean_squared_logarithmic_error", 0.013604233972728252),
    ],
)  # fmt: skip
def test_the_small_number_is_that_of_losses(loss: str, expected: float) -> None:
    K.set_epsilon(1e-2)
    target, output = tf.constant([[0.0, 1.0, 0.0]]), tf.constant([[0.2, 0.8, 0.0]])
    assert _value(getattr(tf.keras.losses, loss)(target, output)) == pytest.approx([expected])


def test_the_small_number_is_that_of_constraints_and_optimizers() -> None:
    K.set_epsilon(1e-2)
    norms = tf.keras.constraints.MaxNorm(1.0)(tf.constant([[0.2, 0.8, 0.0]]))
    np.testing.assert_allclose(_value(norms), [[0.190476194, 0.790123463, 0.0]], rtol=1e-6)
    for name in ("Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "RMSprop"):
        made = getattr(tf.keras.optimizers, name)
        assert made(epsilon=None).get_config()["epsilon"] == 1e-2
        assert made().get_config()["epsilon"] == 1e-7


def test_the_format_of_images() -> None:
    K.set_image_data_format("channels_first")
    layers = tf.keras.layers
    first = [layers.Conv2D(2, 3), layers.MaxPool2D(), layers.Flatten(), layers.ZeroPadding2D()]
    last = [layers.Conv1D(2, 3), layers.MaxPool1D(), layers.GlobalAveragePooling1D()]
    assert {one.data_format for one in first} == {"channels_first"}
    assert {one.data_format for one in last} == {"channels_last"}
    with pytest.raises(ValueError, match="Unknown data_format: x"):
        K.set_image_data_format("x")


def test_a_program_may_initialize_variables_itself() -> None:
    K.manual_variable_initialization(True)
    variable = K.variable([1.0, 2.0])
    with tf.Session(), pytest.raises(tf.errors.FailedPreconditionError):
        K.get_value(variable)
    K.manual_variable_initialization(False)
    with tf.Session():
        assert K.get_value(variable).tolist() == [1.0, 2.0]


def test_numbers_of_names() -> None:
    assert [K.get_uid("a"), K.get_uid("a"), K.get_uid(), K.get_uid("b")] == [1, 2, 1, 1]
    assert tf.keras.layers.Dense(1).name == "dense"
    assert K.get_uid("dense") == 1
    assert tf.keras.layers.Dense(1).name == "dense_1"
    K.reset_uids()
    assert (tf.keras.layers.Dense(1).name, K.get_uid("a")) == ("dense", 1)


TARGET = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
OUTPUT = [[0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [0.3566749691963196, 1.2039728164672852]),
        ({"from_logits": True}, [0.7679495811462402, 1.1330687999725342]),
        ({"axis": 0}, [0.5108255743980408, 0.3566749691963196, 0.0]),
    ],
)
def test_cross_entropy(more: dict[str, Any], expected: list[float]) -> None:
    found = K.categorical_crossentropy(tf.constant(TARGET), tf.constant(OUTPUT), **more)
    np.testing.assert_allclose(_value(found), expected, rtol=1e-6)


def test_cross_entropy_of_numbers() -> None:
    output = tf.constant(np.arange(12).reshape(2, 2, 3) / 12.0 + 0.1, tf.float32)
    labels = tf.constant([[1, 2], [0, 1]])
    expected = [[1.0986123085, 0.9227216244], [1.2286653519, 1.0926420689]]
    last = _value(K.sparse_categorical_crossentropy(labels, output))
    np.testing.assert_allclose(last, expected, rtol=1e-6)
    turned = tf.transpose(output, [0, 2, 1])
    found = _value(K.sparse_categorical_crossentropy(labels, turned, axis=1))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_a_sigmoid_made_is_taken_by_its_logits() -> None:
    """As a probability 1 - 1e-9 rounds to 1, and its cross entropy with 0 to 16."""
    logits = tf.constant([30.0])
    assert _value(K.binary_crossentropy(tf.zeros([1]), tf.sigmoid(logits))) == [30.0]


def test_functions_run_what_they_are_given_besides() -> None:
    x, count = K.placeholder([]), K.variable(0)
    rows = K.placeholder([2, 2], sparse=True)
    metadata = tf.RunMetadata()
    extra = tf.assign_add(count, 1.0)
    total = tf.sparse.reduce_sum(rows)
    step = K.function(
        [x, rows], {"x": x * 2, "total": total}, fetches=[extra], run_metadata=metadata,
        options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
    )  # fmt: skip
    with tf.Session():
        given = tf.SparseTensorValue([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
        assert step([1.5, given]) == {"x": 3.0, "total": 5.0}
        assert K.get_value(count) == 1.0
    assert metadata.step_stats.dev_stats
    with pytest.raises(ValueError, match='Invalid argument "zzz" passed to K.function'):
        K.function([x], [x], zzz=1)


def test_functions_take_tensors_for_what_is_fed() -> None:
    x, y = K.placeholder([2]), K.placeholder([])
    step = K.function([x, y], [x * y])
    with tf.Session():
        (found,) = step([tf.constant([1.0, 2.0]) * 2, 3.0])
    assert found.tolist() == [6.0, 12.0]


def test_rnn_gives_steps_their_constants() -> None:
    inputs = tf.constant(np.arange(12.0).reshape(2, 3, 2), tf.float32)

    def step(x: Any, states: Any) -> Any:
        state, factor = states
        return x * factor + state, [x + state]

    for unroll in (False, True):
        last, outputs, states = K.rnn(
            step, inputs, [tf.zeros([2, 2])], constants=[tf.constant(2.0)], unroll=unroll
        )
        found = _value([last, outputs[:, 0], states[0]])
        expected = [[[10, 14], [34, 38]], [[0, 2], [12, 14]], [[6, 9], [24, 27]]]
        assert [one.tolist() for one in found] == expected


def test_what_is_reached() -> None:
    a = tf.placeholder(tf.float32, [], "a")
    b = tf.add(a, 1.0, "b")
    c = tf.multiply(b, 2.0, "c")
    with tf.control_dependencies([b]):
        d = tf.constant(1.0, name="d")
    assert reached_from([a]) == {a, b.op, b, c.op, c, d.op, d}
    assert c not in reached_from([d])
    assert reached_from([a], targets=[a]) == {a}
