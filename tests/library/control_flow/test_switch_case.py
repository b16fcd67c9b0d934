"""``tf.switch_case``: branches by number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


def test_each_branch_and_the_default() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        i, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2])
        y = x * 2.0
        branches = [lambda: x + 1.0, lambda: y - x, lambda: tf.constant([7.0, 8.0])]
        plain = tf.switch_case(i, branches)
        with_default = tf.switch_case(i, branches, default=lambda: -x)
        assert plain.shape.as_list() == [2] and plain.op.type == "Identity"
        for number, wanted, other in [
            (0, [2, 3], [2, 3]), (1, [1, 2], [1, 2]), (2, [7, 8], [7, 8]),
            (3, [7, 8], [-1, -2]), (-1, [7, 8], [-1, -2]),
        ]:  # fmt: skip
            found = session.run([plain, with_default], {i: number, x: [1.0, 2.0]})
            assert [v.tolist() for v in found] == [wanted, other]


@pytest.mark.parametrize(
    "branches",
    [
        {1: lambda: tf.constant("b"), 0: lambda: tf.constant("a")},
        [(1, lambda: tf.constant("b")), (0, lambda: tf.constant("a"))],
        (lambda: tf.constant("a"), lambda: tf.constant("b")),
    ],
)
def test_forms_of_branches(branches: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = [tf.switch_case(tf.constant(i), branches) for i in (0, 1)]
        assert session.run(made) == [b"a", b"b"]


def test_nestings_variables_and_gradients() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        i = tf.placeholder(tf.int64, [])
        v = tf.Variable([1.0, 2.0])
        r = tf.get_variable("r", initializer=3.0, use_resource=True)
        number = tf.cast(i, tf.int32)
        made = tf.switch_case(
            number,
            [
                lambda: {"a": v * r, "b": [tf.constant(1)]},
                lambda: {"a": v * v, "b": [tf.size(v)]},
            ],
        )
        gradient = tf.gradients(made["a"], [v, r])
        session.run(tf.global_variables_initializer())
        found = session.run([made, gradient], {i: 0})
        assert found[0]["a"].tolist() == [3, 6] and found[0]["b"] == [1]
        assert found[1][0].tolist() == [3, 3] and found[1][1] == 3
        found = session.run([made, gradient], {i: 1})
        assert found[0]["a"].tolist() == [1, 4] and found[0]["b"] == [2]
        assert found[1][0].tolist() == [2, 4] and found[1][1] == 0


def test_only_the_branch_chosen_acts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        i = tf.placeholder(tf.int32, [])
        v = tf.get_variable("v", initializer=0.0, use_resource=True)
        made = tf.switch_case(i, [lambda: v.assign_add(1.0).op, lambda: tf.no_op()])
        session.run(v.initializer)
        assert [session.run(made, {i: n}) for n in (0, 0, 1)] == [0, 0, 1]
        assert session.run(v) == 2.0


def test_variables_made_in_a_branch_are_the_graphs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        branch = lambda: tf.get_variable("w", initializer=2.0) * 1.0  # noqa: E731
        y = tf.switch_case(tf.constant(0), [branch, lambda: tf.constant(0.0)])
        assert [w.name for w in tf.global_variables()] == ["w:0"]
        session.run(tf.global_variables_initializer())
        assert session.run(y) == 2.0


def test_inside_a_loop() -> None:
    with tf.Graph().as_default(), tf.Session() as session:

        def body(i: Any, total: Any) -> Any:
            branches = [lambda: total + 1, lambda: total * 3, lambda: total - i]
            return i + 1, tf.switch_case(i % 3, branches)

        made = tf.while_loop(lambda i, total: i < 6, body, [0, 1])
        total = 1
        for i in range(6):
            total = [total + 1, total * 3, total - i][i % 3]
        assert session.run(made[1]) == total


def test_what_is_refused() -> None:
    with tf.Graph().as_default():
        i, branch = tf.constant(0), lambda: tf.constant(1.0)
        for error, arguments, words in [
            (TypeError, (1, [branch]), "branch_index must a Tensor"),
            (TypeError, (tf.constant(1.0), [branch]), "must an integer Tensor"),
            (ValueError, (i, []), "at least one"),
            (TypeError, (i, branch), "list, tuple, or dict"),
            (TypeError, (i, [1]), "2-tuple"),
            (TypeError, (i, {"a": branch}), "Python `int`"),
            (TypeError, (i, {0: 1}), "must be callable"),
            (ValueError, (i, {0: branch, 2: branch}), "contiguous"),
            (TypeError, (i, [branch, lambda: tf.constant(1)]), "different types"),
            (TypeError, (i, [branch, lambda: [tf.constant(1.0)]]), "different nestings"),
        ]:
            with pytest.raises(error, match=words):
                tf.switch_case(*arguments)


def test_nodes_are_tensorflows() -> None:
    with tf.Graph().as_default() as graph:
        i, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2])
        branches = [lambda: x + 1.0, lambda: x * x, lambda: tf.constant([1.0, 2.0])]
        tf.switch_case(i, branches, default=lambda: -x)
        tf.switch_case(i, {0: lambda: x, 1: lambda: x * 2.0}, name="other")
    rows = [(op.name, op.type, [t.name for t in op.inputs]) for op in graph.get_operations()]
    assert rows == [
        ("Placeholder", "Placeholder", []),
        ("Placeholder_1", "Placeholder", []),
        ("switch_case/indexed_case", "Case", ["Placeholder:0", "Placeholder_1:0"]),
        ("switch_case/indexed_case/Identity", "Identity", ["switch_case/indexed_case:0"]),
        ("other/indexed_case", "Case", ["Placeholder:0", "Placeholder_1:0"]),
        ("other/indexed_case/Identity", "Identity", ["other/indexed_case:0"]),
    ]
    again = tf.Graph()
    with again.as_default(), tf.Session() as session:
        tf.import_graph_def(graph.as_graph_def(), name="")
        fetch = "switch_case/indexed_case/Identity:0"
        found = session.run(fetch, {"Placeholder:0": 1, "Placeholder_1:0": [2.0, 3.0]})
        assert found.tolist() == [4, 9]


def test_vectorized_map() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2])
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        n = tf.range(tf.shape(x)[0])
        made = tf.vectorized_map(
            lambda row: {"y": tf.linalg.matvec(w, row[0]), "n": [tf.as_string(row[1])]},
            (x, n),
        )
        assert made["y"].shape.as_list() == [None, 2]
        gradient = tf.gradients(made["y"], [x, w])
        session.run(w.initializer)
        rows = np.float32([[1, 0], [0, 1], [2, 3]])
        found, back = session.run([made, gradient], {x: rows})
        np.testing.assert_allclose(found["y"], rows @ np.float32([[1, 3], [2, 4]]))
        assert found["n"][0].tolist() == [b"0", b"1", b"2"]
        np.testing.assert_allclose(back[0], [[4, 6]] * 3)
        np.testing.assert_allclose(back[1], [[3, 4], [3, 4]])


def test_vectorized_map_of_no_rows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder_with_default(np.zeros([0, 2], "f"), [None, 2])
        made = tf.vectorized_map(lambda x: (x * 2, tf.reduce_sum(x), tf.as_string(x)), rows)
        assert [value.shape for value in session.run(made)] == [(0, 2), (0,), (0, 2)]
        for nothing in ([], (), {}):
            with pytest.raises(ValueError, match="at least one tensor"):
                tf.vectorized_map(lambda x: x, nothing)


def test_vectorized_map_makes_variables_once() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.vectorized_map(
            lambda row: row * tf.get_variable("k", initializer=3.0), tf.constant([1.0, 2.0])
        )
        assert [v.name for v in tf.global_variables()] == ["k:0"]
        session.run(tf.global_variables_initializer())
        assert session.run(y).tolist() == [3, 6]
