"""A worker: one implementation in one process, doing what the driver asks, a JSON line each.

Once its module is imported it says ``{"ready": version, "path": file, "packages": {...}}``. Then
requests on stdin, one reply line each on stdout::

    {"prepare": "cnn", "check_steps": 10} -> {"values": [2.31, ...]}
    {"warm": 0.5, "least": 12}            -> {"step_seconds": 0.02}
    {"run": 12, "lead": 0.2}              -> {"seconds": 0.0213, "steps": [0.0209, ...],
                                              "cpu": 0.04, "idle_cpu": 0.001, "idle": 1.2}
    {"release": true}                     -> {}
    {"peak_memory": true}                 -> {"bytes": 412090368}
    {"extra_memory": true}                -> {"bytes": 67108864}
    {"beside": 3}          -> {"start": [0.1, ...], "during": [0.02, ...], "without": [0.02, ...]}

``run`` times so many steps after others that do not count, ``lead`` seconds of them: ``seconds`` is
the mean, ``steps`` are the single steps in order of their length (``MOST_STEPS`` of many), ``cpu``
the CPU seconds a step of all threads of this process.

A request that fails is answered ``{"error": traceback}`` and the worker goes on. Between requests
it blocks on stdin; ``idle_cpu`` (CPU seconds that all its threads used since the last reply) lets
the driver see a worker that spins while others are measured. What libraries print goes to stderr.
Python 3.7 and newer.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import gc
import importlib
import json
import math
import os
import statistics
import sys
import time
import traceback
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from benchmarks.program import Program

# The modules NAME_cases of each kind of implementation.
CASE_FILES = {
    "graph": (
        *("graph", "loop", "compile", "checkpoint", "queue", "pipeline", "eager"),
        *("network", "deep_network"),
    ),
    "torch": ("torch", "torch_loop", "torch_eager", "torch_network", "torch_deep_network"),
    "torch_compiled": ("torch_compiled",),
    "jax": ("jax", "jax_loop", "jax_network", "jax_deep_network"),
    "graph_kernels": ("kernel",),
    "torch_kernels": ("torch_kernel",),
    "graph_scaling": ("scaling",),
    "jax_scaling": ("jax_scaling",),
}


def load_cases(kind: str, module: str) -> Dict[str, Callable[[], Program]]:
    """The case functions of an implementation.

    Args:
        kind: A key of ``CASE_FILES``: those that begin with "graph" are for a TF1 API.
        module: The module that implements the TF1 API.
    """
    cases: Dict[str, Callable[..., Program]] = {}
    for name in CASE_FILES[kind]:
        cases.update(importlib.import_module("benchmarks.%s_cases" % name).CASES)
    if not kind.startswith("graph"):
        return cases
    tf = importlib.import_module(module)
    if module == "tensorflow.compat.v1":
        tf.disable_v2_behavior()
    if hasattr(tf, "logging") and hasattr(tf.logging, "set_verbosity"):
        tf.logging.set_verbosity(tf.logging.ERROR)
    return {name: functools.partial(case, tf) for name, case in cases.items()}


def number_of(value: Any) -> float:
    """A step's value as one number to compare: itself, or the root mean square of an array."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else math.sqrt(float(np.mean(np.square(array))))


def peak_memory() -> int:
    """The most resident memory this process has held, in bytes."""
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_memory() -> int:
    """The resident memory that this process holds, in bytes."""
    with open("/proc/self/statm") as status:
        return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def return_free_memory() -> None:
    """Gives the system back what the C library's allocator keeps of freed memory.

    Else memory that the step before took would still be there, and the next would take none.
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass  # not glibc: what it kept does not count


# Single steps that a reply holds at most.
MOST_STEPS = 200


def in_order(seconds: Sequence[float], most: int = MOST_STEPS) -> List[float]:
    """Single steps from the shortest to the longest; of many, as many as stand for them.

    Those are evenly spaced in the order, so that percentiles stay what they are.

    >>> in_order([3.0, 1.0, 2.0])
    [1.0, 2.0, 3.0]
    >>> in_order([float(second) for second in range(1000)], 4)
    [125.0, 375.0, 625.0, 875.0]
    """
    ordered = sorted(seconds)
    if len(ordered) <= most:
        return ordered
    return [ordered[int((place + 0.5) * len(ordered) / most)] for place in range(most)]


def package_versions() -> Dict[str, str]:
    """The versions of what computes in this process, of what is imported."""
    found = {"python": "%d.%d.%d" % sys.version_info[:3]}
    for name in ("numpy", "torch", "tensorflow", "jax", "jaxlib", "penstock"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found[name] = str(version)
    capability = getattr(sys.modules.get("torch.backends.cpu"), "get_cpu_capability", None)
    if capability is not None:
        found["torch kernels"] = str(capability())
    return found


# How long steps beside one piece of background work are timed at most.
BESIDE_SECONDS = 6.0
BESIDE_STEPS = 100


class Worker:
    """Holds the prepared program between requests."""

    def __init__(self, cases: Dict[str, Callable[[], Program]]) -> None:
        self._cases = cases
        self._program: Optional[Program] = None

    def answer(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Does one request; errors come back as a reply, never as an exception."""
        try:
            if "prepare" in request:
                return self._prepare(request["prepare"], request["check_steps"])
            if "warm" in request:
                return {"step_seconds": self._warm(request["warm"], request["least"])}
            if "run" in request:
                return self._run(request["run"], request["lead"])
            if "beside" in request:
                return self._beside(request["beside"])
            if "extra_memory" in request:
                return {"bytes": self._extra_memory()}
            if "peak_memory" in request:
                return {"bytes": peak_memory()}
            self._release()
            return {}
        except Exception:
            return {"error": traceback.format_exc()}

    def _prepare(self, case: str, check_steps: int) -> Dict[str, Any]:
        self._release()
        self._program = self._cases[case]()
        values = []
        for _ in range(check_steps):
            values.append(number_of(self._program.step()))
            if self._program.between is not None:
                self._program.between()
        return {"values": values}

    def _prepared(self) -> Program:
        if self._program is None:
            raise RuntimeError("run: no case is prepared")
        return self._program

    def _warm(self, least_seconds: float, least_steps: int) -> float:
        """Repeats the step for some time and some steps; gives the mean of the last half."""
        program = self._prepared()
        seconds: List[float] = []
        began = time.perf_counter()
        while len(seconds) < least_steps or time.perf_counter() - began < least_seconds:
            start = time.perf_counter()
            program.step()
            seconds.append(time.perf_counter() - start)
            if program.between is not None:
                program.between()
        return statistics.mean(seconds[len(seconds) // 2 :])

    def _run(self, steps: int, lead: float) -> Dict[str, Any]:
        gc.collect()
        # Steps that do not count, at least one: pages that the system took back and threads that
        # fell asleep while others had their turns are slow to come again, and what adapts to the
        # load of the machine still sees theirs.
        self._warm(lead, 1)
        program = self._prepared()
        if program.between is not None:
            return self._run_apart(program, steps)
        step, clock = program.step, time.perf_counter
        ends = [0.0] * (steps + 1)
        cpu = time.process_time()
        ends[0] = clock()
        for index in range(1, steps + 1):
            step()
            ends[index] = clock()
        cpu = time.process_time() - cpu
        single = [end - start for start, end in zip(ends, ends[1:])]
        mean = (ends[-1] - ends[0]) / steps
        return {"seconds": mean, "steps": in_order(single), "cpu": cpu / steps}

    def _run_apart(self, program: Program, steps: int) -> Dict[str, Any]:
        """Times steps between which there is something to do that does not count."""
        single, cpu = [], 0.0
        for _ in range(steps):
            start, start_cpu = time.perf_counter(), time.process_time()
            program.step()
            single.append(time.perf_counter() - start)
            cpu += time.process_time() - start_cpu
            if program.between is not None:
                program.between()
        mean = statistics.mean(single)
        return {"seconds": mean, "steps": in_order(single), "cpu": cpu / steps}

    def _extra_memory(self) -> int:
        """The most memory that a step holds beyond what was held before it, in bytes."""
        program = self._prepared()
        return_free_memory()
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")  # the peak starts anew
        before = resident_memory()
        program.step()
        extra = peak_memory() - before
        if program.between is not None:
            program.between()
        return max(0, extra)

    def _beside(self, rounds: int) -> Dict[str, Any]:
        """Times each step while background work goes on, and as many after it; several rounds."""
        program = self._prepared()
        if program.beside is None:
            raise RuntimeError("beside: the case has no background work")
        starts: List[float] = []
        during: List[float] = []
        without: List[float] = []

        def timed() -> float:
            start = time.perf_counter()
            program.step()
            return time.perf_counter() - start

        for _ in range(rounds):
            begun = time.perf_counter()
            done = program.beside()
            starts.append(time.perf_counter() - begun)
            count = 0
            while not done() and time.perf_counter() - begun < BESIDE_SECONDS:
                seconds = timed()
                if not done():  # a step that the work accompanied to its end
                    during.append(seconds)
                    count += 1
            while not done():
                time.sleep(0.01)
            timed()
            without.extend(timed() for _ in range(min(max(count, 20), BESIDE_STEPS)))
        return {"start": starts, "during": during, "without": without}

    def _release(self) -> None:
        if self._program is not None:
            self._program.close()
        self._program = None
        gc.collect()


def main() -> None:
    """Loads the implementation and answers requests until stdin ends."""
    parser = argparse.ArgumentParser(description="A benchmark worker (started by the driver).")
    parser.add_argument("--kind", choices=list(CASE_FILES), required=True)
    parser.add_argument("--module", default="penstock", help="the TF1 API or package")
    parser.add_argument("--path", default="", help="the folder that it is imported from")
    arguments = parser.parse_args()
    if arguments.path:
        sys.path.insert(0, arguments.path)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(message: Dict[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    try:
        worker = Worker(load_cases(arguments.kind, arguments.module))
        package = sys.modules[arguments.module.split(".")[0]]
    except Exception:
        reply({"error": traceback.format_exc()})
        return
    reply(
        {
            "ready": getattr(package, "__version__", "?"),
            "path": getattr(package, "__file__", None) or "?",
            "packages": package_versions(),
        }
    )
    wall, cpu = time.perf_counter(), time.process_time()
    for line in sys.stdin:
        idle, idle_cpu = time.perf_counter() - wall, time.process_time() - cpu
        message = worker.answer(json.loads(line))
        message.update(idle=idle, idle_cpu=idle_cpu)
        wall, cpu = time.perf_counter(), time.process_time()
        reply(message)


if __name__ == "__main__":
    main()
