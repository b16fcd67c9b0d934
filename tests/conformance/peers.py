"""Hands jobs to a TensorFlow in its own environment, and collects what it observed.

TensorFlow lives in another process and another Python.  If an op ends that process (a failed
CHECK, a crash), the job gets an error of class ``ProcessDied`` and the rest goes on in a new one.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.conformance import differentiated
from tests.conformance.jobs import pack
from tests.ops.opcase import Bound, Input

ROOT = Path(__file__).resolve().parents[2]
PYTHON = {
    "tf2": ROOT / ".venv-peers" / "bin" / "python",
    "tf1": ROOT / ".venv-tf115" / "bin" / "python",
    "penstock": Path(sys.executable),
}
RUNNER = Path(__file__).with_name("tf_runner.py")


def _item(item: Input) -> dict[str, Any]:
    if item.how == "made":
        assert item.maker is not None
        inner = _items(item.maker)
        return {
            "how": "made",
            "op": item.maker.case.op,
            "attrs": item.maker.attrs,
            "inputs": inner,
            "index": item.index,
        }
    return {"how": item.how, "dtype": item.dtype, "value": pack(item.value)}


def _items(bound: Bound) -> list[Any]:
    return [[_item(i) for i in x] if isinstance(x, list) else _item(x) for x in bound.inputs]


def to_job(
    bound: Bound, *, unknown: bool = True, kinks: bool = False, second: bool = False
) -> dict[str, Any]:
    """Returns the plain dict that ``jobs.run_job`` takes.

    Args:
      bound: A row and dtype.
      unknown: Also infer static shapes from placeholders of unknown shape.
      kinks: Also take gradients of rows with ``grad=False``, except what ``differentiated`` names.
      second: Also take gradients of the gradients.
    """
    case = bound.case
    flat = [i for i in bound.flat if i.how != "made"]
    return {
        "id": bound.id,
        "op": case.op,
        "inputs": _items(bound),
        "attrs": bound.attrs,
        "hows": [i.how for i in flat],
        "values": [pack(i.value) for i in flat],
        **differentiated.wanted(bound, kinks=kinks),
        "unknown": unknown and not case.raises,
        "second": second,
    }


def available(peer: str) -> bool:
    """True if the environment of ``"tf2"`` or ``"tf1"`` exists."""
    return PYTHON[peer].exists()


def _read(path: Path) -> list[dict[str, Any]]:
    results = []
    if path.exists():
        with path.open("rb") as file:
            while True:
                try:
                    results.append(pickle.load(file))
                except (EOFError, pickle.UnpicklingError):
                    break
    return results


def run_jobs(
    peer: str, jobs: Sequence[dict[str, Any]], *, runner: Path = RUNNER, timeout: float = 1500
) -> dict[str, Any]:
    """Runs jobs in a TensorFlow; returns results by job id.

    Args:
      peer: "tf2" or "tf1".
      jobs: From ``to_job``, or what another ``runner`` takes.
      runner: The script that runs them.
      timeout: Seconds one process may take.

    Raises:
      RuntimeError: if the runner fails, rather than an op that ends the process.
    """
    results: dict[str, Any] = {}
    left = list(jobs)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as folder:
        while left:
            source, target = Path(folder) / "jobs.pickle", Path(folder) / "results.pickle"
            source.write_bytes(pickle.dumps(left, protocol=4))
            target.unlink(missing_ok=True)
            command = [str(PYTHON[peer]), str(runner), str(source), str(target)]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=timeout
            )
            found = _read(target)
            results.update({r["id"]: r for r in found})
            left = left[len(found) :]
            if not left:
                break
            if done.returncode >= 0:  # not ended by a signal: the runner itself is broken
                raise RuntimeError(f"{peer} runner failed:\n{done.stderr[-3000:]}")
            message = f"the process died ({done.returncode}): {done.stderr[-300:]}"
            error = {"class": "ProcessDied", "message": message, "stage": "run", "bases": []}
            results[left[0]["id"]] = {"id": left[0]["id"], "error": error, "known_op": True}
            left = left[1:]
    return results
