"""Compilers: none, pretended ones that work or do not, and the real ones."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from penstock.foundation.machine import compilers

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pretended compilers are shell scripts")


def pretend(folder: Path, name: str, build: str = "exit 0") -> Path:
    """A compiler that says a version, and runs ``build`` for all else."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    says = f'if [ "$1" = --version ]; then echo "{name} 1.2"; echo more; exit 0; fi'
    path.write_text(f"#!/bin/sh\n{says}\n{build}\n")
    path.chmod(0o755)
    return path


def test_none(tmp_path: Path) -> None:
    found = compilers.toolchain({"PATH": str(tmp_path), "CXX": "no-such", "CC": "un'balanced"})
    assert found.compilers == () and found.builds is None and found.complaint == ""


def test_one_that_works_and_its_other_name(tmp_path: Path) -> None:
    path = pretend(tmp_path, "g++")
    (tmp_path / "c++").symlink_to(path)
    found = compilers.toolchain({"PATH": str(tmp_path)})
    assert [(each.command, each.version) for each in found.compilers] == [("c++", "g++ 1.2")]
    assert found.builds is True


def test_what_the_environment_asks_for_comes_first(tmp_path: Path) -> None:
    pretend(tmp_path, "g++")
    # Only with its option does this one build.
    mine = pretend(tmp_path / "mine", "my++", '[ "$1" = -option ]')
    found = compilers.toolchain({"PATH": str(tmp_path), "CXX": f"{mine} -option"})
    assert [each.version for each in found.compilers] == ["my++ 1.2", "g++ 1.2"]
    assert found.builds is True


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        ("echo warning >&2; echo 'x.c:1: error: no cmath' >&2; exit 1", "x.c:1: error: no cmath"),
        ("echo cannot link >&2; exit 1", "cannot link"),
        ("exit 4", "exit status 4"),
    ],
)
def test_one_that_does_not_build(tmp_path: Path, build: str, complaint: str) -> None:
    pretend(tmp_path, "c++", build)
    found = compilers.toolchain({"PATH": str(tmp_path)})
    assert found.builds is False and found.complaint == complaint


def test_one_that_cannot_even_say_its_version(tmp_path: Path) -> None:
    pretend(tmp_path, "c++").write_text("not a program")
    assert compilers.toolchain({"PATH": str(tmp_path)}).compilers == ()


def test_one_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "_SECONDS", 0.5)
    pretend(tmp_path, "c++", "exec sleep 30")
    found = compilers.toolchain({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert found.builds is False and "0.5 s" in found.complaint


def test_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers.sysconfig, "get_path", lambda _: str(tmp_path))
    assert compilers.python_headers() is None
    (tmp_path / "Python.h").touch()
    assert compilers.python_headers() == str(tmp_path)


@pytest.mark.skipif(shutil.which("c++") is None, reason="no compiler here")
@pytest.mark.skipif(sys.platform == "win32", reason="other compilers")
def test_this_machine() -> None:
    found = compilers.toolchain({"PATH": os.environ["PATH"]})
    assert found.compilers[0].path == shutil.which("c++") and found.compilers[0].version
    assert found.builds is not None
    assert bool(found.complaint) is not found.builds
