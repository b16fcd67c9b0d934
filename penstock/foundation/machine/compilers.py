"""C++ compilers, and what native code for Python needs besides: found, and tried.

That a command exists says little: images often have a compiler without the headers or the linker.
So the first one found builds a shared library of one function.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_COMMANDS = ("c++", "g++", "clang++", "cc", "gcc", "clang")
_SOURCE = '#include <cmath>\nextern "C" double root(double x) { return std::sqrt(x); }\n'
_SECONDS = 30


@dataclass(frozen=True)
class Compiler:
    """A compiler.

    Args:
      command: how it is called: a name, or what ``CXX`` or ``CC`` says.
      path: the file behind it.
      version: the first line of what it says of itself.
    """

    command: str
    path: str
    version: str


@dataclass(frozen=True)
class Toolchain:
    """What there is to build native code with.

    Args:
      compilers: those found, each file once; the first is the one that would be used.
      builds: whether the first builds a shared library; None without a compiler.
      complaint: what it said if not.
      python_headers: the folder of ``Python.h``; None where it is missing.
    """

    compilers: tuple[Compiler, ...]
    builds: bool | None
    complaint: str
    python_headers: str | None


def toolchain(environ: Mapping[str, str] = os.environ) -> Toolchain:
    """The compilers of this machine; takes a fraction of a second, as it tries one.

    Args:
      environ: ``CXX``, ``CC`` and ``PATH`` are looked up here.
    """
    found = tuple(_compilers(environ))
    complaint = _try(found[0], environ) if found else ""
    return Toolchain(found, not complaint if found else None, complaint, python_headers())


def python_headers() -> str | None:
    """The folder with ``Python.h`` of the running Python; None where it is not installed."""
    folder = Path(sysconfig.get_path("include"))
    return str(folder) if (folder / "Python.h").is_file() else None


def _compilers(environ: Mapping[str, str]) -> Iterator[Compiler]:
    asked = [environ[name] for name in ("CXX", "CC") if environ.get(name)]
    seen = set()
    for command in (*asked, *_COMMANDS):
        words = _words(command)
        path = shutil.which(words[0], path=environ.get("PATH")) if words else None
        if path is None or os.path.realpath(path) in seen:
            continue
        seen.add(os.path.realpath(path))
        version = _run([path, "--version"], "", environ)
        if version is not None and version.returncode == 0 and version.stdout.strip():
            yield Compiler(command, path, version.stdout.strip().splitlines()[0])


def _words(command: str) -> list[str]:
    """A command as a shell would split it: ``CXX`` may be ``ccache g++``."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _try(compiler: Compiler, environ: Mapping[str, str]) -> str:
    """Builds a library; returns what went wrong, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        # A C compiler that is told that this is C++ still does not link C++'s library.
        options = ["-shared", "-fPIC", "-x", "c++", "-", "-o", f"{folder}/library"]
        command = [compiler.path, *_words(compiler.command)[1:], *options]
        done = _run(command, _SOURCE, environ)
    if done is None:
        return f"it cannot be run, or not within {_SECONDS} s"
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in said if "error" in line]
    return (errors or said or [f"exit status {done.returncode}"])[0].strip()


def _run(
    command: list[str], given: str, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command, input=given, capture_output=True, text=True, errors="replace",
            timeout=_SECONDS, check=False, env={**environ, "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
