"""MetaGraphs, SavedModels and frozen graphs between Penstock and TensorFlow 2.21 and 1.15."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.formats.schema import CondContextDef, QueueRunnerDef
from penstock.foundation.opdef.registry import OPS
from penstock.storage.export import meta_graph
from penstock.storage.export.graph_file import read_graph
from tests.peers import PYTHON, needs
from tests.storage.export import exchange

KINDS = ("ref", "resource")

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", params=["tf2", "tf1"])
def exchanged(request, tmp_path_factory) -> Iterator[tuple[str, Path, dict, dict]]:
    """Which TensorFlow, its folder, what Penstock's files gave here, and what they gave there."""
    which = request.param
    needs(PYTHON[which])
    ours, theirs = (tmp_path_factory.mktemp(f"{which}_{side}") for side in ("ours", "theirs"))
    wanted = exchange.write(tf, str(ours))
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    command = [str(PYTHON[which]), exchange.__file__, str(ours), str(theirs)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    yield which, theirs, wanted, json.loads((theirs / "found.json").read_text())


def _check(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for kind in KINDS:
        np.testing.assert_allclose(found[kind]["losses"], wanted[kind]["losses"], rtol=1e-4)
        np.testing.assert_allclose(found[kind]["text_losses"], wanted[kind]["losses"], rtol=1e-4)
        np.testing.assert_allclose(found[kind]["logits"], wanted[kind]["logits"], rtol=1e-4)
        assert found[kind]["collections"] == [[5], [0.25], ["loss:0"], ["some words"]]
        names = ["w1/part_0", "w1/part_1", "b1", "table", "w2", "w3"]
        assert found[kind]["trainable"] == [f"net/{name}" for name in names]
        assert [3, 8] in found[kind]["sizes"]
    assert found["model"] == wanted["model"]
    assert found["text_model"] == wanted["text_model"]
    y, strings, asset = found["model"][0]
    assert y == [[1.5, 1.5], [7.5, 7.5]]
    assert strings == ["one", "\xff\x00two", "ab", "\x00\xfe"]
    assert asset == "a b c"


def test_tensorflow_runs_penstocks_files(exchanged) -> None:
    _, _, wanted, found = exchanged
    _check(found, wanted)


def test_penstock_runs_tensorflows_files(exchanged) -> None:
    _, theirs, _, _ = exchanged
    wanted = json.loads((theirs / "results.json").read_text())
    _check(exchange.run(tf, str(theirs)), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_graph_util_is_tensorflows(exchanged, kind: str) -> None:
    _, theirs, _, _ = exchanged
    graph_def = read_graph(theirs / f"{kind}.graph.pb")
    part = tf.graph_util.extract_sub_graph(graph_def, ["loss", "net/b1"])
    assert part == read_graph(theirs / f"{kind}.part.pb")
    slim = tf.graph_util.remove_training_nodes(graph_def, ["logits"])
    assert slim == read_graph(theirs / f"{kind}.slim.pb")
    host = [n.name for n in graph_def.node if tf.graph_util.must_run_on_cpu(n, True)]
    assert host == json.loads((theirs / f"{kind}.host.json").read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_freezing_is_tensorflows(exchanged, kind: str) -> None:
    which, theirs, _, _ = exchanged
    graph_def = read_graph(theirs / f"{kind}.graph.pb")
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.import_meta_graph(str(theirs / f"{kind}.meta"))
        saver.restore(sess, str(theirs / kind))
        ours = tf.graph_util.convert_variables_to_constants(sess, graph_def, ["logits"])
    wanted = read_graph(theirs / f"{kind}.frozen.pb")
    if which == "tf1":
        assert list(ours.node) == list(wanted.node)
        assert ours == wanted
    else:
        # 2.21 keeps the order of nodes and makes the same constants.
        assert sorted(n.name for n in ours.node) == sorted(n.name for n in wanted.node)


def test_what_is_unknown_is_kept(exchanged) -> None:
    """Queue runners and conditionals survive a round trip; the part that is known runs."""
    _, theirs, _, _ = exchanged
    wanted = meta_graph.read_meta_graph_file(theirs / "unknown.meta")
    with tf.Graph().as_default(), tf.Session() as sess:
        meta_graph.import_scoped_meta_graph(str(theirs / "unknown.meta"))
        assert sess.run("known:0", {"x:0": 2.0}) == 3.0
        if "FIFOQueueV2" not in OPS:
            with pytest.raises(tf.errors.UnimplementedError, match="FIFOQueueV2"):
                sess.run("unknown:0")
        again = tf.train.export_meta_graph()
    # Messages, not bytes: TensorFlow writes the entries of a map in an order of the moment.
    for key, kind in (("queue_runners", QueueRunnerDef), ("cond_context", CondContextDef)):
        read, written = (
            [kind.FromString(data) for data in meta.collection_def[key].bytes_list.value]
            for meta in (again, wanted)
        )
        assert read == written and read
    kinds = [{n.name: n.op for n in meta.graph_def.node} for meta in (again, wanted)]
    assert kinds[0] == kinds[1]
