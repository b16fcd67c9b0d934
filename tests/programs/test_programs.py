"""Whole TF1 programs: the losses, parameters and node names that TensorFlow 1.15 gives them.

`sources/` holds the programs, one text for both systems; `make_expected.py` ran them there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.programs import program

EXPECTED: dict[str, Any] = json.loads((Path(__file__).parent / "expected.json").read_text())
# Losses and sums of float32 programs of five to twenty steps. Two correct systems add up in
# different orders, and training makes the last bits grow.
RTOL, ATOL = 1e-4, 2e-6
# A sum of an array (a projection of it) is as uncertain as its terms, also where they cancel: this
# much of the array's norm. Where they cancel, kernels of other instruction sets differ by 2e-6.
OF_NORM = 1e-5
NAMES = program.names()


def assert_same(found: Any, wanted: Any, where: str) -> None:
    """Compares nested results: numbers closely, everything else exactly."""
    if isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted), where
        if "ramp" in wanted:
            assert_same_summary(found, wanted, where)
            return
        for key, value in wanted.items():
            assert_same(found[key], value, f"{where}/{key}")
    elif isinstance(wanted, list) and wanted and not isinstance(wanted[0], str):
        np.testing.assert_allclose(found, wanted, rtol=RTOL, atol=ATOL, err_msg=where)
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=RTOL, abs=ATOL), where
    else:
        assert found == wanted, where


def assert_same_summary(found: Any, wanted: Any, where: str) -> None:
    """Compares what `program.summary` gives of a large array."""
    assert found["shape"] == wanted["shape"], where
    for key in ("norm", "sum", "ramp"):
        close = pytest.approx(wanted[key], rel=RTOL, abs=OF_NORM * wanted["norm"])
        assert found[key] == close, f"{where}/{key}"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """What Penstock gave, by program: each is run once for all its tests."""
    return {}


def result_of(results: dict[str, Any], name: str) -> Any:
    if name not in results:
        results[name] = program.run(tf, name)
    return results[name]


def test_sums_are_compared_by_the_size_of_their_terms() -> None:
    terms = np.linspace(-1.0, 1.0, 100)
    for scale in (1e-3, 1.0, 1e3):
        wanted = program.summary(scale * terms)
        assert abs(wanted["sum"]) < 1e-12 * scale
        bias = OF_NORM * wanted["norm"] / terms.size
        assert_same({"x": program.summary(scale * terms + 0.9 * bias)}, {"x": wanted}, "x")
        for wrong in (scale * terms + 1.1 * bias, scale * terms * 1.001, scale * np.abs(terms)):
            with pytest.raises(AssertionError, match="x/"):
                assert_same({"x": program.summary(wrong)}, {"x": wanted}, "x")


def test_every_program_has_expectations() -> None:
    assert sorted(EXPECTED) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_losses(name: str, results: dict[str, Any]) -> None:
    assert_same(result_of(results, name)["losses"], EXPECTED[name]["losses"], name)


@pytest.mark.parametrize("part", ["variables", "final", "facts"])
@pytest.mark.parametrize("name", NAMES)
def test_results(name: str, part: str, results: dict[str, Any]) -> None:
    assert_same(result_of(results, name)[part], EXPECTED[name][part], name)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_nodes(name: str, results: dict[str, Any]) -> None:
    found, wanted = result_of(results, name), EXPECTED[name]
    assert found["names"] == wanted["names"]
    # Types and inputs: `test_interchange.py` says which node it is.
    assert found["graph"] == wanted["graph"]
