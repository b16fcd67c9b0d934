"""The four views of a profile, as trees: what is counted, what is shown, in what order.

``scope`` is the tree of names, ``graph`` hangs each node below a consumer of it, ``code`` is the
tree of the lines that made the nodes, and ``op`` a list of op types.  A node counts when one of its
types matches; a hidden node's children move up to the nearest shown ancestor.  Trees can be as deep
as graphs are, so nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from penstock.tools.profiler.nodes import NUMBERS, NodeStats
from penstock.tools.profiler.options import Options, matches

ROOT = "_TFProfRoot"
_LIMITED = (
    "bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros",
    "cpu_micros", "params", "float_ops",
)  # fmt: skip
_KEYS = (*NUMBERS, "runs", "definitions")


@dataclass(eq=False)
class ViewNode:
    """A row of a report: a node, a scope, an op type or a line of code."""

    name: str
    # The nodes it stands for: one in the scope and graph views, none for a scope that is no node.
    members: list[NodeStats] = field(default_factory=list)
    children: list[ViewNode] = field(default_factory=list)
    depth: int = 1
    own: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KEYS, 0))
    total: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KEYS, 0))

    @property
    def stats(self) -> NodeStats | None:
        """The one node that it stands for, if there is one."""
        return self.members[0] if self.members else None


def build(nodes: list[NodeStats], view: str, options: Options) -> ViewNode:
    """The tree that a report shows.

    Args:
      nodes: every node.
      view: ``"scope"``, ``"graph"``, ``"op"`` or ``"code"``.
      options: what to count and show.

    Returns:
      The root.  In the ``op`` view each row is the child of the row before it, as in TensorFlow,
      and ``total`` is of the row and all that follow.
    """
    if view == "op":
        return _chain(nodes, options)
    root = _TREES[view](nodes)
    _account(root, options)
    _start(root, options)
    return _shown(root, options, whole=view == "code")


def rows(root: ViewNode) -> Iterable[tuple[ViewNode, int]]:
    """Every row with its indentation, from the top."""
    stack = [(root, 0)]
    while stack:
        node, level = stack.pop()
        yield node, level
        stack.extend((child, level + 1) for child in reversed(node.children))


# ---- the trees -------------------------------------------------------------------------------


def _scope_tree(nodes: list[NodeStats]) -> ViewNode:
    by_name = {"": ViewNode(ROOT)}

    def at(name: str) -> ViewNode:
        missing = []
        while name not in by_name:
            missing.append(name)
            name = name.rpartition("/")[0]
        parent = by_name[name]
        for part in reversed(missing):
            child = by_name[part] = ViewNode(part)
            parent.children.append(child)
            parent = child
        return parent

    for node in nodes:
        at(node.name).members.append(node)
    return by_name[""]


def _graph_tree(nodes: list[NodeStats]) -> ViewNode:
    """Depth first from the nodes that nothing consumes; a node hangs where it is met first."""
    made = {node.name: ViewNode(node.name, [node]) for node in nodes}
    consumed: set[str] = set()
    for node in nodes:
        consumed.update(_sources(node))
    root = ViewNode(ROOT)
    seen: set[str] = set()
    for start in [n for n in nodes if n.name not in consumed] + nodes:
        stack = [(root, start.name)]
        while stack:
            parent, name = stack.pop()
            if name in seen or name not in made:
                continue
            seen.add(name)
            parent.children.append(made[name])
            node = made[name].members[0]
            stack.extend((made[name], source) for source in reversed(_sources(node)))
    return root


def _sources(node: NodeStats) -> list[str]:
    op = node.op
    if op is None:
        return []
    return [t.op.name for t in op.inputs] + [c.name for c in op.control_inputs]


def _code_tree(nodes: list[NodeStats]) -> ViewNode:
    root = ViewNode(ROOT)
    by_path: dict[tuple[str, ...], ViewNode] = {(): root}
    for node in nodes:
        if not node.code:
            continue
        path: tuple[str, ...] = ()
        for line in node.code:
            parent = by_path[path]
            path = (*path, line)
            if path not in by_path:
                by_path[path] = ViewNode(line)
                parent.children.append(by_path[path])
        by_path[path].members.append(node)
    return root


_TREES: dict[str, Callable[[list[NodeStats]], ViewNode]] = {
    "scope": _scope_tree,
    "graph": _graph_tree,
    "code": _code_tree,
}
VIEWS = ("scope", "graph", "op", "code")


# ---- counting and showing --------------------------------------------------------------------


def _preorder(root: ViewNode, options: Options | None = None) -> list[ViewNode]:
    """Every node before its children; with options, only as far as is looked at."""
    root.depth = 1
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        if options is not None and node is not root:
            if matches(options.trim_name_regexes, [node.name]):
                node.children = []
        for child in node.children:
            child.depth = node.depth + 1
        if options is None or node.depth < options.max_depth:
            stack.extend(reversed(node.children))
        else:
            node.children = []
    return order


def _account(root: ViewNode, options: Options) -> None:
    """Own numbers and totals of what counts; what neither counts nor holds what does goes."""
    for node in reversed(_preorder(root)):
        node.members = [m for m in node.members if options.accounts(m.types)]
        _add_members(node)
        node.children = [c for c in node.children if c.members or c.children]
        if node is not root:
            node.own["definitions"] = max(node.own["definitions"], 1)
        node.total = dict(node.own)
        for child in node.children:
            _add(node.total, child.total)


def _add_members(node: ViewNode) -> None:
    for member in node.members:
        _add(node.own, member.numbers)
        node.own["runs"] += member.runs
        node.own["definitions"] += 1


def _add(into: dict[str, int], numbers: dict[str, int]) -> None:
    for key, value in numbers.items():
        into[key] += value


def _start(root: ViewNode, options: Options) -> None:
    """Hangs the topmost nodes that the report is to start at right below the root."""
    if matches(options.start_name_regexes, [root.name]):
        return
    found, stack = [], list(reversed(root.children))
    while stack:
        node = stack.pop()
        if matches(options.start_name_regexes, [node.name]):
            found.append(node)
        else:
            stack.extend(reversed(node.children))
    root.children = found
    root.total = dict.fromkeys(_KEYS, 0)
    for child in found:
        _add(root.total, child.total)


def _shown(root: ViewNode, options: Options, whole: bool) -> ViewNode:
    """The tree of shown nodes.

    Args:
      whole: limits hold for totals, and hidden nodes stay counted (the code view, whose rows are
        mostly calls that make no node themselves).
    """
    shown: dict[ViewNode, list[ViewNode]] = {}
    for node in reversed(_preorder(root, options)):
        below = [row for child in node.children for row in shown.get(child, ())]
        if node is not root and not _is_shown(node, options, whole):
            shown[node] = below
            continue
        node.children = _ordered(below, options, whole=True)
        if options.account_displayed_op_only and not whole:
            node.total = dict(node.own)
            node.total["definitions"] = max(node.total["definitions"], 1)
            for child in node.children:
                _add(node.total, child.total)
        shown[node] = [node]
    return root


def _is_shown(node: ViewNode, options: Options, whole: bool) -> bool:
    numbers = node.total if whole else node.own
    if any(numbers[key] < options.minimum(key) for key in _LIMITED):
        return False
    if whole and numbers["definitions"] < options.min_occurrence:
        return False
    return matches(options.show_name_regexes, [node.name]) and not matches(
        options.hide_name_regexes, [node.name]
    )


def _ordered(nodes: list[ViewNode], options: Options, whole: bool) -> list[ViewNode]:
    by_name = sorted(nodes, key=lambda n: n.name)
    key = options.order_by
    if key == "name":
        return by_name
    if key == "depth":
        return sorted(by_name, key=lambda n: n.depth)
    key = "definitions" if key == "occurrence" else key
    return sorted(by_name, key=lambda n: -(n.total if whole else n.own)[key])


def _chain(nodes: list[NodeStats], options: Options) -> ViewNode:
    by_type: dict[str, ViewNode] = {}
    for node in nodes:
        if options.accounts(node.types):
            by_type.setdefault(node.type, ViewNode(node.type)).members.append(node)
    root = ViewNode(ROOT)
    for row in by_type.values():
        _add_members(row)
        _add(root.total, row.own)
    rows = _from_start(_ordered(list(by_type.values()), options, whole=False), options)
    shown = [row for row in rows[: options.max_depth] if _is_listed(row, options)]
    if options.account_displayed_op_only:
        root.total = dict.fromkeys(_KEYS, 0)
        for row in shown:
            _add(root.total, row.own)
    below = root.total
    last = root
    for depth, row in enumerate(shown, start=2):
        row.total, row.depth = dict(below), depth
        below = {key: below[key] - row.own[key] for key in _KEYS}
        last.children = [row]
        last = row
    return root


def _from_start(rows: list[ViewNode], options: Options) -> list[ViewNode]:
    """The part of the list from the first start to the first end."""
    starts = [matches(options.start_name_regexes, [r.name]) for r in rows]
    rows = rows[starts.index(True) :] if True in starts else []
    ends = [matches(options.trim_name_regexes, [r.name]) for r in rows]
    return rows[: ends.index(True) + 1] if True in ends else rows


def _is_listed(row: ViewNode, options: Options) -> bool:
    if row.own["definitions"] < options.min_occurrence:
        return False
    return _is_shown(row, options, whole=False)
