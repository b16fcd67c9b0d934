"""Hands jobs to a TensorFlow in its own environment, and collects what it observed.

TensorFlow lives in another process and another Python.  If an op ends that process (a failed
CHECK, a crash), the job gets an error of class ``ProcessDied`` and the rest goes on in a new one.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conformance import differentiated
from tests.conformance.jobs import pack
from tests.ops.opcase import Bound, Input
from tests.peers import PEERS as TF2, TF115


@dataclasses.dataclass(frozen=True)
class Peer:
    """Who runs jobs: an interpreter, and what is set in its environment."""

    python: Path
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)


PEERS = {
    # TensorFlow 2.21 has most kernels twice, and left alone it chooses by the processor: which of
    # them a row is held to must not depend on where it runs.
    "tf2": Peer(TF2, {"TF_ENABLE_ONEDNN_OPTS": "1"}),
    "tf2_eigen": Peer(TF2, {"TF_ENABLE_ONEDNN_OPTS": "0"}),
    "tf1": Peer(TF115),
    "penstock": Peer(Path(sys.executable)),
}
RUNNER = Path(__file__).with_name("tf_runner.py")
ABOUT = Path(__file__).with_name("tf_about.py")


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
    return PEERS[peer].python.exists()


def _environment(peer: str, **more: str) -> dict[str, str]:
    found = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    found.pop("PYTHONPATH", None)
    return {**found, **PEERS[peer].settings, **more}


def about(peer: str) -> str:
    """One line on a TensorFlow: version and build, its kernels, and what it was not built for."""
    environment = _environment(peer, TF_CPP_MIN_LOG_LEVEL="0")
    done = subprocess.run(
        [str(PEERS[peer].python), str(ABOUT)],
        env=environment, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    build = json.loads(done.stdout.splitlines()[-1])
    said = re.search(r"(?:compiled to use|following instructions): ([A-Z0-9_ ]+)", done.stderr)
    return (
        f"TensorFlow {build['version']} ({build['git']}, {build['compiler']}),"
        f" oneDNN kernels {'on' if build['onednn'] else 'off'};"
        f" built without {said.group(1).strip() if said else 'nothing that this processor has'}"
    )


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
      peer: A name of ``PEERS``.
      jobs: From ``to_job``, or what another ``runner`` takes.
      runner: The script that runs them.
      timeout: Seconds one process may take.

    Raises:
      RuntimeError: if the runner fails, rather than an op that ends the process.
    """
    results: dict[str, Any] = {}
    left = list(jobs)
    environment = _environment(peer)
    with tempfile.TemporaryDirectory() as folder:
        while left:
            source, target = Path(folder) / "jobs.pickle", Path(folder) / "results.pickle"
            source.write_bytes(pickle.dumps(left, protocol=4))
            target.unlink(missing_ok=True)
            command = [str(PEERS[peer].python), str(runner), str(source), str(target)]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, errors="replace",
                timeout=timeout,
            )  # fmt: skip
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
