"""Cases that need fresh processes: what an import takes, and memory.

Memory is taken in processes of their own because allocators may keep what earlier cases freed.
Each function gives samples by implementation and tells of what failed by ``fail``.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence

from benchmarks.cases import Case, Implementation
from benchmarks.workers import WorkerError, WorkerProcess, environment, home_of, interpreter_of

Samples = dict[str, list[float]]
Fail = Callable[[str], None]

# Steps whose memory is measured, in a case that asks for it.
MEMORY_SAMPLES = 3


def imports(implementations: Sequence[Implementation], rounds: int, fail: Fail) -> Samples:
    """Seconds of processes that import the module, interpreter included."""
    samples: Samples = {item.name: [] for item in implementations}
    # The first round only brings the files into the page cache.
    for turn in range(rounds + 1):
        for implementation in implementations:
            if implementation.name not in samples:
                continue
            started = time.perf_counter()
            done = subprocess.run(
                [str(interpreter_of(implementation)), "-c", implementation.imports],
                cwd=home_of(implementation),
                env=environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            seconds = time.perf_counter() - started
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["?"])[-1]
                fail(f"{implementation.name}: {reason}")
                del samples[implementation.name]
            elif turn:
                samples[implementation.name].append(seconds)
    return samples


def peak_memory(
    implementations: Sequence[Implementation], case: Case, rounds: int, fail: Fail
) -> Samples:
    """The most resident memory of processes that run the check steps of ``cnn``, in bytes."""
    samples: Samples = {}
    for _ in range(rounds):
        for implementation in implementations:
            peak = _ask_fresh(implementation, "cnn", case.check_steps, "peak_memory", 1, fail)
            if peak:
                samples.setdefault(implementation.name, []).extend(peak)
    return samples


def step_memory(implementations: Sequence[Implementation], case: Case, fail: Fail) -> Samples:
    """The memory that single steps of a case take beyond what was held before, in bytes."""
    samples: Samples = {}
    for implementation in implementations:
        found = _ask_fresh(
            implementation, case.name, case.check_steps, "extra_memory", MEMORY_SAMPLES, fail
        )
        if found:
            samples[implementation.name] = found
    return samples


def _ask_fresh(
    implementation: Implementation, case: str, steps: int, what: str, times: int, fail: Fail
) -> list[float]:
    """What a new process answers to a request, so many times, after it has prepared a case."""
    try:
        worker = WorkerProcess(implementation)
    except WorkerError as error:
        fail(f"{implementation.name}: {error}")
        return []
    try:
        worker.ask(prepare=case, check_steps=steps)
        return [float(worker.ask(**{what: True})["bytes"]) for _ in range(times)]
    except WorkerError as error:
        fail(f"{implementation.name}: {error}")
        return []
    finally:
        worker.close()
