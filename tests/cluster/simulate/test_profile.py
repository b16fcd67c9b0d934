"""Profiles: their JSON, what is refused, and the fit of known measurements."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from penstock.cluster.simulate import (
    PROFILES,
    Compute,
    Job,
    Model,
    calibrate as calibration,
    load_profile,
    simulate,
)
from penstock.cluster.simulate.probe import MODES, NETWORKS
from penstock.cluster.simulate.profile import Profile, from_mapping

LARGE = 4.0 * 4 * 1024 * 1024


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_go_through_json(name: str, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(PROFILES[name].to_json())
    assert load_profile(str(path)) == PROFILES[name] == load_profile(name)


@pytest.mark.parametrize(
    "values",
    [{"latncy": 1}, {"latency": "1"}, {"latency": -1}, {"sharing": "x"}, {"ps_cores": 0},
     {"bandwidth": 0}, {"latency": float("nan")}],
)  # fmt: skip
def test_wrong_profiles_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        from_mapping(values)


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no profile and no file 'nope'; profiles are loopback"):
        load_profile("nope")
    path = tmp_path / "p.json"
    for text in ("{", "[1]"):
        path.write_text(text)
        with pytest.raises(ValueError, match="p.json"):
            load_profile(str(path))


def measured_of(profile: Profile) -> dict[str, dict[str, float]]:
    """What the probe would measure on a machine of these costs."""
    found: dict[str, dict[str, float]] = {}
    for kind, size in (("small", 4.0), ("large", LARGE)):
        ends = profile.send_cpu + profile.recv_cpu
        wire = 0.0 if profile.link_bandwidth is None else size / profile.link_bandwidth
        read = profile.step_cpu + 2 * ends + 2 * profile.latency + wire
        cpu = profile.step_cpu + ends + size * profile.recv_byte_cpu
        found[f"local_{kind}"] = {"seconds": profile.step_cpu, "worker_cpu": profile.step_cpu}
        found[f"read_{kind}"] = {
            "seconds": read, "worker_cpu": cpu, "ps_cpu": ends + size * profile.send_byte_cpu,
        }  # fmt: skip
        found[f"apply_{kind}"] = {"seconds": 1e-3 + size * profile.update_byte}
    for network in NETWORKS:
        for mode in MODES:
            found[f"{network}_{mode}"] = _step_of(profile, network, mode)
    return found


COMPUTE = 20e-3


def _step_of(profile: Profile, network: str, mode: str) -> dict[str, float]:
    ps, layers, units = NETWORKS[network]
    size, further = 4.0 * layers * units * units, layers - ps
    local = profile.step_cpu + COMPUTE + size * profile.update_byte
    if mode == "local":
        return {"seconds": local, "worker_cpu": local, "ps_cpu": 0.0}
    ends = profile.send_cpu + profile.recv_cpu
    worker = profile.step_cpu + COMPUTE + ps * 2 * ends + 2 * further * profile.tensor_cpu
    server = ps * (ends + profile.recv_cpu) + 2 * further * profile.tensor_cpu
    both = size * (profile.send_byte_cpu + profile.recv_byte_cpu)
    server += both + size * profile.update_byte
    updates = {"async": 0.0, "sync": 1.0, "pairs": 0.5}[mode]
    if updates:
        server += size * profile.accumulate_byte
    server += updates * (ps * profile.sync_ps_cpu + further * profile.sync_tensor_cpu)
    server += updates * size * profile.sync_byte
    model = Model(dense_bytes=size, compute=Compute(COMPUTE), tensors=layers)
    seconds = simulate(model, Job(ps, 1, "async", steps=3), profile).median
    worker += both + updates * profile.sync_cpu
    return {"seconds": seconds, "worker_cpu": worker, "ps_cpu": server}


def test_the_fit_finds_the_costs_that_made_the_measurements() -> None:
    true = Profile(
        "true", latency=3e-5, link_bandwidth=2e9, host_cores=2, send_cpu=2e-5, recv_cpu=2e-5,
        send_byte_cpu=3e-10, recv_byte_cpu=3e-10, tensor_cpu=1e-5, overlap=0.25, step_cpu=1e-4,
        sync_cpu=4e-4, sync_ps_cpu=5e-5, sync_tensor_cpu=1e-5, update_slots=2, update_byte=5e-10,
        sync_byte=1e-10, accumulate_byte=4e-10,
    )  # fmt: skip
    found = calibration.fit(measured_of(true), "true", "", 2)
    for each in fields(Profile):
        if isinstance(getattr(true, each.name), float):
            expected = pytest.approx(getattr(true, each.name), rel=1e-2)
            assert getattr(found, each.name) == expected, each.name


def test_a_probe_that_fails_is_told_of_and_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = calibration._start

    def watched(*arguments: object) -> subprocess.Popen[bytes]:
        started.append(start(*arguments))  # type: ignore[arg-type]
        return started[-1]

    monkeypatch.setattr(calibration, "_start", watched)
    with pytest.raises(calibration.CalibrationError, match="no_such_module"):
        calibration.run_probe(sys.executable, "no_such_module", 1)
    assert len(started) == 3
    for process in started:
        assert process.returncode is not None
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)


def test_the_probe_imports_nothing_of_penstock() -> None:
    assert "penstock" not in calibration.PROBE.read_text().replace("of Penstock", "")
    assert json.loads(PROFILES["loopback"].to_json())["name"] == "loopback"
