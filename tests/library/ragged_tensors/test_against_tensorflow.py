"""Expressions of ragged tensors beside TensorFlow 1.15: values, ragged dims, types, refusals.

Needs the environment that `make tf115` makes.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import penstock as tf
from tests import tf1_programs
from tests.library.ragged_tensors.programs import EXPRESSIONS, result

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = tf1_programs.ask(
        "tests.library.ragged_tensors.programs", tmp_path_factory.mktemp("ragged") / "results.json"
    )
    return found


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and bool(one == other)


@pytest.mark.timeout(600)
def test_expressions_give_what_tensorflow_gives(theirs: dict[str, Any]) -> None:
    ours = {e: json.loads(json.dumps(result(tf, e))) for e in EXPRESSIONS}
    differ = {e: (theirs[e], ours[e]) for e in EXPRESSIONS if not _same(theirs[e], ours[e])}
    assert not differ, "\n".join(f"{e}:\n  {t}\n  {o}" for e, (t, o) in differ.items())
    refused = sum(1 for e in EXPRESSIONS if ours[e] == "refused")
    assert refused < len(EXPRESSIONS) / 4
