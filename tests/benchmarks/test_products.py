"""Is the kernel chosen for a product the fastest one?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import products
from penstock.ops.linalg import product_forms, product_timing
from penstock.ops.linalg.product_forms import Form
from penstock.ops.linalg.product_timing import Choice

FORM = Form(8, 16, 8)


class _Clock:
    """A clock that only kernels move, so that nobody's work counts."""

    now = 0.0

    def perf_counter(self) -> float:
        self.now += 1e-6
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def taking(monkeypatch: pytest.MonkeyPatch) -> None:
    """``mm`` takes twice as long as ``turned``."""
    clock = _Clock()

    def calls_of(_: Form) -> dict[str, Callable[[], Any]]:
        times = {"mm": 2e-3, "turned": 1e-3}
        return {name: functools.partial(clock.spend, took) for name, took in times.items()}

    monkeypatch.setattr(products, "time", clock)
    monkeypatch.setattr(product_timing, "calls_of", calls_of)


def test_forty_forms() -> None:
    assert len(set(products.FORMS)) == 40
    assert all("mm" in product_forms.kernels(form) for form in products.FORMS)


def test_a_choice_is_compared_with_the_fastest(taking: None) -> None:
    wrong, right = (products.compare(FORM, name, 0.3) for name in ("mm", "turned"))
    assert wrong.ratio == pytest.approx(2.0, rel=0.01)
    assert right.ratio == 1.0
    said = products.table([wrong, right]).splitlines()
    assert said[1].split()[:3] == ["8x16x8", "turned", "1.000"]
    assert said[2].split()[:2] == ["8x16x8", "mm"]


@pytest.mark.parametrize("kernel, status", [("mm", 1), ("turned", 0)])
def test_the_exit_status_tells(
    taking: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernel: str,
    status: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(products, "FORMS", (FORM,))
    monkeypatch.setattr(product_timing, "measure", lambda form, count: Choice(kernel, {}))
    assert products.main(["--seconds", "0.02"]) == status
    assert f"{1 - status} of 1 chosen kernels" in capsys.readouterr().out


def test_busy_cores_are_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_timing, "measure", lambda form, count: None)
    with pytest.raises(RuntimeError, match="nothing was chosen for 8x16x8"):
        products.choices([FORM], 1)
