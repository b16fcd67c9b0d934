"""Saving and restoring by name: options, formats, partitions, errors, the state file."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.state import save as save_ops
from penstock.storage.checkpoint import snapshot

FORMS: list[dict[str, Any]] = [
    {}, {"sharded": True}, {"write_version": 1}, {"write_version": 1, "sharded": True},
]  # fmt: skip


def _fill() -> list[Any]:
    tf.Variable(1.5, name="a")
    tf.get_variable("r", [2, 3], use_resource=True)
    tf.Variable([b"x", b"", b"long" * 100], name="s")
    tf.Variable(tf.constant([1.5, -2.0], tf.bfloat16), name="bf")
    tf.Variable(tf.constant([1.5, -2.0], tf.float16), name="h")
    tf.Variable([1 + 2j], name="c")
    tf.Variable([True, False], name="bo")
    for dtype in (tf.int8, tf.int16, tf.int64, tf.uint8, tf.uint16, tf.float64, tf.complex64):
        tf.Variable(tf.constant([[1, 2], [3, 4]], dtype), name=dtype.name)
    tf.get_variable("p", [4, 3], partitioner=tf.fixed_size_partitioner(2))
    tf.get_variable("q", [5], partitioner=tf.fixed_size_partitioner(3), use_resource=True)
    tf.get_variable("empty", [0, 2])
    return tf.global_variables()


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_dtype_comes_back(tmp_path: Path, form: dict[str, Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        variables = _fill()
        saver = tf.train.Saver(**form)
        sess.run(tf.global_variables_initializer())
        wanted = sess.run(variables)
        path = saver.save(sess, str(tmp_path / "model"), global_step=3)
    with tf.Graph().as_default(), tf.Session() as sess:
        variables = _fill()
        tf.train.Saver(**form).restore(sess, path)
        for variable, want, got in zip(variables, wanted, sess.run(variables), strict=True):
            np.testing.assert_array_equal(want, got, err_msg=variable.name)
    assert tf.train.checkpoint_exists(path)


def test_safetensors(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([[1.0, 2.0]], name="v")
        parts = tf.get_variable("p", [4, 3], partitioner=tf.fixed_size_partitioner(2))
        saver = tf.train.Saver(format="safetensors")
        sess.run(tf.global_variables_initializer())
        want = sess.run([v, *parts])
        path = saver.save(sess, str(tmp_path / "m"))
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, path)
        for one, other in zip(want, sess.run([v, *parts]), strict=True):
            np.testing.assert_array_equal(one, other)
    assert (tmp_path / "m.safetensors").exists() and not (tmp_path / "m.index").exists()
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    with pytest.raises(ValueError, match="safetensors"):
        tf.train.Saver({}, format="safetensors", sharded=True)


def test_another_partitioning_takes_the_slices(tmp_path: Path) -> None:
    values = np.arange(30.0, dtype=np.float32).reshape(10, 3)
    written = {}
    for cuts, axis in ((1, 0), (3, 0), (2, 1)):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.get_variable(
                "w", [10, 3], partitioner=tf.fixed_size_partitioner(cuts, axis),
                initializer=tf.constant(values),
            )  # fmt: skip
            sess.run(tf.global_variables_initializer())
            written[cuts, axis] = tf.train.Saver().save(sess, str(tmp_path / f"m{cuts}{axis}"))
    for path in written.values():
        for cuts, axis in ((None, 0), (4, 0), (3, 1)):
            with tf.Graph().as_default(), tf.Session() as sess:
                partitioner = cuts and tf.fixed_size_partitioner(cuts, axis)
                w = tf.get_variable("w", [10, 3], partitioner=partitioner)
                tf.train.Saver().restore(sess, path)
                np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(w)), values)


def test_saving_copies_no_variable_and_restoring_no_second_model(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(np.ones((3, 2), np.float32), name="v")
        w = tf.get_variable("w", [2], use_resource=True)
        saver = tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        definition = saver.as_saver_def()
        feeds = {definition.filename_tensor_name: str(tmp_path / "m")}
        assert "clone" not in sess.explain(definition.save_tensor_name, feeds).replace("return", "")
        path = saver.save(sess, str(tmp_path / "m"))
        restoring = sess.explain(definition.restore_op_name, feeds)
        assert "[True, True]" in restoring
        before = sess.run([v, w])
        sess.run([v.assign_add(v), w.assign_add(w)])
        saver.restore(sess, path)
        for one, other in zip(before, sess.run([v, w]), strict=True):
            np.testing.assert_array_equal(one, other)


def test_what_is_restored_and_used_is_read(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([1.0, 2.0], name="v")
        saver = tf.train.Saver()
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        restored = tf.get_default_graph().get_tensor_by_name("save/RestoreV2:0")
        op = saver.saver_def.restore_op_name
        feeds = {saver.saver_def.filename_tensor_name: path}
        values = sess.run([restored, restored * 2.0], feeds)
        np.testing.assert_array_equal(values[1], [2.0, 4.0])
        target = tf.get_default_graph().get_operation_by_name(op)
        np.testing.assert_array_equal(sess.run([restored, target], feeds)[0], [1.0, 2.0])


def test_a_permuted_layout_is_saved_by_its_shape(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [1, 8, 8, 3])
        values = np.arange(5 * 5 * 3 * 4, dtype=np.float32).reshape(5, 5, 3, 4)
        f = tf.Variable(values, name="f")
        y = tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME")
        sess.run(f.initializer)
        want = sess.run(y, {x: np.ones((1, 8, 8, 3))})
        saver = tf.train.Saver()
        path = saver.save(sess, str(tmp_path / "m"))
        np.testing.assert_array_equal(tf.train.load_variable(path, "f"), values)
        sess.run(f.assign(f * 0.0))
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(y, {x: np.ones((1, 8, 8, 3))}), want)


def test_names_and_reshape(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
        sess.run(v.initializer)
        path = tf.train.Saver({"other": v}).save(sess, str(tmp_path / "m"))
    assert tf.train.list_variables(path) == [("other", [2, 2])]
    with tf.Graph().as_default(), tf.Session() as sess:
        flat = tf.get_variable("flat", [4], use_resource=True)
        tf.train.Saver({"other": flat}, reshape=True).restore(sess, path)
        np.testing.assert_array_equal(sess.run(flat), [1, 2, 3, 4])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"flat|shape"):
            tf.train.Saver({"other": flat}).restore(sess, path)


def test_refusals() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No variables to save"):
            tf.train.Saver()
        assert tf.train.Saver(allow_empty=True).save(tf.Session(), "x", write_meta_graph=False) is (
            None
        )
        v = tf.Variable(1.0, name="v")
        with pytest.raises(ValueError, match="same name"):
            tf.train.Saver([v, v])
        with pytest.raises(ValueError, match="two names"):
            tf.train.Saver({"x": v, "y": v})
        with pytest.raises(TypeError, match="only variables"):
            tf.train.Saver([tf.constant(1.0)])
        with pytest.raises(ValueError, match="defer_build"):
            tf.train.Saver([v], defer_build=True)
        with pytest.raises(RuntimeError, match="build"):
            tf.train.Saver(defer_build=True).save(tf.Session(), "/x/y")
        with pytest.raises(ValueError, match="collide|state file"):
            tf.train.Saver().save(tf.Session(), "/x/checkpoint")
        with pytest.raises(ValueError, match="^Parent directory of  doesn't exist, can't save"):
            tf.train.Saver().save(tf.Session(), "")
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            tf.train.Saver().restore(tf.Session(), "/no/such")


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("layer/weights", [2])
        saver = tf.train.Saver()
        with pytest.raises(tf.errors.FailedPreconditionError, match="layer/weights"):
            saver.save(sess, prefix)
        assert not tf.train.checkpoint_exists(prefix)
        sess.run(v.initializer)
        with pytest.raises(ValueError, match="^Parent directory of .* doesn't exist, can't save"):
            saver.save(sess, str(tmp_path / "a" / "b" / "c"))
        path = saver.save(sess, prefix)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("layer/weight", [2])
        tf.get_variable("zzz", [2])
        with pytest.raises(tf.errors.NotFoundError) as caught:
            tf.train.Saver().restore(sess, path)
        text = str(caught.value)
        assert "Key layer/weight not found in checkpoint" in text
        assert "layer/weight (the nearest are layer/weights)" in text and "zzz" in text
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("layer/weights", [3])
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"lhs shape= \[3\] rhs shape= \[2\]",
        ):
            tf.train.Saver().restore(sess, path)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("layer/weights", [2], tf.float64)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="dtype double does not equal original dtype float"
        ):
            tf.train.Saver().restore(sess, path)


def test_damage_is_found_and_named(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("v", [1000])
        saver = tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"))
        data = tmp_path / "m.data-00000-of-00001"
        damaged = bytearray(data.read_bytes())
        damaged[1234] ^= 4
        data.write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError, match=r"(?s)m\.data.*'?v'?"):
            saver.restore(sess, path)


def test_old_ones_go(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.create_global_step()
        saver = tf.train.Saver(max_to_keep=2, pad_step_number=True, save_relative_paths=True)
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            saver.save(sess, str(tmp_path / "m"), global_step=step)
            sess.run(tf.assign_add(step, 1))
        names = [str(tmp_path / f"m-{n:08d}") for n in (2, 3)]
        assert saver.last_checkpoints == names
        assert not tf.train.checkpoint_exists(str(tmp_path / "m-00000001"))
        assert not (tmp_path / "m-00000001.meta").exists()
        assert (tmp_path / "m-00000002.meta").exists()
        assert tf.train.latest_checkpoint(str(tmp_path)) == names[1]
        assert 'model_checkpoint_path: "m-00000003"' in (tmp_path / "checkpoint").read_text()
        state = tf.train.get_checkpoint_state(str(tmp_path))
        assert list(state.all_model_checkpoint_paths) == names
        again = tf.train.Saver(max_to_keep=2)
        again.recover_last_checkpoints([*names, str(tmp_path / "gone")])
        assert again.last_checkpoints == names
        again.save(sess, str(tmp_path / "m"), global_step=9)
        assert not tf.train.checkpoint_exists(names[0])


def test_one_in_so_many_hours_stays(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.Variable(1.0)
        saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=0.0)
        sess.run(tf.global_variables_initializer())
        paths = [saver.save(sess, str(tmp_path / "m"), global_step=n) for n in range(3)]
        assert all(tf.train.checkpoint_exists(path) for path in paths)


def test_as_message_and_back(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        v = tf.Variable(4.0, name="v")
        saver = tf.train.Saver(max_to_keep=7)
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        nodes = len(graph.get_operations())
        copy = tf.train.Saver.from_proto(saver.to_proto())
        assert len(graph.get_operations()) == nodes and copy.as_saver_def().max_to_keep == 7
        sess.run(v.assign(0.0))
        copy.restore(sess, path)
        assert sess.run(v) == 4.0
        assert saver.to_proto("elsewhere") is None
    with tf.Graph().as_default(), tf.Session() as sess:
        imported = tf.train.import_meta_graph(path + ".meta", import_scope="in")
        imported.restore(sess, path)
        assert sess.run("in/v:0") == 4.0
        assert imported.saver_def.filename_tensor_name == "in/save/Const:0"
        assert imported.async_save(sess, str(tmp_path / "again")).result() == str(
            tmp_path / "again"
        )
    assert tf.train.load_variable(str(tmp_path / "again"), "v") == 4.0


def test_background_saves_a_consistent_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    write = save_ops.write_tensors

    def slow(*arguments: Any) -> None:
        gate.wait()
        write(*arguments)

    monkeypatch.setattr(save_ops, "write_tensors", slow)
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(np.zeros(100, np.float32), name="v")
        w = tf.get_variable("w", [100], initializer=tf.zeros_initializer(), use_resource=True)
        bump = tf.group(v.assign_add(tf.ones(100)), w.assign_add(tf.ones(100)))
        saver = tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        saving = saver.async_save(sess, str(tmp_path / "m"), global_step=1)
        for _ in range(5):
            sess.run(bump)
        assert not saving.done()
        with pytest.raises(TimeoutError):
            saving.result(timeout=0.01)
        gate.set()
        path = saving.result()
        assert path == str(tmp_path / "m-1") and saving.done()
        assert tf.train.latest_checkpoint(str(tmp_path)) == path
        assert (tmp_path / "m-1.meta").exists()
        np.testing.assert_array_equal(tf.train.load_variable(path, "v"), np.zeros(100))
        np.testing.assert_array_equal(tf.train.load_variable(path, "w"), np.zeros(100))
        assert sess.run(v)[0] == 5.0


def test_background_errors_surface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise OSError("the disk is full")

    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0, name="v")
        saver = tf.train.Saver()
        with pytest.raises(tf.errors.FailedPreconditionError, match="'v'"):
            saver.async_save(sess, str(tmp_path / "m"))
        sess.run(v.initializer)
        with monkeypatch.context() as patched:
            patched.setattr(save_ops, "write_tensors", fail)
            with pytest.raises(OSError, match="full"):
                saver.async_save(sess, str(tmp_path / "m")).result()
            saver.async_save(sess, str(tmp_path / "m"))
            with pytest.raises(OSError, match="full"):
                saver.save(sess, str(tmp_path / "m"))
        assert saver.save(sess, str(tmp_path / "m")) == str(tmp_path / "m")


def test_snapshots_need_constant_names() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="constants"):
            snapshot._texts(tf.placeholder(tf.string, [1]))


def test_what_to_save_is_a_collection() -> None:
    with tf.Graph().as_default():
        tf.Variable(1.0, name="a")
        for given in ("a", b"a", 3, tf.global_variables()[0]):
            with pytest.raises(TypeError, match="should be passed in a dict or a list"):
                tf.train.Saver(given)


def test_a_session_of_another_graph(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.Variable(1.0, name="v")
        saver = tf.train.Saver()
    prefix = str(tmp_path / "m")
    with tf.Graph().as_default() as other, tf.Session() as sess:
        both = f"save/Const:0.*{id(other):#x}.*{id(graph):#x}"
        for save in (saver.save, saver.async_save):
            with pytest.raises(TypeError, match=both):
                save(sess, prefix)
        # Names are what counts: a graph with the same ones will do.
        tf.Variable(5.0, name="v")
        tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, prefix, write_meta_graph=False)
        assert tf.train.load_checkpoint(path).get_tensor("v") == 5.0
    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(TypeError, match="the saver"):
        saver.restore(sess, path)


@pytest.mark.parametrize("step", [7.5, 7.0, np.float32(7), [7]], ids=repr)
def test_a_global_step_is_an_integer(tmp_path: Path, step: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.Variable(1.0, name="v")
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        with pytest.raises(TypeError, match="global_step must be an integer"):
            saver.save(sess, str(tmp_path / "m"), global_step=step)
        with pytest.raises(TypeError, match="the value of"):
            saver.save(sess, str(tmp_path / "m"), global_step=tf.constant(7.5))
        path = saver.save(sess, str(tmp_path / "m"), global_step=np.int64(7))
        assert path == str(tmp_path / "m-7")
        assert saver.save(sess, str(tmp_path / "m"), tf.constant(8)) == str(tmp_path / "m-8")


@pytest.mark.parametrize("paths", ["abc", b"abc", 5, [5]], ids=repr)
def test_last_checkpoints_are_a_list_of_paths(paths: Any) -> None:
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        saver = tf.train.Saver()
    for method in (saver.set_last_checkpoints, saver.recover_last_checkpoints):
        with pytest.raises(TypeError, match="must be a list of checkpoint paths"):
            method(paths)
    assert saver.last_checkpoints == []
