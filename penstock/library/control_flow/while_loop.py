"""``tf.while_loop``: the cycle of Enter, Merge, Switch and NextIteration around a body.

Nodes, names and their order are TF's.  What a round may change is checked while the loop is built:
number, nesting, dtypes and shapes of the loop's variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.collecting import add_to_collection
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import control_dependencies, get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow import kinds, structure
from penstock.library.control_flow.context import WhileContext, switch_ref_or_tensor
from penstock.ops.control import control_flow
from penstock.ops.math import comparison


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Repeats ``body`` as long as ``cond`` gives true when the step runs.

    Both functions are called once, to build the graph of a round.

    Args:
      cond: from the loop variables to a bool scalar.
      body: from the loop variables to their next values: a nesting of the same form, dtypes and
        shapes.
      loop_vars: a list or tuple of first values: tensors, TensorArrays, IndexedSlices,
        SparseTensors and nestings of those.
      shape_invariants: a nesting as ``loop_vars`` of the shapes that hold in every round, for
        variables whose shape changes.  Of a SparseTensor ``[rank]``, of IndexedSlices the shape of
        their values.
      parallel_iterations: how many rounds may overlap.
      back_prop: whether ``tf.gradients`` may go through.
      swap_memory: whether what gradients need of each round may go to the host's memory.
      maximum_iterations: a bound of the number of rounds, a scalar.
      return_same_structure: whether a single variable comes back in a list.

    Returns:
      The variables after the last round, nested as ``body`` gives them.

    Raises:
      TypeError: a function that is not callable, a condition or variable of another dtype, or a
        nesting of another type.
      ValueError: no variables, another number of them after a round, a shape that changes though
        nothing allows it, or a condition that is no scalar.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     i = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)])
      ...     i.op.type
      'Exit'
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError(
            f"parallel_iterations must be a positive integer; found {parallel_iterations}"
        )
    if get_default_graph().executes:
        return _run(cond, body, loop_vars, maximum_iterations, return_same_structure)
    with name_scope(name, "while", nest.flatten(loop_vars)):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        if maximum_iterations is not None:
            maximum_iterations = _bound(maximum_iterations)
            pack = len(loop_vars) == 1 and not return_same_structure
            cond, body, loop_vars = _counted(maximum_iterations, cond, body, loop_vars, pack)
        if shape_invariants is not None:
            if maximum_iterations is not None:
                shape_invariants = (shapes.TensorShape([]), shape_invariants)
            nest.assert_same_structure(loop_vars, shape_invariants)
            shape_invariants = nest.map_structure(structure.invariant, loop_vars, shape_invariants)
        context = WhileContext(maximum_iterations, parallel_iterations, back_prop, swap_memory)
        if context.outer_context is None:
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = _Loop(context).build(
            cond, body, loop_vars, shape_invariants, return_same_structure
        )
    return result if maximum_iterations is None else result[1]


def _run(cond: Any, body: Any, loop_vars: Any, bound: Any, return_same_structure: bool) -> Any:
    """The loop where operations run as they are called: Python's."""
    alone = len(loop_vars) == 1
    rounds = 0
    while cond(*loop_vars):
        made = body(*loop_vars)
        packed = not isinstance(made, list | tuple)
        loop_vars = (made,) if alone and packed else made
        nest.assert_same_structure(list(loop_vars), list(made) if not packed else [made])
        rounds += 1
        if bound is not None and rounds >= bound:
            break
    values = nest.map_structure(_as_value, loop_vars)
    return values[0] if alone and not return_same_structure else values


def _as_value(value: Any) -> Any:
    plain = isinstance(value, bool | int | float | np.ndarray)
    return convert_to_tensor(value) if plain else value


def _bound(maximum_iterations: Any) -> Tensor:
    made = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if made.shape.ndims != 0:
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {made.shape}")
    return made


def _counted(bound: Tensor, cond: Any, body: Any, loop_vars: Any, pack: bool) -> Any:
    """The loop with a counter before its variables, which stops it at ``bound``."""
    counter = constant(0, bound.dtype, name="iteration_counter")
    if pack:
        return (
            lambda i, lv: comparison.logical_and(i < bound, cond(lv)),
            lambda i, lv: (i + 1, body(lv)),
            (counter, loop_vars[0]),
        )
    return (
        lambda i, lv: comparison.logical_and(i < bound, cond(*lv)),
        lambda i, lv: (i + 1, body(*lv)),
        (counter, loop_vars),
    )


class _Loop:
    """Builds one loop."""

    def __init__(self, context: WhileContext) -> None:
        self.context = context
        self.where = context.described()

    def build(
        self,
        pred: Callable[..., Any],
        body: Callable[..., Any],
        original: Any,
        invariants: Any,
        same_structure: bool,
    ) -> Any:
        """Adds the loop to the graph; what it returns, packed."""
        values = [structure.as_value(structure.to_flow(v)) for v in nest.flatten(original)]
        if invariants is None:
            invariants = [structure.invariant(v) for v in values]
        tensors = structure.tensors_of(values)
        self.context.Enter()
        try:
            given, exits = self._add(
                pred, body, original, tensors, structure.flat_shapes(invariants, len(tensors))
            )
        finally:
            self.context.Exit()
        packed = nest.pack_sequence_as(
            given, structure.with_flows(structure.tensors_of(given), exits), expand_composites=True
        )
        return packed[0] if len(exits) == 1 and not same_structure else packed

    def _add(
        self,
        pred: Callable[..., Any],
        body: Callable[..., Any],
        original: Any,
        tensors: list[Tensor],
        invariants: list[shapes.TensorShape],
    ) -> tuple[Any, list[Tensor]]:
        context = self.context
        enters = self._enters(tensors, invariants)
        merges = [control_flow.merge([x, x])[0] for x in enters]
        context.pivot_for_pred = merges[0]
        condition = self._condition(pred(*self._packed(original, merges)))
        context.pivot = control_flow.loop_cond(condition, name="LoopCond")
        switches = [switch_ref_or_tensor(x, context.pivot) for x in merges]
        inside = [control_flow.identity(yes) for _, yes in switches]
        context.pivot_for_body = inside[0]
        arguments = self._packed(original, inside)
        given = body(*arguments)
        if not nest.is_sequence(given):
            given = [given]
        self._check_structure(arguments, given)
        results = [
            structure.as_value(structure.to_flow(v))
            for v in nest.flatten(given, expand_composites=True)
        ]
        if len(merges) != len(results):
            raise ValueError(
                "Number of inputs and outputs of body must match loop_vars:"
                f" {len(merges)}, {len(results)}\nin {self.where}"
            )
        for index, (merge, result) in enumerate(zip(merges, results, strict=True)):
            self._close(index, merge, result)
        exits = [control_flow.exit_(no) for no, _ in switches]
        context.loop_exits = exits
        context.ExitResult(exits)
        return given, exits

    def _packed(self, original: Any, tensors: Sequence[Tensor]) -> Any:
        flat = structure.with_flows(nest.flatten(original, expand_composites=True), tensors)
        return nest.pack_sequence_as(original, flat, expand_composites=True)

    def _enters(self, tensors: list[Tensor], invariants: list[shapes.TensorShape]) -> list[Tensor]:
        context = self.context
        outer = context.outer_context
        context._InitializeValues(tensors)
        if outer is not None:
            tensors = [outer.AddValue(x) for x in tensors]
        with control_dependencies(None):
            enters = [
                control_flow.enter(
                    x,
                    context.name,
                    parallel_iterations=context.parallel_iterations,
                    use_input_shape=False,
                )
                for x in tensors
            ]
            for x in enters:
                x.graph.prevent_feeding(x)
                if outer is not None:
                    outer.AddInnerOp(x.op)
        self._tie_constants(enters)
        for tensor, made, shape in zip(tensors, enters, invariants, strict=True):
            if not structure.less_or_equal(tensor.shape, shape):
                raise ValueError(
                    f"The shape invariant specified for {tensor.name} is not compatible with the"
                    " initial shape of the loop variable. It enters the loop with shape"
                    f" {tensor.shape}, but the specified shape invariant is {shape}."
                    f"\nin {self.where}"
                )
            made.set_shape(shape)
        context._FixControlInputsAndContext(enters)
        context._InitializeValues(enters)
        context.loop_enters = enters
        return enters

    def _tie_constants(self, enters: list[Tensor]) -> None:
        """A constant of the loop around lives in each of its rounds, so it waits for the round."""
        around = self.context.outer_context
        pivot = None
        while around is not None and pivot is None:
            pivot = around.GetControlPivot()
            around = around.outer_context
        if pivot is None:
            return
        for x in enters:
            if kinds.IsLoopConstantEnter(x.op.inputs[0].op):
                x.op._add_control_input(pivot.op)

    def _condition(self, value: Any) -> Tensor:
        made = convert_to_tensor(value)
        if made.dtype.base_dtype is not dtypes.bool:
            raise TypeError(
                f"cond must give a bool scalar; {made.name!r} is {made.dtype.name}\nin {self.where}"
            )
        if made.sizes:
            raise ValueError(
                f"cond must give a bool scalar (rank 0); {made.name!r} has shape"
                f" {made.shape}\nin {self.where}"
            )
        return made

    def _check_structure(self, arguments: Any, given: Any) -> None:
        try:
            # The outermost nesting is a list for this: variables are often a list, results a tuple.
            nest.assert_same_structure(list(arguments), list(given), expand_composites=True)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"body must give what it takes, nested alike: {error}\nin {self.where}"
            ) from None

    def _close(self, index: int, merge: Tensor, result: Tensor) -> None:
        """Adds the way back of one variable."""
        entered = merge.op.inputs[0].op.inputs[0]
        if result.dtype.base_dtype is not merge.dtype.base_dtype:
            raise TypeError(
                f"loop variable {index}, {entered.name!r}, enters the loop with dtype"
                f" {merge.dtype.base_dtype.name}, but has dtype {result.dtype.base_dtype.name}"
                f" after one iteration ({result.name!r}); a round must keep it\nin {self.where}"
            )
        following = control_flow.next_iteration(result)
        if not structure.less_or_equal(following.shape, merge.shape):
            raise ValueError(
                f"Input tensor {entered.name!r} (loop variable {index}) enters the loop with shape"
                f" {entered.shape}, but has shape {following.shape} after one iteration. To allow"
                " the shape to vary across iterations, use the `shape_invariants` argument of"
                f" tf.while_loop to specify a less-specific shape.\nin {self.where}"
            )
        merge.op._update_input(1, following)
