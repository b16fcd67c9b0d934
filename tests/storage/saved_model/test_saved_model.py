"""SavedModels written and loaded."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.storage.saved_model import assets, loader


def _linear(sess, value: float = 2.0):
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.get_variable("w", initializer=value)
    y = tf.multiply(x, w, name="y")
    sess.run(w.initializer)
    return x, y


def test_simple_save_and_signature(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = _linear(sess)
        tf.saved_model.simple_save(sess, folder, {"a": x}, {"b": y})
    assert tf.saved_model.contains_saved_model(str(folder))
    assert not tf.saved_model.maybe_saved_model_directory(str(tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, {"serve"}, folder, import_scope="in")
        signature = meta.signature_def["serving_default"]
        assert tf.saved_model.is_valid_signature(signature)
        a, b = (
            tf.saved_model.utils.get_tensor_from_tensor_info(info, sess.graph, "in")
            for info in (signature.inputs["a"], signature.outputs["b"])
        )
        assert sess.run(b, {a: [1.0, 2.0]}).tolist() == [2.0, 4.0]


def test_nothing_is_seen_before_it_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with tf.Graph().as_default(), tf.Session() as sess:
        _linear(sess)
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(sess, ["serve"])
        assert not folder.exists()
        assert len(list(tmp_path.iterdir())) == 1
        assert builder.save() == os.fsencode(folder / "saved_model.pb")
        assert builder.save(as_text=True) == os.fsencode(folder / "saved_model.pbtxt")
    assert sorted(p.name for p in folder.iterdir()) == [
        "saved_model.pb", "saved_model.pbtxt", "variables",
    ]  # fmt: skip
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    with tf.Graph().as_default(), tf.Session() as sess:
        _linear(sess)
        abandoned = tf.saved_model.Builder(str(tmp_path / "other"))
        abandoned.add_meta_graph_and_variables(sess, ["serve"])
        del abandoned
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    with pytest.raises(AssertionError, match="isn't empty"):
        tf.saved_model.Builder(str(folder))
    (tmp_path / "empty").mkdir()
    with tf.Graph().as_default(), tf.Session() as sess:
        _linear(sess)
        tf.saved_model.simple_save(
            sess, str(tmp_path / "empty"), {"x": sess.graph.get_tensor_by_name("x:0")},
            {"y": sess.graph.get_tensor_by_name("y:0")},
        )  # fmt: skip
    assert tf.saved_model.contains_saved_model(str(tmp_path / "empty"))


def test_assets_main_op_and_tags(tmp_path: Path) -> None:
    paths = []
    for part, text in (("a", "one"), ("b", "two"), ("c", "one")):
        (tmp_path / part).mkdir()
        paths.append(tmp_path / part / "vocab.txt")
        paths[-1].write_text(text)
    folder = tmp_path / "model"
    with tf.Graph().as_default(), tf.Session() as sess:
        _linear(sess)
        files = [tf.constant(str(p), name=f"file{i}") for i, p in enumerate(paths)]
        seen = tf.Variable(["", "", ""], name="seen", collections=["local_variables"])
        main = tf.group(tf.assign(seen, tf.stack(files)))
        builder = tf.saved_model.Builder(str(folder))
        with pytest.raises(AssertionError, match="add_meta_graph_and_variables"):
            builder.add_meta_graph(["b"])
        builder.add_meta_graph_and_variables(
            sess, ["a"], assets_collection=files, main_op=main, clear_devices=True
        )
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(sess, ["a"])
        with pytest.raises(ValueError, match="main op"):
            builder.add_meta_graph(["b"], main_op=main)
        builder.add_meta_graph(["b", "c"])
        builder.save()
    assert sorted(p.name for p in (folder / "assets").iterdir()) == ["vocab.txt", "vocab.txt_1"]
    with tf.Session(graph=tf.Graph()) as sess:
        tf.saved_model.loader.load(sess, ["c", "b"], str(folder), import_scope="in")
        found = [Path(p.decode()) for p in sess.run("in/seen:0")]
        assert [p.read_text() for p in found] == ["one", "two", "one"]
        assert {p.parent for p in found} == {folder / "assets"}
        with pytest.raises(RuntimeError, match=r"\['a'\], \['b', 'c'\]"):
            tf.saved_model.load(sess, ["b"], str(folder))
    with pytest.raises(OSError, match="does not exist"):
        loader.parse_saved_model(tmp_path)


def test_what_cannot_be_an_asset() -> None:
    with tf.Graph().as_default() as graph:
        for bad in (tf.constant(["a", "b"]), tf.constant(1.0), tf.placeholder(tf.string), "path"):
            with pytest.raises(TypeError, match="asset"):
                assets.add_to_collection(graph, [bad])
        with pytest.raises(ValueError, match="empty"):
            assets.add_to_collection(graph, [tf.constant("")])


def test_a_model_without_variables(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, name="x")
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": x + 1.0})
    with tf.Session(graph=tf.Graph()) as sess:
        tf.saved_model.load(sess, ["serve"], str(tmp_path / "m"))
        assert sess.run("add:0", {"x:0": 1.0}) == 2.0


def test_bad_signatures_and_main_op(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x, _ = _linear(sess)
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        info = tf.saved_model.build_tensor_info(x)
        info.dtype = 0
        bad = tf.saved_model.build_signature_def({"x": info}, {"y": info}, "m")
        with pytest.raises(AssertionError, match="no dtype"):
            builder.add_meta_graph_and_variables(sess, ["a"], {"k": bad})
        info.ClearField("name")
        bad = tf.saved_model.build_signature_def({"x": info})
        with pytest.raises(AssertionError, match="names no tensor"):
            builder.add_meta_graph_and_variables(sess, ["a"], {"k": bad})
        with pytest.raises(KeyError, match="reserved"):
            builder.add_meta_graph_and_variables(sess, ["a"], {"__saved_model_init_op": bad})
        with pytest.raises(TypeError, match="main_op"):
            builder.add_meta_graph_and_variables(sess, ["a"], main_op=x)


def test_signatures() -> None:
    saved = tf.saved_model
    with tf.Graph().as_default() as graph:
        text = tf.placeholder(tf.string, [None], name="text")
        score = tf.placeholder(tf.float32, [None, 2], name="score")
        sparse = tf.SparseTensor([[0, 1]], [2.0], [3, 4])
        assert saved.is_valid_signature(saved.regression_signature_def(text, score))
        assert saved.is_valid_signature(saved.classification_signature_def(text, text, score))
        assert saved.is_valid_signature(saved.classification_signature_def(text, None, score))
        predict = saved.predict_signature_def({"s": sparse}, {"score": score})
        assert saved.is_valid_signature(predict)
        assert not saved.is_valid_signature(saved.build_signature_def())
        assert not saved.is_valid_signature(None)
        wrong = saved.regression_signature_def(text, score)
        wrong.inputs["inputs"].dtype = 1
        assert not saved.is_valid_signature(wrong)
        back = saved.get_tensor_from_tensor_info(predict.inputs["s"], graph)
        assert back.values is sparse.values and back.dense_shape is sparse.dense_shape
        for make in (
            lambda: saved.regression_signature_def(score, score),
            lambda: saved.regression_signature_def(None, score),
            lambda: saved.classification_signature_def(text, None, None),
            lambda: saved.predict_signature_def({}, {"y": score}),
            lambda: saved.predict_signature_def({"x": score}, None),
            lambda: saved.get_tensor_from_tensor_info(type(predict.inputs["s"])(), graph),
        ):
            with pytest.raises(ValueError):
                make()


def test_main_op_initializes() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0)
        local = tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        sess.run(tf.saved_model.main_op.main_op())
        assert sess.run([v, local]) == [1.0, 2.0]
        restore = tf.assign(v, 5.0)
        sess.run(tf.saved_model.main_op_with_restore(restore))
        assert np.asarray(sess.run(v)) == 5.0
