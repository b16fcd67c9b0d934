"""The process that compiles, seen from the one whose steps run."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.engine.native.request import Request
from penstock.foundation.machine import compilers, spare

# Other systems than Unix have none.
resource: Any = import_module("resource") if os.name == "posix" else None
# A process that runs only when others do not need the core may take long.
_SECONDS_AT_MOST = 3600
_children: set[subprocess.Popen[str]] = set()


@cache
def without_compiler() -> str:
    """Why nothing can be compiled here; empty where it can."""
    tools = compilers.toolchain()
    if not tools.compilers:
        return "there is no C++ compiler"
    if not tools.builds:
        return f"{tools.compilers[0].command} builds no library: {tools.complaint}"
    return ""


def run_worker(request: Request, folder: Path) -> None:
    """Compiles in a process of its own.

    Args:
      request: what is compiled.
      folder: where libraries and manifest will be.

    Raises:
      OSError: it could not be started, got no time to be done, or was ended by a signal.
      subprocess.SubprocessError: it failed.
    """
    package = str(Path(__file__).resolve().parents[3])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environ = {
        **os.environ, "PYTHONPATH": os.pathsep.join(paths), "PENSTOCK_NATIVE": "off",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    module = "penstock.engine.native.worker"
    command = [sys.executable, "-m", module, str(folder), str(os.getpid())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, env=environ, process_group=0 if os.name == "posix" else None,
    ) as child:  # fmt: skip
        _children.add(child)
        _keep_small(child.pid)
        try:
            _, said = child.communicate(str(request), _SECONDS_AT_MOST)
        except subprocess.TimeoutExpired as error:
            _end(child)
            said = f"the machine had no time for it within {_SECONDS_AT_MOST // 60} minutes"
            raise ChildProcessError(said) from error
        except BaseException:
            _end(child)
            raise
        finally:
            _children.discard(child)
            shutil.rmtree(folder / "inductor", ignore_errors=True)
    if child.returncode < 0:
        raise ChildProcessError(f"the compiling process was ended by signal {-child.returncode}")
    if child.returncode:
        last = [line for line in said.splitlines() if line.strip()][-1:]
        raise subprocess.SubprocessError(last[0] if last else f"status {child.returncode}")


def _keep_small(pid: int) -> None:
    """Has a process take what is left of one core, and no more memory than was looked for.

    It is done here and not there, where torch's import would come before it.  What the C++ compiler
    may take is the same.  The lowest niceness alone is no help where cores are busy: on two that
    others used, too, steps took twice as long beside it, with ``SCHED_IDLE`` 1.03.  There the
    process hardly gets on, and is given up after an hour.
    """
    with suppress(OSError, AttributeError, ValueError):  # it has ended; another system
        resource.prlimit(pid, resource.RLIMIT_DATA, (spare.MEMORY, spare.MEMORY))
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, pid, 19)
        os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))


def _end(child: subprocess.Popen[str]) -> None:
    """Ends the process and the C++ compiler that it may have started."""
    if os.name != "posix":
        child.kill()
        return
    with suppress(ProcessLookupError):
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)


def _end_children() -> None:
    for child in list(_children):
        _end(child)


atexit.register(_end_children)
if hasattr(os, "register_at_fork"):
    # They are not a forked process's to end.
    os.register_at_fork(after_in_child=_children.clear)
