"""``penstock explain``: the program of a step, and the time of its lines."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.cli.graph_files import read_graph_file
from penstock.cli.loading import initialize, load, restore
from penstock.cli.output import Failure, Output, shape_text
from penstock.compiler.passes.prune import needed_operations
from penstock.foundation.base import dtypes

_MADE_UP = re.compile(r"^\[?([\d,x ]*)\]?/(\w+)$")


def explain_step(
    output: Output,
    path: str,
    fetches: Sequence[str],
    feeds: Sequence[str],
    checkpoint: str | None,
    runs: int,
) -> None:
    """Prints the program that a step of a graph becomes.

    Args:
      output: where to print.
      path: the graph.
      fetches: names of tensors or nodes.
      feeds: ``NAME=VALUE``; without any, the program that serves any shapes is printed.
      checkpoint: values of the variables; without, their initializers run.
      runs: how often to run the step to time it.

    Raises:
      Failure: names or values that do not fit the graph.
    """
    read = read_graph_file(path)
    session, saver = load(read)
    with session:
        wanted = [_element(session.graph, name, path) for name in fetches]
        fed = dict(_feed(session.graph, text, path) for text in feeds)
        needed = _needed(wanted, fed)
        if not runs and not fed:
            holders = [op.outputs[0] for op in needed if op.op_def.role == "placeholder"]
            output.code(session.explain(wanted, holders))
            return
        _refuse_unfed(needed)
        if runs:
            if checkpoint is not None:
                restore(session, saver, read, checkpoint, needed)
            elif any(op.op_def.role == "variable" for op in needed):
                initialize(session)
        output.code(session.explain(wanted, fed, timed_runs=runs))


def _element(graph: Any, name: str, path: str) -> Any:
    """A tensor by its name, or by its node's when that has one output; else the node."""
    try:
        if ":" in name:
            return graph.as_graph_element(name)
        op = graph.get_operation_by_name(name)
    except (KeyError, ValueError) as error:
        reason = error.args[0] if error.args else error
        raise Failure(f"{path}: {name!r}: {reason}") from None
    return op.outputs[0] if len(op.outputs) == 1 else op


def _needed(wanted: Sequence[Any], fed: dict[Any, Any]) -> list[Any]:
    roots = [getattr(element, "op", element) for element in wanted]
    return sorted(needed_operations(roots, set(fed)), key=lambda op: int(op.id))


def _refuse_unfed(needed: Sequence[Any]) -> None:
    missing = [op.outputs[0] for op in needed if op.op_def.role == "placeholder"]
    if missing:
        shown = ", ".join(f"{t.op.name} ({t.dtype.name} {shape_text(t.sizes)})" for t in missing)
        first = missing[0]
        dims = ",".join(str(d or 1) for d in first.sizes or ())
        raise Failure(
            f"the step needs values for {shown}; for instance"
            f" --feed {first.op.name}={dims}/{first.dtype.name}", 2,
        )  # fmt: skip


def _feed(graph: Any, text: str, path: str) -> tuple[Any, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise Failure(f"--feed {text!r} does not have the form NAME=VALUE", 2)
    tensor = _element(graph, name, path)
    if not hasattr(tensor, "dtype"):
        raise Failure(f"--feed {text!r}: {name} is a node, not a tensor", 2)
    return tensor, _value(tensor, value, text)


def _value(tensor: Any, value: str, text: str) -> Any:
    if value.endswith(".npy"):
        try:
            return np.load(value, allow_pickle=False)
        except ValueError as error:
            raise Failure(f"--feed {text!r}: {error}", 2) from None
    made_up = _MADE_UP.match(value)
    if made_up is not None:
        return _random(tensor, made_up[1], made_up[2], text)
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        if tensor.dtype.base_dtype is dtypes.string:
            return value
        raise Failure(
            f"--feed {text!r}: {value!r} is no SHAPE/DTYPE (32,784/float32), no .npy file and no"
            " number or list", 2,
        ) from None  # fmt: skip


def _random(tensor: Any, shape_text_: str, kind: str, text: str) -> np.ndarray:
    """Normal numbers for floats; zeros, which are valid indices, for everything else."""
    shape = [int(word) for word in re.split(r"[,x ]+", shape_text_) if word]
    try:
        dtype = dtypes.as_dtype(kind)
    except TypeError:
        raise Failure(f"--feed {text!r}: {kind!r} is no dtype", 2) from None
    if dtype is not tensor.dtype.base_dtype:
        raise Failure(f"--feed {text!r}: {tensor.name} is {tensor.dtype.base_dtype.name}", 2)
    if dtype is dtypes.string:
        return np.full(shape, b"", dtype=object)
    if dtype.is_floating:
        made: np.ndarray = np.random.default_rng(0).standard_normal(shape)
        return made.astype(dtype.as_numpy_dtype)
    return np.zeros(shape, dtype.as_numpy_dtype)
