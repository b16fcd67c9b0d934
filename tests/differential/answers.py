"""TensorFlow's answers, kept between runs: they are the slow part, and the same every time.

They lie in Penstock's cache folder (``penstock/foundation/machine/cache.py``), below a name made of
what every answer depends on: what is installed beside TensorFlow, and the scripts that ask it.  A
file there is a function's; an answer in it is found by its call, so that a row that has changed
asks for its new calls only.  Whatever keeps a file from being read or written costs asking again,
and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.foundation.machine import cache
from tests.conformance.peers import PEERS

RUNNER = Path(__file__).with_name("runner.py")
_CONFORMANCE = Path(__file__).parents[1] / "conformance"
# What asks, and how calls and answers are written.
SOURCES = (RUNNER, _CONFORMANCE / "edge_runner.py", _CONFORMANCE / "jobs.py")
Answers = dict[str, dict[str, Any]]


def key(case: dict[str, Any]) -> str:
    """What an answer is found by: all that ``runner.py`` is told of a call, but its number."""
    told = sorted((part, value) for part, value in case.items() if part != "id")
    return hashlib.sha1(repr(told).encode()).hexdigest()


def asked_of(python: Path, sources: Sequence[Path] = SOURCES) -> str:
    """A name for who answers, and how he is asked.

    Args:
      python: The interpreter of an environment; the packages in it count with their versions.
      sources: The scripts that ask.
    """
    installed = python.parents[1].glob("lib/python*/site-packages/*-info")
    digest = hashlib.sha1("\n".join(sorted(path.name for path in installed)).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where answers lie, whether it exists or not; None where nothing is to be kept."""
    base = cache.folder(environ)
    return None if base is None else base / "differential" / asked_of(PEERS["tf1"].python)


def read(kept: Path | None, name: str) -> Answers:
    """The answers to calls of a function by ``key``; none where the file is none that was kept."""
    if kept is None:
        return {}
    try:
        found = pickle.loads((kept / f"{name}.pickle").read_bytes())
    except (OSError, EOFError, ValueError, AttributeError, ImportError, pickle.UnpicklingError):
        return {}
    return found if isinstance(found, dict) else {}


def lasting(answer: dict[str, Any]) -> bool:
    """Whether it would be the same another time; a call that took too long may end then."""
    return "too long" not in answer.get("error", {}).get("message", "")


def add(kept: Path | None, name: str, found: Answers) -> bool:
    """Keeps answers beside those that the file of a function has; says whether that went."""
    if kept is None:
        return False
    new = {call: answer for call, answer in found.items() if lasting(answer)}
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept, prefix=f"{name}.", delete=False) as file:
            file.write(pickle.dumps({**read(kept, name), **new}, protocol=4))
        os.replace(file.name, kept / f"{name}.pickle")
    except OSError:
        return False
    return True
