"""What is below TensorFlow's paths and not public: functions of op types, and small ones."""

from __future__ import annotations

import inspect
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.python import generated, tree
from tests.peers import TF115, needs


def path(name: str) -> Any:
    return tree.module(f"python.{name}")


def nodes() -> list[Any]:
    found = tf.get_default_graph().get_operations()
    return [(op.name, op.type, [i.name for i in op.inputs]) for op in found]


def test_an_op_type_has_a_function() -> None:
    training = path("training.training_ops")
    assert training.apply_rms_prop is path("ops.gen_nn_ops").apply_rms_prop
    var, square, momentum = (tf.Variable([v]) for v in (1.0, 4.0, 0.0))
    step = training.apply_rms_prop(
        var._variable, square._variable, momentum._variable, 0.1, 0.5, 0.0, 0.0, [2.0], True
    )
    assert step.op.name == "ApplyRMSProp" and step.op.get_attr("use_locking")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(step), [1 - 0.1 * 2 / 2.0])


def test_functions_of_op_types_are_found_as_older_versions_named_them() -> None:
    arrays = path("ops.gen_array_ops")
    assert arrays._concat_v2 is arrays.concat_v2 and "concat_v2" in dir(arrays)
    ids = arrays.unique([3, 3, 5], out_idx=tf.int64, name="mine")
    assert ids.idx.dtype == tf.int64 and ids.y.op.name == "mine"
    with pytest.raises(AttributeError, match="concat_v2"):
        arrays.concat_v22
    with pytest.raises(TypeError, match="missing a required argument: 'axis'"):
        arrays.concat_v2([[1]])


SIGNATURES = """
import importlib, inspect, json, pkgutil, warnings
warnings.simplefilter("ignore")
import tensorflow.python.ops.array_ops
found = {}
for module in pkgutil.iter_modules(importlib.import_module('tensorflow.python.ops').__path__):
    if module.name.startswith("gen_"):
        home = importlib.import_module("tensorflow.python.ops." + module.name)
        for name, function in vars(home).items():
            if inspect.isfunction(function) and name[0] != '_':
                found[name] = list(inspect.signature(function).parameters)
print(json.dumps(found))
"""


@pytest.mark.long
def test_functions_of_op_types_take_what_tensorflows_take() -> None:
    needs(TF115)
    done = subprocess.run([TF115, "-c", SIGNATURES], check=True, capture_output=True, text=True)
    found, known = json.loads(done.stdout.splitlines()[-1]), set(dir(generated))
    theirs = {name: parameters for name, parameters in found.items() if name in known}
    ours = {name: list(inspect.signature(getattr(generated, name)).parameters) for name in theirs}
    assert len(theirs) > 700
    # As many arguments; some have other names there, those of the public functions.
    longer = {n: (ours[n], theirs[n]) for n in theirs if len(ours[n]) != len(theirs[n])}
    # An attr that TensorFlow 2 gave it, which stands behind the others.
    assert set(longer) == {"tensor_list_set_item"}
    same = [n for n in theirs if ours[n] == theirs[n]]
    assert len(same) > 0.9 * len(theirs)


def test_pairs_of_words_train_embeddings(tmp_path: Path) -> None:
    word2vec = tree.module("models.embedding.gen_word2vec")
    text = tmp_path / "text8"
    text.write_text("a b c d " * 20)
    found = word2vec.skipgram(
        filename=str(text), batch_size=8, window_size=2, min_count=1, subsample=0
    )
    table, out = tf.Variable(tf.ones([5, 3])), tf.Variable(tf.zeros([5, 3]))
    step = word2vec.neg_train(
        table._variable, out._variable, found.examples, found.labels, 0.1,
        vocab_count=[1, 20, 20, 20, 20], num_negative_samples=2,
    )  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert sorted(session.run(found[0]).tolist()) == [b"UNK", b"a", b"b", b"c", b"d"]
        assert session.run(found.examples).shape == (8,)
        session.run(step)
        assert session.run(out).any()


def test_a_variable_is_initialized_by_a_value_and_by_a_function() -> None:
    """The nodes are TensorFlow 1.15's."""
    v = tf.Variable([1.0, 2.0])
    before, state_ops = len(nodes()), path("ops.state_ops")
    by_value = state_ops.init_variable(v, tf.zeros([2]))
    by_function = state_ops.init_variable(v, tf.ones_initializer())
    assert nodes()[before:] == [
        ("zeros", "Const", []),
        ("Variable/init", "Assign", ["Variable:0", "zeros:0"]),
        ("Variable/init_1/ones", "Const", []),
        ("Variable/init_1", "Assign", ["Variable:0", "Variable/init_1/ones:0"]),
    ]
    with tf.Session() as session:
        assert session.run(by_value).tolist() == [0, 0]
        assert session.run(by_function).tolist() == [1, 1]


def test_collectives_are_nodes_of_their_types() -> None:
    collective = path("ops.collective_ops")
    ones = tf.ones([2])
    reduced = collective.all_reduce(ones, 2, 3, 4, "Add", "Id").op
    assert reduced.type == "CollectiveReduce" and reduced.get_attr("merge_op") == b"Add"
    assert [reduced.get_attr(a) for a in ("group_size", "group_key", "instance_key")] == [2, 3, 4]
    assert collective.all_gather(ones, 2, 3, 5).op.type == "CollectiveGather"
    assert collective.broadcast_send(ones, [2], tf.float32, 2, 3, 6).shape == [2]
    assert collective.broadcast_recv([2], tf.float32, 2, 3, 6).dtype == tf.float32
    for call in (
        lambda: collective.all_reduce(ones, 1, 3, 4, "Add", "Id"),
        lambda: collective.all_gather(ones, 1, 3, 4),
        lambda: collective.broadcast_recv([2], tf.float32, 1, 3, 4),
    ):
        with pytest.raises(ValueError, match="group_size to .* must be at least 2"):
            call()
    with pytest.raises(ValueError, match="Shape of broadcast_send tensor not equal"):
        collective.broadcast_send(ones, [3], tf.float32, 2, 3, 5)
    with pytest.raises(ValueError, match="Type of broadcast_send tensor not equal"):
        collective.broadcast_send(ones, [2], tf.int32, 2, 3, 5)


def test_a_graph_by_the_names_of_its_nodes() -> None:
    a = tf.constant(1.0, name="a")
    with tf.control_dependencies([a]):
        tf.identity(tf.add(a, a, name="b"), name="c")
    util = path("framework.graph_util_impl")
    taken, by_name, places = util._extract_graph_summary(tf.get_default_graph().as_graph_def())
    assert taken == {"a": [], "b": ["a", "a"], "c": ["b"]} and places == {"a": 0, "b": 1, "c": 2}
    assert by_name["b"].op == "Add"
    assert util._bfs_for_reachable_nodes(["b"], taken) == {"a", "b"}


def test_events_are_written_to_one_file(tmp_path: Path) -> None:
    writer = path("pywrap_tensorflow").EventsWriter(tf.compat.as_bytes(str(tmp_path / "x")))
    writer.InitWithSuffix(".end")
    writer.WriteEvent(tf.summary.Event(step=3))
    writer.Flush()
    (found,) = tmp_path.iterdir()
    assert found.name.startswith("x.out.tfevents.") and found.name.endswith(".end")
    assert writer.FileName() == str(found).encode()
    events = list(tf.train.summary_iterator(str(found)))
    assert [e.step for e in events] == [0, 3] and events[0].file_version == "brain.Event:2"
    writer.Close()


def test_a_dataset_is_dealt_to_devices() -> None:
    make = path("data.ops.multi_device_iterator_ops").MultiDeviceIterator
    devices = ["/device:CPU:0", "/cpu:0", "/cpu:0"]
    iterator = make(tf.data.Dataset.range(7).map(lambda x: (x, x * x)), devices)
    elements = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(elements) == [(0, 0), (1, 1), (2, 4)]
        assert session.run(iterator.get_next("/cpu:0")) == (3, 9)
        assert session.run(elements) == [(4, 16), (5, 25), (6, 36)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(elements)
    with pytest.raises(ValueError, match="must be one of"):
        iterator.get_next("/gpu:7")


def test_names_that_lead_to_public_ones() -> None:
    assert path("ops.constant_op").constant is tf.constant
    convert = path("framework.convert_to_constants").convert_variables_to_constants
    assert convert is tf.graph_util.convert_variables_to_constants
    assert path("ops.lookup_ops").FastHashSpec.hasher == "fasthash"
    dense = path("ops.math_ops")._as_indexed_slices_list([tf.ones([2, 3])])
    assert isinstance(dense[0], tf.IndexedSlices)
