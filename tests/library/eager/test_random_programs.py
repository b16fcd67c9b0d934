"""Values and gradients of random programs: eagerly, in a graph, and by TensorFlow 1.15 eagerly."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.library.eager import random_programs
from tests.peers import TF115, needed


def _in_a_graph(seed: int) -> list[np.ndarray]:
    first, second = random_programs.arguments(seed)
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.constant(first), tf.Variable(second)
        loss = random_programs.program(tf, seed, x, w)
        session.run(tf.global_variables_initializer())
        values: list[np.ndarray] = session.run([loss, *tf.gradients(loss, [x, w])])
        return values


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("seed", range(3))
def test_a_random_program_is_that_of_a_graph(seed: int) -> None:
    _compare(seed)


@pytest.mark.long
@pytest.mark.usefixtures("eagerly", "at_once")
def test_gradients_of_random_programs_by_programs_are_those_of_graphs() -> None:
    for seed in range(200):
        _compare(seed)
    made = tf.get_default_graph().replays._programs
    assert sum(program is not None for program in made.values()) > 100


def _compare(seed: int) -> None:
    for found, wanted in zip(random_programs.run_eagerly(tf, seed), _in_a_graph(seed), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.long
@pytest.mark.usefixtures("eagerly")
@needed(TF115)
def test_random_programs_are_those_of_a_graph_and_of_tensorflow() -> None:
    script = str(Path(random_programs.__file__))
    peer = subprocess.run([str(TF115), script], capture_output=True, text=True, check=True)
    theirs = json.loads(peer.stdout)
    for seed, wanted in enumerate(theirs):
        ours, graphs = random_programs.run_eagerly(tf, seed), _in_a_graph(seed)
        for found, built, given in zip(ours, graphs, wanted, strict=True):
            np.testing.assert_allclose(found, given, rtol=1e-4, atol=1e-5, err_msg=f"{seed}")
            np.testing.assert_allclose(found, built, rtol=1e-4, atol=1e-5, err_msg=f"{seed}")
