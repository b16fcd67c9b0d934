"""How commands speak: tables and lines for people, JSON for machines, one line for an error.

Where the output is no terminal, tables are plain columns as wide as they need to be: a name stays
on one line, whole, so that ``grep`` and ``cut`` work.  Names are never read as rich markup.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from penstock.cli.failure import Failure as Failure
from penstock.foundation.base.mismatch import show

# Wider than any line: rich would fold or cut what does not fit.
_UNBOUNDED = 1_000_000


class Output:
    """Where one command writes: stdout, as text or as JSON."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        plain = not sys.stdout.isatty()
        self._plain = plain
        self._console = Console(
            file=sys.stdout, highlight=False, soft_wrap=True, width=_UNBOUNDED if plain else None
        )

    @property
    def columns(self) -> int | None:
        """How wide the terminal is; None where the output is none."""
        return None if self._plain else self._console.width

    def line(self, text: str = "") -> None:
        """One line, never wrapped."""
        self._console.print(Text(text), soft_wrap=True)

    def title(self, text: str) -> None:
        """A line that heads a section."""
        self._console.print(Text(text, style="bold"), soft_wrap=True)

    def json(self, value: Any) -> None:
        """A JSON document."""
        sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")

    def code(self, source: str) -> None:
        """Python source, coloured on a terminal."""
        if self._plain:
            sys.stdout.write(source if source.endswith("\n") else source + "\n")
        else:
            self._console.print(Syntax(source, "python", background_color="default"))

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], right: Iterable[str] = ()
    ) -> None:
        """A table.

        Args:
          columns: headings.
          rows: cells of each row.
          right: headings of columns that are aligned to the right.
        """
        numbers = set(right)
        if self._plain:
            _plain_table(columns, rows, numbers)
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            justify = "right" if column in numbers else "left"
            table.add_column(column, justify=justify, overflow="fold")  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*(Text(cell(value)) for value in row))
        self._console.print(table, soft_wrap=False)


def _plain_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], right: set[str]) -> None:
    cells = [list(columns), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        parts = [
            text.rjust(width) if column in right else text.ljust(width)
            for text, width, column in zip(row, widths, columns, strict=True)
        ]
        sys.stdout.write("  ".join(parts).rstrip() + "\n")


def cell(value: Any) -> str:
    """A value as a table shows it: control characters escaped, so that a row is one line."""
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def size(count: int) -> str:
    """A number of bytes for people.

    >>> size(512), size(1536)
    ('512 B', '1.5 KiB')
    """
    number = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            return f"{count} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    raise AssertionError


def shape_text(dims: Sequence[int | None] | None) -> str:
    """Dims as TensorFlow writes them; an unknown rank is ``<unknown>``.

    >>> shape_text((2, None)), shape_text(()), shape_text(None)
    ('[2,?]', '[]', '<unknown>')
    """
    if dims is None:
        return show(None)
    return show([None if d is None or d < 0 else d for d in dims])
