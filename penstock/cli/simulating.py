"""``penstock simulate`` and ``penstock calibrate``: jobs as rows of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from penstock.cli.output import Failure, Output
from penstock.cluster.simulate import Compute, Job, Model, Profile, Result, load_profile, simulate

_UNITS = {"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_TIMES = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
_QUANTITY = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*([A-Za-z]*)")


def _quantity(text: str, units: dict[str, float], option: str) -> float:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or match[2] not in units:
        names = ", ".join(filter(None, units))
        raise Failure(f"{option} {text!r} is no number with one of the units {names}", 2)
    try:
        return float(match[1]) * units[match[2]]
    except ValueError:
        raise Failure(f"{option} {text!r} is no number", 2) from None


def size_of(text: str, option: str) -> float:
    """Bytes.

    >>> size_of("100MB", "--dense")
    100000000.0
    """
    return _quantity(text, dict(_UNITS), option)


def seconds_of(text: str, option: str) -> float:
    """Seconds.

    >>> seconds_of("1.5s", "--compute"), seconds_of("20ms", "--compute")
    (1.5, 0.02)
    """
    return _quantity(text, _TIMES, option)


def counts_of(text: str, option: str) -> list[int]:
    """Numbers with commas between.

    >>> counts_of("1,10,100", "--workers")
    [1, 10, 100]
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise Failure(f"{option} {text!r} are no whole numbers with commas between", 2) from None


def changed(profile: Profile, settings: Sequence[str]) -> Profile:
    """The profile with fields set as ``NAME=VALUE`` says."""
    values: dict[str, Any] = {}
    known = asdict(profile)
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise Failure(f"--set {text!r} is no FIELD=VALUE; fields are {', '.join(known)}", 2)
        if name in ("name", "source", "sharing"):
            values[name] = value
        elif value == "none":
            values[name] = None
        else:
            number = _quantity(value, {"": 1}, "--set")
            values[name] = int(number) if isinstance(known[name], int) else number
    try:
        return replace(profile, **values)
    except (TypeError, ValueError) as error:
        raise Failure(f"--set: {error}", 2) from None


def simulate_jobs(
    output: Output,
    model: dict[str, Any],
    jobs: dict[str, str],
    mode: str,
    steps: int,
    seed: int,
    profile: str,
    settings: Sequence[str],
) -> None:
    """Prints a row for each number of ps, workers and backups.

    Args:
      output: where to print.
      model: "dense", "sparse" and "compute" as text, "batch", "tensors", "sigma",
        "straggler_share" and "straggler_factor".
      jobs: "ps", "workers" and "backups": numbers with commas between.
      mode, steps, seed: of every job.
      profile: a name or a file.
      settings: ``FIELD=VALUE`` changes of the profile.

    Raises:
      Failure: something asked for does not exist or cannot be.
    """
    try:
        costs = changed(load_profile(profile), settings)
        trained = Model(
            dense_bytes=size_of(model["dense"], "--dense"),
            sparse_bytes=size_of(model["sparse"], "--sparse"),
            batch=model["batch"],
            tensors=model["tensors"],
            compute=Compute(
                seconds_of(model["compute"], "--compute"),
                model["sigma"],
                model["straggler_share"],
                model["straggler_factor"],
            ),
        )
        rows = [(job, simulate(trained, job, costs)) for job in _jobs(jobs, mode, steps, seed)]
    except ValueError as error:
        raise Failure(str(error), 2) from None
    if output.as_json:
        found = [{"job": asdict(job), **result.to_mapping()} for job, result in rows]
        output.json({"profile": asdict(costs), "model": asdict(trained), "results": found})
        return
    output.title(f"profile {costs.name}, mode {mode}, {steps} steps, seed {seed}")
    columns = ("ps", "workers", "backups", "median", "p10", "p90", "examples/s", "busiest")
    cells = [_cells(job, result) for job, result in rows]
    output.table(columns, cells, right=columns[:-1])


def _jobs(jobs: dict[str, str], mode: str, steps: int, seed: int) -> Iterator[Job]:
    ps, workers, backups = (counts_of(jobs[key], f"--{key}") for key in jobs)
    for servers in ps:
        for count in workers:
            for spare in backups:
                yield Job(servers, count + spare, mode, spare, steps=steps, seed=seed)


def _cells(job: Job, result: Result) -> tuple[Any, ...]:
    shares = {
        "ps network": result.ps_network,
        "worker network": result.worker_network,
        "ps updates": result.ps_updates,
    }
    busiest = max(shares, key=lambda key: shares[key])
    return (
        job.ps, job.needed, job.backups, _time(result.median), _time(result.p10), _time(result.p90),
        f"{result.throughput:.4g}", f"{busiest} {shares[busiest]:.0%}",
    )  # fmt: skip


def _time(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def calibrate_here(
    output: Output, dest: str, name: str, interpreter: str | None, module: str, threads: int
) -> None:
    """Writes a profile of this machine.

    Raises:
      Failure: the measuring failed, or ``dest`` cannot be written.
    """
    from penstock.cluster.simulate.calibrate import CalibrationError, calibrate

    if not Path(dest).resolve().parent.is_dir():
        raise Failure(f"{dest}: there is no directory {str(Path(dest).parent)!r}")
    chosen = {} if interpreter is None else {"interpreter": interpreter}
    try:
        profile = calibrate(name, module=module, threads=threads, **chosen)
    except CalibrationError as error:
        raise Failure(str(error)) from None
    Path(dest).write_text(profile.to_json())
    output.line(f"{dest}: {profile.source}")
    rate = profile.link_bandwidth
    output.line(
        f"latency {profile.latency * 1e6:.0f} us, a message {profile.send_cpu * 1e6:.0f} us at"
        f" each end, a link {'without limit' if rate is None else f'{rate / 1e9:.2f} GB/s'}"
    )
