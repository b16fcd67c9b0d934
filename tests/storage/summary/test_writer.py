"""FileWriter: what it writes, when it is in the file, and what closing means."""

from __future__ import annotations

import errno
import glob
import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import penstock as tf
from penstock.contrib.tensorboard.plugins import projector
from penstock.foundation.base import errors
from tests.suite import warm


def summary(tag: str, value: float, **metadata: Any) -> Any:
    entry = tf.Summary.Value(tag=tag, simple_value=value)
    if metadata:
        entry.metadata.CopyFrom(tf.SummaryMetadata(**metadata))
    return tf.Summary(value=[entry])


def events(logdir: Path) -> list[Any]:
    return [e for f in sorted(glob.glob(f"{logdir}/*")) for e in tf.train.summary_iterator(f)]


def test_tensorboard_reads_every_kind(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 4, 4, 3])
        tf.summary.scalar("average", tf.reduce_mean(x))
        tf.summary.histogram("all", x)
        tf.summary.image("pictures", x)
        tf.summary.audio("sound", tf.reshape(x, [2, 48]), 8000.0)
        tf.summary.text("words", tf.constant("hello"))
        merged = tf.summary.merge_all()
        writer = tf.summary.FileWriter(tmp_path, graph)
        for step in range(3):
            values = [[[[float(step)] * 3] * 4] * 4] * 2
            writer.add_summary(session.run(merged, {x: values}), step)
        writer.add_run_metadata(tf.RunMetadata(), "traced", 1)
        writer.close()
    keep_all = dict.fromkeys(("images", "tensors", "histograms", "audio"), 0)
    seen = EventAccumulator(str(tmp_path), size_guidance=keep_all).Reload()
    assert [(e.step, e.value) for e in seen.Scalars("average")] == [(0, 0.0), (1, 1.0), (2, 2.0)]
    assert [e.histogram_value.num for e in seen.Histograms("all")] == [96.0] * 3
    assert [e.width for e in seen.Images("pictures/image/1")] == [4] * 3
    assert [e.length_frames for e in seen.Audio("sound/audio/0")] == [48] * 3
    assert len(seen.Tensors("words")) == 3
    assert {n.name for n in seen.Graph().node} == {o.name for o in graph.get_operations()}
    assert seen.Tags()["run_metadata"] == ["traced"]


def test_metadata_is_written_once_a_tag(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        given = summary("a", 1.0, display_name="shown")
        for step in range(2):
            writer.add_summary(given, step)
        writer.add_summary(summary("b", 1.0, display_name="shown").SerializeToString(), 3)
    names = [v.metadata.display_name for e in events(tmp_path) for v in e.summary.value]
    assert names == ["shown", "", "shown"]
    assert given.value[0].metadata.display_name == "shown", "the caller's message is its own"


def test_flush_makes_events_readable(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path), max_queue=1000, flush_secs=1000)
    for step in range(50):
        writer.add_summary(summary("a", float(step)), step)
    writer.flush()
    assert [e.step for e in events(tmp_path) if e.summary.value] == list(range(50))
    writer.close()


def test_closed_writers_warn_and_reopen(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.reopen()
    assert len(os.listdir(tmp_path)) == 1, "an open writer has nothing to reopen"
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(summary("lost", 1.0))
    writer.reopen()
    writer.add_summary(summary("kept", 2.0))
    writer.close()
    writer.close()
    assert len(os.listdir(tmp_path)) == 2
    assert [v.tag for e in events(tmp_path) for v in e.summary.value] == ["kept"]


def test_what_is_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.summary.FileWriter(str(tmp_path)) as writer:
        with pytest.raises(ValueError, match="both"):
            writer.add_graph(graph, graph_def=graph.as_graph_def())
        with pytest.raises(TypeError, match="found int"):
            writer.add_graph(3)
        with pytest.raises(TypeError, match="MetaGraphDef"):
            writer.add_meta_graph(graph.as_graph_def())
        writer.add_run_metadata(tf.RunMetadata(), "once")
        with pytest.raises(ValueError, match="'once'"):
            writer.add_run_metadata(tf.RunMetadata(), "once")
        with pytest.raises(RuntimeError, match="SummaryWriter"):
            tf.summary.initialize()
        assert tf.summary.all_v2_summary_ops() == []
        assert tf.summary.merge_all("no such key") is None
        with pytest.raises(ValueError, match="dtype string"):
            tf.summary.text("t", tf.constant(1.0))


def test_old_names(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.scalar_summary("the loss", tf.constant(1.0))
        tf.scalar_summary(["a", "b"], tf.constant([1.0, 2.0]))
        merged = tf.merge_all_summaries()
        writer = tf.train.SummaryWriter(str(tmp_path), graph_def=graph.as_graph_def())
        writer.add_summary(session.run(merged), 1)
        writer.close()
    tags = [v.tag for e in events(tmp_path) for v in e.summary.value]
    assert tags == ["the loss", "a", "b"]


def test_cache(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
        assert tf.summary.FileWriterCache.get(str(tmp_path)) is writer
        tf.summary.FileWriterCache.clear()
        assert tf.summary.FileWriterCache.get(str(tmp_path)) is not writer
        tf.summary.FileWriterCache.clear()


def test_cut_short_ends_and_damage_is_an_error(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step in range(3):
            writer.add_summary(summary("a", 1.0), step)
    (path,) = glob.glob(f"{tmp_path}/*")
    data = Path(path).read_bytes()
    whole = len(list(tf.train.summary_iterator(path)))
    record = len(summary("a", 1.0).SerializeToString())
    for cut in range(1, record):
        Path(path).write_bytes(data[:-cut])
        assert len(list(tf.train.summary_iterator(path))) == whole - 1
    damaged = bytearray(data)
    damaged[-6] ^= 4
    Path(path).write_bytes(bytes(damaged))
    with pytest.raises(errors.DataLossError, match="corrupted record"):
        list(tf.train.summary_iterator(path))


@pytest.mark.long
def test_events_survive_a_program_that_never_closes(tmp_path: Path) -> None:
    program = (
        "import sys, penstock as tf\n"
        "w = tf.summary.FileWriter(sys.argv[1], max_queue=1000)\n"
        "v = tf.Summary.Value(tag='a', simple_value=1)\n"
        "for i in range(200): w.add_summary(tf.Summary(value=[v]), i)\n"
    )
    warm.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert [e.step for e in events(tmp_path) if e.summary.value] == list(range(200))


def test_run_errors_name_the_tag() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        node = tf.summary.histogram("weights", x)
        with pytest.raises(errors.InvalidArgumentError, match="Nan in summary histogram.*weights"):
            session.run(node, {x: [1.0, float("nan")]})
        same = tf.summary.merge([node, node])
        with pytest.raises(errors.InvalidArgumentError, match="Duplicate tag weights"):
            session.run(same, {x: [1.0]})


def test_projector(tmp_path: Path) -> None:
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name="words", metadata_path="words.tsv")
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        projector.write_embedding(writer, config, "points", [[1, 2], [3, 4]], ["a", "b\tc"])
        with pytest.raises(ValueError, match="1 label"):
            projector.write_embedding(writer, config, "bad", [[1, 2], [3, 4]], ["a"])
        projector.visualize_embeddings(writer, config)
    assert (tmp_path / "points_tensors.tsv").read_text() == "1\t2\n3\t4\n"
    assert (tmp_path / "points_metadata.tsv").read_text() == "a\nb c\n"
    text = (tmp_path / "projector_config.pbtxt").read_text()
    assert 'tensor_name: "words"' in text and "tensor_shape: 2" in text


def test_records(tmp_path: Path) -> None:
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    path = str(tmp_path / "x")
    for kind in (None, "ZLIB", options):
        with tf.python_io.TFRecordWriter(path, kind) as writer:
            writer.write(b"a")
            writer.write(b"")
        assert list(tf.python_io.tf_record_iterator(path, kind)) == [b"a", b""]
    with pytest.raises(ValueError, match="'GZIP'"):
        tf.python_io.TFRecordOptions("LZMA")


def test_a_directory_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.FailedPreconditionError, match="file/logs"):
        tf.summary.FileWriter(tmp_path / "file" / "logs")

    # By hand: root may write everywhere.
    for code, kind in (
        (errno.EACCES, errors.PermissionDeniedError), (errno.ENOENT, errors.NotFoundError),
    ):  # fmt: skip
        refused = mock.Mock(side_effect=OSError(code, os.strerror(code)))
        monkeypatch.setattr(os, "makedirs", refused)
        with pytest.raises(kind, match=f"logs: {os.strerror(code)}"):
            tf.summary.FileWriter(tmp_path / "logs")
        refused.assert_called()


def test_dir_shows_the_public_names() -> None:
    assert dir(tf.summary) == sorted(tf.summary.__all__)


@pytest.mark.parametrize("kind", ["scalar", "histogram", "tensor_summary"])
def test_a_summary_needs_a_name(kind: str) -> None:
    make = getattr(tf.summary, kind)
    with tf.Graph().as_default() as graph, tf.name_scope("outer"):
        for name in ("", "/"):
            with pytest.raises(ValueError, match="is not a valid node name"):
                make(name, 1.0)
        if kind == "histogram":  # alone it has a default, as in TF
            assert make(None, 1.0).name == "outer/HistogramSummary:0"
        else:
            with pytest.raises(ValueError, match="name"):
                make(None, 1.0)
        assert len(graph.get_collection("summaries")) == (kind == "histogram")
