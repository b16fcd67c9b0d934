"""The state file, readers, and initializers that load checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.storage.checkpoint import management
from penstock.storage.checkpoint.warm_start import warm_start


def _saved(directory: Path, name: str = "m", **variables: Any) -> str:
    with tf.Graph().as_default(), tf.Session() as sess:
        for key, value in variables.items():
            tf.get_variable(key.replace("__", "/"), initializer=tf.constant(value))
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(directory / name))


def test_state_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = tf.train.generate_checkpoint_state_proto("dir", "dir/a", ["dir/b"])
    assert made.model_checkpoint_path == "a"
    assert list(made.all_model_checkpoint_paths) == ["b", "a"]
    made = tf.train.generate_checkpoint_state_proto("/dir", "a", None, [1.5], 2.5)
    assert made.model_checkpoint_path == "a" and made.last_preserved_timestamp == 2.5
    with pytest.raises(ValueError, match="timestamp"):
        tf.train.generate_checkpoint_state_proto("/dir", "a", None, [1.5, 2.0])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    tf.train.update_checkpoint_state("d", "d/x")
    assert tf.train.get_checkpoint_state("d").model_checkpoint_path == "d/x"
    assert tf.train.latest_checkpoint("d") is None
    (tmp_path / "d" / "checkpoint").write_text("nonsense {")
    assert tf.train.get_checkpoint_state("d") is None
    (tmp_path / "d" / "checkpoint").write_text("")
    with pytest.raises(ValueError, match="names no checkpoint"):
        tf.train.get_checkpoint_state("d")
    assert tf.train.get_checkpoint_state("nowhere") is None


def test_meta_graph_names() -> None:
    assert management.meta_graph_file("d/m-?????-of-00002") == "d/m.meta"
    assert management.meta_graph_file("d/m-3", "pb") == "d/m-3.pb"


def test_removing_and_times(tmp_path: Path) -> None:
    path = _saved(tmp_path, v=1.0)
    other = _saved(tmp_path, "m2", v=1.0)
    assert len(tf.train.get_checkpoint_mtimes([path, other, "/none"])) == 2
    tf.train.remove_checkpoint(path)
    assert not list(tmp_path.glob("m.*"))
    assert tf.train.checkpoint_exists(other) and not tf.train.checkpoint_exists(path)


def test_iterator(tmp_path: Path) -> None:
    path = _saved(tmp_path, v=1.0)
    assert list(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == [path]
    calls: list[int] = []

    def enough() -> bool:
        calls.append(1)
        return len(calls) > 2

    found = tf.train.checkpoints_iterator(str(tmp_path / "none"), timeout=0, timeout_fn=enough)
    assert list(found) == [] and len(calls) == 3


def test_reader(tmp_path: Path) -> None:
    path = _saved(tmp_path, v=[1.0, 2.0], s="text", n=np.int64(7))
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_variable_to_shape_map() == {"v": [2], "s": [], "n": []}
    assert reader.get_variable_to_dtype_map()["s"] == tf.string
    assert reader.get_tensor("s") == b"text" and reader.get_tensor("n") == 7
    assert reader.has_tensor("v") and not reader.has_tensor("w")
    assert b"v (DT_FLOAT) [2]\n" in reader.debug_string()
    with pytest.raises(tf.errors.NotFoundError, match="vv.*nearest are v"):
        tf.train.NewCheckpointReader(path).get_tensor("vv")
    assert tf.train.list_variables(path) == [("n", []), ("s", []), ("v", [2])]
    np.testing.assert_array_equal(tf.train.load_variable(path, "v:0"), [1.0, 2.0])
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.NewCheckpointReader(str(tmp_path / "none"))


@pytest.mark.parametrize("resource", [False, True])
def test_init_from_checkpoint(tmp_path: Path, resource: bool) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(6, 2)
    path = _saved(tmp_path, a=1.0, old__x=[1.0, 2.0], old__y=[3.0], big=rows)
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.variable_scope("", use_resource=resource):
            a = tf.get_variable("first", [])
            x = tf.get_variable("new/x", [2])
            y = tf.get_variable("new/y", [1])
            kept = tf.get_variable("kept", [], initializer=tf.ones_initializer())
            big = tf.get_variable("big", [6, 2], partitioner=tf.fixed_size_partitioner(4))
            other = tf.get_variable("copy/a", [])
        tf.train.init_from_checkpoint(path, {"a": "first", "old/": "new/", "big": list(big)})
        tf.train.init_from_checkpoint(path, {"a": other})
        sess.run(tf.global_variables_initializer())
        assert sess.run(a) == 1.0 and sess.run(kept) == 1.0 and sess.run(other) == 1.0
        np.testing.assert_array_equal(sess.run(x), [1, 2])
        np.testing.assert_array_equal(sess.run(y), [3])
        np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(big)), rows)


def test_init_from_the_root(tmp_path: Path) -> None:
    path = _saved(tmp_path, x=[1.0, 2.0], part__y=[3.0], big=np.ones((4, 1), np.float32))
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = tf.get_variable("s/x", [2]), tf.get_variable("s/part/y", [1])
        big = tf.get_variable("s/big", [4, 1], partitioner=tf.fixed_size_partitioner(2))
        tf.train.init_from_checkpoint(path, {"/": "s/"})
        sess.run(tf.global_variables_initializer())
        assert sess.run([x, y])[1] == [3.0]
        np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(big)), np.ones((4, 1)))


def test_init_refusals(tmp_path: Path) -> None:
    path = _saved(tmp_path, weights=[1.0, 2.0])
    with tf.Graph().as_default():
        w = tf.get_variable("w", [3])
        with pytest.raises(ValueError, match=r"Shape of variable w:0 \(\(3,\)\) .*s \(\[2\]\)"):
            tf.train.init_from_checkpoint(path, {"weights": w})
        with pytest.raises(
            ValueError, match="(?s)^Tensor weight is not found in .*nearest are weights"
        ):
            tf.train.init_from_checkpoint(path, {"weight": w})
        with pytest.raises(ValueError, match="no variable 'v'"):
            tf.train.init_from_checkpoint(path, {"weights": "v"})
        with pytest.raises(ValueError, match="^Assignment map with scope only name s/ should map"):
            tf.train.init_from_checkpoint(path, {"weights": "s/"})


def test_what_loads_nothing_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = _saved(tmp_path, weights=1.0)
    with tf.Graph().as_default():
        tf.get_variable("w", [])
        tf.train.init_from_checkpoint(path, {"/": "scope/"})
        warm_start(path, ["nothing"])
    assert "no variables in scope 'scope/'" in caplog.text
    assert "no variables whose names match ['nothing']" in caplog.text


def test_warm_start(tmp_path: Path) -> None:
    path = _saved(tmp_path, a=1.0, earlier=2.0, c=[3.0, 4.0])
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = tf.get_variable("a", []), tf.get_variable("b", [])
        c = tf.get_variable("c", [2], partitioner=tf.fixed_size_partitioner(2))
        skipped = tf.get_variable("d", [], initializer=tf.zeros_initializer(), trainable=False)
        warm_start(path, var_name_to_prev_var_name={"b": "earlier"})
        sess.run(tf.global_variables_initializer())
        assert sess.run([a, b, skipped]) == [1.0, 2.0, 0.0]
        np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(c)), [3.0, 4.0])
        with pytest.raises(ValueError, match=r"in var_name_to_prev_var_name .* used: \['x'\]"):
            warm_start(path, "a", var_name_to_prev_var_name={"x": "a"})
        with pytest.raises(ValueError, match="in var_name_to_vocab_info that were not used"):
            warm_start(path, "a", {"x": None})
        with pytest.raises(ValueError, match="must be all `Variable` or all `str`; found int"):
            warm_start(path, [7])
        with pytest.raises(ValueError, match="must be a `list` or `str`; found int"):
            warm_start(path, 7)
