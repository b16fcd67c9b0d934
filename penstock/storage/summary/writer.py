"""``tf.summary.FileWriter``: summaries, graphs and run metadata as events of a file.

State: the event file; the tags seen so far, since a tag's metadata is written once; the tags of
run metadata, which are used once; whether it is closed.  The cache keeps one writer a directory.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from typing import Any, ClassVar

from penstock.foundation.formats.messages import Event, GraphDef, MetaGraphDef, TaggedRunMetadata
from penstock.foundation.graph import graph_message, large_constants
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import get_default_graph
from penstock.storage.summary.event_file import EventFileWriter

_log = logging.getLogger("penstock")


class FileWriter:
    """Writes events for TensorBoard to a file, in the background.

    Args:
      logdir: the directory of the file; made if there is none.
      graph: a graph to write at once, with its shapes.
      max_queue: events that may wait to be written; adding one more waits.
      flush_secs: seconds after which the file is flushed.
      graph_def: the deprecated form of ``graph``.
      filename_suffix: appended to the file's name.
      session: accepted; the file is written from Python all the same, and no nodes are added.

    Raises:
      tf.errors.NotFoundError, tf.errors.PermissionDeniedError, ...: the directory cannot be made,
        or no file in it.

    Example:
      >>> import tempfile, penstock as tf
      >>> with tf.summary.FileWriter(tempfile.mkdtemp()) as writer:
      ...     value = tf.Summary.Value(tag="accuracy", simple_value=0.9)
      ...     writer.add_summary(tf.Summary(value=[value]), global_step=10)
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int | None = 10,
        flush_secs: float | None = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        self.event_writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        self._closed = False
        self._seen_tags: set[str] = set()
        self._run_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            message = _graph_message(graph, graph_def)
            self._add_graph_message(message, None)
            meta_graph = MetaGraphDef(graph_def=message)
            meta_graph.meta_info_def.tensorflow_version = "1.15.0"
            self.add_meta_graph(meta_graph)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory of the file."""
        return self.event_writer.get_logdir()

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Adds a summary.

        Args:
          summary: a ``Summary``, or what running a summary op gave.
          global_step: the step that it belongs to.
        """
        event = Event(wall_time=time.time())
        if isinstance(summary, bytes):
            event.summary.ParseFromString(summary)
        else:
            event.summary.CopyFrom(summary)
        seen = self._seen_tags
        for value in event.summary.value:
            if value.tag in seen:
                value.ClearField("metadata")
            else:
                seen.add(value.tag)
        self._add(event, global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Adds a ``SessionLog``: that a session started or stopped, or saved a checkpoint."""
        self._add(Event(wall_time=time.time(), session_log=session_log), global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a graph.

        Args:
          graph: a ``Graph``; a ``GraphDef`` is deprecated.
          global_step: the step that it belongs to.
          graph_def: the deprecated form of ``graph``.

        Raises:
          ValueError: both are given.
          TypeError: neither is a graph.

        A graph beyond 2 GB is written without the values of its large constants, which no page of
        TensorBoard shows, and a warning names them.
        """
        self._add_graph_message(_graph_message(graph, graph_def), global_step)

    def _add_graph_message(self, message: Any, global_step: Any) -> None:
        data = message.SerializeToString()
        self._add(Event(wall_time=time.time(), graph_def=data), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Adds a ``MetaGraphDef``.

        Raises:
          TypeError: it is something else.
        """
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        graph_def = _fitting(meta_graph_def.graph_def)
        if graph_def is not meta_graph_def.graph_def:
            rest = {field.name: value for field, value in meta_graph_def.ListFields()}
            meta_graph_def = MetaGraphDef(**{**rest, "graph_def": graph_def})
        data = meta_graph_def.SerializeToString()
        self._add(Event(wall_time=time.time(), meta_graph_def=data), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Adds what a traced ``Session.run`` has measured.

        Args:
          run_metadata: a ``RunMetadata``.
          tag: what TensorBoard calls it; one that was not used before.
          global_step: the step that it belongs to.

        Raises:
          ValueError: the tag was used.
        """
        if tag in self._run_tags:
            raise ValueError(f"The provided tag was already used for this event type: {tag!r}")
        self._run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(Event(wall_time=time.time(), tagged_run_metadata=tagged), global_step)

    def add_event(self, event: Any) -> None:
        """Adds an ``Event`` as it is."""
        self._warn_if_closed()
        self.event_writer.add_event(event)

    def _add(self, event: Any, global_step: Any) -> None:
        if global_step is not None:
            event.step = int(global_step)
        self.add_event(event)

    def flush(self) -> None:
        """Returns when all events are in the file."""
        self._warn_if_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Flushes and closes the file."""
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """Starts another file in the same directory, if this one is closed."""
        self.event_writer.reopen()
        self._closed = False

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the"
                " FileWriter is explicitly reopened.",
                stacklevel=3,
            )


def _graph_message(graph: Any, graph_def: Any) -> Any:
    if graph is not None and graph_def is not None:
        raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
    given = graph_def if graph is None else graph
    if isinstance(given, Graph):
        whole = large_constants.graph_bytes(given) <= large_constants.LIMIT
        if not whole:
            _log.warning(
                "the graph is larger than a message may be (2 GB): it is written without the values"
                " of its large constants. %s", large_constants.largest(given),
            )  # fmt: skip
        return graph_message.graph_def(given, add_shapes=True, whole=whole)
    if isinstance(given, GraphDef):
        _log.warning("passing a GraphDef to a FileWriter is deprecated: pass a Graph")
        return _fitting(given)
    raise TypeError(
        "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`; found"
        f" {type(given).__name__}"
    )


def _fitting(graph_def: Any) -> Any:
    """A ``GraphDef``, or where it is too large for an event one without large values."""
    if large_constants.message_bytes(graph_def) <= large_constants.LIMIT:
        return graph_def
    fitting, left_out = large_constants.without_values(graph_def)
    _log.warning(
        "the graph is larger than a message may be (2 GB): it is written without the values of %s",
        ", ".join(left_out),
    )
    return fitting


class SummaryWriter(FileWriter):
    """``tf.train.SummaryWriter``, the name that ``FileWriter`` had in TensorFlow 0.x.

    Args:
      logdir, graph, max_queue, flush_secs, graph_def: as of ``FileWriter``.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> writer = tf.train.SummaryWriter(folder)
      >>> writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), 1)
      >>> writer.close()
      >>> [name.startswith("events.out.tfevents.") for name in os.listdir(folder)]
      [True]
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
    ) -> None:
        super().__init__(logdir, graph, max_queue, flush_secs, graph_def)


class FileWriterCache:
    """One ``FileWriter`` a directory."""

    _cache: ClassVar[dict[str, FileWriter]] = {}
    _lock = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes and forgets all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer for a directory; a new one writes the default graph."""
        with FileWriterCache._lock:
            found = FileWriterCache._cache.get(logdir)
            if found is None:
                found = FileWriter(logdir, graph=get_default_graph())
                FileWriterCache._cache[logdir] = found
            return found
