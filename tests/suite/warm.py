"""Processes that find torch imported: for tests that need one more process, not how it starts.

``Popen`` and ``run`` are those of ``subprocess`` for commands of this interpreter. Importing torch
is most of what a short program costs; here one process imports it once, and each program begins as
a fork of that one, and as a child of the process that asked: waited for, ended and counted as any.
Penstock is not imported there: what it does when it starts, each program does for itself.

A program that reads at the very start of Python or of torch what others do not (another
``OMP_NUM_THREADS``) is forked from a process that was started with it.
"""

from __future__ import annotations

import atexit
import builtins
import ctypes
import gc
import importlib
import importlib.util
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# What all programs import that do anything.
IMPORTED = ("torch", "numpy", "google.protobuf.message", "ml_dtypes")
# Read by the interpreter or by libraries before a program begins.
_EARLY = (
    "ATEN_", "DNNL_", "GLIBC_", "GOMP_", "KMP_", "LD_", "MALLOC_", "MKL_", "NPY_", "OMP_",
    "ONEDNN_", "OPENBLAS_", "PYTHON", "TORCH_",
)  # fmt: skip
_LATE = ("PYTHONPATH", "PYTHONUNBUFFERED")  # given to each program anew
_PR_SET_CHILD_SUBREAPER = 36
_LARGEST = 1 << 20  # bytes of a request


class Program(NamedTuple):
    """What is run, and in which surroundings."""

    words: list[str]
    folder: str
    environment: dict[str, str]
    session: bool
    uninterrupted: bool  # SIGINT is ignored, as in what a shell starts in the background


class Popen(subprocess.Popen[Any]):
    """``subprocess.Popen`` of ``[sys.executable, FILE or -c TEXT or -m MODULE, ...]``."""

    def _execute_child(self, args: Sequence[Any], *more: Any) -> None:
        given = dict(zip(_GIVEN, more, strict=True))
        pipes = [given[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        words = [os.fspath(word) for word in args]
        environment = given["env"]
        program = Program(
            words[1:], os.fspath(given["cwd"] or os.getcwd()),
            dict(os.environ if environment is None else environment), given["start_new_session"],
            signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
        )  # fmt: skip
        try:
            if words[0] != sys.executable or given["pass_fds"] or given["preexec_fn"]:
                raise ValueError(f"no program of this interpreter alone: {words}")
            self.pid = _parent_for(program.environment).fork(program, pipes)
            self._child_created = True
        finally:
            self._close_pipe_fds(
                given["p2cread"], given["p2cwrite"], given["c2pread"], given["c2pwrite"],
                given["errread"], given["errwrite"],
            )  # fmt: skip


# Arguments of `_execute_child`, after the command, in Python 3.11 and later.
_GIVEN = (
    "executable", "preexec_fn", "close_fds", "pass_fds", "cwd", "env", "startupinfo",
    "creationflags", "shell", "p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite",
    "restore_signals", "gid", "gids", "uid", "umask", "start_new_session", "process_group",
)  # fmt: skip


def run(
    command: Sequence[Any], *, capture_output: bool = False, check: bool = False,
    input: Any = None, timeout: float | None = None, **options: Any,
) -> subprocess.CompletedProcess[Any]:  # fmt: skip
    """``subprocess.run``."""
    if capture_output:
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(command, **options) as process:
        try:
            out, error = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, out, error)
    if check:
        done.check_returncode()
    return done


class _Parent:
    """The process that programs are forked from, as seen by the one that asks."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self._control, other):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LARGEST)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.suite.warm", str(other.fileno())], cwd=ROOT,
                env=dict(environment), pass_fds=[other.fileno()], stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def usable(self) -> bool:
        """Whether it lives, and is this process's own, not that of one it was forked from."""
        return self._owner == os.getpid() and self._process.poll() is None

    def end(self) -> None:
        """Has it end, which it does when nobody is there to ask."""
        self._control.close()
        if self._owner == os.getpid():
            self._process.wait()

    def fork(self, program: Program, pipes: Sequence[int]) -> int:
        """Starts a program, whose standard streams are these or (-1) this process's; its pid."""
        streams = [own if pipe == -1 else pipe for own, pipe in enumerate(pipes)]
        with self._lock:
            _adopt(True)
            try:
                socket.send_fds(self._control, [json.dumps(program).encode()], streams)
                answer = self._control.recv(64)
            finally:
                _adopt(False)
        if not answer:
            raise RuntimeError("the process that programs are forked from has ended")
        return int(answer)


_parents: dict[frozenset[tuple[str, str]], _Parent] = {}


@atexit.register
def _end() -> None:
    for parent in _parents.values():
        parent.end()


def _parent_for(environment: Mapping[str, str]) -> _Parent:
    early = frozenset(
        (name, value)
        for name, value in environment.items()
        if name.startswith(_EARLY) and name not in _LATE
    )
    if early not in _parents or not _parents[early].usable():
        others = {name: value for name, value in os.environ.items() if not name.startswith(_EARLY)}
        _parents[early] = _Parent({**others, **dict(early)})
    return _parents[early]


def _adopt(orphans: bool) -> None:
    """Has orphans below this process become its children, or no longer."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(orphans), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


# ---- in the process that programs are forked from ------------------------------------------------


def _serve(control: socket.socket) -> Program:
    """Forks a program each time it is asked to; returns in the program, and nowhere else."""
    while True:
        request, streams, _, _ = socket.recv_fds(control, _LARGEST, 3)
        if not request:
            os._exit(0)
        read, write = os.pipe()
        between = os.fork()
        if not between and not _leave(write):
            control.close()
            _take(streams, (read, write))
            return Program(*json.loads(request))
        os.close(write)
        child = os.read(read, 64)  # all of it: less than a pipe takes at once
        os.waitpid(between, 0)
        control.send(child)
        for end in (read, *streams):
            os.close(end)


def _leave(write: int) -> int:
    """Forks a child that is nobody's here: 0 in it, once who asked has it."""
    between = os.getpid()
    if child := os.fork():
        os.write(write, str(child).encode())
        os._exit(0)
    while os.getppid() == between:
        time.sleep(0.0005)
    return child


def _take(streams: Sequence[int], others: Sequence[int]) -> None:
    """Makes these the standard streams."""
    kept = [os.dup(stream) for stream in streams]  # none of them is 0, 1 or 2
    for number, stream in enumerate(kept):
        os.dup2(stream, number)
    for each in (*streams, *others, *kept):
        os.close(each)


def _begin(program: Program) -> None:
    """Makes this process what Python had made of a new one."""
    os.chdir(program.folder)
    if program.session:
        os.setsid()
    signal.signal(
        signal.SIGINT, signal.SIG_IGN if program.uninterrupted else signal.default_int_handler
    )
    os.environ.clear()
    os.environ.update(program.environment)
    # The process that this is a fork of was started without any; what stands there already, a
    # ``.pth`` file does not add.
    given = _paths(os.environ)
    sys.path[:] = [*given, *(each for each in sys.path[1:] if each not in given)]
    for number, name in enumerate(("stdout", "stderr"), 1):
        _renew(name, number, "PYTHONUNBUFFERED" not in os.environ)
    sys.modules["numpy"].random.seed()


def _renew(name: str, number: int, buffered: bool) -> None:
    before = getattr(sys, name)
    raw = open(number, "wb", -1 if buffered else 0, closefd=False)
    now = io.TextIOWrapper(
        raw, before.encoding, before.errors, write_through=not buffered,
        line_buffering=buffered and (number == 2 or raw.isatty()),
    )  # fmt: skip
    setattr(sys, name, now)
    setattr(sys, f"__{name}__", now)


def _paths(environment: Mapping[str, str]) -> list[str]:
    return [os.path.abspath(each) for each in environment.get("PYTHONPATH", "").split(":") if each]


def _main(words: Sequence[str]) -> tuple[CodeType, ModuleType]:
    """What stands on the command line, and its ``__main__``; with the path and words it sees."""
    main = ModuleType("__main__")
    vars(main)["__builtins__"] = builtins
    what, *rest = words
    if what == "-c":
        text, *rest = rest
        first, name, code = "", "-c", compile(text, "<string>", "exec", dont_inherit=True)
    elif what == "-m":
        module, *rest = rest
        first = os.getcwd()
        sys.path.insert(0, first)
        main.__spec__ = spec = _found(module)
        sys.path.remove(first)
        name, main.__package__, code = spec.origin, spec.parent, spec.loader.get_code(spec.name)
        main.__file__ = name
    else:
        name, main.__file__ = what, os.path.abspath(what)
        first = os.path.dirname(os.path.realpath(what))
        code = compile(Path(what).read_bytes(), what, "exec", dont_inherit=True)
    sys.path.insert(0, first)
    sys.argv[:] = [name, *rest]
    sys.modules["__main__"] = main
    return code, main


def _found(module: str) -> Any:
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{module}.__main__")
    assert spec is not None, f"no module {module}"
    return spec


def main() -> None:
    """Imports what is to be there, and forks until nobody is there to ask."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    program = _serve(socket.socket(fileno=int(sys.argv[1])))
    _begin(program)
    try:
        code, module = _main(program.words)
        exec(code, vars(module))
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
            frames = frames.tb_next
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        sys.exit(1)


if __name__ == "__main__":
    main()
