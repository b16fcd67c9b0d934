"""What ``penstock doctor`` looks at: facts, without a judgement.

machine       processor, cores, memory, GPUs, compilers, and what the cores do now
python        the interpreter
torch         how it was built, what it chose here
packages      those that Penstock needs, and those that it can use
choices       kernels and teams that Penstock chose
environment   variables that are set
cache         what is kept between runs
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from penstock.cli import doctor_inside
from penstock.cli.doctor_inside import Choices, Gpu, Torch
from penstock.cli.doctor_variables import Variable, variables
from penstock.foundation.machine import cache as kept, compilers, gpus, hardware, load, proc

# Longer than a working torch takes to import anywhere.
_IMPORT_SECONDS = 120
# Packages that Penstock uses where they are, besides those that it needs.
_OPTIONAL = ("ray", "scikit-learn")

# Whether the system can be asked what the process may do, which its real user may not.
_EFFECTIVE = os.access in os.supports_effective_ids


@dataclass(frozen=True)
class Machine:
    """The machine; ``use`` is None where the system does not tell, ``gpus`` are those it shows."""

    system: str
    processor: hardware.Processor
    cores: hardware.Cores
    use: load.Use | None
    memory: hardware.Memory
    gpus: tuple[str, ...]
    toolchain: compilers.Toolchain


@dataclass(frozen=True)
class Python:
    """The interpreter.

    Args:
      version, implementation, executable, compiler: of it.
      optimized: whether it was built with profile-guided optimization; None where it is not told.
      debug: whether it was built for debugging.
      free_threaded: whether it was built without the global lock.
    """

    version: str
    implementation: str
    executable: str
    compiler: str
    optimized: bool | None
    debug: bool
    free_threaded: bool


@dataclass(frozen=True)
class Package:
    """A package.

    Args:
      name: as it is installed.
      version: that is here; None without it.
      needs: the oldest version that Penstock is written for, as ``>=2.6``.
      required: whether Penstock is nothing without it.
    """

    name: str
    version: str | None
    needs: str
    required: bool


@dataclass(frozen=True)
class CacheFile:
    """A file that is kept between runs: its size in bytes, its age in seconds."""

    name: str
    size: int
    age: float


@dataclass(frozen=True)
class Cache:
    """The folder of what is kept between runs; ``free`` are the bytes left on its disk."""

    folder: str
    writable: bool
    free: int | None
    files: tuple[CacheFile, ...]


@dataclass(frozen=True)
class Facts:
    """All of it; ``torch`` and ``choices`` are None where their imports failed."""

    penstock: str
    fingerprint: str
    machine: Machine
    python: Python
    torch: Torch | None
    torch_error: str | None
    packages: tuple[Package, ...]
    choices: Choices | None
    choices_error: str | None
    environment: tuple[Variable, ...]
    cache: Cache | None


def gather(seconds: float) -> Facts:
    """Looks at everything.

    Args:
      seconds: for how long the use of the cores is watched.
    """
    use = load.measure(seconds)  # before the imports, which are work of this machine, too
    torch, torch_error, choices, choices_error = imported()
    return Facts(
        penstock=_version("penstock") or "unknown",
        fingerprint=hardware.fingerprint(torch.version if torch else ""),
        machine=machine(use),
        python=python(),
        torch=torch,
        torch_error=torch_error,
        packages=packages(),
        choices=choices,
        choices_error=choices_error,
        environment=tuple(variables()),
        cache=cache(),
    )


def machine(use: load.Use | None, root: Path = proc.ROOT) -> Machine:
    """The machine, whose ``proc`` and ``sys`` are under ``root``."""
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        processor=hardware.processor(root),
        cores=hardware.cores(root),
        use=use,
        memory=hardware.memory(root),
        gpus=gpus.gpus(root),
        toolchain=compilers.toolchain(),
    )


def cache() -> Cache | None:
    """The folder of what is kept between runs, and what is in it; None where nothing is kept."""
    folder = kept.folder()
    return None if folder is None else describe_folder(folder)


def describe_folder(folder: Path) -> Cache:
    """What is in a folder that may not be there yet."""
    for path in (folder, *folder.absolute().parents):
        try:
            free = shutil.disk_usage(path).free
        except PermissionError:  # whatever is there is not ours
            return Cache(str(folder), False, None, ())
        except OSError:  # not there
            continue
        writable = path.is_dir() and os.access(path, os.W_OK | os.X_OK, effective_ids=_EFFECTIVE)
        return Cache(str(folder), writable, free, tuple(_files(folder)))
    return Cache(str(folder), False, None, ())


def _files(folder: Path) -> list[CacheFile]:
    now, found = time.time(), []
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_file():
                status = path.stat()
                age = max(0.0, now - status.st_mtime)
                found.append(CacheFile(str(path.relative_to(folder)), status.st_size, age))
        except OSError:  # gone in the meantime
            continue
    return found


def python() -> Python:
    """The interpreter that runs this."""
    arguments = sysconfig.get_config_var("CONFIG_ARGS")
    return Python(
        version=platform.python_version(),
        implementation=platform.python_implementation(),
        executable=sys.executable or "",
        compiler=platform.python_compiler(),
        optimized=_optimized(arguments) if isinstance(arguments, str) else None,
        debug=bool(sysconfig.get_config_var("Py_DEBUG")) or hasattr(sys, "gettotalrefcount"),
        free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    )


def _optimized(arguments: str) -> bool:
    # Builders that do not use the option add the flags that it stands for.
    flags = str(sysconfig.get_config_var("PY_CORE_CFLAGS") or "")
    return "--enable-optimizations" in arguments or "-fprofile-use" in flags


def packages() -> tuple[Package, ...]:
    """The packages that Penstock needs, as its own metadata says, and those that it can use."""
    found = {}
    for line in _requirements():
        match = re.match(r"([A-Za-z0-9._-]+)\s*([^;]*)(.*)", line)
        if match is None:
            continue
        name, needs, condition = match[1], match[2].strip(), match[3]
        required = "extra" not in condition
        if (required or name in _OPTIONAL) and name not in found:
            found[name] = Package(name, _version(name), needs, required)
    return tuple(found.values())


def _requirements() -> list[str]:
    try:
        return metadata.requires("penstock") or []
    except metadata.PackageNotFoundError:  # run from its sources, without being installed
        return []


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


Imported = tuple[Torch | None, str | None, Choices | None, str | None]


def imported() -> Imported:
    """What torch and Penstock say of themselves, or why they cannot be imported.

    They are asked in a process of their own, unless this process has torch already.
    """
    if "torch" in sys.modules:
        return (
            doctor_inside.examine_torch(), None,
            doctor_inside.examine_choices(), None,
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "said")
        path.touch()
        died = _ask(path)
        said: dict[str, Any] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            said.update(json.loads(line))
    return read_said(said, died)


def read_said(said: dict[str, Any], died: str | None) -> Imported:
    """The parts of what a process wrote about its imports.

    Args:
      said: by the keys of ``doctor_inside.main``; what is missing was not reached.
      died: how the process ended, if badly.
    """
    torch = choices = None
    if "torch" in said:
        fields = said["torch"]
        fields["gpus"] = tuple(Gpu(**gpu) for gpu in fields["gpus"])
        for name in ("built_for", "openmp_runtimes"):
            fields[name] = tuple(fields[name])
        torch = Torch(**fields)
    if "choices" in said:
        choices = Choices(**said["choices"])
    died = died or "the process that was asked said nothing"
    torch_error = None if torch else said.get("torch_error", died)
    return torch, torch_error, choices, None if choices else said.get("choices_error", died)


def _ask(path: Path) -> str | None:
    """Runs the file that imports torch and Penstock; returns how it ended, if badly."""
    # Where this package is comes first: the process must not ask another Penstock.
    here = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    paths = os.pathsep.join([here, inherited] if inherited else [here])
    # -P: else our modules would hide those of the standard library that are called alike.
    command = [sys.executable, "-P", doctor_inside.__file__, str(path)]
    try:
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": paths}, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=_IMPORT_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"importing took more than {_IMPORT_SECONDS} s"
    except OSError as error:
        return f"no process could be started: {error}"
    if done.returncode < 0:
        return f"importing ended the process: {_signal_name(-done.returncode)}"
    last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return None if done.returncode == 0 else " ".join(["importing failed:", *last])


def _signal_name(number: int) -> str:
    known = {signal.SIGILL: "SIGILL, an instruction that this processor does not have"}
    try:
        return known.get(signal.Signals(number), signal.Signals(number).name)
    except ValueError:
        return f"signal {number}"
