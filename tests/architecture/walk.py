"""Follows the README's program from its first line to its last: which code does one meet?

    python -m tests.architecture.walk

prints the package's files in the order in which a function of theirs is first entered while the
program is built and run, with their lines and those of the functions entered, and the sums.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "penstock"


@dataclass
class Met:
    """A file that the walk met."""

    lines: int
    entered: set[int] = field(default_factory=set)

    def enter(self, code: CodeType) -> None:
        """Takes note of a function's lines."""
        last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
        self.entered.update(range(code.co_firstlineno, last + 1))


def program() -> CodeType:
    """The README's first program, of three steps."""
    text = (ROOT / "README.md").read_text()
    lines = text.split("```python\n", 1)[1].split("```", 1)[0].replace("range(500)", "range(3)")
    return compile(lines, "README.md", "exec")


def _digits() -> Any:
    """In the place of scikit-learn's digits: random ones of their shapes."""
    random = np.random.default_rng(0)
    images = random.integers(0, 17, (1797, 64)).astype(np.float64)
    return SimpleNamespace(data=images, target=random.integers(0, 10, 1797))


def walk() -> dict[str, Met]:
    """Builds and runs the program; the files by name, in the order in which they were met."""
    sys.modules["sklearn"] = SimpleNamespace()  # type: ignore[assignment]
    sys.modules["sklearn.datasets"] = SimpleNamespace(load_digits=_digits)  # type: ignore[assignment]
    code, names = program(), {"__name__": "__main__"}
    # What other processes have compiled and kept is not the way of a program that is new.
    os.environ["PENSTOCK_CACHE"] = tempfile.mkdtemp()
    exec(code, dict(names))  # once before: loading modules is not the way of a step
    met: dict[str, Met] = {}
    seen: set[CodeType] = set()

    def observe(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code not in seen:
            seen.add(frame.f_code)
            path = Path(frame.f_code.co_filename)
            if frame.f_code.co_name != "<module>" and path.is_relative_to(PACKAGE):
                name = str(path.relative_to(PACKAGE))
                if name not in met:
                    met[name] = Met(len(path.read_text().splitlines()))
                met[name].enter(frame.f_code)

    sys.setprofile(observe)
    try:
        exec(code, dict(names))
    finally:
        sys.setprofile(None)
    return met


def main() -> None:
    """Command line; see the module docstring."""
    met = walk()
    for name, file in met.items():
        print(f"{name:40} {len(file.entered):5} of {file.lines:5} lines")
    entered = sum(len(file.entered) for file in met.values())
    lines = sum(file.lines for file in met.values())
    print(f"{len(met)} files of {lines} lines; {entered} lines in the functions entered")


if __name__ == "__main__":
    main()
