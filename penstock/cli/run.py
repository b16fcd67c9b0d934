"""``penstock run``: a program's own command line, with ``tensorflow`` resolved to Penstock.

The program is ``__main__`` of this process, as if Python had started it: ``sys.argv``,
``sys.path``, the traceback of an error and the exit status are its own.
"""

from __future__ import annotations

import atexit
import importlib.util
import io
import os
import sys
import traceback
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from penstock.cli.failure import Failure
from penstock.foundation.base import torch_parts
from penstock.tf1 import children, old_methods, old_python, python2
from penstock.tf1.install import install

_PAGE = "docs/running-programs.md"


class Program(NamedTuple):
    """What is run."""

    code: CodeType
    path: str
    spec: Any


def run_program(words: list[str], version: str, instead: bool, strict: bool) -> int:
    """Runs a script or module as ``python`` would; returns the exit status.

    Args:
      words: the script and its arguments, or ``-m``, a module and its arguments.
      version: what ``tf.__version__`` is to be.
      instead: whether Penstock takes the place of a TensorFlow that is installed.
      strict: whether nothing is put back that TensorFlow, Python and its packages have dropped.

    Raises:
      Failure: if there is nothing to run, or TensorFlow is installed and is to stay.
      SystemExit: if the program raises it.
    """
    by_name = words[:1] == ["-m"]
    words = words[1:] if by_name else words
    if not words:
        raise Failure("what is to be run is missing: a script, or -m MODULE", 2)
    if words[0].startswith("-"):
        raise Failure(f"no such option: {words[0]}", 2)
    first = os.getcwd() if by_name else os.path.dirname(os.path.abspath(words[0]))
    if not sys.flags.safe_path:
        sys.path[0] = first
    done = install(version, instead, old=not strict)
    if done.front is None:
        raise Failure(f"{done.said}; --instead puts Penstock in its place for this program", 2)
    _say(done.said)
    torch_parts.allow()
    children.tell(version, instead, not strict)
    if not strict:
        atexit.register(_say_used, old_python.restore())
    try:
        program = _module(words[0]) if by_name else _script(words[0], strict)
        sys.argv[:] = [program.path, *words[1:]]
        exec(program.code, _main_module(program).__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        return _show(error)
    return 0


def _say(text: str) -> None:
    print(f"penstock run: {text}", file=sys.stderr, flush=True)


def _say_used(used: dict[str, str]) -> None:
    """Says what the program could not have used in this Python by itself."""
    if used:
        names = ", ".join(f"{name} ({line})" for name, line in used.items())
        _say(f"put back for this program: {names}; --strict leaves it out, {_PAGE} says why")


def _script(path: str, strict: bool) -> Program:
    try:
        with io.open_code(os.path.abspath(path)) as file:
            source = file.read()
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", 2) from None
    if strict:
        return Program(compile(source, path, "exec", dont_inherit=True), path, None)
    return Program(old_methods.compiled(source, path), path, None)


def _module(name: str) -> Program:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError:
        spec = None
    code = None if spec is None else getattr(spec.loader, "get_code", lambda _: None)(spec.name)
    if spec is None or code is None:
        raise Failure(f"no module {name!r} that can be run, in {sys.path[0]} or elsewhere", 2)
    return Program(code, str(spec.origin), spec)


def _main_module(program: Program) -> ModuleType:
    """A new ``__main__``; the one that Python has made stays alive under another name."""
    sys.modules["penstock.__started__"] = sys.modules["__main__"]
    main = ModuleType("__main__")
    main.__file__, main.__spec__ = program.path, program.spec
    main.__package__ = program.spec.parent if program.spec else None
    vars(main)["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    return main


def _show(error: BaseException) -> int:
    """Shows what ended the program, from its own first line on."""
    if isinstance(error, Failure):
        raise error
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    error = error.with_traceback(frames)
    advice = python2.advice(error)
    if advice and isinstance(error, SyntaxError):
        _say(advice)
        return 1
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, frames)
    for said in (advice, old_python.how_to_get(error)):
        if said:
            _say(said)
    return 130 if isinstance(error, KeyboardInterrupt) else 1
