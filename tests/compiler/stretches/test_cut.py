"""Cutting programs into stretches: golden text, and what must stay outside."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.compiler.codegen.source import Source
from penstock.compiler.stretches.cut import cut, lines_alone, with_calls, with_notes
from penstock.compiler.stretches.lines import program_of
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.session.build import build_program
from penstock.engine.session.options import Options
from penstock.ops.linalg import product_forms
from tests import golden

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def one_kernel_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice between matrix libraries depends on the machine; here it is always the same."""
    monkeypatch.setenv("PENSTOCK_PRODUCTS", "mm")
    monkeypatch.setattr(product_forms, "onednn_runs", lambda: False)


def source_of(fetches: list[Any], feeds: list[Any], shapes: Any = None) -> Source:
    tensors = [f for f in fetches if isinstance(f, tf.Tensor)]
    targets = [f for f in fetches if isinstance(f, tf.Operation)]
    graph = tf.get_default_graph()
    options = Options(native="off")
    return build_program(
        graph, feeds, tensors, targets, ResourceManager(), options, shapes=shapes
    ).source


def softmax() -> Source:
    x = tf.placeholder(tf.float32, [8, 20], name="x")
    labels = tf.placeholder(tf.float32, [8, 5], name="labels")
    w = tf.Variable(tf.zeros([20, 5]), name="w")
    b = tf.Variable(tf.zeros([5]), name="b")
    logits = tf.matmul(x, w) + b
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits), name="loss"
    )
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, name="train")
    return source_of([loss, train], [x, labels])


def sampled() -> Source:
    """Numbers are drawn in the middle; the rows of a variable are used before and after that."""
    w = tf.Variable(tf.zeros([4, 3]), name="w")
    x = tf.placeholder(tf.float32, [4, 3], name="x")
    before = tf.tanh(tf.sin(tf.exp(x * w) + 1.0)) * 2.0
    drawn = tf.random_uniform([4, 3], seed=1, name="drawn")
    after = tf.sqrt(tf.abs(tf.cos(before + drawn) * x)) - before
    return source_of([tf.reduce_sum(after, name="after"), tf.transpose(before)], [x])


def looped() -> Source:
    """A round's numbers become those of the next; one variable is read before and in the loop."""
    x = tf.placeholder(tf.float32, [4, 4], name="x")
    w = tf.Variable(tf.zeros([4, 4]), name="w")
    start = tf.tanh(tf.sin(tf.exp(x * w) + 1.0)) * 2.0

    def body(count: Any, y: Any, before: Any) -> Any:
        z = tf.tanh(tf.matmul(y, w) + before) * 0.5
        return count + 1, z, tf.cos(z) - y

    _, last, _ = tf.while_loop(lambda i, *_: i < 9, body, [tf.constant(0), start, x])
    return source_of([tf.reduce_sum(last, name="sum")], [x])


def branched() -> Source:
    """Each branch updates the variable, and gives what is used after them."""
    x = tf.placeholder(tf.float32, [4], name="x")
    chosen = tf.placeholder(tf.bool, [], name="chosen")
    v = tf.Variable(tf.zeros([4]), name="v")

    def yes() -> Any:
        y = tf.exp(tf.sin(x * v) * 2.0)
        with tf.control_dependencies([v.assign_add(y)]):
            return tf.tanh(y) - x

    def no() -> Any:
        with tf.control_dependencies([v.assign_sub(tf.sqrt(tf.abs(tf.cos(x) * v)))]):
            return tf.identity(x)

    return source_of([tf.cond(chosen, yes, no)], [x, chosen])


@pytest.mark.parametrize("program", [softmax, sampled, looped, branched])
def test_golden_stretches(program: Any) -> None:
    source = program()
    parts = cut(program_of(source))
    texts = [source.text, ast.unparse(with_calls(source, parts, "native")) + "\n"]
    texts += [
        ast.unparse(lines_alone(source, part, f"stretch_{index}")) + "\n"
        for index, part in enumerate(parts)
    ]
    golden.check(GOLDEN / f"{program.__name__}.py.txt", "\n".join(texts))


def test_the_lines_keep_their_numbers() -> None:
    source = softmax()
    [part] = cut(program_of(source))
    numbers = {s.lineno for s in lines_alone(source, part, "f").body[0].body}
    assert numbers == set(range(part.first, part.last + 1))
    call = with_calls(source, [part], "f").body[0].body
    assert {s.lineno for s in call} == {part.first, source.text.count("\n")}


def test_refused_lines_divide_a_stretch() -> None:
    source = sampled()
    whole = cut(program_of(source))
    middle = whole[0].first + 1
    parts = cut(program_of(source), [middle])
    assert all(not part.first <= middle <= part.last for part in parts)


@pytest.mark.parametrize("program", [softmax, looped, branched])
def test_notes_see_each_local(program: Any) -> None:
    source = program()
    noted = ast.unparse(with_notes(source, "noted"))
    locals_ = {name for line in program_of(source).lines for name in line.sets if name != "_"}
    assert len(locals_) > 5
    for name in ("f0", *locals_):
        assert f"note('{name}', {name})" in noted


@pytest.mark.parametrize(
    "make",
    [
        lambda x: tf.random_normal([4], seed=2) + x,
        lambda x: tf.py_func(np.sin, [x], tf.float32),
        lambda x: tf.cond(x[0] > 0, lambda: x + 1.0, lambda: x - 1.0),
        lambda x: tf.while_loop(lambda v: v[0] < 3.0, lambda v: v + 1.0, [x]),
        lambda x: tf.strings.to_number(tf.as_string(x)),
        lambda x: tf.Print(x, [x]),
        lambda x: tf.cast(tf.cast(x, tf.float16) * tf.cast(x, tf.float16), tf.float32),
    ],
)
def test_what_is_more_than_numbers_stays(make: Any) -> None:
    x = tf.placeholder(tf.float32, [4], name="x")
    source = source_of([make(x)], [x])
    compiled = [line for line in program_of(source).lines if line.compiles]
    kept = [line for line in program_of(source).lines if not line.compiles]
    assert len(kept) > 1  # the return, and what is asked about
    assert all(not source.line_ops[line.number].op_def.random for line in compiled)


def test_open_shapes_and_locks_stay() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    y = tf.placeholder(tf.float32, [2], name="y")
    source = source_of([tf.exp(x)], [x])
    assert not any(line.compiles for line in program_of(source).lines)
    for locking in (False, True):
        update = tf.train.GradientDescentOptimizer(0.5, use_locking=locking)
        train = update.apply_gradients([(tf.exp(y), v)])
        lines = program_of(source_of([train], [y])).lines
        assert any("r_v" in line.text for line in lines if line.compiles) is not locking
