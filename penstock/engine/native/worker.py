"""The process that compiles: takes a request on its input, leaves libraries and a manifest.

    python -m penstock.engine.native.worker FOLDER PARENT < request.json

What it has made is complete when the manifest has its name; until then the folder is another.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from functools import reduce
from pathlib import Path
from typing import Any

import torch

from penstock.compiler.stretches.cut import Stretch
from penstock.engine.native import compiling, tracing
from penstock.engine.native.request import MANIFEST, Request


def function(reference: str) -> Any:
    """A kernel, by ``module:name``, or ``torch.ops:...`` for an operator."""
    module, _, name = reference.partition(":")
    found = torch.ops if module == "torch.ops" else importlib.import_module(module)
    return reduce(getattr, name.split("."), found)


def answer(request: Request, folder: Path) -> dict[str, Any]:
    """What can be compiled of a program is compiled.

    Args:
      request: the program.
      folder: for the libraries.

    Returns:
      The manifest: ``refused`` lines and why; the ``stretches``, each with its ``library``, the
      resources that it ``updates``, the ``values`` that it is made for and the ``bounds`` of
      indices, or ``why`` none.
    """
    functions = {name: function(where) for name, where in request.functions.items()}
    refused = tracing.refused(request.lines, request.values, request.resources, functions)
    parts = stretches(request, functions, refused)
    made = []
    for index, (part, (graph, inputs, updates, bounds)) in enumerate(parts):
        names = (*part.given, *part.resources, *part.constants)
        about: dict[str, Any] = {
            "first": part.first, "last": part.last, "updates": updates,
            "values": [request.values[name] for name in names], "bounds": bounds,
        }  # fmt: skip
        build = folder / f"build_{index}"
        build.mkdir()
        try:
            compiling.build(graph, inputs, build / "library.so", request.threads)
            (build / "library.so").rename(folder / f"{index}.so")
            # What it was made of, for ``explain``: the loops, then the calls of them.
            texts = [each.read_text() for each in sorted(build.glob("*.kernel.cpp"))]
            texts += [each.read_text() for each in sorted(build.glob("*.wrapper.cpp"))]
            (folder / f"{index}.cpp").write_text("\n".join(texts))
            about["library"] = f"{index}.so"
        except Exception as why:
            about["why"] = _said(why)
        finally:
            shutil.rmtree(build, ignore_errors=True)
        made.append(about)
    return {"refused": {str(n): why for n, why in refused.items()}, "stretches": made}


def stretches(
    request: Request, functions: dict[str, Any], refused: dict[int, str]
) -> list[tuple[Stretch, tuple[Any, list[Any], list[int], list[list[int]]]]]:
    """The stretches with their graphs; lines that cannot be traced are added to ``refused``."""
    while True:
        found = []
        for part in request.cut(refused):
            try:
                graph = compiling.traced(
                    request.text_of(part), part.given, part.resources, part.constants, part.gives,
                    request.values, functions,
                )  # fmt: skip
            except Exception as why:
                refused[_line_of(why, request, part)] = _said(why)
                break
            found.append((part, graph))
        else:
            return found


def _line_of(raised: BaseException, request: Request, part: Stretch) -> int:
    """The number of the line that could not be traced; the first where none is to blame."""
    place = 1
    for frame in traceback.extract_tb(raised.__traceback__):
        if frame.filename == compiling.FILE and frame.lineno:
            place = frame.lineno
    inside: list[int] = [number for number, *_ in request.rows if part.first <= number <= part.last]
    return inside[place - 1]


def _said(why: BaseException) -> str:
    return f"{type(why).__name__}: {why}".splitlines()[0][:200]


def _end_with(parent: int, folder: Path) -> None:
    """Ends this process when the one that asked is gone, however it ended."""
    while os.getppid() == parent:
        time.sleep(1.0)
    shutil.rmtree(folder, ignore_errors=True)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # and the C++ compiler
    os._exit(1)


def main() -> None:
    """Serves one request."""
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    threading.Thread(target=_end_with, args=(int(sys.argv[2]), folder), daemon=True).start()
    manifest = answer(Request.parse(sys.stdin.read()), folder)
    (folder / MANIFEST).write_text(json.dumps(manifest))


if __name__ == "__main__":
    main()
