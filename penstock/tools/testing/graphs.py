"""Comparing GraphDefs: the same nodes, in whatever order."""

from __future__ import annotations

import re
from typing import Any

from penstock.foundation.formats.messages import GraphDef
from penstock.foundation.formats.tensor_proto import to_array

# The part of a checkpoint's name that is drawn anew for each sharded save.
_RANDOM_PART = re.compile(rb"_temp_[0-9a-z]{32}/part")
_TABLES = ("HashTable", "HashTableV2")


def assert_equal_graph_def(
    actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Fails where two GraphDefs have different nodes.

    The order of nodes, attrs and control inputs, versions, the library, and attrs whose names begin
    with an underscore do not matter.

    Args:
      actual: the GraphDef that is there.
      expected: the GraphDef that should be.
      checkpoint_v2: whether to ignore the drawn parts in the names of sharded checkpoints.
      hash_table_shared_name: whether to ignore the shared names of hash tables.

    Raises:
      TypeError: one is no GraphDef.
      AssertionError: they differ; with the first difference.
    """
    for name, given in (("actual", actual), ("expected", expected)):
        if not isinstance(given, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(given).__name__}")
    wanted = {node.name: node for node in expected.node}
    for node in actual.node:
        if node.name not in wanted:
            raise AssertionError(f"Found unexpected node '{_shown(node)}'")
        difference = _difference(node, wanted.pop(node.name), checkpoint_v2, hash_table_shared_name)
        if difference:
            verb = "" if difference.startswith("missing") else "has "
            raise AssertionError(f"Node named '{node.name}' {verb}{difference}")
    for node in wanted.values():
        raise AssertionError(f"Did not find expected node '{_shown(node)}'")


def _shown(node: Any) -> str:
    return f"{{{{node {node.name}}}}} = {node.op}({', '.join(node.input)})"


def _difference(actual: Any, expected: Any, checkpoint: bool, tables: bool) -> str | None:
    for what in ("op", "device"):
        found, wanted = getattr(actual, what), getattr(expected, what)
        if found != wanted:
            return f"{what} '{found}' that is not expected '{wanted}'"
    return _input_difference(actual, expected) or _attr_difference(
        _attrs(actual, checkpoint, tables), _attrs(expected, checkpoint, tables)
    )


def _input_difference(actual: Any, expected: Any) -> str | None:
    data = _data_inputs(actual), _data_inputs(expected)
    if len(data[0]) == len(data[1]):
        for i, (found, wanted) in enumerate(zip(*data)):
            if found != wanted:
                return f"input {i} '{found}' that doesn't match expected '{wanted}'"
        if _control_inputs(actual) == _control_inputs(expected):
            return None
    shown = [", ".join(_data_inputs(n) + _control_inputs(n)) for n in (actual, expected)]
    return f"inputs '{shown[0]}' that don't match expected '{shown[1]}'"


def _attr_difference(found: dict[str, Any], wanted: dict[str, Any]) -> str | None:
    for name in sorted({*found, *wanted}):
        if name not in wanted:
            return f"unexpected attr '{name}' with value: {_line(found[name])}"
        if name not in found:
            return f"missing expected attr '{name}' with value: {_line(wanted[name])}"
        if not _same(found[name], wanted[name]):
            shown = f"attr '{name}' with value: {_line(found[name])}"
            return f"{shown} that does not match expected: {_line(wanted[name])}"
    return None


def _line(value: Any) -> str:
    return " ".join(str(value).split())


def _data_inputs(node: Any) -> list[str]:
    return [name.removesuffix(":0") for name in node.input if not name.startswith("^")]


def _control_inputs(node: Any) -> list[str]:
    return sorted(name for name in node.input if name.startswith("^"))


def _attrs(node: Any, checkpoint: bool, tables: bool) -> dict[str, Any]:
    ignored = {"shared_name"} if tables and node.op in _TABLES else set()
    return {
        name: value
        for name, value in node.attr.items()
        if not name.startswith("_")
        and name not in ignored
        and not (checkpoint and _has_random_part(value))
    }


def _has_random_part(value: Any) -> bool:
    strings = value.tensor.string_val
    return len(strings) == 1 and bool(_RANDOM_PART.search(strings[0]))


def _same(found: Any, wanted: Any) -> bool:
    if found.WhichOneof("value") == wanted.WhichOneof("value") == "tensor":
        # A tensor has several forms: its values spelled out, or as bytes.
        one, other = to_array(found.tensor), to_array(wanted.tensor)
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        same = one.tolist() == other.tolist() if one.dtype == object else False
        return same or one.tobytes() == other.tobytes()
    return bool(found == wanted)


def run_deprecated_v1(func: Any = None) -> Any:
    """Marks a test, or a class of tests, that builds graphs; here as in 1.15 all do."""
    return run_deprecated_v1 if func is None else func
