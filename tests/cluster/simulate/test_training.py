"""Whole runs: steps whose times are known, what must be conserved, what must not fall or rise."""

from __future__ import annotations

import dataclasses
import random
import statistics
import time

import pytest

from penstock.cluster.simulate import PROFILES, Compute, Job, Model, Profile, simulate
from penstock.cluster.simulate.training import _Training

KINDS = ["fifo", "fair"]


def network(kind: str, **costs: float) -> Profile:
    return Profile("test", sharing=kind, **{"latency": 0.0, "bandwidth": 1e9, **costs})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_one_worker_adds_up(kind: str) -> None:
    # Down 100 ms, compute 50 ms, up 100 ms, update of 100 MB at 1 ns a byte.
    profile = network(kind, update_byte=1e-9)
    model = Model(dense_bytes=100e6, compute=Compute(0.05))
    result = simulate(model, Job(1, 1, "async", steps=10), profile)
    assert result.median == pytest.approx(0.35)
    assert result.p10 == pytest.approx(result.p90)


@pytest.mark.parametrize("kind", KINDS)
def test_a_synchronous_step_counts_every_message(kind: str) -> None:
    profile = network(
        kind, latency=1.0, send_cpu=0.01, recv_cpu=0.1, step_cpu=0.2, sync_cpu=0.5, bandwidth=1e30
    )
    result = simulate(Model(dense_bytes=1.0), Job(1, 1, "sync", steps=10), profile)
    # Session; request; reply; push; applied; chief; token: what the chief waits for is not the
    # worker's own way (answer and token request: 0.1 + 1.0 + 1.0), which ends later here.
    worker = 0.2 + (0.01 + 1.0 + 0.11 + 1.0 + 0.1) + (0.01 + 1.0 + 0.1)
    token_wanted = worker + (1.0 + 0.1) + 1.0
    tokens = worker + 1.0 + 0.5
    assert tokens < token_wanted
    assert result.median == pytest.approx(token_wanted + 0.11 + 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_many_workers_share_the_servers_interfaces(kind: str) -> None:
    # 10 workers, 100 MB from each of 2 ps: the ps send and receive 500 MB each.
    model = Model(dense_bytes=100e6)
    result = simulate(model, Job(2, 10, "sync", steps=10), network(kind))
    assert 0.5 <= result.median <= 1.0 + 1e-9
    if kind == "fair":
        # All get their parameters at the same time, and only then can any send.
        assert result.median == pytest.approx(1.0)


def test_shares_make_one_server_the_narrow_one() -> None:
    job = Job(2, 4, "sync", steps=10)
    even = simulate(Model(100e6), job, network("fair"))
    uneven = dataclasses.replace(job, shares=(0.9, 0.1))
    skewed = simulate(Model(100e6), uneven, network("fair"))
    assert skewed.median == pytest.approx(1.8 * even.median)


def test_updates_wait_for_a_slot() -> None:
    profile = network("fifo", bandwidth=1e30, update_byte=1e-9)
    job = Job(1, 4, "async", steps=50)
    one = simulate(Model(100e6), job, profile)
    assert one.median == pytest.approx(0.4)
    assert one.ps_updates == pytest.approx(1.0, abs=0.01)
    four = simulate(Model(100e6), job, dataclasses.replace(profile, update_slots=4))
    assert four.median == pytest.approx(0.1)


def test_sparse_bytes_move_as_dense_ones_do() -> None:
    job = Job(2, 3, "sync", steps=5)
    dense, sparse = Model(dense_bytes=1e6), Model(sparse_bytes=1e6)
    assert simulate(dense, job, network("fifo")) == simulate(sparse, job, network("fifo"))


def test_a_synchronous_step_waits_for_the_slowest_and_backups_do_not() -> None:
    compute = Compute(1.0, sigma=0.2)
    ideal = Profile("ideal", latency=0.0)
    steps, workers = 400, 10
    found = simulate(Model(compute=compute), Job(1, workers, "sync", steps=steps), ideal)
    spare = Job(1, workers + 3, "sync", 3, steps=steps)
    backed = simulate(Model(compute=compute), spare, ideal)
    source = random.Random(5)
    draws = [sorted(compute.draw(source) for _ in range(13)) for _ in range(4000)]
    ten = [max(compute.draw(source) for _ in range(10)) for _ in range(4000)]
    assert found.median == pytest.approx(statistics.median(ten), rel=0.02)
    assert found.dropped == 0.0
    # A late worker goes on computing what will be dropped, then begins in the middle of a step:
    # less is won than if all began anew.
    fresh = statistics.median(row[9] for row in draws)
    assert fresh * 0.98 <= backed.median < found.median
    assert 0.0 < backed.dropped <= 3 / 13 + 1e-9


def test_throughput_of_async_is_workers_by_mean_time() -> None:
    model = Model(batch=32, compute=Compute(0.5, sigma=0.3))
    result = simulate(model, Job(1, 20, "async", steps=200), Profile("ideal", latency=0.0))
    assert result.throughput == pytest.approx(20 * 32 / 0.5, rel=0.02)
    assert result.mean == pytest.approx(0.5, rel=0.02)
    assert result.p10 < result.median < result.p90


@pytest.mark.parametrize("profile", ["loopback", "osdi2016"])
@pytest.mark.parametrize("mode", ["async", "sync"])
def test_bytes_are_conserved(profile: str, mode: str) -> None:
    model = Model(10e6, 1e6, compute=Compute(0.01, 0.1))
    run = _Training(model, Job(3, 4, mode, steps=8), PROFILES[profile])
    run.run()
    in_flight = 2 * 4 * model.step_bytes  # what was under way when the run ended
    assert 0 <= run.network.sent - run.network.received <= in_flight
    steps = 8 * (4 if mode == "async" else 1)
    assert len(run.finished) == steps
    each = 2 * model.step_bytes * (1 if mode == "async" else 4)
    assert run.network.sent == pytest.approx(steps * each, abs=in_flight)


@pytest.mark.parametrize("profile", ["loopback", "osdi2016"])
def test_a_run_depends_on_its_seed_only(profile: str) -> None:
    model = Model(1e6, compute=Compute(0.02, 0.2, 0.05, 3.0))
    job = Job(2, 6, "sync", 1, steps=30)
    costs = PROFILES[profile]
    first = simulate(model, job, costs)
    assert simulate(model, job, costs) == first
    assert simulate(model, dataclasses.replace(job, seed=1), costs) != first


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["async", "sync"])
def test_more_of_a_cost_never_makes_a_step_shorter(kind: str, mode: str) -> None:
    model = Model(20e6, compute=Compute(0.02))
    job = Job(4, 8, mode, steps=10)
    base = network(kind, latency=1e-4, send_cpu=1e-5, recv_cpu=1e-5, update_byte=1e-9)
    median = simulate(model, job, base).median
    worse = {
        "latency": 1e-3, "bandwidth": 5e8, "link_bandwidth": 1e8, "send_cpu": 1e-4,
        "recv_cpu": 1e-4, "step_cpu": 1e-2, "update_byte": 4e-9,
    }  # fmt: skip
    for name, value in worse.items():
        slower = simulate(model, job, dataclasses.replace(base, **{name: value})).median
        # Messages that come less close together may share an interface a little better.
        assert slower > median * (1.0 if kind == "fifo" else 0.99), name


def test_more_workers_give_more_until_the_servers_are_full() -> None:
    model = Model(50e6, batch=10, compute=Compute(0.2, 0.1))
    rates = [
        simulate(model, Job(2, workers, "async", steps=20), network("fifo")).throughput
        for workers in (1, 2, 4, 8, 16, 32)
    ]
    assert all(b > a * 0.999 for a, b in zip(rates, rates[1:]))
    # A server sends 25 MB a step and worker at 1 GB/s: 40 steps a second at the most.
    assert rates[0] == pytest.approx(10 / 0.3, rel=0.1)
    assert rates[-1] == pytest.approx(400.0, rel=0.02)


def test_a_host_of_two_cores_computes_two_steps_at_a_time() -> None:
    host = Profile("host", latency=0.0, host_cores=2)
    times = [
        simulate(Model(compute=Compute(0.1)), Job(1, workers, "sync", steps=5), host).median
        for workers in (1, 2, 3, 4)
    ]
    assert times == pytest.approx([0.1, 0.1, 0.15, 0.2])


@pytest.mark.long
def test_a_thousand_workers_are_simulated_in_seconds() -> None:
    model = Model(100e6, batch=32, compute=Compute(1.6, 0.1))
    start = time.process_time()
    result = simulate(model, Job(4, 1000, "sync", steps=20), network("fifo"))
    assert result.steps == 18
    assert result.median > 25.0  # 25 MB for each of 1,000 workers at 1 GB/s
    assert time.process_time() - start < 20.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"ps": 0}, {"workers": 0}, {"steps": 0}, {"mode": "both"}, {"workers": 2, "backups": 2},
        {"mode": "async", "workers": 3, "backups": 1}, {"ps": 2, "shares": (0.5, 0.6)},
        {"ps": 2, "shares": (1.0,)},
    ],
)  # fmt: skip
def test_impossible_jobs_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Job(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"mean": -1.0}, {"sigma": -0.1}, {"straggler_share": 1.5}, {"straggler_factor": 0.5}]
)
def test_impossible_times_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        Compute(**wrong)


def test_drawn_times_have_the_mean_that_was_asked_for() -> None:
    source = random.Random(3)
    compute = Compute(2.0, 0.4, 0.1, 3.0)
    mean = statistics.mean(compute.draw(source) for _ in range(20_000))
    assert mean == pytest.approx(2.0 * (0.9 + 0.1 * 3.0), rel=0.02)
