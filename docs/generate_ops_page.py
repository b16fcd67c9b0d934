"""Writes docs/ops.md: which of TensorFlow 1.15's op types and public names are here.

    python docs/generate_ops_page.py

The lists come from TensorFlow's (``shared/spec`` above the checkout) and from the package itself;
the reasons for what is absent are the tables ``OPS_ABSENT`` and ``SYMBOLS_ABSENT`` in
``absences.py``, rows of a pattern and a reason, of which the first that fits holds.
``tests/api/test_ops_page.py`` holds the page to what this makes.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from os.path import commonprefix
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from absences import OPS_ABSENT, SYMBOLS_ABSENT

import penstock
from penstock.foundation.opdef.registry import all_ops
from penstock.storage.interchange.onnx_file import why_not as why_not_onnx
from penstock.storage.interchange.python_program import why_not as why_not_python

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "ops.md"
# Which op types leave as .pt2, by trials: `python -m tests.storage.interchange.record_pt2`.
_PT2 = json.loads((ROOT / "tests/storage/interchange/pt2_ops.json").read_text())
_HEAD = """# Op types and public names

What of TensorFlow 1.15 is here and what is not, and why not. This page is generated
(`python docs/generate_ops_page.py`); a test compares it with the code. A number behind a name
says how many of some 40 public TensorFlow 1.x repositories use it.
"""


class Table:
    """TensorFlow's lists beside the package: what is present, what is absent and why."""

    def __init__(self, spec: Path) -> None:
        self.op_types: dict[str, Any] = json.loads((spec / "op_defs.json").read_text())
        public: dict[str, Any] = json.loads((spec / "public_api.json").read_text())
        self.symbols = sorted(n for n in public if not n.startswith("contrib."))
        self.uses = _uses(spec / "usage.tsv")
        # Op types that only passes make count where TensorFlow lists them as well (`_Send`).
        ours = {name for name, op in all_ops().items() if not op.internal or name in self.op_types}
        self.ops_present = sorted(set(self.op_types) & ours)
        self.ops_absent = sorted(set(self.op_types) - ours)
        self.ops_added = sorted(ours - set(self.op_types))
        self.symbols_present = [n for n in self.symbols if _is_public(n)]
        self.symbols_absent = sorted(set(self.symbols) - set(self.symbols_present))

    def shown(self, symbol: str) -> str:
        """``symbol`` with the number of repositories that use it."""
        count = self.uses.get(symbol, 0)
        return f"{symbol} {count}" if count else symbol


def find_spec() -> Path | None:
    """The folder of TensorFlow's lists above this checkout, or None."""
    for folder in ROOT.parents:
        if (folder / "shared" / "spec" / "op_defs.json").is_file():
            return folder / "shared" / "spec"
    return None


def reason(name: str, table: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The first row of ``table`` whose pattern fits the whole of ``name``, or None."""
    return next((row for row in table if re.fullmatch(row[0], name)), None)


def _uses(path: Path) -> dict[str, int]:
    rows = (line.split("\t") for line in path.read_text().splitlines()[1:])
    return {name.removeprefix("tf."): int(count) for name, count, *_ in rows}


def _is_public(name: str) -> bool:
    found: Any = penstock
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


# ---- op types by the file that defines them --------------------------------------------------


def _strings(node: ast.AST) -> set[str]:
    """The words of all string literals in ``node``: tables hold op types so as well."""
    found: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            found.update(re.findall(r"\w+", one.value))
    return found


def _families(names: Iterable[str]) -> dict[str, list[str]]:
    """Op types by family: the file of ``penstock/ops`` that defines them.

    That is the file that holds the function of the op (its kernel, its gradient or its shape rule),
    or else calls ``define_op`` with its name, or else names it outside of functions.
    """
    direct: dict[str, str] = {}
    loose: dict[str, str] = {}
    for path in sorted((ROOT / "penstock" / "ops").rglob("*.py")):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "define_op":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    direct.setdefault(str(first.value), path.stem)
        # A file that calls `define_op` in a loop names its ops outside of functions.
        top = [n for n in tree.body if not isinstance(n, ast.FunctionDef | ast.ClassDef)]
        if "define_op" in path.read_text():
            for word in {word for node in top for word in _strings(node)}:
                loose.setdefault(word, path.stem)
    families = defaultdict(list)
    ops = all_ops()
    named = {name: _family(name, ops, direct, loose) for name in names}
    for name, family in named.items():
        families[family or _family_of_nearest(name, named)].append(name)
    return dict(sorted(families.items()))


def _family_of_nearest(name: str, named: dict[str, str | None]) -> str:
    """The family of the op type that shares most letters: names that a loop puts together."""
    others = [other for other, family in named.items() if family]
    return str(named[max(others, key=lambda other: len(commonprefix([name, other])))])


def _family(
    name: str, ops: Mapping[str, Any], direct: dict[str, str], loose: dict[str, str]
) -> str | None:
    if name in direct:
        return direct[name]
    op = ops[name]
    for function in (op.kernel, op.gradient, op.shape, op.state):
        module = getattr(function, "__module__", "") or ""
        if module.startswith("penstock.ops."):
            return module.rpartition(".")[2]
    return loose.get(name, loose.get(re.sub(r"V\d+$", "", name)))


# ---- the page --------------------------------------------------------------------------------


def _absent(names: Iterable[str], table: Iterable[tuple[str, ...]], shown: Any) -> list[str]:
    rows: dict[str, list[str]] = defaultdict(list)
    for name in names:
        row = reason(name, table)
        rows[row[1] if row else "**no reason is given**"].append(shown(name))
    lines = ["| why not | names |", "|---|---|"]
    return [*lines, *(f"| {why} | {', '.join(found)} |" for why, found in sorted(rows.items()))]


def _those(names: list[str], why_not: Any) -> str:
    """Which of a family leave: all, none, or by name."""
    found = [name for name in names if why_not(all_ops()[name]) is None]
    if len(found) in (0, len(names)):
        return "all" if found else "none"
    return ", ".join(found)


def _by_trial(names: list[str]) -> str:
    """Which of a family leave as .pt2, by what was recorded of rows of the op table."""
    found = [name for name in names if name in _PT2["all"]]
    if len(found) == len(names):
        return "all"
    found += [f"{name} in part" for name in names if name in _PT2["some"]]
    return ", ".join(found) or "none"


def _untraceable(names: Iterable[str]) -> list[str]:
    """How many leave as .pt2, and which leave in a Python program alone."""
    kept = [name for name in names if name in _PT2["none"]]
    alone = [name for name in kept if why_not_python(all_ops()[name]) is None]
    count = {kind: sum(name in ops for name in names) for kind, ops in _PT2.items()}
    return [
        "Whether torch.export follows a kernel is known by trial alone: up to three rows of the op"
        f" table (`tests/ops`) for each of {sum(count.values())} op types, of which the values are"
        " compared."
        f" {count['all']} leave as `.pt2` in all of them, {count['some']} in part: the"
        " others of their rows have sizes or a course that depend on values, or are refused in"
        f" Python too. {len(alone)} leave in a Python program and in no row as `.pt2`:"
        f" {', '.join(alone)}. An op type without such a row counts as one that does not leave;"
        " the error of an export names the node that torch could not follow.",
    ]


def _kept_back(names: Iterable[str]) -> list[str]:
    """How many leave, and why the others do not leave in a Python program."""
    ops = [all_ops()[name] for name in names]
    reasons: dict[str, list[str]] = defaultdict(list)
    for op in ops:
        why = why_not_python(op)
        if why is not None:
            plain = re.match(r"it (changes|has state|waits|draws)|its kernel needs", why)
            reasons[why if plain else "its kernel works with objects of the engine"].append(op.name)
    python = len(ops) - sum(map(len, reasons.values()))
    onnx = sum(why_not_onnx(op) is None for op in ops)
    lines = [
        f"{python} of them leave in a Python program, {onnx} in ONNX, where the others have no"
        " rule. Why not in Python:", "",
        "| why not | op types |", "|---|---|",
    ]  # fmt: skip
    return [*lines, *(f"| {why} | {', '.join(found)} |" for why, found in sorted(reasons.items()))]


def _namespaces(names: Iterable[str]) -> dict[str, list[str]]:
    spaces = defaultdict(list)
    for name in names:
        spaces["tf." + name.rpartition(".")[0]].append(name)
    return dict(sorted(spaces.items()))


def page(table: Table) -> str:
    """The text of docs/ops.md."""
    lines = [_HEAD, "## Op types", ""]
    lines += [
        f"{len(table.ops_present)} of {len(table.op_types)} are present,"
        f" {len(table.ops_absent)} absent.", "",
        *_absent(table.ops_absent, OPS_ABSENT, str), "",
        "Present, by the file of `penstock/ops` that defines them, and which of them",
        "[leave](exporting.md) in a Python program, in ONNX and as torch's `.pt2`:", "",
        "| family | op types | to Python | to ONNX | to .pt2 |", "|---|---|---|---|---|",
    ]  # fmt: skip
    families = _families(table.ops_present)
    for family, names in families.items():
        sides = (_those(names, why_not) for why_not in (why_not_python, why_not_onnx))
        lines.append(
            f"| {family} | {', '.join(names)} | {' | '.join(sides)} | {_by_trial(names)} |"
        )
    lines += ["", *_kept_back(table.ops_present), "", *_untraceable(table.ops_present)]
    lines += [
        "", "Beyond TensorFlow's list (most of them op types of 1.15 without a public name):"
        f" {', '.join(table.ops_added)}.", "",
        "## Public names", "",
        f"Outside `tf.contrib`, {len(table.symbols_present)} of {len(table.symbols)} are present,"
        f" {len(table.symbols_absent)} absent.", "",
        *_absent(table.symbols_absent, SYMBOLS_ABSENT, table.shown), "",
        "Present:", "",
        "| where | names |", "|---|---|",
    ]  # fmt: skip
    for space, names in _namespaces(table.symbols_present).items():
        short = [table.shown(n) for n in names]
        prefix = space.removeprefix("tf.") + "."
        short = [s.removeprefix(prefix) for s in short]
        lines.append(f"| `{space.rstrip('.')}` | {', '.join(short)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the page."""
    spec = find_spec()
    if spec is None:
        sys.exit("no shared/spec above this checkout: TensorFlow's lists are needed")
    PAGE.write_text(page(Table(spec)))


if __name__ == "__main__":
    main()
