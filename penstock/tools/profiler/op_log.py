"""The op log: what is known of each node beyond the graph - types, float operations, user's line.

What the user's own log says of a node stands; the rest is filled in from the graph.
"""

from __future__ import annotations

import os
from typing import Any

from penstock.foundation.formats.files import makedirs, open_file
from penstock.foundation.formats.tfprof_messages import OpLogEntry, OpLogProto
from penstock.foundation.graph import keys, scopes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.tools.profiler import float_ops, step_stats
from penstock.tools.profiler.options import TRAINABLE_VARIABLES

_FILE = "tfprof_log"


class _Strings:
    """Numbers for strings: the code traces of a log share one table."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._ids: dict[str, int] = {text: number for number, text in table.items()}
        if not self._ids:
            self.number("none")

    def number(self, text: str) -> int:
        """The string's number, a new one when it is new."""
        if text not in self._ids:
            self._ids[text] = max(self._ids.values(), default=-1) + 1
            self.table[self._ids[text]] = text
        return self._ids[text]


def merged(
    graph: Graph, op_log: Any = None, run_meta: Any = None, add_trace: bool = True
) -> tuple[Any, int]:
    """The user's log, completed from the graph.

    Args:
      graph: the graph.
      op_log: an OpLogProto (not changed), or None.
      run_meta: a RunMetadata whose shapes complete the static ones for counting, or None.
      add_trace: whether to note the lines that made the nodes.

    Returns:
      A new OpLogProto, and the number of nodes whose float operations could not be counted, since
      their shapes are not known.
    """
    result = OpLogProto()
    if op_log is not None:
        result.CopyFrom(op_log)
    strings = _Strings(result.id_to_string)
    entries = {entry.name: entry for entry in result.log_entries}
    measured = step_stats.shapes(run_meta) if run_meta is not None else {}
    trained = {v.op.name for v in graph.get_collection(keys.GraphKeys.TRAINABLE_VARIABLES)}
    uncounted = 0
    for op in graph.get_operations():
        made = OpLogEntry(name=op.name)
        try:
            made.float_ops = float_ops.count(op, measured)
        except float_ops.UnknownShapeError:
            uncounted += 1
        if add_trace:
            _add_trace(made, op, strings)
        if op.name in trained:
            made.types.append(TRAINABLE_VARIABLES)
        if made.float_ops or made.types or made.code_def.traces:
            _complete(entries.get(op.name) or result.log_entries.add(name=op.name), made)
    return result, uncounted


def _add_trace(entry: Any, op: Operation, strings: _Strings) -> None:
    for filename, line, function, text in op.traceback:
        entry.code_def.traces.add(
            file_id=strings.number(filename),
            lineno=line,
            function_id=strings.number(function),
            line_id=strings.number(text),
            func_start_line=-1,
        )


def _complete(entry: Any, made: Any) -> None:
    entry.types.extend(t for t in made.types if t not in entry.types)
    entry.float_ops = entry.float_ops or made.float_ops
    if not entry.code_def.traces:
        entry.code_def.CopyFrom(made.code_def)


def write_op_log(
    graph: Graph | None,
    log_dir: str,
    op_log: Any = None,
    run_meta: Any = None,
    add_trace: bool = True,
) -> None:
    """Writes the op log of a graph to ``log_dir/tfprof_log``, for analysis elsewhere.

    Args:
      graph: the graph; None for the default graph.
      log_dir: the folder, made when missing.
      op_log: an OpLogProto to complete.
      run_meta: a RunMetadata whose shapes complete the static ones.
      add_trace: whether to write the lines that made the nodes.
    """
    log, _ = merged(graph or scopes.get_default_graph(), op_log, run_meta, add_trace)
    makedirs(log_dir)
    with open_file(os.path.join(log_dir, _FILE), "wb") as file:
        file.write(log.SerializeToString())
