"""What docs/ops.md says of ``.pt2`` is what trials give, and no trial ends with a wrong value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.storage.interchange import record_pt2, test_op_rows as rows

# A model without inputs; one with a constant of no elements; one whose file torch cannot read.
_ROWS = {"Const_0": "", "FusedBatchNorm_0": "", "SegmentMean_0": "refused"}


def test_rows_that_torch_has_trouble_with(tmp_path: Path) -> None:
    cases = [case for case in rows.cases() if case.id in _ROWS]
    assert {case.id: rows.outcome(case, "pt2", tmp_path) for case in cases} == _ROWS


@pytest.mark.long
@pytest.mark.timeout(900)
def test_what_is_recorded_of_pt2_is_so(tmp_path: Path) -> None:
    found, wrong = record_pt2.tried(tmp_path)
    assert wrong == {}
    assert found == json.loads(record_pt2.FILE.read_text()), "run: record_pt2"
    assert len(found["all"]) > 280
