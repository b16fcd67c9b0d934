"""All rows of the op table: every module of this package exports ``CASES``.

Rows without an id get ``<op>_<n>``, n counting the rows of that op within its module.  The module
name is not part of it, so an op's rows should live in one module; ids must be unique.  After them
come rows ``<op>_wider``: the widest row of an op, in the dtypes that ``tests/ops/wider.py`` adds.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import pkgutil

from tests.ops.opcase import OpCase
from tests.ops.wider import WIDER


def _written() -> list[OpCase]:
    cases: list[OpCase] = []
    seen: set[str] = set()
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        counts: collections.Counter[str] = collections.Counter()
        for case in module.CASES:
            number = counts[case.op]
            counts[case.op] += 1
            name = case.id or f"{case.op}_{number}"
            if name in seen:
                name = f"{name}_{info.name}"
            if name in seen:
                raise ValueError(f"case id {name!r} (module {info.name}) is used twice")
            seen.add(name)
            cases.append(dataclasses.replace(case, id=name))
    return cases


def _widened(cases: list[OpCase]) -> list[OpCase]:
    widest: dict[str, OpCase] = {}
    for case in cases:
        if case.raises or case.reason:
            continue
        best = widest.get(case.op)
        if best is None or len(case.dtypes) > len(best.dtypes):
            widest[case.op] = case
    return [
        dataclasses.replace(widest[op], id=f"{op}_wider", dtypes=dtypes)
        for op, dtypes in WIDER.items()
    ]


@functools.cache
def all_cases() -> list[OpCase]:
    """Returns every row, with an id, in module order."""
    cases = _written()
    return cases + _widened(cases)
