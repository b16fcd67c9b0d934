"""A program that is run by the dataflow executor, for control flow that does not nest.

Its text lists the nodes and calls the executor.  Each ordinary node has a program of its own, made
by the generator that makes those of steps: of a step of that one node, whose feeds are its inputs.
Which inputs are state (a variable, a queue) is known when they come: a ``Merge`` may choose between
two variables.  A node is therefore compiled for each combination of states that it meets.

A feed of a program is nobody's to overwrite, and what a program returns is no alias of a variable:
so values may be handed to any number of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.compiler.codegen.emit import emit
from penstock.compiler.codegen.moves import moves_between_devices
from penstock.compiler.codegen.plan import make_plan
from penstock.compiler.codegen.source import FetchSource, Source, Watch
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.runtime.dataflow import Run
from penstock.engine.runtime.dataflow_frames import Dead
from penstock.engine.runtime.dataflow_graph import DataflowGraph, Node
from penstock.engine.runtime.program import Compile, Program
from penstock.engine.runtime.values import value_source
from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.handles import handle_of, is_handle, naming_only, resource_key
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.text import node_text
from penstock.foundation.graph.verify import verify
from penstock.foundation.opdef.program_text import comment, identifier
from penstock.foundation.opdef.registry import OPS

_SILENT = ("constant", "state", "feed")


@dataclass(frozen=True)
class _NodeProgram:
    """A node compiled: its function, the inputs it is given, and what its outputs are.

    An output is a position among what the function returns, a node that makes state, or None.
    """

    function: Callable[..., tuple[Any, ...]]
    given: list[int]
    outputs: list[Any]


class DataflowProgram(Program):
    """A step, run node by node as values come.

    Args:
      step: the step, with primitives (``passes.primitives``).
      why: why no program is written for it.
      resources: the state that it works on.
      compile: makes callables of the functions that nodes call.
      private: as for ``Program``.
      result_source: makes what is returned.
      watch: as for ``emit``.
      threads: as for ``Program``.
    """

    filename = ""  # where a step is refused before it has a text

    def __init__(
        self,
        step: StepGraph,
        why: str,
        resources: ResourceManager,
        compile: Compile,
        private: dict[str, Any] | None,
        result_source: FetchSource,
        watch: Watch,
        threads: int = 0,
    ) -> None:
        self._graph = DataflowGraph(step)
        self._link_to = (resources, compile, private)
        self._result_source = result_source
        self._watch = watch
        self._by_file: dict[str, Program] = {}
        self._results: dict[tuple[Operation | None, ...], _NodeProgram] = {}
        self._reads: dict[tuple[Operation], Callable[..., tuple[Any, ...]]] = {}
        self._constants: dict[Operation, str] = {}
        source = self._listing(why)
        super().__init__(source, resources, "step", compile, private, threads)
        self.can_be_ended = True
        makers = source.resources.items()
        self._states = {resource_key(op): self.scope[name] for name, op in makers}

    def _listing(self, why: str) -> Source:
        """The text: a comment a node, and one call."""
        step = self._graph.step
        watch = ", observe" if self._watch == "observe" else ""
        inputs = ", ".join(f"f{i}" for i in range(len(step.feeds)))
        lines = [f"def step({(inputs + watch).removeprefix(', ')}):"]
        remark = comment(" ".join(why.split()))
        lines.append(f"    # run by the dataflow executor: {remark}")
        source = Source("", {}, {}, {}, {}, {}, {}, step)
        for node in self._graph.nodes.values():
            op = node.op
            remark = comment(" ".join(node_text(op).split()))
            lines.append(f"    # {remark}")
            node.line = len(lines)
            if node.kind == "constant":
                name = self._constants[op] = f"c{len(source.constants)}"
                source.constants[name] = op.attrs["value"]
            elif node.kind not in _SILENT:
                source.line_ops[node.line] = op
                source.line_inputs[node.line] = [("", tensor) for tensor in op.inputs]
        observe = "observe" if watch else "None"
        lines.append(f"    return execute([{inputs}], {observe})")
        source.text = "\n".join(lines) + "\n"
        source.functions["execute"] = self._execute
        source.resources.update(_makers_of_state(step))
        return source

    # ---- running -----------------------------------------------------------------------------

    def _execute(
        self, args: list[Any], observe: Callable[[int, tuple[Any, ...]], None] | None
    ) -> tuple[Any, ...]:
        noted = None
        if observe is not None:

            def noted(node: Node, outputs: Sequence[Any]) -> None:
                if node.kind not in _SILENT:
                    seen = map(self._observed, node.op.outputs, outputs)
                    observe(node.line, tuple(seen))

        run = Run(self._graph, args, self._compute, self._read, noted)
        tokens = run.results()
        key = _states_among(tokens)
        returning = self._results.get(key)
        if returning is None:
            returning = self._results[key] = self._compile_results(tokens)
        return returning.function(*(tokens[i] for i in returning.given))

    def _compute(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        op = node.op
        if node.kind == "state":
            return [op] * len(op.outputs)
        if node.kind == "constant":
            return [self.scope[self._constants[op]]]
        if node.hands_on and isinstance(inputs[0], Operation):
            return [inputs[0]]
        key = _states_among(inputs)
        compiled = node.programs.get(key)
        if compiled is None:
            compiled = node.programs[key] = self._compile_node(node, inputs)
        made = compiled.function(*[inputs[i] for i in compiled.given])
        return [made[o] if isinstance(o, int) else o for o in compiled.outputs]

    def _read(self, tensor: Tensor, token: Operation) -> Any:
        """The value of a variable that stands where the executor itself needs a value."""
        key = (token,)
        reading = self._reads.get(key)
        if reading is None:
            single = _OneNode()
            step = single.step([single.input(tensor, token)], [])
            reading = self._reads[key] = self._linked(step, value_source)
        return reading()[0]

    def _observed(self, tensor: Tensor, token: Any) -> Any:
        if isinstance(token, Operation):
            plain = tensor.dtype is not dtypes.resource
            return getattr(self._states[resource_key(token)], "value", None) if plain else None
        return None if isinstance(token, Dead) else token

    # ---- compiling ---------------------------------------------------------------------------

    def _compile_node(self, node: Node, inputs: Sequence[Any]) -> _NodeProgram:
        op = node.op
        single = _OneNode()
        given = [single.input(t, token) for t, token in zip(op.inputs, inputs, strict=True)]
        new = single.copy(op, op.op_def, given)
        single.maker[new] = op
        fetches: list[Tensor] = []
        outputs: list[Any] = []
        for wanted, tensor in zip(node.wanted, new.outputs, strict=True):
            if is_handle(tensor):
                outputs.append(single.maker[handle_of(tensor)])
            else:
                outputs.append(len(fetches) if wanted else None)
                fetches += [tensor] if wanted else []
        function = self._linked(single.step(fetches, [new]), value_source)
        return _NodeProgram(function, single.slots_in(op.inputs, inputs), outputs)

    def _compile_results(self, tokens: Sequence[Any]) -> _NodeProgram:
        """What makes of the fetches' values what the caller gets."""
        single = _OneNode()
        fetched = self._graph.step.fetches
        made = [single.input(t, token, True) for t, token in zip(fetched, tokens, strict=True)]
        function = self._linked(single.step(made, []), self._result_source)
        given = [i for i, token in enumerate(tokens) if not isinstance(token, Operation)]
        return _NodeProgram(function, given, [])

    def _linked(self, step: StepGraph, source: FetchSource) -> Callable[..., tuple[Any, ...]]:
        resources, compile, private = self._link_to
        # Between nodes values are on the host.
        moved = moves_between_devices(step) if step.uses_gpus else step
        plan = make_plan(verify(moved, "dataflow"))
        program = Program(emit(plan, source, name="step"), resources, "step", compile, private)
        self._by_file[program.filename] = program
        return program.function

    # ---- errors ------------------------------------------------------------------------------

    def error(self, raised: BaseException) -> errors.OpError | None:
        """The ``tf.errors`` error that ``raised`` means, or None when no node of ours raised it."""
        traceback = raised.__traceback__
        while traceback is not None:
            program = self._by_file.get(traceback.tb_frame.f_code.co_filename)
            if program is not None:
                return program.error(raised)
            traceback = traceback.tb_next
        if isinstance(raised, errors.OpError) and raised.op in self._graph.nodes:
            return raised
        return None


class _OneNode:
    """A step of one node in the making.

    State: its graph, its feeds, and the user's node behind each node that makes state.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.feeds: list[Tensor] = []
        self.maker: dict[Operation, Operation] = {}
        self._copies: dict[Operation, Operation] = {}

    def input(self, tensor: Tensor, token: Any, fed: bool = False) -> Tensor:
        """What stands for an input: state named again, a constant (not if ``fed``), or a feed."""
        if isinstance(token, Operation):
            if token not in self._copies:
                copied = self.copy(token, naming_only(token.op_def), [])
                self._copies[token] = copied
                self.maker[copied] = token
            return self._copies[token].outputs[0]
        if tensor.op.op_def.role == "constant" and not fed:
            if tensor.op not in self._copies:
                self._copies[tensor.op] = self.copy(tensor.op, tensor.op.op_def, [])
            return self._copies[tensor.op].outputs[tensor.value_index]
        dtype = tensor.dtype.base_dtype
        attrs = {
            "dtype": dtype, "shape": shapes.from_static(tensor.sizes), "index": len(self.feeds),
        }  # fmt: skip
        name = f"_in/{len(self.feeds)}/{tensor.op.name}"
        node = self.graph.add_operation(OPS["_Feed"], [], attrs, [dtype], name)
        self.feeds.append(node.outputs[0])
        return node.outputs[0]

    @staticmethod
    def slots_in(tensors: Sequence[Tensor], tokens: Sequence[Any]) -> list[int]:
        """The positions of the inputs that are feeds."""
        return [
            i for i, (tensor, token) in enumerate(zip(tensors, tokens, strict=True))
            if not isinstance(token, Operation) and tensor.op.op_def.role != "constant"
        ]  # fmt: skip

    def copy(self, op: Operation, definition: Any, inputs: list[Tensor]) -> Operation:
        """Copies a node under its own name, which names its state too."""
        types = [t.dtype for t in op.outputs]
        new = Operation(self.graph, definition, op.name, inputs, [], op.attrs, types, op.origin)
        new.put_on(op.device)
        for old, made in zip(op.outputs, new.outputs, strict=True):
            made.sizes = old.sizes
        self.graph.register(new)
        return new

    def step(self, fetches: list[Tensor], targets: list[Operation]) -> StepGraph:
        """The step."""
        names = [t.op.name for t in self.feeds]
        return StepGraph(self.graph, self.feeds, fetches, targets, names)


def _states_among(tokens: Sequence[Any]) -> tuple[Operation | None, ...]:
    return tuple([t if isinstance(t, Operation) else None for t in tokens])


def _makers_of_state(step: StepGraph) -> dict[str, Operation]:
    """A node, by a name for the program, for each state that nodes of the step stand for."""
    found: dict[tuple[str, str], tuple[str, Operation]] = {}
    for op in step.operations:
        if op.op_def.state is not None and op.outputs and is_handle(op.outputs[0]):
            name = f"r{len(found)}_{identifier(op.name)}"
            found.setdefault(resource_key(op), (name, op))
    return dict(found.values())
