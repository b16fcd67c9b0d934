"""Nodes that write summaries when they run: of ``tf.contrib.summary``.

A writer is a resource (``resources.summary_writer``); its sink here is a file of events, which is
flushed when so many events wait, or so much time has passed, as 1.15's.  Messages are those of the
summary ops that give strings (``summary``).

State: the file of a sink; events since it was flushed, and when that was.
"""

from __future__ import annotations

import os
import socket
import time
import weakref
from typing import Any

import numpy as np

from penstock.engine.resources.summary_writer import SummaryWriter
from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.formats.messages import Event, Summary
from penstock.foundation.formats.tfrecord import RecordWriter
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import no_outputs, scalar
from penstock.foundation.opdef.shared_state import SharedState
from penstock.ops.control import summary

_VERSION = "brain.Event:2"
_NO_GRADIENT = "it writes, and has no outputs"

# ---- writers -------------------------------------------------------------------------------------


class _EventFile:
    """A sink: a new file of events in a directory."""

    def __init__(self, logdir: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        files.makedirs(logdir)
        now = time.time()
        where = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}{suffix}"
        self._file = RecordWriter(os.path.join(logdir, where))
        # Also when the session is gone, or the program ends, and nobody has closed it.
        weakref.finalize(self, self._file.close)
        self._max_queue, self._flush_secs = max_queue, flush_millis / 1000
        self._waiting, self._flushed = 0, now
        self._file.write(Event(wall_time=int(now), file_version=_VERSION).SerializeToString())
        self.flush()

    def write(self, event: bytes) -> None:
        """Writes an event."""
        self._file.write(event)
        self._waiting += 1
        if self._waiting > self._max_queue or time.time() - self._flushed > self._flush_secs:
            self.flush()

    def flush(self) -> None:
        """Hands all events to the file system."""
        self._file.flush()
        self._waiting, self._flushed = 0, time.time()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _missing(words: str) -> Exception:
    return errors.NotFoundError(None, None, words)


def _writer(attrs: dict[str, Any], name: str) -> SummaryWriter:
    return SummaryWriter(attrs["shared_name"] or name, _missing)


def _text(value: np.ndarray) -> str:
    found: bytes = value.item()
    return found.decode(errors="surrogateescape")


def _create_file(
    writer: SummaryWriter, logdir: Any, max_queue: int, flush_millis: int, filename_suffix: Any
) -> None:
    def make() -> _EventFile:
        return _EventFile(_text(logdir), max_queue, flush_millis, _text(filename_suffix))

    writer.open(make)


def _create_database(
    writer: Any, db_uri: Any, experiment_name: Any, run_name: Any, user_name: Any
) -> None:
    raise errors.UnimplementedError(
        None,
        None,
        f"no database of summaries is written to {_text(db_uri)!r}: TensorBoard reads files of"
        " events alone since 2.0; write them with tf.contrib.summary.create_file_writer",
    )


define_op(
    "SummaryWriter",
    "-> writer: resource",
    attrs=['shared_name: string = ""', 'container: string = ""'],
    shape=scalar,
    state=SharedState("summary writer", _writer),
    stateful=True,
    no_gradient=_NO_GRADIENT,
)


# ---- events --------------------------------------------------------------------------------------


def _event(writer: SummaryWriter, step: int, **what: Any) -> None:
    writer.write(Event(wall_time=time.time(), step=step, **what).SerializeToString())


def _summary(writer: SummaryWriter, step: int, made: np.ndarray) -> None:
    _event(writer, step, summary=Summary.FromString(made.item()))


def _write_scalar(writer: SummaryWriter, step: int, tag: Any, value: Any) -> None:
    if value.numel() != 1:
        raise errors.invalid(
            f"a scalar summary has one value; {_text(tag)!r} has shape {list(value.shape)}"
        )
    _summary(writer, step, summary.scalar_summary(tag, value.reshape(())))


def _write_histogram(writer: SummaryWriter, step: int, tag: Any, values: Any) -> None:
    _summary(writer, step, summary.histogram_summary(tag, values))


def _write_image(
    writer: SummaryWriter, step: int, tag: Any, tensor: Any, bad_color: Any, max_images: int
) -> None:
    _summary(writer, step, summary.image_summary(tag, tensor, max_images, bad_color))


def _write_audio(
    writer: SummaryWriter, step: int, tag: Any, tensor: Any, sample_rate: Any, max_outputs: int
) -> None:
    _summary(writer, step, summary.audio_summary(tag, tensor, sample_rate, max_outputs))


def _write_tensor(
    writer: SummaryWriter, step: int, tensor: Any, tag: Any, summary_metadata: Any
) -> None:
    message = Summary()
    value = message.value.add(tag=_text(tag), tensor=summary.tensor_message(tensor))
    if metadata := summary_metadata.item():
        value.metadata.ParseFromString(metadata)
    _event(writer, step, summary=message)


def _write_proto(writer: SummaryWriter, step: int, tensor: Any) -> None:
    message = Summary()
    for data in tensor.ravel().tolist():
        message.MergeFromString(data)
    _event(writer, step, summary=message)


def _write_graph(writer: SummaryWriter, step: int, tensor: Any) -> None:
    _event(writer, step, graph_def=tensor.item())


def _import_event(writer: SummaryWriter, event: Any) -> None:
    # What cannot be parsed is passed over: TensorFlow writes what it could read, and says nothing.
    data: bytes = event.item()
    try:
        Event.FromString(data)
    except Exception:  # what protobuf raises differs between its implementations
        return
    writer.write(data)


_TEN = summary.NUMBERS
_IMAGES = "T: {uint8, float, half} = float"
_USES: list[tuple[str, str, list[str], Any, tuple[str, ...]]] = [
    # op type, inputs after the writer, attrs, kernel, what the kernel takes as Python's numbers
    ("CreateSummaryFileWriter",
     ", logdir: string, max_queue: int32, flush_millis: int32, filename_suffix: string",
     [], _create_file, ("max_queue", "flush_millis")),
    ("CreateSummaryDbWriter",
     ", db_uri: string, experiment_name: string, run_name: string, user_name: string",
     [], _create_database, ()),
    ("FlushSummaryWriter", "", [], "{writer}.flush()", ()),
    ("CloseSummaryWriter", "", [], "{writer}.close()", ()),
    ("WriteSummary", ", step: int64, tensor: T, tag: string, summary_metadata: string",
     ["T: type"], _write_tensor, ("step",)),
    ("WriteRawProtoSummary", ", step: int64, tensor: string", [], _write_proto, ("step",)),
    ("ImportEvent", ", event: string", [], _import_event, ()),
    ("WriteScalarSummary", ", step: int64, tag: string, value: T",
     [_TEN], _write_scalar, ("step",)),
    ("WriteHistogramSummary", ", step: int64, tag: string, values: T",
     [f"{_TEN} = float"], _write_histogram, ("step",)),
    ("WriteImageSummary", ", step: int64, tag: string, tensor: T, bad_color: uint8",
     ["max_images: int >= 1 = 3", _IMAGES], _write_image, ("step",)),
    ("WriteAudioSummary",
     ", step: int64, tag: string, tensor: float, sample_rate: float",
     ["max_outputs: int >= 1 = 3"], _write_audio, ("step", "sample_rate")),
    ("WriteGraphSummary", ", step: int64, tensor: string", [], _write_graph, ("step",)),
]  # fmt: skip

for _name, _inputs, _attrs, _kernel, _host in _USES:
    define_op(
        _name,
        f"writer: resource{_inputs} ->",
        attrs=_attrs,
        shape=no_outputs,
        kernel=_kernel,
        host=_host,
        writes=("writer",),
        stateful=True,
        on_host=True,
        no_gradient=_NO_GRADIENT,
    )
