"""A pytest plugin that runs a suite's steps by native forms, whatever a trial would say of them.

    NATIVE_FORCED=ask:FOLDER       each step that may have native forms is noted in its first run
    NATIVE_FORCED=traced:FOLDER    they run as the operators that were traced, one after another
    NATIVE_FORCED=compiled:FOLDER  they run as libraries, those that ``compile_asked`` has made

    NATIVE_FORCED=ask:/tmp/forced pytest -p tests.engine.native.forced tests/programs
    python -m tests.engine.native.forced /tmp/forced
    NATIVE_FORCED=compiled:/tmp/forced pytest -p tests.engine.native.forced tests/programs

From its first run on, each stretch runs twice: its lines on copies, and its native form on what the
step gives it, which goes on with that.  So the suite's own expectations hold native forms against
TensorFlow, and what differs between the two is written to ``FOLDER/differ.jsonl``, each stretch
with its lines; ``FOLDER/counts.jsonl`` says how many calls there were.  ``NATIVE_FEWEST=1`` makes a
stretch of any line, so that steps of one op have native forms, too.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch._inductor import config

from penstock.compiler.stretches import cut as cutting
from penstock.engine.native import compiling, tier as tiers, tracing, worker
from penstock.engine.native.request import MANIFEST, Request
from penstock.engine.native.store import Store
from penstock.engine.native.tier import Tier
from penstock.engine.native.trial import NativeCall, Trial, same

# Batches of libraries: their headers are parsed once; what calls the loops is as it comes.
QUICK = {
    "aot_inductor.precompile_headers": True, "cpp_cache_precompile_headers": True,
    "aot_inductor.compile_wrapper_opt_level": "O0",
}  # fmt: skip
cutting.FEWEST_LINES = int(os.environ.get("NATIVE_FEWEST", cutting.FEWEST_LINES))
counts: Counter[str] = Counter()
_lock = threading.RLock()


def _asked(folder: Path, key: str) -> Path:
    return folder / "asked" / f"{key}.json"


class Forced(Trial):
    """Both forms at each run, of which the native one counts."""

    folder = Path()

    def __init__(
        self, library: Any, plain: Any, resources: Any, constants: Any, about: Any,
        apart: Any, names: Any, updates: Any, bounds: Any, marked: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            library, plain, resources, constants, about, apart, names, updates, bounds, marked
        )
        self._call = NativeCall(library, _never, resources, constants, about, bool(updates), bounds)

    def __call__(self, *given: Any) -> Any:
        with _lock:
            return self._both(given)

    def _both(self, given: tuple[Any, ...]) -> Any:
        if self._call.fit(given) is None:
            counts["left to the lines"] += 1
            return self._plain(*given)
        counts["calls"] += 1
        copies = _copies(given)
        for index, resource in enumerate(self._resources):
            value = resource.value
            self._plain_on[index].value = value.clone() if index in self._updates else value
        try:
            theirs = self._apart(*copies)
        except Exception as error:
            self._say(f"lines raise {error}")
            return self._plain(*given)
        ours = self._call(*given)
        pairs = [(f"result {i}", *pair) for i, pair in enumerate(zip(ours, theirs, strict=True))]
        pairs += [
            (f"variable {i}", self._resources[i].value, self._plain_on[i].value)
            for i in sorted(self._updates)
        ]
        for name, one, other in pairs:
            if not same(one, other):
                self._say(f"{name}: {one.dtype}{list(one.shape)} {_first(one, other)}")
        self._let_go_of_copies()
        return ours

    def _let_go_of_copies(self) -> None:
        for copied in self._plain_on:
            del copied.value

    def _say(self, what: str) -> None:
        counts["differ"] += 1
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        _append(self.folder / "differ.jsonl", [test, self._apart.text, what])


def _copies(given: Sequence[Any]) -> list[Any]:
    """Copies that share memory as what they are copies of."""
    memories: dict[int, Any] = {}
    made = []
    for tensor in given:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in memories:
            memories[storage.data_ptr()] = storage.clone()
        copied = torch.empty(0, dtype=tensor.dtype)
        copied.set_(memories[storage.data_ptr()], tensor.storage_offset(), tensor.shape,
                    tensor.stride())  # fmt: skip
        made.append(copied)
    return made


def _first(one: Any, other: Any) -> str:
    """The numbers that differ most."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return f"for {other.dtype}{list(other.shape)}"
    apart = (one.double() - other.double()).abs().nan_to_num(torch.inf).reshape(-1)
    at = int(apart.argmax())
    return f"at {at}: {one.reshape(-1)[at].item()!r} for {other.reshape(-1)[at].item()!r}"


def _never(*given: Any) -> Any:
    raise AssertionError("what fits is called")


def _append(path: Path, row: Any) -> None:
    with open(path, "a") as file:
        file.write(json.dumps(row) + "\n")


class ForcedTier(Tier):
    """The way of a program in a suite: its first run is noted, or it is native at once."""

    how, folder = "ask", Path()

    def _once(self, *args: Any) -> Any:
        return self._noted(*args)

    def _found(self) -> bool:
        counts["programs"] += 1
        asked = _asked(self.folder, self._key)
        if self.how == "traced" and asked.exists() and not self._store.find(self._key):
            request = Request.parse(asked.read_text())
            self._store.make(self._key, lambda place: trace(request, place))
        return self.how != "ask" and super()._found()

    def _form(self, index: int) -> Any:
        form = super()._form(index)
        if isinstance(form, Forced):
            part = self._parts[index]
            lines = self._source.text.splitlines()[part.first - 1 : part.last]
            form._apart.text = "\n".join(line.strip() for line in lines)
            counts["stretches"] += 1
        return form

    def _ask(self, request: Request, _: Path) -> None:
        _asked(self.folder, self._key).write_text(str(request))
        raise OSError("noted")


def trace(request: Request, folder: Path) -> None:
    """Manifest and graphs of a request; its libraries are the graphs."""
    functions = {name: worker.function(where) for name, where in request.functions.items()}
    refused = tracing.refused(request.lines, request.values, request.resources, functions)
    made = []
    for index, (part, (graph, _, updates, bounds)) in enumerate(
        worker.stretches(request, functions, refused)
    ):
        names = (*part.given, *part.resources, *part.constants)
        made.append({
            "first": part.first, "last": part.last, "updates": updates, "bounds": bounds,
            "values": [request.values[name] for name in names], "library": f"{index}.so",
        })  # fmt: skip
        torch.save(graph, folder / f"{index}.so")
    said = {str(number): why for number, why in refused.items()}
    (folder / MANIFEST).write_text(json.dumps({"refused": said, "stretches": made}))


def _load_graph(path: Path, inputs: int, outputs: int, seconds: float) -> Any:
    graph = torch.load(path, weights_only=False)
    return lambda tensors: list(graph(*tensors))


def pytest_configure() -> None:
    """Puts the forced tier in place of the one that proves what is fast."""
    how, _, folder = os.environ["NATIVE_FORCED"].partition(":")
    os.environ["PENSTOCK_NATIVE"] = "on"
    ForcedTier.how, ForcedTier.folder, Forced.folder = how, Path(folder), Path(folder)
    (ForcedTier.folder / "asked").mkdir(parents=True, exist_ok=True)
    store = Store("forced", ForcedTier.folder / how)

    def tier(program: Any, at_once: bool, _: Store, marked: bool = False, **more: Any) -> Tier:
        if how == "traced":
            more["load"] = _load_graph
        made: Any = ForcedTier.__new__(ForcedTier)
        made.__init__(program, at_once, store, lambda *asked: made._ask(*asked), marked=marked,
                      **more)  # fmt: skip
        return made

    tiers.Tier, tiers.Trial, tiers._RUNS_NOTED = tier, Forced, 1
    tiers.without_compiler = lambda: ""
    atexit.register(_end)


def _end() -> None:
    for thread in threading.enumerate():
        if thread.name == "penstock-native":
            thread.join()
    _append(ForcedTier.folder / "counts.jsonl", counts)


def compile_asked(folder: Path, most: int = 1 << 30) -> None:
    """Compiles what was asked, in one process; says what was refused.

    Args:
      folder: as the plugin had it.
      most: programs that are compiled.
    """
    store = Store("forced", folder / "compiled")
    for path in sorted((folder / "asked").iterdir())[:most]:
        if store.find(path.stem) is None:
            store.make(path.stem, lambda place, path=path: _compile(path, place))


def _compile(path: Path, place: Path) -> None:
    manifest = worker.answer(Request.parse(path.read_text()), place)
    (place / MANIFEST).write_text(json.dumps(manifest))
    made = manifest["stretches"]
    print(path.stem, len(made), [each["why"] for each in made if "why" in each], flush=True)


def main() -> None:
    """``python -m tests.engine.native.forced FOLDER [MOST]``."""
    torch.set_num_threads(1)
    real = torch._inductor.aot_compile

    def quick(graph: Any, inputs: Any, options: Any) -> Any:
        return real(graph, inputs, options={**options, **QUICK})

    torch._inductor.aot_compile = quick
    config.cpp_cache_precompile_headers = True
    assert compiling  # calls it
    compile_asked(Path(sys.argv[1]), *map(int, sys.argv[2:]))


if __name__ == "__main__":
    main()
