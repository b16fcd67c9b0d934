"""The split model is the plain model: same loss, same gradients, on devices and on tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import penstock as tf
from penstock.models import model_parallel_lstm as split
from tests.cluster.distributed.process_cluster import ProcessCluster

# 11 words in 4 parts: of 3, 3, 3 and 2.
SMALL = split.Settings(words=11, length=3, units=8, batch=5)
TASKS = [f"/job:worker/task:{index}" for index in range(4)]
ON_TASKS = replace(SMALL, layer_devices=TASKS[:2], softmax_devices=TASKS)


def _batch(settings: split.Settings = SMALL) -> split.Words:
    return split.make_batch(settings, np.random.RandomState(3))


def _whole(values: list[Any], variables: list[Any]) -> dict[str, Any]:
    """Parts joined to the variables that they are of."""
    parts: dict[str, list[Any]] = {}
    for value, variable in zip(values, variables, strict=True):
        parts.setdefault(variable.op.name.partition("/part_")[0], []).append(value)
    return {name: np.concatenate(each) for name, each in parts.items()}


def _plain(weights: dict[str, Any], sources: split.Words) -> tuple[float, dict[str, Any]]:
    """Loss and gradients of the model as one would write it for one device."""
    with tf.Graph().as_default(), tf.Session() as session:
        cell = tf.nn.rnn_cell.MultiRNNCell(
            [tf.nn.rnn_cell.LSTMCell(SMALL.units, name=f"layer_{d}") for d in range(2)]
        )
        made = {name: tf.get_variable(name, initializer=weights[name])
                for name in ("embedding", "softmax/weights", "softmax/biases")}  # fmt: skip
        ids = tf.constant(sources)
        targets = tf.reverse(ids, [1])
        before = tf.concat([tf.zeros_like(ids[:, :1]), targets[:, :-1]], 1)
        inputs = tf.nn.embedding_lookup(made["embedding"], tf.concat([ids, before], 1))
        outputs, _ = tf.nn.static_rnn(cell, tf.unstack(inputs, axis=1), dtype=tf.float32)
        last = tf.stack(outputs[SMALL.length :], axis=1)
        logits = tf.tensordot(last, made["softmax/weights"], [[2], [1]]) + made["softmax/biases"]
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
        )
        variables = tf.trainable_variables()
        names = [v.op.name.rpartition("multi_rnn_cell/")[2] for v in variables]
        names = [name[name.index("layer_") :] if "layer_" in name else name for name in names]
        gradients = [tf.convert_to_tensor(g) for g in tf.gradients(loss, variables)]
        session.run([v.assign(weights[n]) for v, n in zip(variables, names, strict=True)])
        value, found = session.run([loss, gradients])
        return float(value), dict(zip(names, found, strict=True))


def _compare(model: split.Model) -> None:
    sources = _batch()
    weights = _whole(model.session.run(model.variables), model.variables)
    loss, gradients = model.session.run(
        [model.network.loss, model.gradients], {model.network.sources: sources}
    )
    plain_loss, plain_gradients = _plain(weights, sources)
    np.testing.assert_allclose(loss, plain_loss, rtol=1e-6)
    found = _whole(gradients, model.variables)
    assert found.keys() == plain_gradients.keys()
    for name, value in plain_gradients.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-7, err_msg=name)
        assert np.abs(value).max() > 0


@pytest.mark.long
def test_over_devices_it_is_the_plain_model() -> None:
    model = split.Model(SMALL)
    _compare(model)
    model.close()


@pytest.mark.long
def test_over_tasks_it_is_the_plain_model_and_nothing_large_travels() -> None:
    with ProcessCluster({"worker": 4}) as cluster:
        model = split.Model(ON_TASKS, cluster.targets["/job:worker/replica:0/task:0"])
        _compare(model)
        losses = [model.train(_batch()) for _ in range(30)]
        assert losses[-1] < 0.8 * losses[0]
        metadata = tf.RunMetadata()
        options = tf.RunOptions(output_partition_graphs=True)
        network = model.network
        feeds = {network.sources: _batch()}
        model.session.run(network.loss, feeds, options, metadata)
        assert len(metadata.partition_graphs) == 4
        sent = {
            node.input[0].partition(":")[0]
            for graph in metadata.partition_graphs
            for node in graph.node
            if node.op == "_Send"
        }
        assert sent and not any("MatMul" in each and "training" in each for each in sent)
        assert not any("weights" in each for each in sent), sent
        model.close()


def test_each_layer_and_each_part_is_where_it_was_asked_for() -> None:
    model = split.Model(SMALL)
    places = {v.op.name: v.op.device for v in model.variables}
    assert places["layer_0/kernel"] == "/device:CPU:0"
    assert places["layer_1/kernel"] == "/device:CPU:1"
    for part in range(4):
        for name in ("embedding", "softmax/weights", "softmax/biases"):
            assert places[f"{name}/part_{part}"] == f"/device:CPU:{part + 2}"
    assert [v.shape.as_list() for v in model.network.softmax.weights] == [
        [3, 8], [3, 8], [3, 8], [2, 8],
    ]  # fmt: skip
    model.close()


def test_the_most_likely_word_is_found_over_all_parts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        softmax = split.SplitSoftmax(7, 3, ["/device:CPU:0"] * 3)
        inputs = tf.constant(np.random.RandomState(0).randn(20, 3).astype(np.float32))
        best = softmax.best(inputs)
        weights = tf.concat(softmax.weights, 0)
        session.run(tf.global_variables_initializer())
        found, logits = session.run([best, tf.matmul(inputs, weights, transpose_b=True)])
        assert found.tolist() == logits.argmax(1).tolist()
        assert len(set(found.tolist())) > 2


@pytest.mark.long
def test_it_learns_to_write_backwards() -> None:
    settings = replace(SMALL, units=32, batch=32, learning_rate=0.01, layer_devices=["/cpu:0"] * 2)
    random = np.random.RandomState(1)
    model = split.Model(settings)
    for _ in range(300):
        model.train(split.make_batch(settings, random))
    assert model.accuracy(split.make_batch(settings, random)) > 0.9
    model.close()


@pytest.mark.long
def test_the_command_reports() -> None:
    words = ["--steps", "2", "--every", "1", "--words", "9", "--units", "4", "--batch", "3"]
    words += ["--layer-device", "/cpu:0"]
    words += ["--softmax-device", "/cpu:0", "--softmax-device", "/cpu:1"]
    result = CliRunner().invoke(split.app, words)
    assert result.exit_code == 0, result.output
    assert [line[:10] for line in result.output.splitlines()] == ["step     1", "step     2"]


@pytest.mark.parametrize("partitioner, shapes", [
    (tf.fixed_size_partitioner(3), [[4, 6], [3, 6], [3, 6]]),
    (tf.variable_axis_size_partitioner(120), [[5, 6], [5, 6]]),
    (tf.min_max_variable_partitioner(3, min_slice_size=100), [[4, 6], [3, 6], [3, 6]]),
])  # fmt: skip
def test_each_part_of_a_large_variable_has_its_parameter_server(
    partitioner: Any, shapes: list[list[int]]
) -> None:
    cluster_spec = {"ps": ["h:1", "h:2", "h:3"], "worker": ["h:4"]}
    with ProcessCluster({"ps": 3, "worker": 1}) as cluster, tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(cluster=cluster_spec)):
            table = tf.get_variable(
                "table", [10, 6], partitioner=partitioner,
                initializer=tf.truncated_normal_initializer(seed=1),
            )  # fmt: skip
            rows = tf.nn.embedding_lookup(table, [0, 4, 9, 4], partition_strategy="div")
            loss = tf.reduce_sum(tf.square(rows))
            train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
        parts = list(table)
        assert [part.shape.as_list() for part in parts] == shapes
        assert [part.device for part in parts] == [f"/job:ps/task:{i}" for i in range(len(parts))]
        with cluster.session("worker:0") as session:
            session.run(tf.global_variables_initializer())
            before = np.concatenate(session.run(parts))
            assert session.run([loss, train])[0] == pytest.approx(
                float(np.square(before[[0, 4, 9, 4]]).sum())
            )
            after = np.concatenate(session.run(parts))
            expected = before.copy()
            expected[[0, 9]] *= 0.5
            expected[4] = 0
            np.testing.assert_allclose(after, expected, rtol=1e-6)
