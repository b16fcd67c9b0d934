"""Contexts: which branch or loop the nodes that are being made belong to.

While a branch of ``tf.cond`` or a body of ``tf.while_loop`` is built, its context is the graph's
current one (per thread).  The graph shows it every node made (``AddOp``): the context replaces
inputs from outside by what stands for them inside (``AddValue``: a ``Switch`` in a branch, an
``Enter`` in a loop), and ties nodes without inputs to the *pivot*, a node that lives exactly when
the branch or the round does.

State of a context: the context around it; the names of the values known inside; for values from
outside, what stands for them; the contexts inside it.  Methods and attributes are named as in TF.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.foundation.base import origin
from penstock.foundation.graph import nest, proto_functions
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation, is_back_edge
from penstock.foundation.graph.scopes import (
    colocate_with,
    control_dependencies,
    get_default_graph,
)
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow import kinds
from penstock.ops.control import control, control_flow


class ControlFlowContext:
    """What contexts have in common."""

    kind = ""

    def __init__(self, name: str) -> None:
        graph = get_default_graph()
        self.name = name
        self.outer_context: Any = graph._get_control_flow_context()
        self._nested_contexts: list[ControlFlowContext] = []
        if self.outer_context is not None:
            self.outer_context._nested_contexts.append(self)
        self._context_stack: list[Any] = []
        self._values: set[str] = set()
        self._external_values: dict[str, Tensor] = {}
        self.origin = origin.capture()

    @property
    def grad_state(self) -> Any:
        """Of a loop of gradients, what it knows of its forward loop."""
        loop = self.GetWhileContext()
        return None if loop is None else loop.grad_state

    @property
    def back_prop(self) -> bool:
        """Whether gradients may pass."""
        raise NotImplementedError

    def described(self) -> str:
        """The construct with the user's line that made it, for errors."""
        scope = self.name.rpartition("/")[0] or self.name
        text = f"{self.kind} {scope!r}"
        return f"{text}, made at {self.origin}" if self.origin is not None else text

    # ---- being current -----------------------------------------------------------------------

    def Enter(self) -> None:
        """Makes this the context of the nodes made from now on."""
        graph = get_default_graph()
        self._context_stack.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self) -> None:
        """Makes the context before ``Enter`` current again."""
        get_default_graph()._set_control_flow_context(self._context_stack.pop())

    def ExitResult(self, result: Any) -> None:
        """Makes the tensors of ``result`` known to the context around."""
        if self.outer_context is not None:
            for tensor in nest.flatten(result, expand_composites=True):
                self.outer_context.AddName(tensor.name)

    def AddName(self, name: str) -> None:
        """Makes a tensor known by its name."""
        self._values.add(name)

    # ---- nodes -------------------------------------------------------------------------------

    def AddValue(self, val: Tensor) -> Tensor:
        """What stands for ``val`` in this context."""
        raise NotImplementedError

    def AddOp(self, op: Operation) -> None:
        """Takes a node that was just made into this context."""
        raise NotImplementedError

    def AddInnerOp(self, op: Operation) -> None:
        """Hears of a node that a context inside has taken."""
        if self.outer_context is not None:
            self.outer_context.AddInnerOp(op)

    def EnterGradientColocation(self, op: Operation, gradient_uid: Any) -> None:
        """Hears that the gradient of ``op`` is being built beside it."""
        if self.outer_context is not None:
            self.outer_context.EnterGradientColocation(op, gradient_uid)

    def ExitGradientColocation(self, op: Operation, gradient_uid: Any) -> None:
        """Hears that it is built."""
        if self.outer_context is not None:
            self.outer_context.ExitGradientColocation(op, gradient_uid)

    def check_use(self, op: Operation, input_op: Operation) -> None:
        """Refuses a new node ``op`` that takes a value of ``input_op``, which is in this context.

        Raises:
          ValueError: the value does not leave its loop.
        """
        if kinds.may_use(op, input_op):
            return
        loop = kinds.GetContainingWhileContext(op._control_flow_context)
        home = kinds.GetContainingWhileContext(kinds.GetOutputContext(input_op))
        why = (
            f"{input_op.name!r} is in a while loop"
            if loop is None
            else ("they are in different while loops")
        )
        lines = [f"Cannot use {input_op.name!r} as input to {op.name!r} because {why}."]
        lines.append(f"{input_op.name!r} is a value of each round of {home.described()}")
        if loop is not None:
            lines.append(f"{op.name!r} is in {loop.described()}")
        lines.append("Allowed outside is what the loop returns.")
        raise ValueError("\n".join(lines))

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Its message, as MetaGraphs hold it; see ``penstock.library.control_flow.messages``."""
        to_proto: Any = proto_functions.get_to_proto_function(GraphKeys.WHILE_CONTEXT)
        return to_proto(self, export_scope)

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> Any:
        """The context that a message tells of."""
        from_proto: Any = proto_functions.get_from_proto_function(GraphKeys.WHILE_CONTEXT)
        return from_proto(context_def, import_scope)

    # ---- what it is --------------------------------------------------------------------------

    def GetWhileContext(self) -> Any:
        """The innermost loop's context that is this or contains it, or None."""
        return None if self.outer_context is None else self.outer_context.GetWhileContext()

    def GetControlPivot(self) -> Tensor | None:
        """The tensor that lives when this branch or round does."""
        return None

    def IsWhileContext(self) -> bool:
        """Whether this is a loop's."""
        return False

    def IsCondContext(self) -> bool:
        """Whether this is a branch's."""
        return False

    def IsXLAContext(self) -> bool:
        """Never: TF's compiler has contexts of its own."""
        return False

    # ---- inner matters -----------------------------------------------------------------------

    def _known_around(self, names: Iterable[str]) -> None:
        """Makes tensors known here and in all contexts around."""
        names = list(names)
        context: Any = self
        while context is not None:
            context._values.update(names)
            context = context.outer_context

    def _RemoveExternalControlEdges(self, op: Operation) -> tuple[list[Operation], list[Operation]]:
        """Drops control inputs from outside the loop; those kept and those dropped."""
        loop = self.GetWhileContext()
        before = list(op.control_inputs)
        if loop is None:
            return before, []
        kept = []
        for control_input in before:
            context = kinds.GetOutputContext(control_input)
            if context is not None and context.GetWhileContext() is loop:
                kept.append(control_input)
        if len(kept) == len(before):
            return kept, []
        op._remove_all_control_inputs()
        op._add_control_inputs(kept)
        return kept, [c for c in before if c not in kept]

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def switch_ref_or_tensor(data: Tensor, pred: Tensor) -> tuple[Tensor, Tensor]:
    """``Switch`` beside what makes ``data``; a reference stays one."""
    with colocate_with(data, ignore_existing=True):
        if data.dtype.is_ref:
            no, yes = make("RefSwitch", data, pred, name="Switch")
            return no, yes
        return control_flow.switch(data, pred, name="Switch")


class CondContext(ControlFlowContext):
    """A branch of a conditional.

    Args:
      pred: the condition, a bool scalar.
      pivot: the tensor that lives when this branch is taken.
      branch: 1 of the branch for true, 0 of the one for false.
      name: of the context; made unique.
    """

    kind = "tf.cond"

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int, name: str = "cond_text") -> None:
        super().__init__(get_default_graph().unique_name(name))
        self.pred, self.pivot, self.branch = pred, pivot, branch
        self._values.update((pred.name, pivot.name))
        self._external_values[pred.name] = pred
        pivot.op._set_control_flow_context(self)

    @property
    def back_prop(self) -> bool:
        return False

    def GetControlPivot(self) -> Tensor:
        return self.pivot

    def IsCondContext(self) -> bool:
        return True

    def AddValue(self, val: Tensor) -> Tensor:
        """``val`` behind a Switch that lets it pass when this branch is taken."""
        if val.name in self._values:
            return self._external_values.get(val.name, val)
        result = self._from_around(val)
        with control_dependencies(None):
            result = switch_ref_or_tensor(result, self.pred)[self.branch]
            if self.outer_context is not None:
                self.outer_context.AddInnerOp(result.op)
        result.op.graph.prevent_fetching(result.op)
        result.op._set_control_flow_context(self)
        self._known_around([result.name])
        self._external_values[val.name] = result
        return result

    def _from_around(self, val: Tensor) -> Tensor:
        """What stands for ``val`` in the context around, known here as well."""
        self._values.add(val.name)
        if self.outer_context is None:
            return val
        result: Tensor = self.outer_context.AddValue(val)
        self._values.add(result.name)
        self._external_values[result.name] = result
        return result

    def AddOp(self, op: Operation) -> None:
        self._AddOpInternal(op)

    def _AddOpInternal(self, op: Operation) -> None:
        if not op.inputs:
            self._RemoveExternalControlEdges(op)
            if not any(kinds.OpInContext(c, self) for c in op.control_inputs):
                op._add_control_input(self.pivot.op)
        else:
            for index, tensor in enumerate(op.inputs):
                if is_back_edge(op, tensor):
                    # Of an imported loop: the node is of this branch, and will come.
                    continue
                real = self.AddValue(tensor)
                if real is not tensor:
                    op._update_input(index, real)
            self._RemoveExternalControlEdges(op)
        self._known_around(t.name for t in op.outputs)
        if self.outer_context is not None or not kinds.IsLoopExit(op):
            op.graph.prevent_fetching(op)
        if self.outer_context is not None:
            self.outer_context.AddInnerOp(op)

    # ---- what the branch gives ---------------------------------------------------------------

    def output(self, value: Any) -> Tensor:
        """The tensor that a leaf of the branch's result stands for; of an operation, a proxy."""
        if isinstance(value, Operation):
            made: Tensor = control.with_dependencies([value], self.pivot)
            return made
        if hasattr(value, "_with_flow"):
            value = value.flow
        return self._ProcessOutputTensor(convert_to_tensor(value))

    def _ProcessOutputTensor(self, val: Tensor) -> Tensor:
        if val.name in self._values:
            return self._external_values.get(val.name, val)
        # The branch gives a value from outside as it is.
        real = switch_ref_or_tensor(self._from_around(val), self.pred)[self.branch]
        self._external_values[val.name] = real
        return real


class WhileContext(ControlFlowContext):
    """A loop.

    Args:
      maximum_iterations: a scalar tensor, or None.
      parallel_iterations: how many rounds may overlap.
      back_prop: whether gradients may pass.
      swap_memory: whether what gradients keep may go to the host.
      name: of the context and of the loop's frame; made unique.
      grad_state: of a loop of gradients, what it knows of its forward loop.

    Besides the arguments it has, once the loop stands: ``loop_enters`` and ``loop_exits`` (a tensor
    a loop variable), ``pivot`` (the LoopCond), ``pivot_for_pred`` and ``pivot_for_body``.

    Raises:
      ValueError: ``parallel_iterations`` is no positive integer.
    """

    kind = "tf.while_loop"

    def __init__(
        self,
        maximum_iterations: Any = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        grad_state: Any = None,
    ) -> None:
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise ValueError(
                f"parallel_iterations must be a positive integer; found {parallel_iterations!r}"
            )
        graph = get_default_graph()
        super().__init__(graph.unique_name(name))
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self._back_prop = back_prop
        self.swap_memory = swap_memory
        self._grad_state = grad_state
        self.pivot_for_pred: Any = None
        self.pivot_for_body: Any = None
        self.pivot: Any = None
        self.loop_enters: list[Tensor] = []
        self.loop_exits: list[Tensor] = []
        self.graph: Graph = graph

    @property
    def back_prop(self) -> bool:
        return self._back_prop

    @property
    def grad_state(self) -> Any:
        return self._grad_state

    def GetWhileContext(self) -> WhileContext:
        return self

    def GetControlPivot(self) -> Any:
        return self.pivot_for_pred if self.pivot_for_body is None else self.pivot_for_body

    def IsWhileContext(self) -> bool:
        return True

    # ---- nodes -------------------------------------------------------------------------------

    def AddValue(self, val: Tensor) -> Tensor:
        """``val`` behind an Enter that gives it to every round."""
        if val.name in self._values or val.op._control_flow_context is self:
            return self._external_values.get(val.name, val)
        self._values.add(val.name)
        kept = self._forward_value(val)
        if kept is not None:
            self._external_values[val.name] = kept
            return kept
        result = val if self.outer_context is None else self.outer_context.AddValue(val)
        with control_dependencies(None):
            made = control_flow.enter(
                result, self.name, is_constant=True, parallel_iterations=self.parallel_iterations
            )
            made.graph.prevent_feeding(made)
            if self.outer_context is not None:
                self.outer_context.AddInnerOp(made.op)
        self._FixControlInputsAndContext([made])
        self._values.add(made.name)
        self._external_values[val.name] = made
        return made

    def _forward_value(self, val: Tensor) -> Tensor | None:
        """What stands for a value instead of an Enter: nothing, but in a loop of gradients."""
        return None

    def AddOp(self, op: Operation) -> None:
        self._AddOpInternal(op)

    def _AddOpInternal(self, op: Operation) -> None:
        if not op.inputs:
            kept, external = self._RemoveExternalControlEdges(op)
            if not kept:
                op._add_control_input(self.GetControlPivot().op)
        else:
            for index, tensor in enumerate(op.inputs):
                real = self.AddValue(tensor)
                if real is not tensor:
                    op._update_input(index, real)
            _, external = self._RemoveExternalControlEdges(op)
            if not op.control_inputs and all(kinds.IsLoopConstantEnter(t.op) for t in op.inputs):
                # Constants alone would let it run once more than there are rounds.
                op._add_control_input(self.GetControlPivot().op)
        self._values.update(t.name for t in op.outputs)
        if external:
            self._wait_for(op, external)
        if self.outer_context is not None or not kinds.IsLoopExit(op):
            op.graph.prevent_fetching(op)
            for tensor in op.outputs:
                op.graph.prevent_feeding(tensor)
        if self.outer_context is not None:
            self.outer_context.AddInnerOp(op)

    def _wait_for(self, op: Operation, external: list[Operation]) -> None:
        """Makes ``op`` wait for nodes outside, by way of values of theirs that enter the loop."""
        with control_dependencies(None):
            self.Enter()
            inside = [control.identity(c.outputs[0]).op for c in external if c.outputs]
            self.Exit()
        op._add_control_inputs(inside)

    def _InitializeValues(self, values: Iterable[Tensor]) -> None:
        """Makes these tensors, and no others, known."""
        self._values = {tensor.name for tensor in values}

    def _FixControlInputsAndContext(self, enters: Iterable[Tensor]) -> None:
        """Gives Enters this context, and the current control inputs that are around the loop."""
        graph = get_default_graph()
        for tensor in enters:
            op = tensor.op
            wanted = graph.control_inputs_for([op.inputs[0]])
            op._set_control_flow_context(self)
            op._add_control_inputs([c for c in wanted if self._is_around(c)])
            graph._record_op_seen_by_control_dependencies(op)

    def _is_around(self, op: Operation) -> bool:
        """Whether ``op`` is in a context around this one, and no farther than the next loop."""
        home = kinds.GetOutputContext(op)
        around = self.outer_context
        end = None if around is None else around.GetWhileContext()
        while around is not home:
            if around is None or around is end:
                return False
            around = around.outer_context
        return True
