"""Installs the packages and what they need from the index, beside Penstock, without their pins."""

import subprocess
import sys
from pathlib import Path

from tests.packages.catalogue import NEEDED, NEEDED_37, PACKAGES
from tests.packages.packages import FOLDER, NEEDED as NEEDED_FOLDER, NEEDED_37 as NEEDED_37_FOLDER
from tests.peers import TF115


def everything(python37: bool = False) -> None:
    """What is not there yet.

    Args:
        python37: Whether TensorFlow 1.15's Python gets what the packages need, too.
    """
    FOLDER.mkdir(exist_ok=True)
    for package in PACKAGES:
        if not (FOLDER / package.name / package.module).is_dir():
            print(f"installing {package.name} {package.version}", flush=True)
            _pip(sys.executable, FOLDER / package.name, f"{package.name}=={package.version}")
    _needed(sys.executable, NEEDED_FOLDER, NEEDED)
    if python37:
        _needed(str(TF115), NEEDED_37_FOLDER, NEEDED_37)


def _needed(python: str, folder: Path, names: list[str]) -> None:
    """pip leaves a record of each distribution: those without one are installed."""
    there = {path.name.split("-")[0].lower() for path in folder.glob("*.dist-info")}
    missing = [n for n in names if n.partition("==")[0].replace("-", "_") not in there]
    if missing:
        print(f"installing {' '.join(missing)}", flush=True)
        _pip(python, folder, *missing)


def _pip(python: str, folder: Path, *what: str) -> None:
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "--no-deps", "--target", str(folder), *what], check=True)
