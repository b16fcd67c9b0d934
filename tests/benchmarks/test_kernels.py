"""The table of ops: each runs in Penstock and in PyTorch and gives the same."""

from __future__ import annotations

import doctest

import pytest

from benchmarks import kernel_cases, kernels, worker

NAMES = [name for name, size in kernel_cases.names() if not size]


def test_doctests() -> None:
    result = doctest.testmod(kernels)
    assert result.attempted and not result.failed


@pytest.fixture(scope="module")
def programs() -> list[dict]:
    return [
        worker.load_cases(kind, module)
        for kind, module in (("graph_kernels", "penstock"), ("torch_kernels", "torch"))
    ]


@pytest.mark.parametrize("name", NAMES)
def test_kernels_give_the_same(name: str, programs: list[dict]) -> None:
    made = [cases[kernel_cases.case_name(name, 0)]() for cases in programs]
    first, second = (worker.number_of(program.step()) for program in made)
    for program in made:
        program.close()
    assert kernel_cases.KERNELS[name].random or first == pytest.approx(second, rel=1e-4)


@pytest.mark.parametrize("name", ["embedding_gradient_50k_1024", "scatter_update_50k_1024"])
def test_sparse_updates_give_the_same(name: str, programs: list[dict]) -> None:
    made = [cases[name]() for cases in programs]
    values = [[worker.number_of(p.step()) for _ in range(10)] for p in made]
    assert values[0] == pytest.approx(values[1], rel=1e-4)
    if name.startswith("embedding"):
        assert values[0][8] < values[0][0]  # the first batch again


def test_forty_ops_at_three_sizes() -> None:
    assert len(NAMES) == 40
    cases = kernels.cases([])
    assert len(cases) == 40 * 3 + len(kernel_cases.ROWS)
    with pytest.raises(ValueError, match="no such kernel: matmull; there are matmul, "):
        kernels.cases(["matmull"])


def test_the_table_names_what_is_slow() -> None:
    row = {"penstock": 4e-3, "tensorflow": 2e-3, "torch": 1e-3}
    results = {"abs_small": row, "abs_large": row, "scatter_update_50k_1024": row}
    text = kernels.table(results)
    assert "4 ms    2.00     4.00" in text and "scatter_update_50k_1024" in text
    assert kernels.slow(results) == ["abs: 4.00 times the time of torch at large size (at most 2)"]
    results["scatter_update_5000k_1024"] = {"penstock": 6e-3}
    assert kernels.growths(results) == [
        "scatter_update, table of 50k to 5M rows, 1024 touched: time x penstock 1.50"
    ]
