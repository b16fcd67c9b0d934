"""``penstock inspect``: what a path is, and what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer

from penstock.cli.identify import CHECKPOINTS, Found, Kind, identify
from penstock.cli.output import Failure, Output, shape_text


def inspect_path(output: Output, path: str, values: Sequence[str], verify: bool) -> None:
    """Prints what a path is and holds.

    Args:
      output: where to print.
      path: what to look at.
      values: variables whose values to show.
      verify: whether to read everything.

    Raises:
      Failure: it is nothing that is known, or ``values`` asks for what there is not.
      typer.Exit: with status 1, when something is damaged.
    """
    everything = identify(path)
    if values and not any(f.kind in (*CHECKPOINTS, Kind.SAVED_MODEL) for f in everything):
        kinds = " and ".join(found.kind for found in everything)
        raise Failure(f"--values is for checkpoints and saved models; {path} is {kinds}", 2)
    described = [facts for found in everything for facts in _describe(found, values, verify)]
    if output.as_json:
        output.json(described[0] if len(described) == 1 else {"contents": described})
    else:
        for number, facts in enumerate(described):
            if number:
                output.line()
            _SHOWN[facts["kind"]](output, facts)
    if any(facts.get("problems") for facts in described):
        raise typer.Exit(1)


def _describe(found: Found, values: Sequence[str], verify: bool) -> list[dict[str, Any]]:
    if found.kind in CHECKPOINTS:
        from penstock.cli import checkpoints

        return [checkpoints.describe(found, values, verify)]
    if found.kind is Kind.EVENTS:
        from penstock.cli import events

        return [events.describe(found.path)]
    if found.kind is Kind.SAVED_MODEL:
        return _saved_model(found, values, verify)
    return [_graph(found)]


def _saved_model(found: Found, values: Sequence[str], verify: bool) -> list[dict[str, Any]]:
    from penstock.cli import checkpoints, saved_models

    facts = saved_models.describe(found.path)
    if facts["variables"] is None:
        return [facts]
    variables = Found(Kind.CHECKPOINT, facts["variables"])
    return [facts, checkpoints.describe(variables, values, verify)]


def _graph(found: Found) -> dict[str, Any]:
    from penstock.cli.graph_files import read_graph_file
    from penstock.cli.graph_report import report
    from penstock.foundation.opdef.registry import all_ops

    read = read_graph_file(found.path)
    facts: dict[str, Any] = {"kind": found.kind.value, "path": found.path}
    if read.meta is not None:
        facts["collections"] = {
            key: _collection_size(value) for key, value in sorted(read.meta.collection_def.items())
        }
        facts["signatures"] = sorted(read.meta.signature_def)
        facts["saver"] = read.meta.saver_def.restore_op_name or None
    return facts | asdict(report(read.graph, all_ops()))


def _collection_size(definition: Any) -> int:
    kind = definition.WhichOneof("kind")
    return len(getattr(definition, kind).value) if kind else 0


def show_graph(output: Output, facts: dict[str, Any]) -> None:
    """Prints what is known of a graph."""
    functions = f", {facts['functions']} functions" if facts["functions"] else ""
    output.title(
        f"{facts['path']}: {facts['kind']}, {facts['nodes']} nodes{functions},"
        f" producer version {facts['producer']}"
    )
    for side in ("inputs", "outputs", "variables"):
        if facts[side]:
            output.line()
            output.title(side)
            show_nodes(output, facts[side])
    output.line()
    output.title("operations")
    output.table(("op", "nodes"), facts["ops"].items(), right=("nodes",))
    if facts["unknown"]:
        output.line()
        output.title("operations that Penstock does not have")
        output.table(("op", "for instance"), facts["unknown"].items())
    if facts.get("collections"):
        output.line()
        output.title("collections")
        output.table(("collection", "items"), facts["collections"].items(), right=("items",))


def show_nodes(output: Output, nodes: Sequence[dict[str, Any]]) -> None:
    """A table of tensors or variables."""
    rows = [(n["name"], n["op"], n["dtype"], shape_text(n["shape"]), n["role"]) for n in nodes]
    columns: tuple[str, ...] = ("name", "op", "dtype", "shape", "role")
    if not any(row[-1] for row in rows):
        columns = columns[:-1]
    output.table(columns, [row[: len(columns)] for row in rows])


def _show_checkpoint(output: Output, facts: dict[str, Any]) -> None:
    from penstock.cli import checkpoints

    checkpoints.show(output, facts)


def _show_events(output: Output, facts: dict[str, Any]) -> None:
    from penstock.cli import events

    events.show(output, facts)


def _show_saved_model(output: Output, facts: dict[str, Any]) -> None:
    from penstock.cli import saved_models

    saved_models.show(output, facts)


_SHOWN = {
    **{kind.value: _show_checkpoint for kind in CHECKPOINTS},
    Kind.EVENTS.value: _show_events,
    Kind.SAVED_MODEL.value: _show_saved_model,
    Kind.GRAPH.value: show_graph,
    Kind.META_GRAPH.value: show_graph,
}
