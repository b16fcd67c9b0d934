"""From a step's readable program to its native form, while it runs.

    plain --hot--> noted --> compiling --> trial --> native (or plain for good)

A step starts as its lines.  When it counts as hot (with its second run, if the session asks for
that), one of its runs notes what its values look like, and a process of its own compiles the
stretches.  Then some runs try each stretch beside its lines, on copies; those that gave the same
and took less time become calls.  Each change sets ``program.function``, which ``execute`` reads
once a step: a step that runs ends as it began, the next one is of the new form.  What was compiled
and tried lies on disk, so the next process begins where this one ended.

State, of a program: where it is on that way.
"""

from __future__ import annotations

import builtins
import itertools
import logging
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch

from penstock.compiler.stretches.cut import Stretch, cut, lines_alone, with_calls, with_notes
from penstock.compiler.stretches.lines import program_of
from penstock.engine.native.identity import facts, machine, references
from penstock.engine.native.library import Library, load as load_library
from penstock.engine.native.neighbours import Neighbours
from penstock.engine.native.process import run_worker, without_compiler
from penstock.engine.native.request import Request, key_of
from penstock.engine.native.store import Store, Verdict
from penstock.engine.native.trial import FAST, NativeCall, Trial
from penstock.engine.runtime.program import Program
from penstock.foundation.machine import hardware
from penstock.foundation.machine.cache import folder

log = logging.getLogger("penstock")

# What compiling is reckoned to cost, in seconds: for a program, and for a line of it.
_COST, _COST_OF_LINE = 20.0, 0.1
# Runs that are looked at, at most, until each branch was taken.
_RUNS_NOTED = 10
# Runs of a program after which those of its stretches that are decided no longer wait for others.
_RUNS_TRIED = 24
# How long a machine must be quiet until what was lost beside other work is tried again.
_WAIT_SECONDS = 60.0
# One program is compiled at a time.
_turn = threading.Lock()


class Tier:
    """The way of one program.

    Args:
      program: it runs on the CPU, with shapes that are known.
      at_once: whether its second run counts as a proof that it is hot.
      store: where what is compiled lies.
      build: compiles a request into a folder.
      load: gives what is called, of a file.
      marked: whether it is for nodes that ask for it alone.
    """

    def __init__(
        self,
        program: Program,
        at_once: bool,
        store: Store,
        build: Callable[[Request, Path], None] = run_worker,
        load: Callable[[Path, int, int, float], Library] = load_library,
        marked: bool = False,
    ) -> None:
        self._program = weakref.ref(program)
        self._plain, self._source = program.function, program.source
        self._filename, self._scope = program.filename, program.scope
        self._store, self._build, self._load = store, build, load
        self._lines = program_of(program.source, marked)
        self._functions = references(program.source.functions)
        self._key = key_of(self._lines, self._functions, *facts(program.source))
        self._lock = threading.Lock()
        self._parts: list[Stretch] = []
        self._about: dict[str, Any] = {}
        self._folder = Path()
        self._verdicts: list[Verdict] = []
        self._forms: list[NativeCall | Trial | None] = []
        self._neighbours = Neighbours()
        self._taken = 0.0
        # What runs of the program have shown of its values, and which names they have set.
        self._values: dict[str, Any] = {}
        self._seen: set[str] = set()
        self._noting: Callable[..., Any] | None = None
        self._runs_noted = 0
        # The stretches that are native calls.
        self.native: list[Stretch] = []
        self.state = "not hot yet"
        # Set when nothing more will happen.
        self.settled = threading.Event()
        if not cut(self._lines):
            self._stay("no stretch of lines is worth a call")
        elif not self._found():
            self._set(self._once if at_once else self._counted)

    # ---- the forms ---------------------------------------------------------------------------

    def _set(self, function: Callable[..., Any]) -> None:
        program = self._program()
        if program is not None:
            program.function = function

    def _stay(self, why: str) -> None:
        self.state = why
        self._set(self._plain)
        self.settled.set()

    def _once(self, *args: Any) -> Any:
        """Runs the program: many steps, initializers among them, never run again."""
        self._set(self._noted)
        return self._plain(*args)

    def _counted(self, *args: Any) -> Any:
        """Runs the program and adds up its time."""
        begin = time.perf_counter()
        try:
            return self._plain(*args)
        finally:
            self._taken += time.perf_counter() - begin
            if self._taken > _COST + _COST_OF_LINE * len(self._lines.lines):
                self._set(self._noted)

    def _noted(self, *args: Any) -> Any:
        """Runs the program, and sees what its values look like."""
        if not self._lock.acquire(blocking=False):
            return self._plain(*args)
        try:
            if self.state not in ("not hot yet", "noting"):
                return self._plain(*args)
            self.state = "noting"
            values, seen = self._values, self._seen

            def note(name: str, value: Any) -> None:
                seen.add(name)
                if isinstance(value, torch.Tensor):
                    values[name] = _about(value)

            if self._noting is None:
                tree = with_notes(self._source, "noted")
                self._noting = self._function(tree, "noted", {"note": note})
            result = self._noting(*args)
            self._runs_noted += 1
            every = {name for line in self._lines.lines for name in line.sets} - {"_"}
            if every - seen and self._runs_noted < _RUNS_NOTED:
                return result  # of a branch that was not taken
            for name in (*self._lines.resources, *self._lines.constants):
                value = self._scope[name]
                value = getattr(value, "value", None) if name in self._lines.resources else value
                if isinstance(value, torch.Tensor):
                    values[name] = _about(value)
            if any(device != "cpu" for *_, device in values.values()):
                self._stay("it computes on another device")
                return result
            self.state = "compiling"
            self._set(self._plain)
            values = {name: about[:3] for name, about in values.items()}
            request = Request.of(self._lines, self._functions, values, hardware.usable_cores())
            threading.Thread(
                target=self._compile, args=(request,), name="penstock-native", daemon=True
            ).start()
            return result
        finally:
            self._lock.release()

    def _function(
        self, module: Any, name: str, more: Mapping[str, Any] | None = None
    ) -> Callable[..., Any]:
        """A function of a tree, whose lines are those of the program's text."""
        scope = {**self._scope, **(more or {})}
        exec(builtins.compile(module, self._filename, "exec"), scope)
        made: Callable[..., Any] = scope[name]
        return made

    # ---- compiling ---------------------------------------------------------------------------

    def _compile(self, request: Request) -> None:
        why = without_compiler()
        if why:
            log.debug("steps stay as they are: %s", why)
            return self._stay(why)
        try:
            with _turn:
                self._store.make(self._key, lambda place: self._build(request, place))
            if not self._found():
                self._stay("what was compiled is not there")
        except (OSError, subprocess.SubprocessError, ValueError, LookupError) as error:
            log.debug("a step was not compiled: %s", error)
            self._stay(f"not compiled: {error}")
        return None

    def _found(self) -> bool:
        """Takes what was compiled, by this or another process; says whether there is something."""
        found = self._store.find(self._key)
        if found is None:
            return False
        self._folder, self._about = found
        refused = {int(number) for number in self._about["refused"]}
        self._parts = cut(self._lines, refused)
        made = self._about["stretches"]
        if [(p.first, p.last) for p in self._parts] != [(m["first"], m["last"]) for m in made]:
            return False
        known = self._store.verdicts()
        now = time.time()
        self._verdicts = [
            known.get(f"{self._key}/{i}", Verdict()).again(now) for i in range(len(made))
        ]
        self._begin()
        return True

    def _form(self, index: int) -> NativeCall | Trial | None:
        """What the program calls for a stretch; None where its lines stay."""
        part, about = self._parts[index], self._about["stretches"][index]
        verdict = self._verdicts[index]
        if "library" not in about or verdict.word not in ("", FAST):
            return None
        values = about["values"]
        try:
            path = self._folder / about["library"]
            library = self._load(path, len(values), len(part.gives), verdict.seconds)
        except (OSError, RuntimeError) as error:
            log.debug("a library is not used: %s", error)
            return None
        name = f"stretch_{index}"
        tree = lines_alone(self._source, part, name)
        plain = self._function(tree, name)
        resources = [self._scope[each] for each in part.resources]
        constants = [self._scope[each] for each in part.constants]
        bounds = about.get("bounds", ())
        if verdict.word == FAST:
            updates = bool(about["updates"])
            return NativeCall(library, plain, resources, constants, values, updates, bounds)
        return Trial(
            library, plain, resources, constants, values,
            lambda others: self._function(tree, name, others), part.resources, about["updates"],
            bounds,
        )  # fmt: skip

    # ---- trial and swap ----------------------------------------------------------------------

    def _begin(self) -> None:
        """Sets the program that the verdicts, or the lack of them, ask for."""
        forms = self._forms or [None] * len(self._parts)
        self._forms = [
            form if isinstance(form, Trial) and not form.verdict else self._form(index)
            for index, form in enumerate(forms)
        ]
        used = [(p, f) for p, f in zip(self._parts, self._forms, strict=True) if f is not None]
        if not used:
            self._stay(self._why_plain())
            return self._watch(self._plain)
        names = {f"native_{index}": form for index, (_, form) in enumerate(used)}
        tree = with_calls(self._source, [part for part, _ in used], "step")
        run = self._function(tree, "step", names)
        self.native = [part for part, form in used if isinstance(form, NativeCall)]
        trials = [form for form in names.values() if isinstance(form, Trial)]
        if not trials:
            self._set(run)
            self.state = "native"
            self.settled.set()
            return self._watch(run)
        runs, self._neighbours = itertools.count(1), Neighbours()

        def tried(*args: Any) -> Any:
            try:
                return run(*args)
            finally:
                ended = [trial for trial in trials if trial.verdict]
                if len(ended) == len(trials) or (ended and next(runs) >= _RUNS_TRIED):
                    self._judge()

        self._set(tried)
        self.state = "on trial"
        return None

    def _judge(self) -> None:
        """Keeps what the trials have shown, and sets the program that follows from it."""
        with self._lock:
            ended = [(i, f) for i, f in enumerate(self._forms) if isinstance(f, Trial)]
            ended = [(i, form) for i, form in ended if form.verdict]
            if self.state != "on trial" or not ended:
                return
            busy = self._neighbours.busy()
            for index, form in ended:
                verdict = Verdict(
                    form.verdict, form.ratio, form.seconds, self._verdicts[index].trials + 1,
                    time.time(), busy,
                )  # fmt: skip
                self._verdicts[index] = verdict
                self._store.judge(self._key, index, verdict)
                log.debug("a stretch is %s: %.2f of its lines", verdict.word, verdict.ratio)
            self._begin()

    def _watch(self, run: Callable[..., Any]) -> None:
        """Has what was lost beside other work tried again when the machine is quiet."""
        if not any(verdict.unlucky for verdict in self._verdicts):
            return
        neighbours, due = Neighbours(), time.monotonic() + _WAIT_SECONDS

        def watched(*args: Any) -> Any:
            nonlocal due
            if time.monotonic() > due and self._lock.acquire(blocking=False):
                try:
                    due = time.monotonic() + _WAIT_SECONDS
                    if not neighbours.busy():
                        unlucky = [verdict.unlucky for verdict in self._verdicts]
                        self._verdicts = [
                            Verdict(trials=verdict.trials) if again else verdict
                            for verdict, again in zip(self._verdicts, unlucky, strict=True)
                        ]
                        self._begin()
                finally:
                    self._lock.release()
            return run(*args)

        self._set(watched)

    def _why_plain(self) -> str:
        made = self._about["stretches"]
        words = [verdict.word for verdict in self._verdicts if verdict.word]
        reasons = [each["why"] for each in made if "why" in each]
        if words:
            return f"no native form is kept: {', '.join(words)}"
        return f"not compiled: {reasons[0]}" if reasons else "no stretch of lines can be compiled"

    # ---- to be read --------------------------------------------------------------------------

    def explain(self, text: str) -> str:
        """The program's text, with a bar beside the lines that are one native call."""
        lines = text.splitlines()
        for part in self.native:
            for number in range(part.first, part.last + 1):
                lines[number - 1] = "  | " + lines[number - 1][4:]
        notes = [f"# native: {self.state}"]
        for part, verdict in zip(self._parts, self._verdicts, strict=False):
            word, ratio = verdict.word, round(verdict.ratio, 3)
            said = f"{word}, {ratio:g} of its lines' time" if word else "not tried yet"
            said += ", beside other work: to be tried again" if verdict.unlucky else ""
            notes.append(f"# native: lines {part.first} to {part.last}: {said}")
        return "\n".join([*lines, *notes]) + "\n"

    def native_source(self) -> str:
        """The C++ of each native call."""
        texts = []
        for index, form in enumerate(self._forms):
            if isinstance(form, NativeCall):
                part = self._parts[index]
                try:
                    text = (self._folder / f"{index}.cpp").read_text()
                except OSError:
                    text = "// its source is gone\n"
                texts.append(f"# native: lines {part.first} to {part.last} in C++:\n{text}")
        return "".join(texts)


def promote(program: Any, mode: str) -> Tier | None:
    """Gives a program the way to a native form, where it can have one.

    Args:
      program: just made.
      mode: ``"on"``: it is compiled at once; ``"auto"``: if it proves hot; ``"marked"``: at once,
        what of it was made in an ``experimental_jit_scope``.

    Returns:
      Its tier; None where it stays as it is: it runs by data flow, may wait for other steps, or is
      for another device.
    """
    if type(program) is not Program or program.blocking or program.source.memories:
        return None
    marked = mode == "marked"
    tier = Tier(program, mode != "auto", _store(folder()), marked=marked)
    program.tier = tier
    return tier


@cache
def _store(where: Path | None) -> Store:
    return Store(machine(), where)


def _about(tensor: torch.Tensor) -> list[Any]:
    name = str(tensor.dtype).removeprefix("torch.")
    return [list(tensor.shape), list(tensor.stride()), name, tensor.device.type]
