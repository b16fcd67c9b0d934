"""Assertions, printing and checks for NaN and Inf."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.control import debug
from penstock.ops.control.check_shapes import assert_shapes


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as fresh:
        yield fresh


def run(fetches: Any, feed: Any = None) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches, feed)


# ---- Print ---------------------------------------------------------------------------------

_VALUES: list[tuple[Any, Any, str, str]] = [
    # value, dtype, as Print shows it, as tf.print does: both as TF 1.15 printed them
    (np.arange(12).reshape(3, 4) / 3, "float32", "[0 0.333333343 0.666666687...]...",
     "[[0 0.333333343 0.666666687 1]\n [1.33333337 1.66666663 2 2.33333325]\n"
     " [2.66666675 3 3.33333325 3.66666675]]"),
    ([[True, False]], "bool", "[1 0]", "[[1 0]]"),
    (["ab", 'c\n"é'], "string", r"ab c\n\"\303\251", r'["ab" "c\n\"\303\251"]'),
    (np.arange(24).reshape(2, 3, 4), "int64", "[[0 1 2...]]...",
     "[[[0 1 2 3]\n  [4 5 6 7]\n  [8 9 10 11]]\n\n [[12 13 14 15]\n  [16 17 18 19]\n"
     "  [20 21 22 23]]]"),
    (3.5, "float32", "3.5", "3.5"),
    ([1e-10, 1e20, np.nan], "float64", "1e-10 1e+20 nan", "[1e-10 1e+20 nan]"),
    ([np.inf, -np.inf, -0.0], "float64", "inf -inf -0", "[inf -inf -0]"),
    ([0.1, 1 / 3], "half", "0.0999755859 0.333251953", "[0.0999755859 0.333251953]"),
    ([200], "uint8", "200", "[200]"),
    ("hi", "string", "hi", '"hi"'),
]  # fmt: skip


@pytest.mark.parametrize("value, dtype, first, both_ends", _VALUES)
def test_values_are_shown_as_tensorflow_shows_them(
    value: Any, dtype: str, first: str, both_ends: str, capfd: Any
) -> None:
    tensor = tf.constant(value, dtype)
    result, text = run([tf.Print(tensor, [tensor], "m:"), debug.string_format("{}", tensor)])
    assert np.array_equal(result, run(tensor), equal_nan=dtype.startswith("float"))
    assert capfd.readouterr().err == f"m:[{first}]\n"
    assert text.decode() == both_ends


def test_many_elements_are_cut() -> None:
    many = tf.constant(np.arange(200).reshape(10, 20))
    text = run(debug.string_format("{}", many, summarize=1)).decode()
    assert text == "[[0 ... 19]\n ...\n [180 ... 199]]"
    assert run(debug.string_format("{} of {}", [1, 2])) == b"1 of 2"
    with pytest.raises(ValueError, match="1 tensor.*2 placeholder"):
        debug.string_format("{} {}", [1])


def test_print_counts_and_summarizes(capfd: Any) -> None:
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    shown = tf.Print(x, [x, tf.constant("s")], first_n=2, summarize=-1)
    with tf.Session() as sess:
        for _ in range(4):
            sess.run(shown)
    assert capfd.readouterr().err == "[1 2 3 4][s]\n" * 2


def test_print_passes_gradients() -> None:
    x = tf.constant([1.0, 2.0])
    y = tf.Print(x, [x])
    (grad,) = tf.gradients(y, x)
    np.testing.assert_array_equal(run(grad), [1.0, 1.0])


def test_print_function(capfd: Any, tmp_path: Any) -> None:
    x = tf.constant([1, 2])
    run(tf.print("x is", x, [3, x], {"k": x}))
    run(tf.print(x, x, output_stream=sys.stdout, sep=", ", end="!\n"))
    run(tf.print(tf.constant("plain")))
    path = tmp_path / "out.txt"
    run(tf.print(x, output_stream=f"file://{path}"))
    out, err = capfd.readouterr()
    assert err == "x is [1 2] [3, [1 2]] {'k': [1 2]}\nplain\n"
    assert out == "[1 2], [1 2]!\n"
    assert path.read_text() == "[1 2]\n"
    with pytest.raises(ValueError, match="'nowhere' is not one of"):
        tf.print(x, output_stream="nowhere")
    with pytest.raises(ValueError, match=r"no keyword\(s\) \['colour'\]"):
        tf.print(x, colour=1)


# ---- Assert --------------------------------------------------------------------------------


def test_assert_shows_its_data() -> None:
    ok = tf.placeholder(tf.bool, [])
    check = tf.Assert(ok, ["value is", tf.constant([1.5, 2.0, 3.0, 4.0])], name="mine")
    assert run(check, {ok: True}) is None
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(check, {ok: False})
    assert "assertion failed: [value is] [1.5 2 3...]" in str(caught.value)
    assert caught.value.op.type == "Assert"


def test_assert_guards_what_depends_on_it() -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.assert_positive(x)]):
        y = tf.identity(x)
    assert run(y, {x: 2.0}) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x > 0 did not hold"):
        run(y, {x: -2.0})


def test_assert_takes_a_list() -> None:
    with pytest.raises(TypeError, match="data must be a list"):
        tf.Assert(True, "text")


_RELATIONS = [
    ("assert_equal", (1, 1), (1, 2)),
    ("assert_none_equal", (1, 2), (1, 1)),
    ("assert_less", (1, 2), (2, 2)),
    ("assert_less_equal", (2, 2), (3, 2)),
    ("assert_greater", (3, 2), (2, 2)),
    ("assert_greater_equal", (2, 2), (1, 2)),
    ("assert_positive", (1,), (0,)),
    ("assert_negative", (-1,), (0,)),
    ("assert_non_negative", (0,), (-1,)),
    ("assert_non_positive", (0,), (1,)),
    ("assert_near", (1.0, 1.0 + 1e-7), (1.0, 1.1)),
]


@pytest.mark.parametrize("name, good, bad", _RELATIONS)
def test_relations_when_run(name: str, good: Any, bad: Any) -> None:
    fed = [tf.placeholder(tf.as_dtype(np.asarray(np.float32(v)).dtype), []) for v in good]
    check = getattr(tf, name)(*fed, message="look here")
    assert check.name.startswith(name)
    assert run(check, dict(zip(fed, good, strict=True))) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="look here"):
        run(check, dict(zip(fed, bad, strict=True)))


@pytest.mark.parametrize("name, good, bad", _RELATIONS[:-1])
def test_relations_known_already(name: str, good: Any, bad: Any) -> None:
    run(getattr(tf, name)(*good))
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-wise"):
        getattr(tf, name)(*bad)


def test_relations_broadcast_and_take_data() -> None:
    x = tf.placeholder(tf.int32, [None])
    check = tf.assert_less(x, 3, data=["mine", x], summarize=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[mine\] \[1 5\.\.\.\]"):
        run(check, {x: [1, 5, 2]})


def test_a_tensor_equals_itself() -> None:
    x = tf.placeholder(tf.float32)
    assert tf.assert_equal(x, x).type == "NoOp"


def test_ranks() -> None:
    known, unknown = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32)
    assert tf.assert_rank(known, 2).type == "NoOp"
    with pytest.raises(ValueError, match=r"must have rank 1\.  Received rank 2"):
        tf.assert_rank(known, 1)
    with pytest.raises(ValueError, match="must have rank at least 3"):
        tf.assert_rank_at_least(known, 3)
    with pytest.raises(ValueError, match=r"must have rank in \(0, 1\)"):
        tf.assert_rank_in(known, [0, 1])
    checks = [tf.assert_rank(unknown, 1), tf.assert_rank_in(unknown, [1, 3]),
              tf.assert_rank_at_least(unknown, 1)]  # fmt: skip
    for check in checks:
        run(check, {unknown: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank"):
            run(check, {unknown: 1.0})


def test_shapes_that_agree() -> None:
    x, y = tf.placeholder(tf.float32, [4, 3]), tf.placeholder(tf.float32, [4])
    assert assert_shapes([(x, ("N", 3)), (y, ("N",)), (x, (None, "."))]).type == "NoOp"
    assert assert_shapes([(x, (..., "D")), (x, ("*", 4, "D")), (y, None)]).type == "NoOp"
    with pytest.raises(ValueError, match="m.  Specified by tensor .* must have size 4.  Rec.* 3"):
        assert_shapes([(y, ("N",)), (x, (None, "N"))], message="m")
    with pytest.raises(ValueError, match="Specified explicitly.*must have size 5"):
        assert_shapes([(x, (5, 3))])
    with pytest.raises(ValueError, match="must have rank 3"):
        assert_shapes([(x, ("A", "B", "C"))])
    with pytest.raises(ValueError, match="only allowed as the first entry"):
        assert_shapes([(x, ("A", ...))])
    with pytest.raises(ValueError, match="must be an iterable; found 3"):
        assert_shapes([(x, 3)])


def test_shapes_when_run() -> None:
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32)
    check = assert_shapes([(x, ("N", 3)), (y, ("N", "N"))])
    run(check, {x: np.zeros((2, 3)), y: np.zeros((2, 2))})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must have size.*\[2\]"):
        run(check, {x: np.zeros((2, 3)), y: np.zeros((2, 4))})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank"):
        run(check, {x: np.zeros((2, 3)), y: np.zeros(2)})


def test_types() -> None:
    x = tf.constant(1.0, name="x")
    assert tf.assert_type(x, tf.float32).type == "NoOp"
    with pytest.raises(TypeError, match="x:0 must be of type int32; found float32"):
        tf.assert_type(x, tf.int32)
    with pytest.raises(TypeError, match="integer type.*x:0 of dtype float32"):
        tf.assert_integer(x)
    with pytest.raises(ValueError, match=r"Expected scalar shape.*\(1,\)"):
        tf.assert_scalar(tf.constant([1]))
    assert tf.is_numeric_tensor(x)
    assert not tf.is_numeric_tensor(tf.constant("s"))
    assert not tf.is_numeric_tensor(1.0)
    assert tf.assert_same_float_dtype([x, None]) == tf.float32
    with pytest.raises(ValueError, match="x:0.*must be of the same type"):
        tf.assert_same_float_dtype([x], tf.float64)
    with pytest.raises(TypeError, match="proper iterable"):
        tf.assert_proper_iterable("text")


def test_order() -> None:
    x = tf.placeholder(tf.float32, [None])
    flags = [tf.is_non_decreasing(x), tf.is_strictly_increasing(x)]
    assert run(flags, {x: [1, 2, 3]}) == [True, True]
    assert run(flags, {x: [1, 2, 2]}) == [True, False]
    assert run(flags, {x: [2, 1]}) == [False, False]
    assert run(flags, {x: [2]}) == [True, True]
    assert run(flags, {x: []}) == [True, True]


# ---- NaN and Inf ---------------------------------------------------------------------------


def test_check_numerics() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.check_numerics(x, "here")
    np.testing.assert_array_equal(run(y, {x: [1.0, 2.0]}), [1.0, 2.0])
    # The sum overflows, but every element is finite.
    np.testing.assert_array_equal(run(y, {x: [3e38, 3e38]}), np.float32([3e38, 3e38]))
    for bad, found in (([np.inf], "Inf"), ([np.nan, 1], "NaN"), ([np.nan, np.inf], "Inf and NaN")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"here : Tensor had {found} val"):
            run(y, {x: bad})
    z = tf.verify_tensor_all_finite(x, "there")
    with pytest.raises(tf.errors.InvalidArgumentError, match="there : Tensor had Inf"):
        run(z, {x: [np.inf]})
    with pytest.raises(ValueError, match="only one of t and x"):
        tf.verify_tensor_all_finite(x, "m", x=x)


def test_check_numerics_checks_the_gradient_too() -> None:
    x = tf.constant([1.0])
    y = tf.check_numerics(x, "msg")
    (grad,) = tf.gradients(y, x, grad_ys=[np.float32([np.nan])])
    with pytest.raises(tf.errors.InvalidArgumentError, match="detected in gradient. msg"):
        run(grad)


def test_add_check_numerics_ops_reports_the_first(graph: Any) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.identity(x, name="y")
    check = tf.add_check_numerics_ops()
    run(check, {x: 1.0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="x:0 : Tensor had NaN"):
        run(check, {x: np.nan})
    assert y.op in graph.get_operations()


def test_timestamp() -> None:
    import time

    before = time.time()
    assert before <= run(tf.timestamp()) <= time.time()


@pytest.mark.parametrize("condition", [True, np.bool_(True)], ids=repr)
def test_nodes_of_assert_with_a_python_bool(condition: Any) -> None:
    with tf.Graph().as_default() as graph:
        tf.Assert(condition, ["x"])
        tf.Assert(condition, ["y", tf.constant(1)], name="n")
        found = [(op.name, op.type, [t.name for t in op.inputs]) for op in graph.get_operations()]
    # Dumped from TF 1.15.
    assert found == [
        ("Assert/Const", "Const", []),
        ("Assert/Assert/condition", "Const", []),
        ("Assert/Assert/data_0", "Const", []),
        ("Assert/Assert", "Assert", ["Assert/Assert/condition:0", "Assert/Assert/data_0:0"]),
        ("Const", "Const", []),
        ("n/Const", "Const", []),
        ("n/Assert/condition", "Const", []),
        ("n/Assert/data_0", "Const", []),
        ("n/Assert", "Assert", ["n/Assert/condition:0", "n/Assert/data_0:0", "Const:0"]),
    ]


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.uint16, tf.complex128, tf.bool])
def test_what_counts_as_numeric_is_tensorflows_list(dtype: tf.DType) -> None:
    x = tf.placeholder(dtype, [3])
    assert not tf.is_numeric_tensor(x)
    with pytest.raises(TypeError, match="Expected x to be numeric"):
        tf.is_strictly_increasing(x)
    for other in (tf.float32, tf.int8, tf.quint8, tf.complex64):
        assert tf.is_numeric_tensor(tf.placeholder(other))


def test_what_assert_non_positive_says_is_one_node_as_in_tensorflow():
    with tf.Graph().as_default() as graph:
        tf.assert_non_positive(tf.constant([-1], name="x"), message="hi")
        said = [
            op.get_attr("value").string_val[0]
            for op in graph.get_operations()
            if "Assert/Assert/data" in op.name and op.type == "Const"
        ]
    assert said == [b"hi", b"Condition x <= 0 did not hold element-wise:x (x:0) = "]
