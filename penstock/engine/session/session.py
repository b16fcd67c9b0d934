"""Sessions: where graphs meet state and run.

State: the graph, the resources (this session's variables and streams), and two caches: from what
the user asked (fetch nesting, feed keys) to a prepared step, and from (feeds, fetches, targets, and
for a special program the shapes fed) to a compiled program.  Both are valid for one
``mutation_version`` of the graph; growth of the graph invalidates nothing, since nodes do not
change.

``run`` is safe to call from several threads at once: programs keep their values in locals, and
shared state is in resources.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from penstock.compiler.codegen.source import Watch
from penstock.compiler.placement.place import Placer
from penstock.engine.resources import ending, threads, waiting
from penstock.engine.runtime import memory
from penstock.engine.runtime.program import Program, execute
from penstock.engine.session import feeds as feeding, partial, tracing
from penstock.engine.session.engine import Request, engine_for, scheme_of
from penstock.engine.session.fetches import FetchPlan, fetch_key
from penstock.engine.session.handles import TensorHandle, wrapped
from penstock.engine.session.options import apply_config, check_run_arguments, defaults
from penstock.engine.session.prepared import ShapedPrograms, Step
from penstock.engine.session.special_runs import CLOSED, SpecialRuns
from penstock.engine.session.users_graph import users_node
from penstock.foundation.base import errors, origin
from penstock.foundation.graph import drawing, scopes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor

_MANY_PROGRAMS = 100


class BaseSession(SpecialRuns):
    """What all sessions share; use ``Session`` or ``InteractiveSession``.

    Args:
      target: where to run; the empty string means in this process.
      graph: the graph to run; default is the default graph.
      config: a ``ConfigProto``.

    Raises:
      TypeError: an argument of a wrong kind.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if not isinstance(target, str | bytes):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        self._target = target.encode() if isinstance(target, str) else target
        self._graph = graph if graph is not None else scopes.get_default_graph()
        self._config = config = defaults.make() if config is None else config
        self._options = apply_config(config)
        memory.keep_freed_memory()
        self._engine = engine_for(self._target.decode(), self._graph, config, self._options)
        # Ends the waits of this session's steps when it is closed.
        self._cancellation = waiting.Cancellation()
        self._steps: dict[Any, Step] = {}
        self._programs: dict[Any, Program] = {}
        self._compile_lock = waiting.StepLock()
        self._partial: dict[str, partial.PartialStep] = {}
        self._closed = False
        self._warned = False
        # How often each call ran, where the session builds cost models.
        self._cost_runs: dict[Any, int] = {}
        # Handles of tensors that stay here, which nobody has any more.
        self.dead_handles: list[str] = []

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef, with ``_output_shapes`` if the config has ``infer_shapes``."""
        return self._graph.as_graph_def(add_shapes=self._options.infer_shapes)

    def __repr__(self) -> str:
        where = f" on {self._target.decode()}" if self._target else ""
        state = "closed" if self._closed else f"{len(self._programs)} programs"
        return f"<tf.{type(self).__name__}{where} of {self._graph.described()}, {state}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        rows = [
            ("Session", "closed" if self._closed else "open"),
            ("target", self._target.decode() or "this process"),
            ("graph", self._graph.described()),
            ("steps", f"{len(self._programs)} programs; explain(fetches) shows one"),
        ]
        return drawing.table(rows)

    @property
    def placer(self) -> Placer:
        """What gives nodes their devices."""
        return self._options.placer

    @property
    def sess_str(self) -> bytes:
        """The target."""
        return self._target

    def close(self) -> None:
        """Ends the session and frees its state; running it afterwards is an error.

        Steps of other threads that wait (for an element of a queue, say) end with CancelledError.
        """
        self._closed = True
        self._cancellation.cancel("the session was closed")
        self._steps.clear()
        self._programs.clear()
        self._engine.close()

    def as_default(self) -> Any:
        """A context manager that makes this the default session."""
        return scopes.default_session_scope(self)

    # ---- running -----------------------------------------------------------------------------

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Runs what ``fetches`` needs and returns the values, nested as ``fetches`` is.

        Args:
          fetches: a tensor, operation, name, SparseTensor, IndexedSlices or variable, or any
            nesting of those in lists, tuples, namedtuples and dicts.
          feed_dict: from tensors (or names) to the values to use for them: Python numbers, lists,
            NumPy arrays or torch tensors.
          options: a ``RunOptions``; ``timeout_in_ms`` bounds the step, ``trace_level`` and
            ``output_partition_graphs`` fill ``run_metadata`` (``session.tracing`` says how).
          run_metadata: a ``RunMetadata`` that takes what ``options`` ask for, and nothing else.

        Returns:
          NumPy arrays and scalars in the nesting of ``fetches``; None for operations.

        Raises:
          RuntimeError: the session is closed.
          TypeError, ValueError: fetches or feeds that make no sense for this graph; ``options`` or
            ``run_metadata`` of another type.
          tf.errors.OpError: a node failed; the message names it and the line that made it.
        """
        if run_metadata is not None:
            check_run_arguments(options, run_metadata)
            run_metadata.Clear()
        if self.inspect is not None:
            return self.inspect(fetches, feed_dict)
        if ending.begun:
            ending.stay()
        try:
            key = (
                fetches if type(fetches) is Tensor else fetch_key(fetches),
                tuple(feed_dict) if feed_dict else (),
            )
            step = self._steps.get(key)
        except TypeError:
            key, step = None, None
        try:
            if step is None or step.version != self._graph.mutation_version or options is not None:
                return self._run_with_options(key, fetches, feed_dict or {}, options, run_metadata)
            return self._execute(step, feed_dict)
        except ending.ProcessEnds:
            ending.wait_for_end()

    def _run_with_options(
        self, key: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any
    ) -> Any:
        """The way of a call that is new, bounded in time or traced."""
        if ending.begun:
            ending.check()
        if self._closed:
            raise RuntimeError(CLOSED)
        check_run_arguments(options, run_metadata)
        seconds = self.timeout(options)
        wanted = self._wanted(options, run_metadata, key)
        with waiting.running(seconds=seconds):
            if wanted is not None:
                run = tracing.run_on_cluster if self._engine.remote else tracing.run
                return run(self, fetches, feed_dict, wanted, run_metadata)
            step = self._prepare(key, fetches, feed_dict, "" if seconds is None else "deadline")
            return self._execute(step, feed_dict)

    def _wanted(self, options: Any, run_metadata: Any, key: Any) -> tracing.Wanted | None:
        every, after = self._options.build_cost_model, self._options.build_cost_model_after
        due = False
        if every > 0:
            count = self._cost_runs[key] = self._cost_runs.get(key, 0) + 1
            due = count > after and (count - after) % every == 0
        return tracing.wanted(options, due) if run_metadata is not None else None

    def timeout(self, options: Any) -> float | None:
        milliseconds = getattr(options, "timeout_in_ms", 0) or self._options.timeout_in_ms
        return milliseconds / 1000.0 if milliseconds > 0 else None

    def _execute(self, step: Step, feed_dict: Any) -> Any:
        return self._launch(step, [convert(feed_dict[key]) for key, convert in step.feeds])

    def _launch(self, step: Step, args: list[Any]) -> Any:
        values = self.call_program(step.program(args), args)
        return values[0] if step.single else step.assemble(values)

    def call_program(self, program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
        """Runs a program; what its lines raise becomes the error of the node."""
        if program.can_be_ended:
            if self._engine.remote:
                self._cancellation.check_process("a step on other tasks")
            with waiting.running(self._cancellation):
                if program.feeds and threading.get_ident() != threading.main_thread().ident:
                    # It works beside the step that takes what it makes.
                    with threads.computing_alone():
                        return self._call_now(program, args)
                return self._call_now(program, args)
        return self._call_now(program, args)

    def _call_now(self, program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
        try:
            return execute(program, args)
        except errors.OpError as error:
            # The error's node is to be that of the user's graph, not the pass's copy of it.
            error.op = users_node(self._graph, error.op.name) if error.op is not None else None
            raise

    def _prepare(
        self, key: Any, fetches: Any, feed_dict: Any, watch: Watch = "", optimize: bool = True
    ) -> Step:
        if not self._graph.operations:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )
        with self._compile_lock:
            version = self._graph.mutation_version
            fed = feeding.expand(self._graph, feed_dict)
            plan = FetchPlan(self._graph, fetches, self.kept_value)
            fed.sort(key=lambda row: (row[2].op.id, row[2].value_index))
            tensors = [tensor for _, _, tensor in fed]
            step = Step(
                version,
                [(k, feeding.composed(pick, tensor)) for k, pick, tensor in fed],
                ShapedPrograms(
                    [] if self._engine.remote else tensors,
                    lambda shapes: self._program(tensors, plan, shapes, watch, optimize),
                    self._compile_lock,
                ),
                plan,
                isinstance(fetches, Tensor) and fetches.op.op_def.role != "session_handle",
            )
            # Under a deadline, or where runs are counted for a cost model, calls come here again.
            if key is not None and watch != "deadline" and not self._options.build_cost_model:
                self._steps[key] = step
            return step

    def kept_value(self, value: Any, dtype: Any) -> TensorHandle:
        """A handle of a value that stays with the session."""
        return wrapped(self, value, dtype)

    def _program(
        self,
        feeds: list[Tensor],
        plan: FetchPlan,
        shapes: tuple[Any, ...] | None,
        watch: Watch,
        optimize: bool,
    ) -> Program:
        graph = self._graph
        targets = plan.operations
        key = (
            tuple(feeds), tuple(plan.tensors), tuple(targets), graph.mutation_version, watch,
            optimize, shapes,
        )  # fmt: skip
        with self._compile_lock:
            program = self._programs.get(key)
            if program is None:
                request = Request(graph, feeds, plan.tensors, targets, shapes, watch, optimize)
                # An engine may wait for other tasks.
                with waiting.running(self._cancellation):
                    program = self._programs[key] = self._engine.program(request)
                self._warn_when_growing()
            return program

    def _warn_when_growing(self) -> None:
        if len(self._programs) < _MANY_PROGRAMS or self._warned:
            return
        self._warned = True
        last = self._graph.operations[-1] if self._graph.operations else None
        where = f"; the newest node, {last.name!r}, was made at {last.origin}" if last else ""
        origin.warn(
            f"this session has compiled {len(self._programs)} different steps; a graph that grows"
            f" inside the training loop makes every step slow{where}"
        )

    def list_devices(self) -> list[Any]:
        """The devices of this session."""
        if self._closed:
            raise errors.CancelledError(None, None, f"Session has been closed.: {CLOSED}")
        with waiting.running(self._cancellation, self.timeout(None)):
            return self._engine.list_devices()


ending.stops_in(BaseSession.run, BaseSession.partial_run)


def both_default(session: Any) -> ExitStack:
    """Makes a session and its graph the default ones, until what is returned is closed."""
    entered = ExitStack()
    entered.enter_context(session.graph.as_default())
    entered.enter_context(session.as_default())
    return entered


class Session(BaseSession):
    """Runs operations and evaluates tensors of a graph.

    Used as a context manager it is the default session and its graph the default graph; the
    session is closed at the end.

    Args:
      target: where to run; the empty string means in this process.
      graph: the graph to run; default is the default graph.
      config: a ``ConfigProto``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.constant(2.0) * 3.0)
      np.float32(6.0)
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._contexts: list[ExitStack] = []

    def __enter__(self) -> Session:
        if self._contexts:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you"
                " want to enter a session multiple times."
            )
        self._contexts.append(both_default(self))
        return self

    def __exit__(self, *exc: Any) -> None:
        self._contexts.pop().__exit__(*exc)
        if not self._contexts:
            self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Clears the resource containers of a server; a session in this process has its own.

        Args:
          target: of the server.
          containers: their names; the name of the server's job, or None, means what is in no other.
          config: a ``ConfigProto``: ``operation_timeout_in_ms`` bounds the call.

        Raises:
          tf.errors.OpError: a task cannot be reached, or not in time.
        """
        if not target:
            raise errors.invalid("Session.reset needs the target of a server; '' names none")
        named = [containers] if isinstance(containers, str) else list(containers or ())
        milliseconds = config.operation_timeout_in_ms if config is not None else 0
        with waiting.running(seconds=milliseconds / 1000 if milliseconds > 0 else None):
            scheme_of(target).reset(target, named, config)
