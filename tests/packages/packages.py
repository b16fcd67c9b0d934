"""Where others' packages are, and scripts that run over them under Penstock and TensorFlow 1.15.

`make packages` installs them into ``.packages``; ``PENSTOCK_PACKAGES`` names another folder.  A
script names ``tensorflow`` and the package only, prints one line of JSON at its end, and runs
unchanged under both; what TensorFlow 1.15 printed stands in ``expected``.  ``python -m
tests.packages.packages SCRIPT`` records it anew.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.packages.catalogue import PACKAGES, by_name
from tests.peers import ROOT, TF115

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("PENSTOCK_PACKAGES", ROOT / ".packages"))
# pip's folders for what the packages need: Penstock's Python, and TensorFlow 1.15's.
NEEDED, NEEDED_37 = FOLDER / "deps", FOLDER / "deps37"
SECONDS = 900


def search_path(*names: str, python37: bool = False) -> str:
    """PYTHONPATH for packages, with Penstock's root where its own Python runs them."""
    folders = [FOLDER / name for name in names] + [NEEDED_37 if python37 else NEEDED]
    return os.pathsep.join(map(str, folders + ([] if python37 else [ROOT])))


def absence(name: str) -> str:
    """Why a package cannot be tried; empty where it can."""
    if (FOLDER / name / by_name(name).module).is_dir():
        return ""
    return f"no {name} in {FOLDER.name}: `make packages` installs it"


def package(*names: str) -> None:
    """Skips the test that calls it where one of these packages is not there."""
    import pytest

    for reason in filter(None, map(absence, names)):
        pytest.skip(reason)


def environment(*names: str, python37: bool = False) -> dict[str, str]:
    """What a process that runs over packages is started with."""
    return os.environ | {
        "PYTHONPATH": search_path(*names, python37=python37),
        # TensorFlow 1.15's protobuf reads the packages' old messages; a current one in Python only.
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "cpp" if python37 else "python",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "OMP_NUM_THREADS": "1",
    }


def run(script: str, *names: str, seconds: int = SECONDS) -> Any:
    """What a script of this folder prints under Penstock, which may take so long."""
    command = [sys.executable, "-m", "penstock", "run", str(HERE / "scripts" / script)]
    return _answer(command, environment(*names), seconds)


def run_115(script: str, *names: str) -> Any:
    """What it prints under TensorFlow 1.15."""
    command = [str(TF115), str(HERE / "scripts" / script)]
    return _answer(command, environment(*names, python37=True))


def _answer(command: list[str], env: dict[str, str], seconds: int = SECONDS) -> Any:
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=seconds)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-4000:]}"
        )
    return json.loads(done.stdout.strip().splitlines()[-1])


def expected(script: str) -> Any:
    """What TensorFlow 1.15 printed when the script was recorded."""
    return json.loads(_recording(script).read_text())


def _recording(script: str) -> Path:
    return HERE / "expected" / Path(script).with_suffix(".json")


def record(script: str) -> None:
    """Runs a script under TensorFlow 1.15 and keeps what it prints."""
    answer = run_115(script, *(p.name for p in PACKAGES))
    _recording(script).write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    for named in sys.argv[1:]:
        record(named)
