"""Object-based checkpoints, and their manager."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf


def _model(resource: bool = True, names: str = "v") -> tuple[Any, Any, Any, Any]:
    v = tf.get_variable(names, [2], use_resource=resource, initializer=tf.ones_initializer())
    w = tf.get_variable(f"{names}w", [], use_resource=resource)
    optimizer = tf.train.AdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(v * v) + w * w)
    checkpoint = tf.train.Checkpoint(v=v, parts={"w": w, "more": [v]}, opt=optimizer)
    return v, w, train, checkpoint


@pytest.mark.parametrize("resource", [False, True])
def test_optimizer_and_nesting_come_back(tmp_path: Path, resource: bool) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        v, w, train, checkpoint = _model(resource)
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        path = checkpoint.save(str(tmp_path / "ck"))
        nodes = len(graph.get_operations())
        assert checkpoint.save(str(tmp_path / "ck")) == str(tmp_path / "ck-2")
        assert len(graph.get_operations()) == nodes
        sess.run(train)
        want = sess.run([v, w])
    assert path == str(tmp_path / "ck-1")
    with tf.Graph().as_default(), tf.Session() as sess:
        v, w, train, checkpoint = _model(not resource, "renamed")
        status = checkpoint.restore(path)
        status.assert_consumed().run_restore_ops()
        assert sess.run(checkpoint.save_counter) == 1
        sess.run(train)
        for one, other in zip(want, sess.run([v, w]), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_partial_matches(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(a=a, b=b).write(str(tmp_path / "ck"), sess)
    with tf.Graph().as_default(), tf.Session() as sess:
        a, c = tf.Variable(0.0), tf.Variable(5.0)
        root = tf.train.Checkpoint(a=a, c=c)
        status = root.restore(path)
        status.assert_nontrivial_match()
        with pytest.raises(AssertionError, match="no counterpart"):
            status.assert_consumed()
        with pytest.raises(AssertionError, match="no values of"):
            status.assert_existing_objects_matched()
        status.initialize_or_restore()
        assert sess.run([a, c]) == [1.0, 5.0]
        root.b = tf.Variable(0.0)
        status.run_restore_ops()
        assert sess.run(root.b) == 2.0
        tf.train.Checkpoint(a=a).restore(None).initialize_or_restore()
        assert sess.run(a) == 0.0


def test_savers_and_checkpoints_read_each_other(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("scope/v", initializer=3.0)
        sess.run(v.initializer)
        by_name = tf.train.Saver([v]).save(sess, str(tmp_path / "names"))
        by_object = tf.train.Checkpoint(x=v).write(str(tmp_path / "objects"))
        sess.run(v.assign(0.0))
        tf.train.Saver([v]).restore(sess, by_object)
        assert sess.run(v) == 3.0
        sess.run(v.assign(0.0))
        tf.train.Checkpoint(anything=v).restore(by_name).assert_consumed().run_restore_ops()
        assert sess.run(v) == 3.0


def test_manager(tmp_path: Path) -> None:
    directory = str(tmp_path / "made")
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0)
        checkpoint = tf.train.Checkpoint(v=v)
        sess.run(v.initializer)
        manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=2)
        assert manager.latest_checkpoint is None
        for _ in range(3):
            manager.save()
        manager.save(checkpoint_number=7)
        kept = [f"{directory}/ckpt-3", f"{directory}/ckpt-7"]
        assert manager.checkpoints == kept and manager.latest_checkpoint == kept[1]
        again = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
        assert again.checkpoints == kept
        again.save()
        assert len(again.checkpoints) == 1 and not tf.train.checkpoint_exists(kept[0])
        checkpoint.restore(again.latest_checkpoint).run_restore_ops()


def test_what_a_saver_wrote_is_no_managers(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0)
        sess.run(v.initializer)
        other = tf.train.Saver().save(sess, str(tmp_path / "other"))
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), str(tmp_path), 1)
        assert manager.latest_checkpoint == other and manager.checkpoints == []
        manager.save()
        manager.save()
        assert tf.train.checkpoint_exists(other) and len(manager.checkpoints) == 1


def test_other_objects_are_refused() -> None:
    with pytest.raises(ValueError, match="'x' is 3"):
        tf.train.Checkpoint(x=3)
