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
import os
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import torch

from penstock.compiler.stretches.cut import (
    Stretch,
    cut,
    lines_alone,
    may_be_cut,
    with_calls,
    with_notes,
)
from penstock.compiler.stretches.lines import Program as Lines, program_of
from penstock.engine.native.identity import key_of, machine, references
from penstock.engine.native.library import Library, load as load_library
from penstock.engine.native.marks import left_behind, trying
from penstock.engine.native.neighbours import Neighbours
from penstock.engine.native.process import run_worker, without_compiler
from penstock.engine.native.request import Request
from penstock.engine.native.store import ENDED, Store, Verdict
from penstock.engine.native.trial import FAST, NativeCall, Trial
from penstock.engine.runtime.program import Program, when_hot
from penstock.foundation.machine import hardware
from penstock.foundation.machine.cache import folder
from penstock.foundation.machine.spare import why_not_now

log = logging.getLogger("penstock")

# Runs that are looked at, at most, until each branch was taken.
_RUNS_NOTED = 10
# Runs of a program after which those of its stretches that are decided no longer wait for others.
_RUNS_TRIED = 24
_NOT_HOT, _NOTHING = "not hot yet", "no stretch of lines is worth a call"
# How long a machine must be quiet until what was lost beside other work is tried again.
_WAIT_SECONDS = 60.0
# What is kept of a program that could not be compiled, in place of a stretch's number.
_WHOLE = -1
# One program is compiled at a time.
_turn = threading.Lock()
_tiers: weakref.WeakSet[Tier] = weakref.WeakSet()


class Tier:
    """The way of one program.

    Args:
      program: it runs on the CPU, with shapes that are known.
      at_once: whether its second run counts as a proof that it is hot; else it has to take as
        long as compiling is reckoned to, and the machine has to have a core to spare.
      store: where what is compiled lies.
      build: compiles a request into a folder.
      load: gives what is called, of a file.
      marked: whether it is for nodes that ask for it alone.
      hot: whether it has proved hot already.
    """

    def __init__(
        self,
        program: Program,
        at_once: bool,
        store: Store,
        build: Callable[[Request, Path], None] = run_worker,
        load: Callable[[Path, int, int, float], Library] = load_library,
        marked: bool = False,
        hot: bool = False,
    ) -> None:
        self._program = weakref.ref(program)
        self._plain, self._source = program.function, program.source
        self._filename, self._scope = program.filename, program.scope
        self._store, self._build, self._load = store, build, load
        self._at_once, self._marked = at_once, marked
        self._lock = threading.Lock()
        self._parts: list[Stretch] = []
        self._about: dict[str, Any] = {}
        self._folder = Path()
        self._verdicts: list[Verdict] = []
        self._forms: list[NativeCall | Trial | None] = []
        self._neighbours = Neighbours()
        # What runs of the program have shown of its values, and which names they have set.
        self._values: dict[str, Any] = {}
        self._seen: set[str] = set()
        self._noting: Callable[..., Any] | None = None
        self._runs_noted = 0
        # The stretches that are native calls.
        self.native: list[Stretch] = []
        self.state = _NOT_HOT
        # Set when nothing more will happen.
        self.settled = threading.Event()
        _tiers.add(self)
        if not may_be_cut(program.source):
            self._stay(_NOTHING)
        elif not self._found():
            if at_once or hot:
                self._set(self._once if at_once else self._noted)
            else:
                self._wait()

    @cached_property
    def _functions(self) -> dict[str, str]:
        return references(self._source.functions)

    @cached_property
    def _key(self) -> str:
        return key_of(self._source, self._functions, self._marked)

    @cached_property
    def _lines(self) -> Lines:
        """The program's lines; taking them apart takes as long as the rest of making a step."""
        return program_of(self._source, self._marked)

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

    def _wait(self) -> None:
        """Leaves the program as it is until it proves hot."""
        program = self._program()
        if program is not None:
            program.function = self._plain
            when_hot(program, lambda: self._set(self._noted))

    def _noted(self, *args: Any) -> Any:
        """Runs the program, and sees what its values look like."""
        if not self._lock.acquire(blocking=False):
            return self._plain(*args)
        try:
            if self.state not in (_NOT_HOT, "noting"):
                return self._plain(*args)
            if self.state == _NOT_HOT:
                # Another process may have compiled it meanwhile, or failed to.
                if self._failed() or self._found():
                    return self._plain(*args)
                if not cut(self._lines):
                    self._stay(_NOTHING)
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
            known = {name: about[:3] for name, about in values.items()}
            cores = hardware.usable_cores()
            request = Request.of(self._lines, self._functions, known, cores)
            asked = weakref.ref(self), self._key, request, self._store, self._build
            threading.Thread(
                target=_compile, args=asked, name="penstock-native", daemon=True
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

    def why_not_now(self) -> str:
        """What the machine lacks at the moment for compiling this; empty where it may begin."""
        return why_not_now(self._at_once)

    def put_off(self, why: str) -> None:
        """It has to prove hot once more."""
        with self._lock:
            log.debug("a step is not compiled yet: %s", why)
            self._values.clear()
            self._seen.clear()
            self._runs_noted = 0
            self.state = _NOT_HOT
            self._wait()

    def give_up(self, why: str, remember: bool = False) -> None:
        """It stays as it is.

        Args:
          why: is said.
          remember: whether other processes need not try for a day.
        """
        log.debug("a step stays as it is: %s", why)
        if remember:
            trials = self._store.verdicts().get(f"{self._key}/{_WHOLE}", Verdict()).trials + 1
            verdict = Verdict(why, trials=trials, when=time.time())
            self._store.judge(self._key, _WHOLE, verdict)
        self._stay(why)

    def take(self) -> bool:
        """Takes what was compiled; says whether there is something."""
        return self._found()

    def _failed(self) -> bool:
        """Whether compiling failed less than a day ago, here or elsewhere."""
        known = self._store.verdicts().get(f"{self._key}/{_WHOLE}", Verdict())
        if known.again(time.time()).word:
            self._stay(known.word)
            return True
        return False

    def _found(self) -> bool:
        """Takes what was compiled, by this or another process; says whether there is something."""
        found = None if self._store.is_empty() else self._store.find(self._key)
        if found is None:
            return False
        folder, about = found
        parts = cut(self._lines, {int(number) for number in about["refused"]})
        made = about["stretches"]
        if [(p.first, p.last) for p in parts] != [(m["first"], m["last"]) for m in made]:
            return False
        self._folder, self._about, self._parts = folder, about, parts
        self._note_ended()
        known = self._store.verdicts()
        now = time.time()
        self._verdicts = [
            known.get(f"{self._key}/{i}", Verdict()).again(now) for i in range(len(made))
        ]
        self._begin()
        return True

    def _note_ended(self) -> None:
        """Keeps which stretches came before the end of another process, so that none is tried."""
        for index in left_behind(self._folder):
            trials = self._store.verdicts().get(f"{self._key}/{index}", Verdict()).trials + 1
            self._store.judge(self._key, index, Verdict(ENDED, trials=trials, when=time.time()))
            log.debug("a stretch is not tried again: %s", ENDED)

    def _form(self, index: int) -> NativeCall | Trial | None:
        """What the program calls for a stretch; None where its lines stay."""
        part, about = self._parts[index], self._about["stretches"][index]
        verdict = self._verdicts[index]
        if "library" not in about or verdict.word not in ("", FAST):
            return None
        values = about["values"]
        try:
            path = self._folder / about["library"]
            with trying(self._folder, index):
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
            bounds, partial(trying, self._folder, index),
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

    def unlock(self) -> None:
        """Of a child: no thread of it holds the lock, and what was under way elsewhere is not."""
        self._lock = threading.Lock()
        if self.state == "compiling":
            self._stay("compiling was left to the process that this one was forked from")

    # ---- to be read --------------------------------------------------------------------------

    def explain(self, text: str) -> str:
        """The program's text, with a bar beside the lines that are one native call.

        Of steps that nobody has asked to compile it says nothing before they are hot.
        """
        if not self._at_once and self.state in (_NOT_HOT, _NOTHING):
            return text
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


def _compile(
    tier: weakref.ref[Tier],
    key: str,
    request: Request,
    store: Store,
    build: Callable[[Request, Path], None],
) -> None:
    """The work of a thread: has a program compiled.

    The program may be gone before that: it is not held, nor are its variables.
    """
    why = without_compiler()
    try:
        if not why:
            with _turn, store.alone():
                asks = tier()
                if asks is None:
                    return
                not_now = asks.why_not_now()
                if not_now:
                    return asks.put_off(not_now)
                del asks
                if store.find(key) is None:
                    store.make(key, lambda place: build(request, place))
        asks = tier()
        if asks is not None and (why or not asks.take()):
            asks.give_up(why or "what was compiled is not there")
    except (OSError, subprocess.SubprocessError, ValueError, LookupError) as error:
        asks = tier()
        if asks is not None:
            # That a process was ended from outside says nothing about the program.
            failed = isinstance(error, subprocess.SubprocessError)
            asks.give_up(f"not compiled: {error}", remember=failed)


def _after_fork() -> None:
    """A child has none of the threads that hold locks, nor the process that compiles."""
    global _turn
    _turn = threading.Lock()
    for tier in list(_tiers):
        tier.unlock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def promote(program: Any, mode: str) -> Tier | None:
    """Gives a program the way to a native form, where it can have one.

    Args:
      program: just made.
      mode: ``"on"``: it is compiled at once; ``"auto"``: if it proves hot; ``"hot"``: it has;
        ``"marked"``: at once, what of it was made in an ``experimental_jit_scope``.

    Returns:
      Its tier; None where it stays as it is: it runs by data flow, may wait for other steps, or is
      for another device.
    """
    if type(program) is not Program or program.blocking or program.source.memories:
        return None
    at_once, marked = mode in ("on", "marked"), mode == "marked"
    tier = Tier(program, at_once, _store(folder()), marked=marked, hot=mode == "hot")
    program.tier = tier
    return tier


@cache
def _store(where: Path | None) -> Store:
    return Store(machine(), where)


def _about(tensor: torch.Tensor) -> list[Any]:
    name = str(tensor.dtype).removeprefix("torch.")
    return [list(tensor.shape), list(tensor.stride()), name, tensor.device.type]
