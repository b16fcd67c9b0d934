"""Which kernel is chosen for a product: measured, remembered, or given."""

from __future__ import annotations

import functools
import json
import os
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.engine.resources import threads
from penstock.foundation.machine import cache
from penstock.ops.linalg import product_choice, product_forms, product_timing
from penstock.ops.linalg.product_forms import Form
from tests.suite import warm

ROOT = Path(__file__).resolve().parents[2]
LARGE = Form(128, 256, 64)
pytestmark = pytest.mark.skipif(product_forms.linear is None, reason="torch without oneDNN")


class Uses:
    """A meter that reads what it is told, and the last of it again and again."""

    def __init__(self, *others: float) -> None:
        self._left = list(others)

    def read(self) -> Any:
        others = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        return types.SimpleNamespace(others=others)


@pytest.fixture(autouse=True)
def records(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> cache.Records:
    """A cache of the test's own, and nothing chosen yet."""
    made = cache.Records("products", tmp_path)
    monkeypatch.delenv("PENSTOCK_PRODUCTS", raising=False)
    monkeypatch.setattr(product_choice, "_chosen", {})
    monkeypatch.setattr(product_choice, "_doubtful", set())
    monkeypatch.setattr(product_choice, "_others", product_choice.Others(lambda: Uses(0.0)))
    monkeypatch.setattr(product_choice, "_records", lambda: made)
    product_choice._remembered.cache_clear()
    monkeypatch.setattr(threads, "waits_sleep", lambda: False)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    yield made
    product_choice._remembered.cache_clear()


@pytest.fixture
def taking(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Form]]:
    """Has kernels take what the test says; the forms that were timed."""

    def take(seconds: Callable[[Form, str], float]) -> list[Form]:
        timed: list[Form] = []

        def calls(form: Form) -> dict[str, Callable[[], Any]]:
            timed.append(form)
            kernels = product_forms.kernels(form)
            return {kernel: functools.partial(spend, form, kernel) for kernel in kernels}

        def spend(form: Form, kernel: str) -> None:
            end = time.thread_time() + seconds(form, kernel)
            while time.thread_time() < end:
                pass

        monkeypatch.setattr(product_timing, "calls_of", calls)
        # However busy the machine is, turns that were not disturbed are waited for.
        monkeypatch.setattr(product_timing, "_PATIENCE_SECONDS", 20.0)
        return timed

    return take


def only(fast: str) -> Callable[[Form, str], float]:
    return lambda form, kernel: 0.0002 if kernel == fast else 0.0006


@pytest.mark.parametrize("kernel", ["mm", "turned", "linear", "linear_turned"])
def test_the_fastest_is_chosen_once(kernel: str, taking: Any, records: cache.Records) -> None:
    timed = taking(only(kernel))
    assert [product_choice.best(LARGE) for _ in range(3)] == [kernel] * 3
    assert timed == [LARGE]
    ((key, (chosen, times)),) = records.read().items()
    assert key.startswith("128x256x64-") and chosen == kernel == min(times, key=times.get)
    (row,) = product_choice.report()
    assert row == {"form": key, "chosen": kernel, "times": times}


def test_small_products_are_not_timed(taking: Any) -> None:
    timed = taking(only("linear"))
    assert product_choice.best(Form(20, 20, 20)) == "mm"
    assert not product_choice.prefers_turned(Form(20, 20, 20))
    assert timed == []


def test_large_products_are_timed_on_smaller_ones(taking: Any) -> None:
    timed = taking(only("linear"))
    assert product_choice.best(Form(16, 10**6, 10**7)) == "linear"
    (stand_in,) = timed
    assert stand_in.rows == 16 and 1 / 2 < stand_in.inner / stand_in.columns < 2
    # As much memory as no cache holds, and no more.
    assert 3.5e6 < stand_in.inner * stand_in.columns <= 8e6


def test_what_an_earlier_process_found_is_taken(taking: Any, records: cache.Records) -> None:
    timed = taking(only("linear"))
    key = f"{LARGE.key}-{torch.get_num_threads()}t"
    times = dict.fromkeys(product_forms.kernels(LARGE), 9.0)
    records.add(key, ["turned", {**times, "turned": 3.0}])
    product_choice._remembered.cache_clear()
    assert product_choice.best(LARGE) == "turned" and timed == []


@pytest.mark.parametrize(
    "value",
    [
        None, "linear", [], ["os.system", {"os.system": 1.0}], ["linear", {"mm": 1.0}],
        ["linear", {"linear": "1"}], ["linear", {"linear": -1.0}], ["linear", [1.0]],
        ["mm", {"mm": float("nan")}], [["mm"], {"mm": 1.0}],
        ["turned", {"mm": 9.0, "turned": 3.0}],  # of an older Penstock, with fewer kernels
    ],
)  # fmt: skip
def test_records_that_are_none_are_measured_anew(
    value: Any, taking: Any, records: cache.Records
) -> None:
    timed = taking(only("linear"))
    records.add(f"{LARGE.key}-{torch.get_num_threads()}t", value)
    product_choice._remembered.cache_clear()
    assert product_choice.best(LARGE) == "linear" and timed == [LARGE]


def test_a_given_kernel_is_taken_wherever_it_can(
    taking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = taking(only("mm"))
    monkeypatch.setenv("PENSTOCK_PRODUCTS", "linear_turned")
    assert product_choice.best(LARGE) == "linear_turned"
    assert product_choice.best(LARGE._replace(relu=True)) == "mm"
    assert not product_choice.prefers_turned(LARGE) and timed == []


def test_a_weight_lies_turned_where_that_pays(taking: Any) -> None:
    taking(lambda form, kernel: 0.0002 if form.b_turned else 0.0006)
    assert product_choice.prefers_turned(LARGE)
    taking(lambda form, kernel: 0.0005 if form.b_turned else 0.00052)
    assert not product_choice.prefers_turned(LARGE._replace(rows=129))


@pytest.mark.parametrize(
    "others, timed", [([0.1, 0.1], {"1t", "2t"}), ([0.9, 0.9], {"1t"}), ([0.1, 0.9], {"1t"})]
)
def test_one_thread_is_timed_where_others_keep_cores_busy(
    taking: Any, monkeypatch: pytest.MonkeyPatch, records: cache.Records, others: list[float],
    timed: set[str],
) -> None:  # fmt: skip
    """They are looked at before a team is timed, and after it."""
    taking(only("linear"))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(product_choice, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(product_choice, "_others", product_choice.Others(lambda: Uses(*others)))
    assert product_choice.best(LARGE) == "linear"
    assert {key.rpartition("-")[2] for key in records.read()} == timed


@pytest.mark.parametrize(
    "team, chosen", [(0.9, "mm"), (1.2, "mm"), (1.3, "linear"), (2.49, "linear"), (2.51, "mm")]
)
def test_a_team_slower_than_one_thread_was_disturbed(
    team: float, chosen: str, taking: Any, monkeypatch: pytest.MonkeyPatch, records: cache.Records
) -> None:
    """Its times are not believed and not kept, and this process does not ask again."""
    alone = dict.fromkeys(product_forms.kernels(LARGE), 300.0)
    records.add(f"{LARGE.key}-1t", ["linear", {**alone, "linear": 200.0}])
    timed: list[int] = []

    def measure(form: Form, count: int) -> product_timing.Choice:
        timed.append(count)
        slow = dict.fromkeys(product_forms.kernels(form), 999.0)
        return product_timing.Choice("mm", {**slow, "mm": team * 200.0})

    monkeypatch.setattr(product_choice, "measure", measure)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert [product_choice.best(LARGE) for _ in range(2)] == [chosen] * 2
    assert timed == [2]
    assert (f"{LARGE.key}-2t" in records.read()) == (chosen == "mm")


def test_others_are_looked_at_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    others = product_choice.Others(lambda: Uses(0.9, 0.1))
    assert others.leave_cores(), "not looked at yet"
    monkeypatch.setattr(product_choice, "_LOOK_SECONDS", 0.0)
    assert [others.leave_cores(), others.leave_cores()] == [False, True]
    monkeypatch.setattr(threads, "waits_sleep", lambda: True)
    assert not others.leave_cores()


def test_where_nobody_tells_what_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise OSError("no /proc")

    assert product_choice.Others(fail).leave_cores()
    monkeypatch.setattr(product_choice, "_LOOK_SECONDS", 0.0)
    assert product_choice.Others(lambda: types.SimpleNamespace(read=fail)).leave_cores()


def test_where_no_turn_counts_nothing_is_remembered(
    taking: Any, monkeypatch: pytest.MonkeyPatch, records: cache.Records
) -> None:
    taking(only("linear"))
    monkeypatch.setattr(product_timing, "_UNDISTURBED", 1e9)
    monkeypatch.setattr(product_timing, "_PATIENCE_SECONDS", 0.01)
    assert product_choice.best(LARGE) == "mm"
    assert not product_choice.prefers_turned(LARGE)
    assert records.read() == {}


@pytest.mark.parametrize("kernel", ["mm", "turned", "linear", "linear_turned"])
def test_training_is_the_same_with_every_kernel(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def losses(kernel: str) -> list[float]:
        monkeypatch.setenv("PENSTOCK_PRODUCTS", kernel)
        random = np.random.RandomState(0)
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.constant(random.randn(30, 100), tf.float32)
            w = tf.Variable(random.randn(100, 40) / 10, dtype=tf.float32)
            v = tf.Variable(random.randn(40, 10) / 6, dtype=tf.float32)
            hidden = tf.nn.relu(tf.matmul(x, w) + tf.Variable(tf.zeros([40])))
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, v) - 1.0))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            session.run(tf.global_variables_initializer())
            return [session.run([loss, train])[0] for _ in range(5)]

    assert losses(kernel) == pytest.approx(losses("mm"), rel=1e-4)


_CHOOSE = """
import json, time
from penstock.ops.linalg import product_choice
from penstock.ops.linalg.product_forms import Form
begin = time.perf_counter()
found = product_choice.best(Form(128, 784, 512))
print(json.dumps([found, product_choice.report(), time.perf_counter() - begin]))
"""


@pytest.mark.long
def test_a_later_process_finds_what_was_measured(tmp_path: Path) -> None:
    environment = {**os.environ, "PENSTOCK_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environment["OMP_NUM_THREADS"] = "1"
    found = []
    for _ in range(2):
        done = warm.run(
            [sys.executable, "-c", _CHOOSE], env=environment, cwd=ROOT, text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        found.append(json.loads(done.stdout))
    (first, rows, _), (second, again, _) = found
    if not rows:
        pytest.skip("other work left no time to measure")
    assert (first, rows) == (second, again)
