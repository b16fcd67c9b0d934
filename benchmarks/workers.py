"""Worker processes as the driver holds them: started once, asked a line at a time.

Each worker runs with its environment's own interpreter and default threads, so it may use every
core; only the one that has a request computes. What its libraries print goes to a log file.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from benchmarks.cases import Implementation

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
DEADLINE_SECONDS = 300.0


class WorkerError(Exception):
    """A worker that could not start, answered with an error, died or took too long."""


def interpreter_of(implementation: Implementation) -> Path:
    """The interpreter that runs an implementation."""
    if not implementation.interpreter:
        return Path(sys.executable)
    return ROOT / implementation.interpreter


def home_of(implementation: Implementation) -> Path:
    """The folder that an implementation's process runs in, and imports its module from first."""
    return Path(implementation.checkout) if implementation.checkout else ROOT


def environment() -> dict[str, str]:
    """The environment of workers: the caller's, quiet, and on the CPU only.

    GPUs are hidden because the peers' environments hold CPU builds. Bytecode is kept, as that of
    the peers was when they were installed: a checkout that may not keep its own compiles 350 files
    a process.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


class WorkerProcess:
    """One implementation's worker.

    Attributes:
        name: The implementation's name.
        version: The version the module gives.
        path: The file that the module was imported from.
        packages: Versions of what computes in the process.
        idle_seconds: Time between requests since ``reset_idle``.
        idle_cpu_seconds: CPU time the worker used meanwhile (it should not).
    """

    def __init__(self, implementation: Implementation) -> None:
        """Starts the worker and waits until its module is imported.

        Raises:
            WorkerError: There is no such interpreter, the import failed, or the module came from
                another place than the implementation's checkout.
        """
        self.name = implementation.name
        interpreter = interpreter_of(implementation)
        if not interpreter.exists():
            raise WorkerError(f"no {implementation.interpreter}")
        logs = RESULTS / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        self._log: IO[str] = open(logs / f"{self.name}.log", "w")
        command = [str(interpreter), "-m", "benchmarks.worker", "--kind", implementation.kind]
        if implementation.checkout:
            command += ["--path", implementation.checkout]
        self._process = subprocess.Popen(
            [*command, "--module", implementation.module],
            cwd=ROOT,
            # The cells of recurrent networks are in TensorFlow 2 with the Keras of its time only.
            env={**environment(), "TF_USE_LEGACY_KERAS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self.reset_idle()
        try:
            ready = self._reply()
            self.version: str = ready["ready"]
            self.path: str = ready["path"]
            self.packages: dict[str, str] = ready["packages"]
            checkout = Path(implementation.checkout).resolve()
            if implementation.checkout and checkout not in Path(self.path).resolve().parents:
                raise WorkerError(f"{implementation.module} came from {self.path}")
        except WorkerError:
            self.close()
            raise

    def ask(self, **request: Any) -> dict[str, Any]:
        """Sends a request and returns the reply.

        Raises:
            WorkerError: The reply is an error, or there is none in time; in the latter case the
                worker is ended.
        """
        if self._process.stdin is None:
            raise WorkerError("the worker has no stdin")
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerError(f"the worker ended ({error})") from error
        reply = self._reply()
        self.idle_seconds += reply["idle"]
        self.idle_cpu_seconds += reply["idle_cpu"]
        return reply

    def _reply(self) -> dict[str, Any]:
        stdout = self._process.stdout
        if stdout is None:
            raise WorkerError("the worker has no stdout")
        if not select.select([stdout], [], [], DEADLINE_SECONDS)[0]:
            self.close()
            raise WorkerError(f"no answer within {DEADLINE_SECONDS:.0f} s")
        line = stdout.readline()
        if not line:
            self.close()
            code = self._process.returncode
            raise WorkerError(f"the worker ended with {code}; see {self._log.name}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            self._log.write(reply["error"])
            self._log.flush()
            raise WorkerError(reply["error"].strip().splitlines()[-1])
        return reply

    def reset_idle(self) -> None:
        """Starts counting idle time anew."""
        self.idle_seconds = self.idle_cpu_seconds = 0.0

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the process (its stdin ends; after ten seconds, it is killed)."""
        if self._process.stdin is not None:
            try:
                self._process.stdin.close()
            except OSError:
                pass
        try:
            self._process.wait(0.0 if self._log.closed else 10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()
