"""What a file names beside itself stays in its folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.formats.inside import VARIABLE, path_inside
from penstock.foundation.graph import external
from penstock.storage.export import large_graph

_OUTSIDE = ["../secret", "a/../../secret", "/etc/passwd", "", "..", "memory://x/y", "a\0b", "..\\x"]


@pytest.mark.parametrize("name", _OUTSIDE)
def test_names_that_lead_outside(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (str(tmp_path), "memory://models"):
        with pytest.raises(tf.errors.PermissionDeniedError, match="the asset is said to be"):
            path_inside(folder, name, "the asset")
    monkeypatch.setenv(VARIABLE, "1")
    assert path_inside(str(tmp_path), name, "the asset") == os.path.join(tmp_path, name)


def test_links_that_lead_outside(tmp_path: Path) -> None:
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "secret").write_text("words")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "here").symlink_to(inside / "there")
    with pytest.raises(tf.errors.PermissionDeniedError):
        path_inside(str(inside), "link", "the asset")
    assert path_inside(str(inside), "here", "the asset") == str(inside / "here")
    assert path_inside(str(inside), "a/b..c", "the asset") == str(inside / "a/b..c")


def _with_asset(folder: Path) -> Path:
    (folder / "words.txt").write_text("one\ntwo\n")
    with tf.Graph().as_default(), tf.Session() as session:
        path = tf.constant(str(folder / "words.txt"), name="path")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
        tf.identity(tf.read_file(path), name="words")
        builder = tf.saved_model.Builder(str(folder / "model"))
        builder.add_meta_graph_and_variables(
            session, ["serve"], assets_collection=tf.get_collection("asset_filepaths"),
            main_op=tf.no_op(name="main"),
        )  # fmt: skip
        builder.save()
    return folder / "model"


def _loaded(model: Path) -> bytes:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], str(model))
        words: bytes = session.run("words:0")
        return words


def test_assets_of_a_saved_model(tmp_path: Path) -> None:
    model = _with_asset(tmp_path)
    assert _loaded(model) == b"one\ntwo\n"
    (tmp_path / "secret").write_text("secret")
    file = model / "saved_model.pb"
    data = file.read_bytes()
    assert data.count(b"\x09words.txt") >= 1
    file.write_bytes(data.replace(b"\x09words.txt", b"\x09../secret"))
    with pytest.raises(tf.errors.PermissionDeniedError, match=r"'\.\./secret'"):
        _loaded(model)


def test_large_constants(tmp_path: Path) -> None:
    folder = tmp_path / "graphs"
    folder.mkdir()
    with tf.Graph().as_default() as graph:
        tf.constant(np.arange(1000.0), name="large")
    large_graph.write(str(folder / "g.pb"), graph, False, external_values=True, external_from=100)
    definition = tf.GraphDef.FromString((folder / "g.pb").read_bytes())
    (node,) = [n for n in definition.node if n.name == "large"]
    name = node.attr[external.ATTR].s
    # A graph that says a path of its own is not believed, before or after a file was read.
    for said in (name, os.path.join(str(folder), name.decode()).encode(), b"/etc/model:"):
        node.attr[external.ATTR].s = said
        with tf.Graph().as_default(), pytest.raises(ValueError, match="not beside a graph file"):
            tf.import_graph_def(definition)
    for said in (b"../graphs/" + name, b"/etc/model:"):
        node.attr[external.ATTR].s = said
        with pytest.raises(tf.errors.PermissionDeniedError, match="'large'"):
            large_graph.locate(definition, str(folder))
    node.attr[external.ATTR].s = name
    large_graph.locate(definition, str(folder))
    with tf.Graph().as_default(), tf.Session() as session:
        (value,) = tf.import_graph_def(definition, return_elements=["large:0"])
        np.testing.assert_array_equal(session.run(value), np.arange(1000.0))
