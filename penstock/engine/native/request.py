"""What the compiling process is asked, and the key of the answer.

A request is data: the lines of a program that ``codegen`` has written (literals, identifiers and
calls of kernels that are named by module), and what a real step has shown of its values.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from penstock.compiler.stretches.cut import Stretch, cut
from penstock.compiler.stretches.lines import Line, Program, line_of, parse

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Request:
    """A program to be compiled.

    Args:
      arguments, resources, constants: as of a ``Program``.
      rows: number, text, names let go of, whether it may be compiled, whether it is a view, the
        number of its block.
      functions: where the kernels are by their names in the text: ``module:name``.
      values: shape, strides and dtype of locals, variables and constants, as a step has shown.
      threads: that large loops are worth being split among.
    """

    arguments: list[str]
    resources: list[str]
    constants: list[str]
    rows: list[list[Any]]
    functions: dict[str, str]
    values: dict[str, list[Any]]
    threads: int

    @staticmethod
    def of(
        program: Program, functions: Mapping[str, str], values: Mapping[str, Any], threads: int
    ) -> Request:
        """The request for a program."""
        rows: list[list[Any]] = [
            [line.number, line.text, list(line.released), line.compiles, line.is_view, index]
            for index, block in enumerate(program.blocks)
            for line in block
        ]
        return Request(
            list(program.arguments), list(program.resources), list(program.constants), rows,
            dict(functions), dict(values), threads,
        )  # fmt: skip

    @staticmethod
    def parse(text: str) -> Request:
        """A request from its text."""
        return Request(**json.loads(text))

    def __str__(self) -> str:
        return json.dumps(asdict(self))

    @property
    def program(self) -> Program:
        """Its lines."""
        blocks: list[list[Line]] = []
        for number, text, gone, compiles, is_view, index in self.rows:
            blocks += [[] for _ in range(index + 1 - len(blocks))]
            blocks[index].append(line_of(number, _body(text), gone, compiles, is_view))
        return Program(
            tuple(self.arguments), tuple(map(tuple, blocks)), tuple(self.resources),
            tuple(self.constants),
        )  # fmt: skip

    @property
    def lines(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """Number, text and names set of the lines that may be compiled."""
        return [(x.number, x.text, x.sets) for x in self.program.lines if x.compiles]

    def cut(self, refused: Collection[int]) -> list[Stretch]:
        """The stretches, where these lines cannot be compiled."""
        return cut(self.program, refused)

    def text_of(self, part: Stretch) -> str:
        """The lines of a stretch."""
        rows = [text for number, text, *_ in self.rows if part.first <= number <= part.last]
        return "\n".join(rows) + "\n"


def _body(text: str) -> list[ast.stmt]:
    """Statements of a function's body, a return among them."""
    indented = "\n".join(f" {line}" for line in text.splitlines())
    return parse(f"def f():\n{indented or ' pass'}").body
