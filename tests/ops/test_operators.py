"""Operators and public functions of the element-wise families: nodes, names, values, errors.

The node lists are those that TensorFlow 1.15 makes for the same programs.
"""

import numpy as np
import pytest

import penstock as tf


def nodes(build, *skip):
    """What ``build`` adds to a new graph: type, name and inputs of each node."""
    graph = tf.Graph()
    with graph.as_default():
        build()
    return [
        (op.type, op.name, *[t.name.removesuffix(":0") for t in op.inputs])
        for op in graph.get_operations()
        if op.type not in ("Placeholder", *skip)
    ]


def value(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def floats(name="x", shape=(2,)):
    return tf.placeholder(tf.float32, shape, name=name)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x, y: x + y, [("AddV2", "add", "x", "y")]),
        (lambda x, y: x + 1.0, [("Const", "add/y"), ("AddV2", "add", "x", "add/y")]),
        (lambda x, y: 1.0 - x, [("Const", "sub/x"), ("Sub", "sub", "sub/x", "x")]),
        (lambda x, y: np.float32(2) * x, [("Const", "mul/x"), ("Mul", "mul", "mul/x", "x")]),
        (lambda x, y: x / y, [("RealDiv", "truediv", "x", "y")]),
        (lambda x, y: x // y, [("FloorDiv", "floordiv", "x", "y")]),
        (lambda x, y: x % y, [("FloorMod", "mod", "x", "y")]),
        (lambda x, y: 2.0**x, [("Const", "pow/x"), ("Pow", "pow", "pow/x", "x")]),
        (lambda x, y: -x, [("Neg", "Neg", "x")]),
        (lambda x, y: abs(x), [("Abs", "Abs", "x")]),
        (lambda x, y: x <= 1, [("Const", "LessEqual/y"), ("LessEqual", "LessEqual", "x",
                                                        "LessEqual/y")]),
        (lambda x, y: x > y, [("Greater", "Greater", "x", "y")]),
        (lambda x, y: tf.add(x, y), [("Add", "Add", "x", "y")]),
        (lambda x, y: tf.divide(x, y, name="d"), [("RealDiv", "d", "x", "y")]),
        (lambda x, y: tf.div(x, y), [("RealDiv", "div", "x", "y")]),
        (lambda x, y: tf.mod(x, y), [("FloorMod", "FloorMod", "x", "y")]),
        (lambda x, y: tf.mul(x, y), [("Mul", "Mul", "x", "y")]),
        (lambda x, y: tf.div_no_nan(x, 2.0),
         [("Const", "div_no_nan/y"), ("DivNoNan", "div_no_nan", "x", "div_no_nan/y")]),
        (lambda x, y: tf.scalar_mul(2.0, x), [("Const", "scalar"), ("Mul", "Mul", "scalar", "x")]),
        (lambda x, y: tf.add_n([x, y]), [("AddN", "AddN", "x", "y")]),
        (lambda x, y: tf.add_n([x]), []),
        (lambda x, y: tf.accumulate_n([x, y]), [("AccumulateNV2", "AccumulateNV2", "x", "y")]),
        (lambda x, y: tf.conj(x), []),
        (lambda x, y: tf.imag(x), [("Const", "Imag/zeros_like")]),
        (lambda x, y: tf.ones_like(x),
         [("Const", "ones_like/Shape"), ("Const", "ones_like/Const"),
          ("Fill", "ones_like", "ones_like/Shape", "ones_like/Const")]),
        (lambda x, y: tf.cast(x, tf.float32), []),
        (lambda x, y: tf.to_int32(x), [("Cast", "ToInt32", "x")]),
        (lambda x, y: tf.saturate_cast(x, tf.int32),
         [("Const", "saturate_cast/min"),
          ("Maximum", "saturate_cast/Maximum", "x", "saturate_cast/min"),
          ("Const", "saturate_cast/max"),
          ("Minimum", "saturate_cast/Minimum", "saturate_cast/Maximum", "saturate_cast/max"),
          ("Cast", "saturate_cast", "saturate_cast/Minimum")]),
        (lambda x, y: tf.abs([1.0]), [("Const", "Abs/x"), ("Abs", "Abs", "Abs/x")]),
    ],
)  # fmt: skip
def test_nodes_of(build, expected):
    assert nodes(lambda: build(floats(), floats("y"))) == expected


def test_integers_divide_as_floats_under_the_operator():
    def build():
        i = tf.placeholder(tf.int32, [2], name="i")
        assert (i / 2).dtype is tf.float64
        assert tf.div(i, i).dtype is tf.int32

    assert nodes(build)[:4] == [
        ("Const", "truediv/y"),
        ("Cast", "truediv/Cast", "i"),
        ("Cast", "truediv/Cast_1", "truediv/y"),
        ("RealDiv", "truediv", "truediv/Cast", "truediv/Cast_1"),
    ]


def test_logic_operators():
    def build():
        b = tf.placeholder(tf.bool, [2], name="b")
        _ = (True & b, b | b, b ^ b, ~b)

    assert nodes(build) == [
        ("Const", "and/x"),
        ("LogicalAnd", "and", "and/x", "b"),
        ("LogicalOr", "or", "b", "b"),
        ("LogicalOr", "xor/LogicalOr", "b", "b"),
        ("LogicalAnd", "xor/LogicalAnd", "b", "b"),
        ("LogicalNot", "xor/LogicalNot", "xor/LogicalAnd"),
        ("LogicalAnd", "xor", "xor/LogicalOr", "xor/LogicalNot"),
        ("LogicalNot", "LogicalNot", "b"),
    ]


def test_equality_is_identity():
    with tf.Graph().as_default():
        x, y = floats(), floats("y")
        assert (x == x) is True
        assert (x == y) is False
        assert {x: 1}[x] == 1


def test_unknown_shapes_reduce_gradients_at_run_time():
    def build():
        x, y = floats(shape=[None]), floats("y")
        tf.gradients(x + y, [x, y])

    made = [row[:2] for row in nodes(build) if row[1].startswith("gradients/add_grad")]
    assert made == [
        (kind, f"gradients/add_grad/{name}")
        for kind, name in (
            ("Shape", "Shape"), ("Shape", "Shape_1"),
            ("BroadcastGradientArgs", "BroadcastGradientArgs"),
            ("Sum", "Sum"), ("Reshape", "Reshape"), ("Sum", "Sum_1"), ("Reshape", "Reshape_1"),
        )
    ]  # fmt: skip


def test_known_equal_shapes_need_no_reduction():
    def build():
        x, y = floats(), floats("y")
        tf.gradients(x * y, [x, y])

    made = [row for row in nodes(build) if row[1].startswith("gradients/mul_grad")]
    assert [row[1] for row in made] == ["gradients/mul_grad/Mul", "gradients/mul_grad/Mul_1"]


def test_values():
    assert value(lambda: tf.constant([7, -7]) // 2).tolist() == [3, -4]
    assert value(lambda: tf.constant([7, -7]) % 4).tolist() == [3, 1]
    assert value(lambda: 5 - tf.constant([7, -7])).tolist() == [-2, 12]
    assert value(lambda: tf.where([True, False], [1, 2], [3, 4])).tolist() == [1, 4]
    assert value(lambda: tf.saturate_cast(tf.constant([-3, 300]), tf.uint8)).tolist() == [0, 255]
    assert value(lambda: tf.log_sigmoid(tf.constant([0.0]))) == pytest.approx([-np.log(2)])
    assert value(lambda: tf.constant(["a"]) + "b").tolist() == [b"ab"]


def test_static_values_see_through_arithmetic():
    with tf.Graph().as_default():
        size = tf.constant(7) // 2 * 2 + 1 - tf.cast(2.0, tf.int32)
        assert tf.broadcast_to(1.0, [size, 2]).shape.as_list() == [5, 2]


@pytest.mark.parametrize(
    ("build", "kind", "words"),
    [
        (lambda x: x + tf.constant(1), TypeError, "AddV2 'add'.*int32.*float32"),
        (lambda x: tf.constant(1) + 1.5, TypeError, "float32.*int32"),
        (lambda x: x + tf.constant([1.0, 2.0, 3.0]), ValueError, r"add'.*\(2,\).*\(3,\)"),
        (lambda x: x / tf.constant(1), TypeError, "truediv.*float32.*int32"),
        (lambda x: tf.constant(True) / True, TypeError, "invalid dtype bool; allowed are"),
        (lambda x: x & x, TypeError, "float32.*not bool"),
        (lambda x: -tf.constant(True), TypeError, "Neg.*bool; allowed are"),
        (lambda x: tf.add_n([]), ValueError, "at least one"),
        (lambda x: tf.add_n([x, tf.constant([1.0])]), ValueError, "AddN"),
        (lambda x: tf.accumulate_n([x], tensor_dtype=tf.int32), TypeError, "int32.*float32"),
        (lambda x: tf.where(tf.constant([True, False]), x), ValueError, "both be given"),
        (lambda x: tf.complex(x, tf.constant(1)), TypeError, "float32 int32.*must be"),
        (lambda x: tf.conj(tf.constant("a")), TypeError, "numeric.*string"),
        (lambda x: tf.scalar_mul(x, x), ValueError, "only a scalar"),
        (lambda x: tf.bitcast(tf.constant([1.0, 2.0, 3.0]), tf.float64), ValueError,
         "last dim must be 2"),
        (lambda x: tf.bitcast(x, tf.string), TypeError, "string; allowed are"),
    ],
)  # fmt: skip
def test_errors_say_what_was_found_and_what_is_allowed(build, kind, words):
    with tf.Graph().as_default(), pytest.raises(kind, match=words):
        build(floats())


def test_negative_integer_power_is_an_error_of_the_step():
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative integer powers"):
        value(lambda: tf.pow(tf.placeholder_with_default([2], [1]), [-1]))
