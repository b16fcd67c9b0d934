"""Writers of ``tf.contrib.summary``: resources, which nodes of a graph write to.

A writer's nodes are a handle and one that opens what it stands for.  In graph mode the latter is in
a collection, and runs in a session before anything is written; where calls run at once, it has run
when the writer is made.

State: of a writer, its handle and how to open it.

Source: ``tf.contrib.summary`` of TensorFlow 1.15 (nodes, names, errors).
"""

from __future__ import annotations

import abc
import functools
import getpass
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.behavior import executing_eagerly
from penstock.foundation.graph.build import make
from penstock.foundation.graph.collecting import add_to_collection, get_collection
from penstock.foundation.graph.scopes import control_dependencies, device
from penstock.ops.array.constant import constant
from penstock.ops.control import control
from penstock.storage.summary import recording

_INITIALIZERS = "_SUMMARY_WRITER_V2"
_PATTERNS = {
    "experiment_name": re.compile(r"^[^\x00-\x1F<>]{0,256}$"),
    "run_name": re.compile(r"^[^\x00-\x1F<>]{0,512}$"),
    "user_name": re.compile(r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$", re.IGNORECASE),
}


class SummaryWriter(abc.ABC):
    """Writes what the functions of ``tf.contrib.summary`` are given."""

    @abc.abstractmethod
    def set_as_default(self) -> None:
        """Makes it the writer of this thread."""

    @abc.abstractmethod
    def as_default(self) -> AbstractContextManager[Any]:
        """Makes it the writer of this thread inside ``with``; flushes it at the end."""

    def init(self) -> Any:
        """Opens it: an operation, or None where calls run at once."""
        raise NotImplementedError

    def flush(self) -> Any:
        """Flushes it: as ``init``."""
        raise NotImplementedError

    def close(self) -> Any:
        """Flushes and closes it: as ``init``."""
        raise NotImplementedError


class ResourceSummaryWriter(SummaryWriter):
    """A writer that is a resource.

    Args:
      shared_name: writers of one name are one.
      opening: adds the node that opens what a handle stands for.
      name: of the handle's node.
    """

    def __init__(
        self, shared_name: str | None, opening: Callable[[Any], Any], name: str | None = None
    ) -> None:
        self.resource = make("SummaryWriter", name=name, shared_name=shared_name or "")
        self._opening = opening
        opened = opening(self.resource)
        if not executing_eagerly():
            add_to_collection(_INITIALIZERS, opened)

    def set_as_default(self) -> None:
        """Makes it the writer of this thread."""
        recording.set_default_writer(self)

    @contextmanager
    def as_default(self) -> Iterator[ResourceSummaryWriter]:
        """Makes it the writer of this thread inside ``with``; flushes it at the end."""
        before = recording.default_writer()
        recording.set_default_writer(self)
        try:
            yield self
            self.flush()
        finally:
            recording.set_default_writer(before)

    def init(self) -> Any:
        """Opens it: an operation, or None where calls run at once."""
        return self._opening(self.resource)

    def flush(self) -> Any:
        """Flushes it: as ``init``."""
        return flush(self)

    def close(self) -> Any:
        """Flushes and closes it: as ``init``."""
        flushed = self.flush()
        with control_dependencies([] if flushed is None else [flushed]), device("cpu:0"):
            return make("CloseSummaryWriter", self.resource)


class NoopSummaryWriter(SummaryWriter):
    """A writer that does nothing."""

    def set_as_default(self) -> None:
        """Does nothing: another stays the writer of this thread."""

    @contextmanager
    def as_default(self) -> Iterator[None]:
        """Does nothing."""
        yield

    def init(self) -> None:
        """Does nothing."""

    def flush(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


# ---- making them ---------------------------------------------------------------------------------


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of a new file of events, for TensorBoard.

    Args:
      logdir: the directory, made if there is none; None for a writer that does nothing.
      max_queue: events that may wait to be flushed; default 10.
      flush_millis: milliseconds after which the file is flushed; default two minutes.
      filename_suffix: what its name ends with; default ``.v2``.
      name: writers of one name are one; default one of the directory.

    Raises:
      tf.errors.NotFoundError, ...: when it is opened: the directory cannot be made.

    Example:
      >>> import tempfile, penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     writer = tf.contrib.summary.create_file_writer(tempfile.mkdtemp())
      ...     with writer.as_default(), tf.contrib.summary.always_record_summaries():
      ...         written = tf.contrib.summary.scalar("loss", 2.0, step=1)
      ...     sess.run(writer.init())
      ...     print(sess.run(written))
      ...     sess.run(writer.close())
      True
    """
    if logdir is None:
        return NoopSummaryWriter()
    with device("cpu:0"):
        defaults = (max_queue, 10), (flush_millis, 120_000), (filename_suffix, ".v2")
        given = [constant(default) if value is None else value for value, default in defaults]
        opening = functools.partial(_create, "CreateSummaryFileWriter", logdir, *given)
        return ResourceSummaryWriter(f"logdir:{logdir}" if name is None else name, opening)


def _create(op_type: str, *inputs: Any) -> Any:
    *arguments, resource = inputs
    return make(op_type, resource, *arguments)


def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """The older name of ``create_file_writer``."""
    warnings.warn(
        "create_summary_file_writer is deprecated: call create_file_writer",
        DeprecationWarning,
        stacklevel=2,
    )
    return create_file_writer(*args, **kwargs)


def create_db_writer(
    db_uri: Any,
    experiment_name: Any = None,
    run_name: Any = None,
    user_name: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of a database, which TensorBoard no longer reads: opening it is an error.

    Args:
      db_uri: where it would be.
      experiment_name: default today's date.
      run_name: default the time of day.
      user_name: default who runs the program.
      name: writers of one name are one.

    Raises:
      ValueError: a name has characters that are not allowed, or is too long.
      tf.errors.UnimplementedError: when it is opened.
    """
    with device("cpu:0"):
        if experiment_name is None:
            experiment_name = time.strftime("%Y-%m-%d", time.localtime())
        if run_name is None:
            run_name = time.strftime("%H:%M:%S", time.localtime())
        if user_name is None:
            user_name = getpass.getuser()
        given = {"experiment_name": experiment_name, "run_name": run_name, "user_name": user_name}
        names = [_checked(what, value) for what, value in given.items()]
        opening = functools.partial(_create, "CreateSummaryDbWriter", db_uri, *names)
        return ResourceSummaryWriter(name, opening)


def _checked(what: str, value: Any) -> Any:
    if isinstance(value, str) and _PATTERNS[what].match(value) is None:
        raise ValueError(f"{what} ({value}) must match {_PATTERNS[what].pattern}")
    return constant(value, dtypes.string)


# ---- using them ----------------------------------------------------------------------------------


def summary_writer_initializer_op() -> list[Any]:
    """The operations of the default graph that open its writers.

    Raises:
      RuntimeError: where calls run at once: writers are open when they are made.
    """
    if executing_eagerly():
        raise RuntimeError(
            "tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode."
        )
    return list(get_collection(_INITIALIZERS))


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Has all events written: an operation, or None where calls run at once.

    Args:
      writer: a ``SummaryWriter`` or its handle; default that of this thread.

    Raises:
      tf.errors.NotFoundError: when it runs: the writer is not open.
    """
    found = recording.default_writer() if writer is None else writer
    if found is None:
        return control.no_op()
    resource = found.resource if isinstance(found, ResourceSummaryWriter) else found
    with device("cpu:0"):
        return make("FlushSummaryWriter", resource, name=name)


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The directory of the summaries of an evaluation.

    Args:
      model_dir: the model's directory.
      name: of the evaluation.

    >>> eval_dir("/model"), eval_dir("/model", "test")
    ('/model/eval', '/model/eval_test')
    """
    return os.path.join(model_dir, "eval" if not name else f"eval_{name}")
