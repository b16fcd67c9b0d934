"""Event files as ``inspect`` shows them: one row a tag, gathered in one pass over the records.

State of ``_Tag``: kind, number of values, first and last step, value and wall time.
"""

from __future__ import annotations

import datetime
import posixpath
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.event_pb2 import Event

from penstock.cli.identify import event_files
from penstock.cli.output import Output
from penstock.foundation.base import errors
from penstock.foundation.formats import tensor_proto, tfrecord

_FIELDS = {
    "simple_value": "scalar", "histo": "histogram", "image": "image", "audio": "audio",
    "tensor": "tensor", "obsolete_old_style_histogram": "histogram",
}  # fmt: skip
_PLUGINS = {
    "scalars": "scalar", "histograms": "histogram", "images": "image", "audio": "audio",
    "text": "text",
}  # fmt: skip
_TEXT_SHOWN = 40


@dataclass
class _Tag:
    """What is known of the values under one tag."""

    tag: str
    kind: str
    count: int = 0
    first_step: int = 0
    last_step: int = 0
    first: Any = None
    last: Any = None
    last_wall_time: float = 0.0

    def add(self, event: Any, value: Any) -> None:
        """Takes one more value."""
        if not self.count:
            self.first_step, self.first = event.step, value
        self.count += 1
        self.last_step, self.last, self.last_wall_time = event.step, value, event.wall_time


class _Run:
    """What one directory's event files hold."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.files = 0
        self.events = 0
        self.tags: dict[str, _Tag] = {}
        self.times: list[float] = []

    def add(self, event: Any) -> None:
        """Takes one event."""
        self.events += 1
        if event.wall_time:
            self.times = [min([*self.times, event.wall_time]), max([*self.times, event.wall_time])]
        kind = event.WhichOneof("what")
        if kind == "summary":
            for value in event.summary.value:
                self._value(event, value)
        elif kind in ("graph_def", "meta_graph_def"):
            size = len(getattr(event, kind))
            self._tag(f"({kind})", "graph").add(event, f"{size} bytes")
        elif kind == "tagged_run_metadata":
            data = event.tagged_run_metadata
            tag = self._tag(data.tag, "run metadata")
            tag.add(event, f"{len(data.run_metadata)} bytes")
        elif kind == "session_log":
            log = event.session_log
            self._tag("(session_log)", "session log").add(event, log.SessionStatus.Name(log.status))
        elif kind == "log_message":
            self._tag("(log_message)", "log").add(event, event.log_message.message[:_TEXT_SHOWN])

    def _value(self, event: Any, value: Any) -> None:
        name = value.tag or value.node_name
        tag = self.tags.get(name)
        if tag is None:
            plugin = value.metadata.plugin_data.plugin_name
            kind = _PLUGINS.get(plugin, plugin) or _FIELDS.get(value.WhichOneof("value") or "", "")
            tag = self._tag(name, kind)
        tag.add(event, _shown(value, tag.kind))

    def _tag(self, name: str, kind: str) -> _Tag:
        return self.tags.setdefault(name, _Tag(name, kind))

    def facts(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "run": self.name,
            "files": self.files,
            "events": self.events,
            "first_wall_time": self.times[0] if self.times else None,
            "last_wall_time": self.times[-1] if self.times else None,
            "tags": [vars(tag) for _, tag in sorted(self.tags.items())],
        }


def _shown(value: Any, kind: str) -> Any:
    """A value in a few characters; a number for a scalar."""
    field = value.WhichOneof("value")
    if field == "simple_value":
        return value.simple_value
    if field == "histo":
        histo = value.histo
        return f"n={histo.num:g} in [{histo.min:.4g}, {histo.max:.4g}]"
    if field == "image":
        return f"{value.image.height}x{value.image.width}"
    if field == "audio":
        return f"{value.audio.length_frames} frames at {value.audio.sample_rate:g} Hz"
    if field != "tensor":
        return field
    try:
        array = tensor_proto.to_array(value.tensor)
    except (ValueError, TypeError):
        return "tensor"
    if kind == "scalar" and array.size == 1:
        return array.reshape(-1)[0].item()
    if kind == "text" and array.size:
        return array.reshape(-1)[0].decode("utf-8", "replace")[:_TEXT_SHOWN]
    return f"{array.dtype.name} {list(array.shape)}"


def describe(path: str) -> dict[str, Any]:
    """What the event files at a path hold, as JSON has it.

    A file that ends within a record (its writer is at work, or was cut off) counts up to there;
    that and damage are listed as problems.
    """
    runs: dict[str, _Run] = {}
    problems = []
    for name in event_files(path):
        directory = posixpath.dirname(name)
        run_name = posixpath.relpath(directory, path) if directory.startswith(path) else "."
        run = runs.setdefault(run_name, _Run(run_name))
        run.files += 1
        try:
            for record in tfrecord.read_records(name):
                run.add(Event.FromString(record))
        except errors.DataLossError as error:
            problems.append(str(error))
        except DecodeError as error:
            problems.append(f"{name}: a record is no Event: {error}")
    return {
        "kind": "events", "path": path, "runs": [run.facts() for run in runs.values()],
        "problems": problems,
    }  # fmt: skip


def show(output: Output, facts: dict[str, Any]) -> None:
    """Prints what ``describe`` found."""
    for run in facts["runs"]:
        times = f", {_time(run['first_wall_time'])} to {_time(run['last_wall_time'])}"
        output.title(
            f"{facts['path']}: run {run['run']}, {run['events']} events in {run['files']} file(s)"
            + (times if run["first_wall_time"] else "")
        )
        columns = ("tag", "kind", "values", "steps", "first", "last", "last written")
        rows = [
            (
                tag["tag"], tag["kind"], tag["count"], _steps(tag), tag["first"], tag["last"],
                _time(tag["last_wall_time"]),
            )
            for tag in run["tags"]
        ]  # fmt: skip
        output.table(columns, rows, right=("values",))
    for problem in facts["problems"]:
        output.line(f"problem: {problem}")


def _steps(tag: dict[str, Any]) -> str:
    first, last = tag["first_step"], tag["last_step"]
    return str(first) if tag["count"] == 1 else f"{first}..{last}"


def _time(seconds: float | None) -> str:
    if not seconds:
        return ""
    return datetime.datetime.fromtimestamp(seconds).isoformat(" ", "seconds")
