"""How steps grow: every size in every file, the same losses, tables and plots."""

from __future__ import annotations

import doctest
from xml.etree import ElementTree

import pytest

import penstock
from benchmarks import scaling, scaling_cases, scaling_data, scaling_plot, worker

TIMES = {"nodes": {"penstock": {100: 1e-5, 1000: 1.2e-4}, "jax": {100: 2e-5}}}


@pytest.mark.parametrize("module", [scaling, scaling_data, scaling_plot])
def test_doctests(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted and not result.failed


def test_every_size_is_a_case() -> None:
    wanted = [case.name for case in scaling.cases([])]
    assert wanted == list(scaling_cases.CASES)
    assert len(wanted) == sum(map(len, scaling_data.SIZES.values()))
    kinds = {kind for case in scaling.cases([]) for kind in case.kinds}
    assert kinds <= set(worker.CASE_FILES)


def test_jax_is_not_asked_for_a_chain_that_it_compiles_for_minutes() -> None:
    kinds = {case.name: case.kinds for case in scaling.cases(["nodes"])}
    assert "jax_scaling" in kinds["nodes_10000"]
    assert "jax_scaling" not in kinds["nodes_100000"]


@pytest.mark.parametrize("name", ["vocabulary_50000", "width_64", "batch_8"])
def test_a_case_learns(name: str) -> None:
    program = scaling_cases.CASES[name](penstock)
    batches = 8 if name.startswith("vocabulary") else 2
    first = [program.step() for _ in range(batches)]
    later = [[program.step() for _ in range(batches)] for _ in range(4)][-1]
    program.close()
    assert sum(later) < sum(first)


def test_the_fastest_turn_counts() -> None:
    details = {"nodes_100": {"samples": {"penstock": [3e-5, 1e-5, 2e-5], "jax": []}}}
    assert scaling.times_of(details) == {"nodes": {"penstock": {100: 1e-5}}}


def test_a_size_that_was_not_measured_is_an_empty_cell() -> None:
    assert scaling.tables(TIMES)[1:] == [
        "| nodes | penstock | jax |",
        "|---|---|---|",
        "| 100 | 10 us | 20 us |",
        "| 1,000 | 120 us |  |",
    ]


def test_a_plot_has_a_point_for_each_time() -> None:
    root = ElementTree.fromstring(scaling_plot.svg({"a < b": TIMES["nodes"]}))
    tag = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f".//{tag}circle")) == 3
    texts = [text.text for text in root.iter(f"{tag}text")]
    assert "a < b" in texts and "jax" in texts and "1,000" in texts
    lower, higher = (
        float(circle.get("cy", "nan")) for circle in list(root.iter(f"{tag}circle"))[:2]
    )
    assert lower > higher  # a longer time stands higher
