"""All-reduces as nodes: TensorFlow 1.15's nodes, and the sums of numpy."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.python import tree
from tests.peers import TF115, needs
from tests.training.distribute import all_reduce_cases as cases

all_reduce: Any = tree.module("python.distribute.all_reduce")
RECORDED = Path(__file__).with_name("all_reduce_nodes.json")


def _digest(nodes: Any) -> str:
    return hashlib.sha256(json.dumps(nodes, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", cases.CASES)
def test_the_nodes_are_those_of_tensorflow_1_15(name: str) -> None:
    """The digests are of what ``test_the_nodes_are_tensorflows_now`` compares in full."""
    made = cases.nodes(tf, all_reduce, cases.CASES[name])
    assert _digest(made) == json.loads(RECORDED.read_text())[name]


@pytest.mark.long
def test_the_nodes_are_tensorflows_now() -> None:
    needs(TF115)
    done = subprocess.run(
        [TF115, cases.__file__], capture_output=True, text=True, check=True, timeout=120
    )
    wanted = json.loads(done.stdout)
    for name, case in cases.CASES.items():
        assert cases.nodes(tf, all_reduce, case) == wanted[name], name
        assert _digest(wanted[name]) == json.loads(RECORDED.read_text())[name]


@pytest.mark.parametrize("name", [*cases.CASES, *cases.NCCL])
def test_every_device_gets_the_sum(name: str) -> None:
    case = (cases.CASES | cases.NCCL)[name]
    values, outputs = cases.build(tf, all_reduce, case)
    rng = np.random.default_rng(7)
    fed = [rng.integers(-9, 9, each.shape.as_list()).astype(np.float32) for each in values]
    wanted = np.sum(fed, axis=0) * (-1 if case[-1] else 1)
    assert [each.device for each in outputs] == [each.device for each in values]
    for op in tf.get_default_graph().get_operations():
        op._set_device("")  # one process runs what was built for several
    with tf.Session() as session:
        found = session.run(outputs, dict(zip(values, fed, strict=True)))
    for each in found:
        np.testing.assert_array_equal(each, wanted)


def test_a_gradient_goes_through_a_ring() -> None:
    values = [tf.constant([1.0, 2.0, 3.0]), tf.constant([4.0, 5.0, 6.0])]
    first, _ = all_reduce.build_ring_all_reduce(values, 1, 1, [0, 1], tf.multiply)
    with tf.Session() as session:
        ours = session.run(tf.gradients(first, values))
    np.testing.assert_array_equal(ours, [[4, 5, 6], [1, 2, 3]])


def _x(shape: Any, device: str = "/job:worker/task:0/cpu:0") -> Any:
    with tf.device(device):
        return tf.placeholder(tf.float32, shape)


def _ring(values: list[Any], workers: int = 1, subchunks: int = 1) -> Any:
    return all_reduce.build_ring_all_reduce(values, workers, subchunks, [0, 1], tf.add)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _ring([_x([2])]), "input_tensors must be length 2 or longer"),
        (lambda: _ring([_x([2]), _x([3])]), "are not compatible"),
        (lambda: _ring([_x([None]), _x([None])]), "must have statically known shape"),
        (lambda: _ring([_x([2]), _x([2])], 1, 3), "num_subchunks 3 must be <= num_gpus 2"),
        (lambda: _ring([_x([2]), _x([2])], 2), "need 4 input_tensors; found 2"),
        (
            lambda: all_reduce.build_recursive_hd_all_reduce([_x([4])] * 3, tf.add),
            "num_devices must be a power of 2",
        ),
        (
            lambda: all_reduce.build_shuffle_all_reduce([], ["/cpu:0"], tf.add_n),
            "tensors cannot be empty",
        ),
        (
            lambda: all_reduce.build_shuffle_all_reduce([_x([2])], [], tf.add_n),
            "gather_devices is empty",
        ),
        (
            lambda: all_reduce.build_nccl_all_reduce([_x([2])], tf.subtract),
            "red_op not supported by NCCL all-reduce",
        ),
        (lambda: all_reduce.build_nccl_all_reduce([], tf.add), "Must pass >0 tensors"),
        (
            lambda: all_reduce.build_shuffle_then_ring([_x([2])] * 2, [], 1, tf.add_n, tf.add),
            "must contain one device per worker",
        ),
    ],
)
def test_what_cannot_be_reduced_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_device_without_a_task_is_refused() -> None:
    with pytest.raises(AssertionError, match="failed to parse device '/device:CPU:0'"):
        all_reduce.build_nccl_then_ring([_x([2], "/cpu:0")] * 2, 1, tf.add)
