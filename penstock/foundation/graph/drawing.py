"""Graphs, tensors and tables as HTML, for notebooks: what ``_repr_html_`` of objects returns.

A graph is drawn from its sources down, a box a node; of a large one a box a name scope, as deep as
fits.  Edges that go back (of loops) do not count for the layers.
"""

from __future__ import annotations

import collections
import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.foundation.base import shapes

# The most boxes of a drawing.
MOST = 60
_ROW, _HEIGHT, _GAP, _LETTER = 56, 26, 16, 6.6
_FILLS = {"state": "#fde7c8", "source": "#d6e8fb", "effect": "#e4e4e4", "scope": "#e6f2dd"}
_FILL = "#f7f7f7"


def graph_html(graph: Any) -> str:
    """A graph: how many nodes of which types, and a drawing."""
    operations = graph.get_operations()
    types = collections.Counter(op.type for op in operations).most_common(8)
    head = f"<b>Graph</b>: {len(operations)} nodes"
    if types:
        head += "; " + ", ".join(f"{count} {html.escape(name)}" for name, count in types)
    return f"<div>{head}</div>{graph_svg(operations) if operations else ''}"


def graph_svg(operations: Sequence[Any]) -> str:
    """A drawing of nodes.

    Args:
      operations: all of a graph, or a part of it.

    Returns:
      An ``<svg>`` element.
    """
    depth = _depth_that_fits(operations)
    box_of = {op.name: _scope(op.name, depth) for op in operations}
    boxes = dict.fromkeys(box_of.values())
    edges = {
        (box_of[other.name], box_of[op.name])
        for op in operations
        for other in (*(t.op for t in op.inputs), *op.control_inputs)
        if other.name in box_of and box_of[other.name] != box_of[op.name]
    }
    kinds = {box_of[op.name]: _kind(op) for op in operations}
    kinds |= {box: "scope" for box in boxes if box not in box_of}
    labels = {op.name: f"{_last(op.name)}: {op.type}" for op in operations}
    shown = list(boxes)[:MOST]
    places, width, rows = _places(shown, edges, labels)
    return _drawn(places, edges, labels, kinds, width, rows, len(boxes) - len(shown))


def _scope(name: str, depth: int) -> str:
    parts = name.split("/")
    return name if len(parts) <= depth else "/".join(parts[:depth])


def _depth_that_fits(operations: Sequence[Any]) -> int:
    deepest = max(op.name.count("/") for op in operations) + 1
    for depth in range(deepest, 1, -1):
        if len({_scope(op.name, depth) for op in operations}) <= MOST:
            return depth
    return 1


def _kind(op: Any) -> str:
    if op.op_def.state:
        return "state"
    if not op.inputs:
        return "source"
    return "" if op.outputs else "effect"


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _layers(boxes: Sequence[str], edges: set[tuple[str, str]]) -> dict[str, int]:
    """How far each box is from a source; boxes are in the order in which they were made."""
    order = {box: number for number, box in enumerate(boxes)}
    into = collections.defaultdict(list)
    for start, end in edges:
        if start in order and end in order and order[start] < order[end]:
            into[end].append(start)
    layers: dict[str, int] = {}
    for box in boxes:
        layers[box] = max((layers[start] + 1 for start in into[box]), default=0)
    return layers


def _places(
    boxes: Sequence[str], edges: set[tuple[str, str]], labels: Mapping[str, str]
) -> tuple[dict[str, tuple[float, float, float]], float, int]:
    """Left end, top and width of each box; the width of all, and how many rows there are."""
    layers = _layers(boxes, edges)
    rows: dict[int, list[str]] = collections.defaultdict(list)
    for box in boxes:
        rows[layers[box]].append(box)
    places: dict[str, tuple[float, float, float]] = {}
    widest = 0.0
    for row in range(len(rows)):
        left = float(_GAP)
        for box in rows[row]:
            width = _LETTER * len(labels.get(box, box)) + 14
            places[box] = (left, _GAP + row * _ROW, width)
            left += width + _GAP
        widest = max(widest, left)
    return places, widest, len(rows)


def _drawn(
    places: Mapping[str, tuple[float, float, float]], edges: set[tuple[str, str]],
    labels: Mapping[str, str], kinds: Mapping[str, str], width: float, rows: int, left_out: int,
) -> str:  # fmt: skip
    height = rows * _ROW + _GAP + (20 if left_out else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}"'
        f' viewBox="0 0 {width:.0f} {height}" font-family="sans-serif" font-size="11">'
    ]
    for start, end in sorted(edges):
        if start in places and end in places:
            parts.append(_edge(places[start], places[end]))
    for box, (x, y, wide) in places.items():
        fill = _FILLS.get(kinds.get(box, ""), _FILL)
        parts.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{_HEIGHT}" rx="5"'
            f' fill="{fill}" stroke="#888"/><text x="{x + 7:.0f}" y="{y + 17:.0f}" fill="#222">'
            f"<title>{html.escape(box)}</title>{html.escape(labels.get(box, box))}</text>"
        )
    if left_out:
        parts.append(f'<text x="{_GAP}" y="{height - 8}">and {left_out} more</text>')
    return "".join([*parts, "</svg>"])


def _edge(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    x1, y1 = start[0] + start[2] / 2, start[1] + _HEIGHT
    x2, y2 = end[0] + end[2] / 2, end[1]
    middle = (y1 + y2) / 2
    return (
        f'<path d="M{x1:.0f} {y1:.0f} C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f}'
        f' {x2:.0f} {y2:.0f}" fill="none" stroke="#999"/>'
    )


def tensor_html(tensor: Any) -> str:
    """A tensor: its dtype and shape, the node that makes it of what, and where that was made."""
    op = tensor.op
    rows = [
        ("tensor", tensor.name),
        ("dtype", tensor.dtype.name),
        ("shape", shapes.format_static(tensor.sizes)),
        ("made by", f"{op.type} of {', '.join(t.name for t in op.inputs) or 'nothing'}"),
    ]
    return table([*rows, ("at", op.origin)] if op.origin is not None else rows)


def table(rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    """Rows of text as an HTML table."""
    lines = (
        [f"<tr>{''.join(f'<th>{html.escape(each)}</th>' for each in head)}</tr>"] if head else []
    )
    for row in rows:
        cells = "".join(f'<td style="text-align:left">{html.escape(str(c))}</td>' for c in row)
        lines.append(f"<tr>{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"
