"""``tf.gradients``: reverse accumulation over the graph, as nodes.

The operations between xs and ys are counted: how many consumers between does each have.  Starting
at the ys, an operation is visited when all its consumers have been; its output gradients are
summed and its gradient function makes those of its inputs.  The order (a queue) is TF's, because
it decides unique names.  ::

    x --> square --> add --> y          visits: add, square, x
           \\_________/                  at square: AddN of the two gradients from add

State of one call: ``pending`` (consumers not yet visited, by op), ``grads`` (by op, a list of
gradients for each output; once the op is visited, their sum).  Everything is linear in the number
of edges and free of recursion.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import derivative
from penstock.foundation.graph.build import constant, make_tensor
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.expansions import has_constructs
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff import (
    aggregate,
    control_flow_gradients,
    control_flow_state,
    functional,
)
from penstock.library.autodiff.control_flow_walk import is_loop_switch
from penstock.library.autodiff.control_flow_zeros import zeros_like_output
from penstock.library.autodiff.ends import check_grad_dtype, renamed, zeros_for
from penstock.library.autodiff.options import UnconnectedGradients
from penstock.library.autodiff.register import AROUND, get_gradient_function
from penstock.ops.array.nodes import shape as shape_of
from penstock.ops.control import control

_TRAINABLE = frozenset(
    [
        dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128,
        dtypes.resource, dtypes.variant,
    ]
)  # fmt: skip
_TRAINABLE_IDS = frozenset(map(id, _TRAINABLE))
_REACHING = _TRAINABLE | {dtypes.bfloat16}


def is_trainable(tensor: Any) -> bool:
    """Whether gradients flow through the dtype of ``tensor``."""
    dtype = tensor.dtype
    return id(dtype) in _TRAINABLE_IDS or dtype.base_dtype in _TRAINABLE  # tapes ask often


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Adds nodes that compute the derivatives of the sum of ``ys`` with respect to each of ``xs``.

    Args:
      ys: a tensor or a list of tensors to differentiate.
      xs: a tensor or variable, or a list of those.
      grad_ys: gradients of the ys to start from, one each (None for ones).
      colocate_gradients_with_ops: put each gradient where its forward node is.
      gate_gradients: give out the gradients of an op only together.
      aggregation_method: one of ``tf.AggregationMethod``.
      stop_gradients: tensors to treat as constants.
      unconnected_gradients: what an x gets that no y depends on: ``"none"`` or ``"zero"``.

    Returns:
      One gradient for each of ``xs``: a tensor shaped like it, an IndexedSlices, or None.

    Raises:
      LookupError: an op on the way has no gradient; names it and the line that made it.
      ValueError: arguments that do not fit each other, or a gradient of a wrong shape.
      TypeError: ys or grad_ys of a dtype that cannot be differentiated.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     x = tf.constant(3.0)
      ...     sess.run(tf.gradients(tf.identity(x), x))
      [np.float32(1.0)]
    """
    if get_default_graph().executes:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape"
            " instead."
        )
    unconnected = _unconnected(unconnected_gradients)
    method = aggregate.check_method(aggregation_method)
    y_list, x_list, stops = _as_list(ys), _as_list(xs), _as_list(stop_gradients)
    given = [None] * len(y_list) if grad_ys is None else _as_list(grad_ys)
    if len(given) != len(y_list):
        raise ValueError(f"{len(given)} grad_ys were given for {len(y_list)} ys")
    values = [getattr(v, "op", None) for v in (*y_list, *x_list, *stops, *given)]
    with name_scope(name, "gradients", values):
        graph = get_default_graph()
        graph.unique_name("uid")  # TF takes this name, so it is taken here
        y_tensors = [_as_y(y, i) for i, y in enumerate(y_list)]
        x_tensors = [_as_x(x, i) for i, x in enumerate(x_list)]
        if has_constructs(graph):
            y_tensors, x_tensors = functional.expand_between(graph, y_tensors, x_tensors)
        backprop = _Backprop(graph, colocate_gradients_with_ops, gate_gradients, method)
        starts = backprop.start_gradients(y_tensors, given)
        backprop.run(y_tensors, x_tensors, starts, [_op_of(s) for s in stops])
    return backprop.results(x_tensors, unconnected)


def gradients_v2(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """``gradients``, each where its forward node is; the second API's form of it."""
    return gradients(
        ys, xs, grad_ys, name, True, gate_gradients, aggregation_method, stop_gradients,
        unconnected_gradients,
    )  # fmt: skip


def _unconnected(value: Any) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(
            f"unconnected_gradients must be 'none' or 'zero'; found {value!r}"
        ) from None


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _op_of(value: Any) -> Operation:
    op = getattr(value, "op", None)
    if not isinstance(op, Operation):
        raise TypeError(f"stop_gradients takes tensors and variables; found {value!r}")
    return op


def _as_y(y: Any, index: int) -> Tensor:
    return convert_to_tensor(y, name=f"y_{index}")


def _as_x(x: Any, index: int) -> Tensor:
    """The tensor that stands for ``x``: for a variable its handle or reference."""
    handle = getattr(x, "handle", None)
    if isinstance(handle, Tensor):
        return handle
    if isinstance(x, IndexedSlices):
        raise TypeError(f"the gradient with respect to an IndexedSlices is not defined: {x}")
    return convert_to_tensor(x, name=f"x_{index}", as_ref=True)


class _Backprop:
    """One ``gradients`` call; see the module's docstring for its state."""

    def __init__(self, graph: Graph, colocate: bool, gate: bool, method: int) -> None:
        self.graph, self.colocate, self.gate, self.method = graph, colocate, gate, method
        self.pending: dict[Operation, int] = {}
        # For each op and output: the list of gradients that came, or their sum once visited.
        self.grads: dict[Operation, list[Any]] = {}
        self.queue: deque[Operation] = deque()
        self.stop_ops: set[Operation] = set()
        self.loops: control_flow_state.LoopState | None = None

    # ---- where it starts ---------------------------------------------------------------------

    def start_gradients(self, ys: Sequence[Tensor], given: Sequence[Any]) -> list[Any]:
        """The gradients of the ys: what was given, checked, or ones."""
        converted = [
            g if g is None or isinstance(g, IndexedSlices)
            else convert_to_tensor(g, name=f"grad_y_{i}")
            for i, g in enumerate(given)
        ]  # fmt: skip
        result = []
        for index, (y, grad) in enumerate(zip(ys, converted, strict=True)):
            with self._near(y.op):
                if grad is None:
                    result.append(_ones(y, index))
                else:
                    check_grad_dtype(y, grad, index)
                    result.append(renamed(grad, f"grad_ys_{index}"))
        return result

    def run(
        self,
        ys: Sequence[Tensor],
        xs: Sequence[Tensor],
        starts: Sequence[Any],
        stops: Sequence[Operation],
    ) -> None:
        """Visits every op between xs and ys."""
        to_ops = [y.op for y in ys]
        from_ops = [x.op for x in xs]
        reached = _reached_from(from_ops)
        reachable = {op for op in to_ops if op in reached}
        self._count_pending(to_ops, reached)
        for y, grad in zip(ys, starts, strict=True):
            self._add(y, grad)
        ready: set[Operation] = set()
        for op in to_ops:
            if op in reachable and op not in ready and not self.pending.get(op):
                ready.add(op)
                self.queue.append(op)
        self._start_loops(ready)
        self._find_stops(from_ops, stops)
        while self.queue:
            self._visit(self.queue.popleft())

    def results(self, xs: Sequence[Tensor], unconnected: UnconnectedGradients) -> list[Any]:
        """The gradients of the xs; ends what loops have open."""
        if self.loops is not None:
            self.loops.close()
        made = [self.gradient_of(x, unconnected) for x in xs]
        if self.loops is not None:
            self.loops.forget(made)
        return made

    def _count_pending(self, to_ops: Sequence[Operation], reached: set[Operation]) -> None:
        left = set(reached)
        between: list[Operation] = []
        queue = deque(to_ops)
        while queue:
            op = queue.popleft()
            if op in left:
                left.discard(op)
                between.append(op)
                queue.extend(t.op for t in op.inputs)
        members = set(between)
        if any(op.op_def.control == "exit" for op in between):
            self.loops = control_flow_state.make_loop_state(
                self.graph, between, members, self.colocate
            )
        pending = self.pending
        for op in between:
            for tensor in op.inputs:
                if tensor.op in members:
                    pending[tensor.op] = pending.get(tensor.op, 0) + 1

    def _start_loops(self, ready: set[Operation]) -> None:
        if self.loops is None:
            return
        for tensor in self.loops.begin(self.pending, ready):
            if is_trainable(tensor):
                self._add(tensor, self.loops.zeros_for_exit(tensor))
                self.queue.append(tensor.op)

    def _find_stops(self, from_ops: Sequence[Operation], stops: Sequence[Operation]) -> None:
        """Ops beyond which no gradient is wanted: xs that lead to no other x, and those asked."""
        for op in from_ops:
            if not any(self.pending.get(t.op, 0) > 0 for t in op.inputs):
                self.stop_ops.add(op)
        self.stop_ops.update(stops)

    # ---- one op ------------------------------------------------------------------------------

    def _visit(self, op: Operation) -> None:
        first = len(self.graph.operations)
        with self._near(op):
            function = None
            with self._in_loop(op, summing=True):
                out_grads = self._sums(op)
                if op not in self.stop_ops and any(g is not None for g in out_grads):
                    function = get_gradient_function(op)
            if function is not None:
                with self._in_loop(op, summing=False):
                    self._fill_zeros(op, out_grads)
                    in_grads = self._call(function, op, out_grads)
                    self._hand_on(op, in_grads)
        for new in self.graph.operations[first:]:
            if new._original_op is None:
                new._original_op = op
        self._after(op)

    def _in_loop(self, op: Operation, summing: bool) -> AbstractContextManager[None]:
        return nullcontext() if self.loops is None else self.loops.around(op, summing)

    def _sums(self, op: Operation) -> list[Any]:
        found = self.grads.get(op)
        if found is None:
            return [None] * len(op.outputs)
        for index, terms in enumerate(found):
            # An empty list stays: the Switch of a loop is visited again when there are terms.
            if isinstance(terms, list) and terms:
                found[index] = aggregate.aggregate(op, terms, self.method)
        return [None if isinstance(terms, list) else terms for terms in found]

    def _fill_zeros(self, op: Operation, out_grads: list[Any]) -> None:
        for index, grad in enumerate(out_grads):
            output = op.outputs[index]
            if grad is not None or not is_trainable(output):
                continue
            if self.loops is not None:
                out_grads[index] = self.loops.zeros_like(op, index)
            elif op.op_def.control == "switch" or output.dtype is dtypes.resource:
                out_grads[index] = zeros_like_output(op, index)
            else:
                out_grads[index] = make_tensor("ZerosLike", output, name="zeros_like")

    def _call(self, function: Any, op: Operation, out_grads: list[Any]) -> list[Any]:
        for around in AROUND:
            function = around(function, op, self.graph.get_name_scope())
        with name_scope(f"{op.name}_grad"):
            result = function(op, *out_grads)
            in_grads = list(result) if isinstance(result, list | tuple) else [result]
            if len(in_grads) != len(op.inputs):
                raise ValueError(
                    f"the gradient function of {op.name!r} (op type: {op.type}) returned "
                    f"{len(in_grads)} gradient(s); the op has {len(op.inputs)} input(s)"
                )
            if self.gate and sum(g is not None for g in in_grads) > 1:
                with self.graph.device(None), self.graph.colocate_with(None, True):
                    in_grads = control.tuple_(in_grads)
        return in_grads

    def _hand_on(self, op: Operation, in_grads: list[Any]) -> None:
        for index, (tensor, grad) in enumerate(zip(op.inputs, in_grads, strict=True)):
            if grad is None:
                continue
            if isinstance(grad, Tensor):
                if tensor.dtype is not dtypes.resource and grad.sizes != tensor.sizes:
                    _merge_shape(op, index, tensor, grad)
            elif not isinstance(grad, IndexedSlices):
                raise TypeError(
                    f"the gradient function of {op.name!r} (op type: {op.type}) returned {grad!r} "
                    f"for input {index}; a Tensor, an IndexedSlices or None is wanted"
                )
            self._add(tensor, grad)

    def _add(self, tensor: Tensor, grad: Any) -> None:
        by_output = self.grads.get(tensor.op)
        if by_output is None:
            by_output = self.grads[tensor.op] = [[] for _ in tensor.op.outputs]
        by_output[tensor.value_index].append(grad)

    def _after(self, op: Operation) -> None:
        """Counts ``op`` as visited for its inputs, and queues those that are ready."""
        pending = self.pending
        for tensor in op.inputs:
            source = tensor.op
            count = pending[source] = pending.get(source, 0) - 1
            ready = count == 0
            if self.loops is not None and not ready:
                ready = count > 0 and is_loop_switch(source)
            if not ready:
                continue
            if self.loops is not None and source.op_def.control == "exit":
                self._after_exit(tensor, self.loops)
            else:
                self.queue.append(source)

    def _after_exit(self, tensor: Tensor, loops: control_flow_state.LoopState) -> None:
        """Queues the exits of a loop together, once the last of them is ready."""
        loop = loops.loop_of(tensor.op)
        if loop is None:
            self.queue.append(tensor.op)
            return
        loop.deferred_exits.append(tensor)
        loop.pending_exits -= 1
        if loop.pending_exits:
            return
        used = [t for t in loop.deferred_exits if self._has_gradient(t.op)]
        loop.unused_exits.extend(t for t in loop.deferred_exits if t not in used)
        self.queue.extend(t.op for t in used)
        for unused in loop.unused_exits:
            if used and is_trainable(unused):
                self._add(unused, loops.zeros_for_exit(unused))
            self.queue.append(unused.op)

    def _has_gradient(self, op: Operation) -> bool:
        found = self.grads.get(op, ())
        return any(not isinstance(g, list) or any(t is not None for t in g) for g in found)

    # ---- results -----------------------------------------------------------------------------

    def gradient_of(self, x: Tensor, unconnected: UnconnectedGradients) -> Any:
        """The gradient found for ``x``; None or zeros when there is none."""
        found = self.grads.get(x.op)
        grad = None if found is None else found[x.value_index]
        if isinstance(grad, list):
            grad = aggregate.aggregate(x.op, grad, self.method)
        if grad is None and unconnected is UnconnectedGradients.ZERO:
            return zeros_for(x)
        return grad

    @contextmanager
    def _near(self, op: Operation) -> Iterator[None]:
        context = self.graph.colocate_with(op) if self.colocate else nullcontext()
        with context:
            yield


def _reached_from(from_ops: Sequence[Operation]) -> set[Operation]:
    """Every op that some x flows into through tensors that carry gradients."""
    reached: set[Operation] = set()
    queue = deque(from_ops)
    while queue:
        op = queue.popleft()
        if op in reached:
            continue
        reached.add(op)
        for output in op.outputs:
            if output.dtype.base_dtype in _REACHING:
                queue.extend(output.uses)
    return reached


def _ones(y: Tensor, index: int) -> Tensor:
    if y.dtype.is_complex:
        raise TypeError(f"{y.name} is {y.dtype.name}; gradients of complex ys need grad_ys")
    shape = shape_of(y)
    dtype = y.dtype.base_dtype
    value = 1.0 if dtype is dtypes.bfloat16 else 1
    one = constant(value, dtype, name=f"grad_ys_{index}")
    return make_tensor("Fill", shape, one)


def _merge_shape(op: Operation, index: int, tensor: Tensor, grad: Tensor) -> None:
    try:
        grad.set_shape(tensor.get_shape())
    except ValueError:
        raise ValueError(
            f"the gradient of input {index} of {op.name!r} (op type: {op.type}) has shape "
            f"{grad.get_shape()}; the input has shape {tensor.get_shape()}"
        ) from None


control_flow_gradients.register()
derivative.register(gradients)
