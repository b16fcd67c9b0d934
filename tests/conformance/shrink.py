"""Cuts a random program down: ``python -m tests.conformance.shrink SEED``.

Without TensorFlow: a program is kept as long as the lowered step and the dataflow executor still
disagree, or one of them fails.  Statements are dropped one by one; names that they made become
inputs of the same kind.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

from tests.conformance import programs, random_programs

STANDS_FOR = {"v": "x", "s": "s0", "i": "n", "g": "x", "b": "p"}


def trouble(source: str, feeds: list[dict[str, object]]) -> str | None:
    """What is wrong with a program, in short; None if both ways agree."""
    job = {"id": "cut", "kind": "text", "source": source, "feeds": feeds}
    found = programs.run_text_ours(job, programs.MODES)
    errors = [f"{m}: {r['error']['class']}" for m, r in found.items() if "error" in r]
    if errors:
        built = found["lowered"].get("error", {}).get("stage") == "build"
        return None if built else "; ".join(errors)
    lowered, dataflow = (found[mode]["values"] for mode in programs.MODES)
    return "differ" if programs.difference(lowered, dataflow) else None


def _end(lines: list[str], start: int) -> int:
    """The line after the statement that starts at ``start``."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > indent:
        end += 1
    return end


def smaller(source: str) -> Iterator[str]:
    """Programs with one statement less, or one name replaced."""
    lines = source.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("    feeds =")) + 1
    for start in range(len(lines) - 1, first - 1, -1):
        made = re.match(r"\s*([\w, ]+?),? = ", lines[start])
        names = [] if made is None else [n.strip() for n in made[1].split(",")]
        rest = "\n".join(lines[:start] + lines[_end(lines, start) :]) + "\n"
        if lines[start].lstrip().startswith("with"):
            names = re.findall(r"(\w+) = ", "".join(lines[start + 1 : start + 2]))
        for name in names:
            if name[0] in STANDS_FOR and name not in ("s0",):
                rest = re.sub(rf"\b{name}\b", STANDS_FOR[name[0]], rest)
        yield rest
        for name in sorted(set(re.findall(r"\b[vsig]\d+\b", lines[start]))):
            if name != "s0" and name not in names:
                line = re.sub(rf"\b{name}\b", STANDS_FOR[name[0]], lines[start])
                yield "\n".join([*lines[:start], line, *lines[start + 1 :]]) + "\n"


def shrink(source: str, wrong: Callable[[str], bool]) -> str:
    """The smallest program found that is still wrong."""
    changed = True
    while changed:
        changed = False
        for candidate in smaller(source):
            if candidate != source and len(candidate) <= len(source) and wrong(candidate):
                source, changed = candidate, True
                break
    return source


def main(seed: int) -> int:
    """Command line; see the module docstring."""
    source, feeds = random_programs.source(seed), random_programs.feeds_of(seed)
    first = trouble(source, feeds)
    if first is None:
        print(f"seed {seed}: the lowered step and the dataflow executor agree")
        return 1
    print(f"# seed {seed}: {first}\n{shrink(source, lambda text: trouble(text, feeds) == first)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
