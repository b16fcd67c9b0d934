"""The ``checkpoint`` state file, and the files that make up checkpoints.

A directory of checkpoints has a text file ``checkpoint`` (a ``CheckpointState`` message) that names
the newest one and those kept.  It is replaced atomically.  Relative paths in it are relative to its
directory.

State: none; the file is the state.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from google.protobuf import text_format

from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.formats.schema import CheckpointState as CheckpointState

_LOG = logging.getLogger("penstock")
V1, V2 = 1, 2
"""``write_version`` of a saver: one file a shard, or an index beside data files."""


def text_of(path: Any) -> str:
    """A path given as text, bytes or a path object."""
    return os.fsdecode(path)


def state_file(save_dir: str, latest_filename: str | None = None) -> str:
    """The path of a directory's state file."""
    return os.path.join(save_dir, latest_filename or "checkpoint")


def meta_graph_file(checkpoint: str, suffix: str = "meta") -> str:
    """The path of a checkpoint's meta graph; shard patterns are taken off first."""
    head, found, tail = checkpoint.rpartition("-?????-of-")
    base = head if found and tail.isdigit() else checkpoint
    return f"{base}.{suffix}"


def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """A ``CheckpointState`` message.

    Args:
      save_dir: the directory of the state file.
      model_checkpoint_path: the newest checkpoint.
      all_model_checkpoint_paths: those kept, oldest first; the newest is added where it lacks.
      all_model_checkpoint_timestamps: when each was made, in seconds since the epoch.
      last_preserved_timestamp: when the last one that is kept for good was made.

    Returns:
      The message; paths that are relative become relative to ``save_dir``.

    Raises:
      ValueError: the numbers of timestamps and paths differ.
    """
    paths = list(all_model_checkpoint_paths or ())
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    stamps = all_model_checkpoint_timestamps
    if stamps and len(stamps) != len(paths):
        raise ValueError(f"{len(stamps)} timestamp(s) were given for {len(paths)} checkpoint(s)")
    if not os.path.isabs(save_dir):
        start = save_dir or "."
        model_checkpoint_path, *paths = (
            path if os.path.isabs(path) or "://" in path else os.path.relpath(path, start)
            for path in (model_checkpoint_path, *paths)
        )
    message = CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=stamps,
    )
    if last_preserved_timestamp is not None:
        message.last_preserved_timestamp = last_preserved_timestamp
    return message


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the state file of ``save_dir``; for the arguments see
    ``generate_checkpoint_state_proto``.

    Raises:
      RuntimeError: the checkpoint has the path of the state file.
    """
    write_state(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, False,
        all_model_checkpoint_timestamps, last_preserved_timestamp,
    )  # fmt: skip


def write_state(
    save_dir: str,
    newest: str,
    kept: Sequence[str] | None = None,
    latest_filename: str | None = None,
    relative: bool = False,
    timestamps: Sequence[float] | None = None,
    last_preserved: float | None = None,
    durable: bool = False,
) -> None:
    """``update_checkpoint_state``, where ``relative`` says to write paths relative to the file.

    ``durable`` says to wait until the file is on the disk.
    """
    path = state_file(save_dir, latest_filename)
    if relative:
        newest, *kept = (
            os.path.relpath(one, save_dir) if os.path.isabs(one) else one
            for one in (newest, *(kept or ()))
        )
    message = generate_checkpoint_state_proto(save_dir, newest, kept, timestamps, last_preserved)
    if path == message.model_checkpoint_path:
        raise RuntimeError(
            f"a checkpoint cannot be saved as {path!r}, which is the path of the state file"
        )
    files.write_atomically(path, text_format.MessageToString(message).encode(), durable)


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """The ``CheckpointState`` of a directory, its paths made absolute or relative to the caller's
    directory; None when there is no state file or it cannot be read.

    Args:
      checkpoint_dir: the directory.
      latest_filename: name of the state file; default ``checkpoint``.

    Returns:
      A ``CheckpointState`` message; None where there is no state file.

    Raises:
      ValueError: the state names no checkpoint.

    Example:
      >>> import penstock as tf
      >>> import tempfile
      >>> folder, v = tempfile.mkdtemp(), tf.Variable(0.0)
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as session:
      ...     session.run(v.initializer)
      ...     paths = [saver.save(session, folder + "/model", step) for step in (1, 2)]
      >>> state = tf.train.get_checkpoint_state(folder)
      >>> state.model_checkpoint_path == paths[1], len(state.all_model_checkpoint_paths)
      (True, 2)
    """
    directory = text_of(checkpoint_dir)
    path = state_file(directory, latest_filename)
    try:
        if not files.exists(path):
            return None
        with files.open_file(path, "rb") as file:
            text = file.read().decode()
        message = text_format.Parse(text, CheckpointState())
    except (OSError, errors.OpError, text_format.ParseError, UnicodeDecodeError) as error:
        _LOG.warning("%s: %s: the state of checkpoints is ignored", path, error)
        return None
    if not message.model_checkpoint_path:
        raise ValueError(f"{path} names no checkpoint")
    message.model_checkpoint_path = _in(directory, message.model_checkpoint_path)
    for index, kept in enumerate(message.all_model_checkpoint_paths):
        message.all_model_checkpoint_paths[index] = _in(directory, kept)
    return message


def _in(directory: str, path: str) -> str:
    if os.path.isabs(path) or "://" in path:
        return path
    return os.path.join(directory, path)


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The newest checkpoint that a directory's state file names; None when there is none.

    Args:
      checkpoint_dir: the directory.
      latest_filename: name of the state file; default ``checkpoint``.

    Returns:
      The prefix of its files; None where there is none.

    Example:
      >>> import penstock as tf
      >>> import tempfile
      >>> folder, v = tempfile.mkdtemp(), tf.Variable(0.0)
      >>> with tf.Session() as session:
      ...     session.run(v.initializer)
      ...     path = tf.train.Saver().save(session, folder + "/model", global_step=100)
      >>> tf.train.latest_checkpoint(folder) == path, path.endswith("model-100")
      (True, True)
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    newest: str = state.model_checkpoint_path
    if checkpoint_exists(newest):
        return newest
    _LOG.error("no files are there of checkpoint %s, which the state file names", newest)
    return None


def main_files(prefix: str) -> list[str]:
    """The files that show that a checkpoint exists: its index, or those of the V1 format."""
    escaped = prefix.replace("[", "[[]")
    for pattern in (f"{escaped}.index", f"{escaped}.safetensors", escaped):
        found: list[str] = [name for name in files.glob(pattern) if not files.isdir(name)]
        if found:
            return found
    return []


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint, of any format, of that prefix.

    Args:
      checkpoint_prefix: what ``Saver.save`` returned.
    """
    return bool(main_files(text_of(checkpoint_prefix)))


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[Any]) -> list[float]:
    """When each checkpoint was written, in seconds since the epoch; missing ones are left out.

    Args:
      checkpoint_prefixes: what ``Saver.save`` returned.
    """
    times = []
    for prefix in checkpoint_prefixes:
        found = main_files(text_of(prefix))
        if found:
            times.append(files.stat(found[0]).mtime_nsec / 1e9)
    return times


def remove_checkpoint(
    checkpoint_prefix: str, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Deletes the files of a checkpoint, its meta graph among them.

    Args:
      checkpoint_prefix: what ``Saver.save`` returned.
      checkpoint_format_version: accepted for compatibility; files of all formats go.
      meta_graph_suffix: the suffix of the meta graph's file.
    """
    escaped = checkpoint_prefix.replace("[", "[[]")
    meta = meta_graph_file(checkpoint_prefix, meta_graph_suffix)
    # The index first: without it what remains is no checkpoint, and nobody takes it for one.
    exact = [f"{escaped}.index", f"{escaped}.safetensors", meta.replace("[", "[[]")]
    if checkpoint_format_version == V1:
        exact.append(escaped)
    for pattern in (*exact, f"{escaped}.data-?????-of-?????"):
        for name in files.glob(pattern):
            files.remove(name)


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Gives each new checkpoint of a directory as it appears.

    Args:
      checkpoint_dir: the directory.
      min_interval_secs: the least time between two.
      timeout: seconds to wait for a new one; None waits for ever.
      timeout_fn: called when the time is over; the iteration ends when it returns True.  Without
        it the iteration ends.

    Yields:
      Paths of checkpoints.
    """
    last: str | None = None
    while True:
        newest = _wait_for_new(checkpoint_dir, last, timeout)
        if newest is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        started, last = time.monotonic(), newest
        yield newest
        time.sleep(max(0.0, started + min_interval_secs - time.monotonic()))


def _wait_for_new(directory: str, last: str | None, timeout: float | None) -> str | None:
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        newest = latest_checkpoint(directory)
        if newest is not None and newest != last:
            return newest
        pause = 1.0 if deadline is None else min(1.0, deadline - time.monotonic())
        if pause <= 0:
            return None
        time.sleep(pause)
