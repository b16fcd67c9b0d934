"""``Saver(durable=True)``: what is saved is on the disk before the save is over."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

_KINDS: dict[str, dict[str, Any]] = {
    "bundle": {},
    "sharded": {"sharded": True},
    "v1": {"write_version": tf.train.SaverDef.V1},
    "safetensors": {"format": "safetensors"},
}


class _Disk:
    """Which files the system was asked to put on the disk, by the names they have afterwards."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: set[int] = set()
        real = os.fsync

        def fsync(descriptor: int) -> None:
            self.synced.add(os.fstat(descriptor).st_ino)
            real(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)

    def missing(self, folder: Path) -> list[str]:
        paths = [folder, *folder.iterdir()]
        return [path.name for path in paths if path.stat().st_ino not in self.synced]


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("kind", _KINDS)
def test_every_file_is_synced(
    kind: str, background: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = tf.Variable(np.arange(5.0), name="w")
    saver = tf.train.Saver(durable=True, **_KINDS[kind])
    disk = _Disk(monkeypatch)
    with tf.Session() as session:
        session.run(w.initializer)
        if background:
            path = saver.async_save(session, str(tmp_path / "model")).result()
        else:
            path = saver.save(session, str(tmp_path / "model"))
        # The graph can be made again; the values cannot.
        assert set(disk.missing(tmp_path)) <= {"model.meta"}
        session.run(w.assign(np.zeros(5)))
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(w), np.arange(5.0))


def test_by_default_nothing_waits_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = tf.Variable(np.arange(5.0), name="w")
    disk = _Disk(monkeypatch)
    with tf.Session() as session:
        session.run(w.initializer)
        tf.train.Saver().save(session, str(tmp_path / "model"))
    assert not disk.synced


def test_a_meta_graph_brings_it_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tf.Variable(np.arange(5.0), name="w")
    saver = tf.train.Saver(durable=True)
    saver.export_meta_graph(str(tmp_path / "graph"))
    disk = _Disk(monkeypatch)
    with tf.Graph().as_default(), tf.Session() as session:
        imported = tf.train.import_meta_graph(str(tmp_path / "graph"))
        session.run(tf.global_variables_initializer())
        os.remove(tmp_path / "graph")
        imported.save(session, str(tmp_path / "model"), write_state=False, write_meta_graph=False)
    assert disk.missing(tmp_path) == []


def test_the_configuration_of_a_trainer_says_it() -> None:
    assert tf.estimator.RunConfig().durable is False
    config = tf.estimator.RunConfig(durable=True)
    assert config.durable and not config.replace(durable=False).durable
    with pytest.raises(ValueError, match="durable must be a bool; found 3"):
        tf.estimator.RunConfig(durable=3)
