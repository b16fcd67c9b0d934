"""What a session does with a step beside running it: shows it, watches it, runs it in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from penstock.compiler.codegen.source import Observe, Watch
from penstock.engine.resources import ending, waiting
from penstock.engine.runtime import timing
from penstock.engine.runtime.program import Program
from penstock.engine.session import feeds as feeding, partial
from penstock.engine.session.callables import from_options
from penstock.engine.session.engine import Engine, Request
from penstock.engine.session.fetches import fetch_key
from penstock.engine.session.prepared import Step
from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

CLOSED = "Attempted to use a closed Session."


class SpecialRuns:
    """The ways to run a step beside ``run``; a base class of ``BaseSession``."""

    # What runs in place of every step, ``(session, fetches, feed_dict) -> values``: a check or a
    # debugger, set on the class for all sessions or on one session.
    inspect: Callable[..., Any] | None = None

    _graph: Graph
    _engine: Engine
    _steps: dict[Any, Step]
    _programs: dict[Any, Program]
    _partial: dict[str, partial.PartialStep]
    _cancellation: waiting.Cancellation
    _compile_lock: waiting.StepLock
    _closed: bool

    if TYPE_CHECKING:

        def run(
            self,
            fetches: Any,
            feed_dict: Any = None,
            options: Any = None,
            run_metadata: Any = None,
        ) -> Any:
            """``BaseSession``'s."""

        def timeout(self, options: Any) -> float | None:
            """``BaseSession``'s."""

        def call_program(self, program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
            """``BaseSession``'s."""

        def _launch(self, step: Step, args: list[Any]) -> Any: ...

        def _prepare(
            self,
            key: Any,
            fetches: Any,
            feed_dict: Any,
            watch: Watch = "",
            optimize: bool = True,
        ) -> Step: ...

    def observed(
        self,
        fetches: Any,
        feed_dict: Any,
        make_observer: Callable[[Program, list[Any]], Observe],
        *,
        optimize: bool = True,
    ) -> Any:
        """Runs a step, with its effects, under the eyes of an observer.

        The one place for everything that looks into a running step.  The observed program is
        compiled apart from the one that ``run`` uses, which stays as it is, and is cached; threads
        may observe at the same time.

        Args:
          fetches, feed_dict: as for ``run``.
          make_observer: ``(program, args) -> observe``, called just before each run.  ``program``
            is the observed ``Program`` (its ``source.line_ops``, ``line_inputs``, ``constants``
            and ``step``, the step graph after the passes; ``scope`` has the values of constants
            and the resources by the names in ``source``); ``args`` are the values fed, in the
            order of ``program.source.step.feeds``.  ``observe(line, outputs)`` is called after
            each line; ``codegen.emit`` says with what.
          optimize: False compiles without the optimizing passes, so that every node of the user's
            graph that the step needs has a line of its own (with its own name).

        Returns:
          What ``run`` would return.

        Raises:
          What ``run`` raises, errors naming the user's node; what ``observe`` raises as it is.

        Example::

            session.observed(loss, feeds, lambda program, args: lambda line, outputs:
                print(program.source.line_ops[line].name, outputs))
        """
        step = self.observed_step(fetches, feed_dict or {}, optimize)
        args = [convert(feed_dict[key]) for key, convert in step.feeds]
        program = step.program(args)
        values = self.call_program(program, [*args, make_observer(program, args)])
        return values[0] if step.single else step.assemble(values)

    def observed_step(self, fetches: Any, feed_dict: Any, optimize: bool = True) -> Step:
        if self._closed:
            raise RuntimeError(CLOSED)
        try:
            key: Any = (fetch_key(fetches), tuple(feed_dict), "observe", optimize)
            step = self._steps.get(key)
        except TypeError:
            key, step = None, None
        if step is None or step.version != self._graph.mutation_version:
            step = self._prepare(key, fetches, feed_dict, "observe", optimize)
        return step

    def explain(
        self, fetches: Any, feed_dict: Any = None, timed_runs: int = 0, native: bool = False
    ) -> str:
        """The generated program that ``run(fetches, feed_dict)`` would run.

        Args:
          fetches: as for ``run``.
          feed_dict: as for ``run``, or just a sequence of the tensors fed, which gives the program
            that serves any shapes.
          timed_runs: run the step so many times (with its effects!) and give each line's median
            time; of a step that is fed something, needs values in ``feed_dict``.
          native: whether the C++ of native calls follows, where the step has a native form
            (docs/native.md); needs values in ``feed_dict``.

        Returns:
          Python source: one line a node, the node's name in a comment.

        Raises:
          ValueError: ``timed_runs`` with tensors to feed and no values.
        """
        fed = {} if feed_dict is None else feed_dict
        step = self._prepare(None, fetches, fed, "observe" if timed_runs else "")
        if not isinstance(fed, dict):
            if timed_runs:
                raise ValueError("timed_runs needs values in feed_dict; found only what is fed")
            return step.build().explain()
        args = [convert(feed_dict[key]) for key, convert in step.feeds]
        program = step.program(args)
        if not timed_runs:
            return program.explain() + (program.native_source() if native else "")
        clock = timing.LineClock()
        for _ in range(timed_runs):
            clock.start()
            self.call_program(program, [*args, clock.observe])
        return clock.annotate(program.explain())

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function that runs ``fetches`` with its positional arguments fed to ``feed_list``.

        Args:
          fetches: as for ``run``.
          feed_list: tensors to feed, one for each argument.
          accept_options: whether the function also takes ``options`` and ``run_metadata``.

        Returns:
          A function faster than ``run``, which looks nothing up.
        """
        if self._closed:
            raise errors.CancelledError(None, None, f"Session has been closed.: {CLOSED}")
        keys = feeding.keys_of_list(feed_list)
        seconds = self.timeout(None)
        watch: Watch = "" if seconds is None else "deadline"
        step = self._prepare(None, fetches, dict.fromkeys(keys), watch)
        converters = [(keys.index(key), convert) for key, convert in step.feeds]

        def call(*args: Any) -> Any:
            if self._closed:
                raise RuntimeError(CLOSED)
            if len(args) != len(keys):
                raise TypeError(f"the callable takes {len(keys)} value(s); {len(args)} were given")
            if self.inspect is not None:
                return self.inspect(fetches, dict(zip(keys, args, strict=True)))
            try:
                ending.check()
                given = [convert(args[index]) for index, convert in converters]
                if seconds is None:
                    return self._launch(step, given)
                with waiting.running(seconds=seconds):
                    return self._launch(step, given)
            except ending.ProcessEnds:
                ending.wait_for_end()

        ending.stops_in(call)

        def call_with_options(*args: Any, options: Any = None, run_metadata: Any = None) -> Any:
            fed = dict(zip(keys, args, strict=True))
            return self.run(fetches, fed, options, run_metadata)

        return call_with_options if accept_options else call

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., list[Any]]:
        """A function as ``make_callable`` makes, from a ``CallableOptions``.

        Args:
          callable_options: names of ``feed``, ``fetch`` and ``target``, and ``run_options``.

        Returns:
          ``call(*feeds, run_metadata=None)``, which returns the values of the fetches in a list.
        """
        return from_options(self.make_callable, callable_options)

    def partial_run_setup(self, fetches: Any, feeds: Sequence[Any] | None = None) -> str:
        """Declares a step that will be run in parts.

        Args:
          fetches: everything that will be fetched.
          feeds: every tensor that will be fed.

        Returns:
          A handle for ``partial_run``, which ends when everything was fed and fetched.

        Raises:
          RuntimeError: the session is closed.
          InvalidArgumentError: nothing is fetched, or a tensor is fed twice or fed and fetched.
        """
        if self._closed:
            raise RuntimeError(CLOSED)
        step = partial.set_up(self._graph, fetches, feeds)
        self._partial[step.name] = step
        return step.name

    def partial_run(self, handle: str | None, fetches: Any, feed_dict: Any = None) -> Any:
        """Runs a part of a step: what ``fetches`` needs and has not run yet.

        Args:
          handle: from ``partial_run_setup``; None runs a whole step, as ``run`` does.
          fetches: some of the declared fetches.
          feed_dict: values for some of the declared feeds, each fed once in the whole run.

        Returns:
          Values in the nesting of ``fetches``.

        Raises:
          RuntimeError: the session is closed.
          InvalidArgumentError: an unknown handle or one of a run that is over, what was not
            declared, or what was fed or fetched before.
          tf.errors.OpError: a node failed, which ends the run.
        """
        if handle is None:
            return self.run(fetches, feed_dict)
        if self._closed:
            raise RuntimeError(CLOSED)
        step = partial.step_of(self._partial, handle)
        try:
            with waiting.running(seconds=self.timeout(None)):
                return partial.run_part(self, step, fetches, feed_dict)
        except ending.ProcessEnds:
            ending.wait_for_end()
        finally:
            if step.over:
                self._partial.pop(handle, None)

    def part_program(
        self,
        feeds: list[Tensor],
        fetches: list[Tensor],
        targets: list[Operation],
        done: frozenset[Operation],
    ) -> Program:
        key = (tuple(feeds), tuple(fetches), tuple(targets), done)
        with self._compile_lock:
            if key not in self._programs:
                request = Request(self._graph, feeds, fetches, targets, done=done)
                with waiting.running(self._cancellation):
                    self._programs[key] = self._engine.program(request)
            return self._programs[key]
