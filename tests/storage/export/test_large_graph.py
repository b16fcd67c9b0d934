"""Graphs whose constants lie beside the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph import external, large_constants
from penstock.storage.export import graph_file, large_graph, meta_graph


def _graph() -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        big = tf.constant(np.arange(64, dtype=np.float32).reshape(8, 8), name="big")
        half = tf.constant(np.arange(64).reshape(8, 8), tf.bfloat16, name="half")
        tf.constant([b"words", b"more words that are long enough to count"], name="words")
        tf.add(big, tf.cast(half, tf.float32), name="y")
    return graph


def _is_outside(graph_def) -> set[str]:
    return {node.name for node in graph_def.node if external.ATTR in node.attr}


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("as_message", [False, True])
def test_constants_beside_the_file(tmp_path: Path, as_text: bool, as_message: bool) -> None:
    graph = _graph()
    path = str(tmp_path / "graph.pb")
    what = graph.as_graph_def() if as_message else graph
    large_graph.write(path, what, as_text, external_values=True, external_from=64)
    message = graph_file.read_graph(path)
    assert _is_outside(message) == {"big", "half"}
    assert all("value" not in n.attr for n in message.node if n.name in ("big", "half"))
    with tf.Graph().as_default() as again, tf.Session() as sess:
        tf.import_graph_def(message, name="")
        np.testing.assert_array_equal(sess.run("y:0")[0], 2 * np.arange(8))
    assert again.as_graph_def() == graph.as_graph_def()


def test_a_small_graph_over_a_large_one_leaves_no_values(tmp_path: Path) -> None:
    path = tmp_path / "graph.pb"
    graph_file.write_graph_beside(_graph(), str(path), 64)
    graph_file.write_graph_beside(_graph(), str(path), 64)
    assert len(list(tmp_path.glob("graph.pb.constants-*.index"))) == 1
    tf.train.write_graph(_graph(), tmp_path, "graph.pb", as_text=False)
    assert [p.name for p in tmp_path.iterdir()] == ["graph.pb"]
    assert graph_file.read_graph(path) == _graph().as_graph_def()


def test_size_decides(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(large_constants, "LIMIT", 600)
    monkeypatch.setattr(large_graph.write, "__defaults__", (None, 64))
    path = tf.train.write_graph(_graph(), tmp_path, "graph.pb")
    assert _is_outside(graph_file.read_graph(path)) == {"big", "half"}


def test_meta_graphs_and_saved_models(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(large_constants, "LIMIT", 600)
    monkeypatch.setattr(large_graph.write, "__defaults__", (None, 64))
    with _graph().as_default(), tf.Session() as sess:
        v = tf.Variable(3.0, name="v")
        sess.run(v.initializer)
        tf.train.export_meta_graph(str(tmp_path / "g.meta"))
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(sess, ["serve"])
        builder.add_meta_graph(["other"])
        builder.save()
    read = meta_graph.read_meta_graph_file(tmp_path / "g.meta")
    assert _is_outside(read.graph_def) == {"big", "half"}
    for tag in ("serve", "other"):
        with tf.Session(graph=tf.Graph()) as sess:
            meta = tf.saved_model.load(sess, [tag], str(tmp_path / "model"))
            assert _is_outside(meta.graph_def) == {"big", "half"}
            assert sess.run("y:0")[1, 0] == 16.0
            assert sess.run("v:0") == 3.0


def test_damage_is_found(tmp_path: Path) -> None:
    path = tmp_path / "graph.pb"
    graph_file.write_graph_beside(_graph(), str(path), 64)
    (data,) = tmp_path.glob("*.data-*")
    content = bytearray(data.read_bytes())
    content[5] ^= 1
    data.write_bytes(content)
    with tf.Graph().as_default(), pytest.raises(tf.errors.DataLossError, match="big"):
        tf.import_graph_def(graph_file.read_graph(path))


# Parts of 512 MiB; the peak may hold the graph once, and a part or two more.
_BIG = """
import sys, resource, numpy as np, penstock as tf
from penstock.storage.export import graph_file
folder, parts = sys.argv[1], 5
if sys.argv[2] == "write":
    with tf.Graph().as_default() as graph:
        total = tf.constant(0.0)
        for i in range(parts):
            part = tf.constant(np.full(1 << 27, i + 1, np.float32), name=f"part{i}")
            total = total + part[i]
        tf.identity(total, name="total")
    tf.train.write_graph(graph, folder, "big.pb", as_text=False)
else:
    with tf.Session(graph=tf.Graph()) as sess:
        with sess.graph.as_default():
            tf.import_graph_def(graph_file.read_graph(folder + "/big.pb"), name="")
        print(float(sess.run("total:0")))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


@pytest.mark.long
def test_a_graph_beyond_two_gigabytes(tmp_path: Path) -> None:
    outputs = []
    for what in ("write", "read"):
        command = [sys.executable, "-c", _BIG, str(tmp_path), what]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        outputs.append(done.stdout.split())
    assert sum(p.stat().st_size for p in tmp_path.iterdir()) > 5 << 29
    assert (tmp_path / "big.pb").stat().st_size < 100_000
    assert outputs[1][0] == "15.0"
    for used in (int(outputs[0][0]), int(outputs[1][1])):
        assert used < 5 * 512 + 1500, f"{used} MiB at the peak"


def _limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if messages ended at a kilobyte, and constants were large from 64 bytes on."""
    monkeypatch.setattr(large_constants, "LIMIT", 600)
    monkeypatch.setattr(large_constants, "MESSAGE_LIMIT", 200)
    monkeypatch.setattr(large_constants, "LARGE_FROM", 64)


def test_what_is_too_large_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    said = (
        r"^GraphDef cannot be larger than 2GB\. The largest of its constants: 'big' \(0\.0 MB,"
        r" float32 \[8,8\], made at .*test_large_graph\.py:\d+\), .*tf\.train\.write_graph"
    )
    monkeypatch.setattr(large_constants, "MESSAGE_LIMIT", 100)
    with pytest.raises(ValueError, match=said):
        _graph().as_graph_def()


@pytest.mark.parametrize("as_message", [False, True])
def test_events_of_large_graphs(
    as_message: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    graph = _graph()
    given = graph.as_graph_def() if as_message else graph
    meta = tf.train.export_meta_graph(graph=graph)
    _limited(monkeypatch)
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_graph(given)
        writer.add_meta_graph(meta)
    assert caplog.text.count("without the values of") == 2 and "'big'" in caplog.text or as_message
    events = list(tf.train.summary_iterator(str(next(tmp_path.glob("events.*")))))
    written = tf.GraphDef.FromString(events[1].graph_def)
    inner = tf.MetaGraphDef.FromString(events[2].meta_graph_def)
    for message in (written, inner.graph_def):
        assert [node.name for node in message.node] == [op.name for op in graph.get_operations()]
        without = {n.name for n in message.node if n.op == "Const" and "value" not in n.attr}
        assert without == {"big", "half"}
    assert inner.meta_info_def == meta.meta_info_def
