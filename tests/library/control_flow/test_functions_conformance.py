"""Functional control flow, functions and TensorLists against TensorFlow 1.15 and 2.21.

The graphs are TensorFlow's; Penstock runs and differentiates them.  The other way round, graphs of
``Defun`` made here run in TensorFlow 1.15.
"""

from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import penstock as tf
from penstock.python.framework import function
from tests.peers import PEERS, TF115, needs

TOLERANCE = {"rtol": 2e-5, "atol": 2e-6}

pytestmark = pytest.mark.long


def _peer(python: Path, script: str, *arguments: Path) -> None:
    needs(python)
    command = [str(python), str(Path(__file__).with_name(script)), *map(str, arguments)]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def _same(found: Any, wanted: Any) -> None:
    for ours, theirs in zip(found, wanted, strict=True):
        assert np.shape(ours) == np.shape(theirs)
        np.testing.assert_allclose(ours, theirs, **TOLERANCE)


# ---- TensorFlow 1.15 -----------------------------------------------------------------------------


def _ours() -> dict[str, tf.Tensor]:
    """Calls of functions made here, by name; all in one graph."""
    x = tf.constant([1.0, 2.0], name="x")
    w = tf.constant(3.0)
    v = tf.get_variable("v", initializer=2.0, use_resource=True)

    @function.Defun(tf.float32, tf.float32, func_name="both", out_names=["sum", "product"])
    def both(a: tf.Tensor, b: tf.Tensor) -> Any:
        return a + b, a * b

    @function.Defun(tf.float32)
    def captures(a: tf.Tensor) -> tf.Tensor:
        return a * w + v

    @function.Defun(tf.float32)
    def outer(a: tf.Tensor) -> tf.Tensor:
        return both(captures(a), a)[1]

    @function.Defun(tf.float32, tf.float32)
    def slope(a: tf.Tensor, grad: tf.Tensor) -> tf.Tensor:
        return 5.0 * grad

    @function.Defun(tf.float32, grad_func=slope)
    def sloped(a: tf.Tensor) -> tf.Tensor:
        return tf.sin(a)

    total, product = both(x, x * 2.0)
    made = {"total": total, "product": product, "captures": captures(x), "outer": outer(x)}
    made["sloped"] = sloped(x)
    made["grad_both"] = tf.gradients([total, product], x)[0]
    made["grad_sloped"] = tf.gradients(made["sloped"], x)[0]
    made["grad_captured"] = tf.gradients(captures(x), w)[0]
    return made


@pytest.fixture(scope="module")
def tf1(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("functions")
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        made = _ours()
        tf.global_variables_initializer()
        values = {}
        sess.run("init")
        for name, tensor in made.items():
            values[name] = sess.run(tensor)
        message = graph.as_graph_def().SerializeToString()
    asked = {name: (message, [tensor.name], {}) for name, tensor in made.items()}
    (folder / "ours").write_bytes(pickle.dumps(asked, protocol=2))
    _peer(TF115, "functions_in_tf1.py", folder / "out", folder / "ours")
    found = pickle.loads((folder / "out").read_bytes(), encoding="latin1")
    return found, values


PROGRAMS = """
    if_ if_of_a_number while_ while_that_grows if_in_while for_ case calls_in_calls
    while_that_writes if_that_writes primitives_in_a_function calls_in_primitives
    symbolic_gradient gradient_by_function failing_assert remote_call
""".split()


@pytest.mark.parametrize("again", [False, True], ids=["theirs", "exported again"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_tf1(name: str, again: bool, tf1: Any) -> None:
    message, fetches, feeds, values = tf1[0][name]
    graph_def = GraphDef.FromString(message)
    if again:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
            graph_def = graph.as_graph_def()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        sess.run([op for op in graph.get_operations() if op.name == "init"])
        for feed, wanted in zip(feeds, values, strict=True):
            given = {f"{key}:0": value for key, value in feed.items()}
            if isinstance(wanted, str):
                with pytest.raises(getattr(tf.errors, wanted)):
                    sess.run(list(fetches), given)
            else:
                _same(sess.run(list(fetches), given), wanted)


OURS = "total product captures outer sloped grad_both grad_sloped grad_captured".split()


@pytest.mark.parametrize("name", OURS)
def test_functions_made_here_run_in_tf1(name: str, tf1: Any) -> None:
    found, values = tf1
    _same(found["ours"][name], [values[name]])


# ---- TensorFlow 2.21 -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tf2(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("functions") / "out"
    _peer(PEERS, "functions_in_tf2.py", path)
    return pickle.loads(path.read_bytes())


FROZEN = """
    lstm gru rnn bidirectional masked conv_lstm lstm_gradients collatz with_break arrays mapped
    ragged nested tape
""".split()
GRADIENTS = """
    of_if of_while of_if_in_while of_while_in_while of_arrays of_case of_a_list of_list_ops
""".split()


def test_lists_are_whole(tf2: Any) -> None:
    assert sorted(tf2[0]) == sorted(FROZEN)
    assert sorted(tf2[1]) == sorted(GRADIENTS)


@pytest.mark.parametrize("name", FROZEN)
def test_frozen_functions_run(name: str, tf2: Any) -> None:
    message, inputs, outputs, arguments, values = tf2[0][name]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(GraphDef.FromString(message), name="")
        for _ in range(2):
            _same(sess.run(outputs, dict(zip(inputs, arguments, strict=True))), values)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_through_functional_nodes(name: str, tf2: Any) -> None:
    message, ys, xs, feeds, values = tf2[1][name]
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(GraphDef.FromString(message), name="")
        tensor = graph.get_tensor_by_name
        made = tf.gradients([tensor(y) for y in ys], [tensor(x) for x in xs])
        for feed, wanted in zip(feeds, values, strict=True):
            given = {f"{key}:0": value for key, value in feed.items()}
            _same(sess.run([*ys, *made], given), wanted)
