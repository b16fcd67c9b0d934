"""docs/ops.md says what is present and absent, and why; what programs use is present."""

from __future__ import annotations

import re

import pytest

from tests.api.generators import DOCS, generator

GENERATOR = generator("generate_ops_page")
SPEC = GENERATOR.find_spec()
if SPEC is None:
    pytest.skip("no shared/spec above this checkout", allow_module_level=True)
TABLE = GENERATOR.Table(SPEC)
# Op types named like a public function that does not make them in TensorFlow 1.15.
NOT_MADE: dict[str, str] = {}


def _plain(name: str) -> str:
    """``mat_mul``, ``MatMul`` and ``MatMulV2`` are all ``matmul``."""
    return re.sub(r"V\d+$", "", name).replace("_", "").lower()


def test_the_page_is_current() -> None:
    said = (DOCS / "ops.md").read_text()
    assert said == GENERATOR.page(TABLE), "run: python docs/generate_ops_page.py"


@pytest.mark.parametrize("kind", ["op types", "names"])
def test_every_absence_has_a_reason(kind: str) -> None:
    names, table = {
        "op types": (TABLE.ops_absent, GENERATOR.OPS_ABSENT),
        "names": (TABLE.symbols_absent, GENERATOR.SYMBOLS_ABSENT),
    }[kind]
    rows = {name: GENERATOR.reason(name, table) for name in names}
    assert [name for name, row in rows.items() if row is None] == []
    assert set(table) - set(rows.values()) == set(), "rows that nothing needs any more"


def test_absent_op_types_are_made_by_little_used_functions() -> None:
    makers = {m: TABLE.uses.get(m, 0) for row in GENERATOR.OPS_ABSENT for m in row[2]}
    assert {m: uses for m, uses in makers.items() if uses >= 2} == {}
    assert set(makers) <= set(TABLE.symbols_absent), "a function that is here makes what is not"


def test_op_types_that_programs_name_are_present() -> None:
    """A function that two repositories use is no wrapper of an op type that is absent."""
    used = {_plain(name.rpartition(".")[2]) for name, uses in TABLE.uses.items() if uses >= 2}
    assert [n for n in TABLE.ops_absent if _plain(n) in used and n not in NOT_MADE] == []
    assert set(NOT_MADE) <= set(TABLE.ops_absent), "the exception is not needed any more"
    assert sum(_plain(n) in used for n in TABLE.ops_present) > 150


def test_many_op_types_are_present() -> None:
    assert len(TABLE.ops_present) >= 600
