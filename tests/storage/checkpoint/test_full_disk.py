"""Saving where the system takes no more: clear errors, and the old checkpoint as it was."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

_ERRORS = (tf.errors.ResourceExhaustedError, tf.errors.PermissionDeniedError)


@contextmanager
def _files_up_to(size: int) -> Iterator[None]:
    """No file can be made larger; the system says EFBIG."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class _Model:
    """A variable, a saver of some format, and a checkpoint."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder, self.prefix = folder, str(folder / "model")
        self.w = tf.Variable(np.arange(10, dtype=np.float32), name="w")
        self.session = tf.Session()
        self.session.run(self.w.initializer)
        self.saver = tf.train.Saver(**options)
        self.saver.save(self.session, self.prefix)
        self.before = _contents(folder)
        self.session.run(self.w.assign(np.full(10, 7, np.float32)))

    def save(self, **options: Any) -> str:
        with self.session.graph.as_default():
            return str(self.saver.save(self.session, self.prefix, **options))

    def check_intact(self) -> None:
        assert _contents(self.folder) == self.before, list(_contents(self.folder))
        latest = tf.train.latest_checkpoint(str(self.folder))
        assert latest == self.prefix
        kept = self.session.run(self.w)
        self.saver.restore(self.session, latest)
        np.testing.assert_array_equal(self.session.run(self.w), np.arange(10))
        self.session.run(self.w.assign(kept))


_KINDS: dict[str, dict[str, Any]] = {
    "bundle": {},
    "sharded": {"sharded": True},
    "v1": {"write_version": tf.train.SaverDef.V1},
    "safetensors": {"format": "safetensors"},
    "durable": {"durable": True},
}


@pytest.mark.parametrize("kind", _KINDS)
def test_too_large_a_file(kind: str, tmp_path: Path) -> None:
    model = _Model(tmp_path, **_KINDS[kind])
    parts = {name: len(data) for name, data in model.before.items()}
    meta = parts.pop("model.meta")
    # The largest file of the values and their index: one byte less, and it is none.
    largest = max(size for name, size in parts.items() if name != "checkpoint")
    for size in [0, 1, 39, *range(45, largest - 1, max(largest // 12, 1)), largest - 1]:
        for options in ({}, {"global_step": 3}):
            with pytest.raises(tf.errors.ResourceExhaustedError, match="File too large"):
                with _files_up_to(size):
                    model.save(**options)
            model.check_intact()
    if meta < largest:
        return
    # Values that are there stay when only the graph is too large.
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"model\.meta.*File too large"):
        with _files_up_to(meta - 1):
            model.save()
    assert (tmp_path / "model.meta").read_bytes() == model.before["model.meta"]
    model.save()
    model.saver.restore(model.session, model.prefix)
    np.testing.assert_array_equal(model.session.run(model.w), np.full(10, 7))


def test_too_large_a_file_in_the_background(tmp_path: Path) -> None:
    model = _Model(tmp_path)
    index = len(model.before["model.index"])
    for size in (0, 39, index - 1):
        with _files_up_to(size):
            save = model.saver.async_save(model.session, model.prefix)
            with pytest.raises(tf.errors.ResourceExhaustedError, match="File too large"):
                save.result()
        model.check_intact()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", ["open", "pwrite", "write", "replace", "fsync", "close"])
def test_each_call_of_the_system_may_fail(
    code: int, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first, second, ... call of a kind fails, until a save makes no more of them."""
    model = _Model(tmp_path, durable=True)
    real = getattr(os, call)
    left = 0
    failed = False

    def failing(*args: Any, **kwargs: Any) -> Any:
        nonlocal left, failed
        left -= 1
        if left == -1:
            failed = True
            if call == "close":
                real(*args, **kwargs)
            raise OSError(code, os.strerror(code), "somewhere")
        return real(*args, **kwargs)

    for number in range(40):
        left, failed = number, False
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            try:
                model.save(write_meta_graph=False)
            except tf.errors.OpError as error:
                assert os.strerror(code) in error.message
                wanted = tf.errors.UnknownError if code == errno.EIO else _ERRORS
                assert isinstance(error, wanted)
        if not failed:
            break
        # One of both, whole: which one depends on whether the index was there.
        reader = tf.train.load_checkpoint(model.prefix)
        values = reader.get_tensor("w")
        assert values.tolist() in ([*map(float, range(10))], [7.0] * 10)
    assert not failed
    assert tf.train.load_variable(model.prefix, "w").tolist() == [7.0] * 10
    assert not [name for name in os.listdir(tmp_path) if "tempstate" in name]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write where nobody else may")
def test_a_folder_that_may_only_be_read(tmp_path: Path) -> None:
    model = _Model(tmp_path)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(tf.errors.PermissionDeniedError, match="Permission denied"):
            model.save()
        model.check_intact()
    finally:
        tmp_path.chmod(0o755)


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    model = _Model(tmp_path)
    (tmp_path / "file").write_text("here")
    with pytest.raises(tf.errors.OpError, match="Not a directory|file"):
        model.saver.save(model.session, str(tmp_path / "file" / "model"))
    (tmp_path / "file").unlink()
    model.check_intact()
