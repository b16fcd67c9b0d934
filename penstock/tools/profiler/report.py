"""A view as text: a heading that explains the columns, then a line a row.

Plain text without colours or widths of a terminal, so that a file and a screen get the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from penstock.tools.profiler.nodes import NodeStats
from penstock.tools.profiler.options import COLUMNS, Options
from penstock.tools.profiler.views import ROOT, ViewNode, rows

_VIEWS = {
    "scope": "nodes by name, as a tree of name scopes",
    "graph": "nodes by dataflow: below a node stand the nodes it needs",
    "op": "nodes summed by op type",
    "code": "nodes by the line of the program that made them",
}
# Column -> heading, meaning.
_HEADINGS = {
    "bytes": ("memory asked for", "bytes that the node allocated while it ran"),
    "peak_bytes": ("peak memory", "most bytes that the node held at one time"),
    "residual_bytes": ("memory left", "bytes still allocated when the node had run"),
    "output_bytes": ("output memory", "bytes of the node's outputs, whoever allocated them"),
    "micros": ("time", "execution time, on CPU and accelerator together"),
    "accelerator_micros": ("accelerator time", "execution time of kernels on an accelerator"),
    "cpu_micros": ("CPU time", "execution time on the CPU, launching kernels included"),
    "params": ("parameters", "elements of variables (and of whatever has an attr `shape`)"),
    "float_ops": ("float operations", "counted from shapes; op types without a rule count 0"),
    "device": ("device", "where the node runs"),
    "op_types": ("types", "device, op type and what an op log says"),
    "occurrence": ("count", "runs in the step | nodes in the graph"),
    "input_shapes": ("input shapes", "input number and shape; `scalar` for a shape without dims"),
    "tensor_value": ("value", "of constants with one element"),
}
_TIMES = ("micros", "accelerator_micros", "cpu_micros")
_UNITS = {"params": " params", "float_ops": " flops"}


def text(root: ViewNode, view: str, options: Options) -> str:
    """The report.

    Args:
      root: the view, as ``views.build`` made it.
      view: its name.
      options: the columns to show.

    Returns:
      Lines of plain text.
    """
    columns = [c for c in COLUMNS if c in options.select]
    lines = [f"Profile of {_VIEWS[view]}"]
    lines += [f"  {_HEADINGS[c][0]}: {_HEADINGS[c][1]}" for c in columns]
    if view == "op":
        lines.append("  in parentheses: share of this row and all below it, share of this row")
    else:
        lines.append("  own/total: of the row itself ('--' where it is no node), with all below it")
    lines += ["", " | ".join(["name", *(_HEADINGS[c][0] for c in columns)])]
    lines += _list(root, columns) if view == "op" else _tree(root, columns)
    return "\n".join(lines) + "\n"


def _tree(root: ViewNode, columns: list[str]) -> list[str]:
    lines = []
    for node, level in rows(root):
        cells = [cell for c in columns if (cell := _tree_cell(node, c))]
        lines.append(f"{'  ' * level}{node.name} ({', '.join(cells)})")
    return lines


def _tree_cell(node: ViewNode, column: str) -> str:
    if column == "occurrence":
        total = f"{node.total['runs']}|{node.total['definitions']}"
        own = f"{node.own['runs']}|{len(node.members)}" if node.members else "--"
        return f"{own}/{total}"
    if column in node.own:
        own = amount(column, node.own[column]) if node.members else "--"
        cell = f"{own}/{amount(column, node.total[column])}{_UNITS.get(column, '')}"
        shape = node.stats.shape if node.stats is not None else None
        return f"{_dims(shape)}, {cell}" if column == "params" and shape is not None else cell
    return "; ".join(dict.fromkeys(filter(None, (_described(m, column) for m in node.members))))


def _list(root: ViewNode, columns: list[str]) -> list[str]:
    table = [
        [node.name, *(_list_cell(node, root, c) for c in columns)]
        for node, _ in rows(root)
        if node.name != ROOT
    ]
    if not table:
        return []
    widths = [max(len(row[i]) for row in table) for i in range(len(columns) + 1)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


def _list_cell(node: ViewNode, root: ViewNode, column: str) -> str:
    if column == "occurrence":
        return f"{node.own['runs']}|{node.own['definitions']}"
    if column in node.own:
        own, total, whole = node.own[column], node.total[column], root.total[column]
        shares = f"{_share(total, whole)}, {_share(own, whole)}"
        return f"{amount(column, own)}{_UNITS.get(column, '')} ({shares})"
    if column == "input_shapes":
        return _counted_shapes(node.members)
    cells = (_described(m, column) for m in node.members)
    return "; ".join(dict.fromkeys(filter(None, cells)))


def _counted_shapes(members: list[NodeStats]) -> str:
    counts: dict[str, int] = {}
    for member in members:
        shapes = _described(member, "input_shapes") or "none"
        counts[shapes] = counts.get(shapes, 0) + 1
    return "; ".join(f"{shapes} (x{count})" for shapes, count in counts.items())


_DESCRIBE: dict[str, Callable[[NodeStats], str]] = {
    "device": lambda node: "|".join(node.devices),
    "op_types": lambda node: "|".join(node.types),
    "input_shapes": lambda node: "|".join(f"{i}:{_dims(s)}" for i, s in node.input_shapes.items()),
    "tensor_value": lambda node: _value(node.value),
}


def _described(node: NodeStats, column: str) -> str:
    return _DESCRIBE[column](node)


def _value(value: np.ndarray | None) -> str:
    return "" if value is None or value.size > 1 else str(value.tolist())


def _dims(dims: tuple[int, ...] | None) -> str:
    return "x".join(map(str, dims or ())) or "scalar"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "0.00%"


def amount(column: str, value: int) -> str:
    """A number with the unit of its column, three digits or so.

    >>> amount("micros", 33750), amount("bytes", 2_100_000), amount("float_ops", 727)
    ('33.75ms', '2.10MB', '727')
    """
    if column in _TIMES:
        return _scaled(value, (("us", 1), ("ms", 10**3), ("sec", 10**6)))
    if column.endswith("bytes"):
        return _scaled(value, (("B", 1), ("KB", 10**3), ("MB", 10**6), ("GB", 10**9)))
    return _scaled(value, (("", 1), ("k", 10**3), ("m", 10**6), ("b", 10**9)))


def _scaled(value: int, units: tuple[tuple[str, int], ...]) -> str:
    name, size = next((u for u in reversed(units) if value >= u[1]), units[0])
    return f"{value}{name}" if size == 1 else f"{value / size:.2f}{name}"
