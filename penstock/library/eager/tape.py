"""``tf.GradientTape``: what ran while it recorded, and the gradients of that.

Eagerly, a tape keeps the calls that took a tensor it watches, and goes through them backwards with
the gradient functions that ``tf.gradients`` uses: these call operations, which run.  Where nodes
are built the graph is the record, and ``gradient`` adds nodes as ``tf.gradients`` does.

State of a tape: the tensors watched, the variables that were read, the calls in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import GRADIENTS
from penstock.library.autodiff import jacobians
from penstock.library.autodiff.aggregate_slices import aggregate_slices
from penstock.library.autodiff.gradients import gradients, is_trainable
from penstock.library.autodiff.options import UnconnectedGradients
from penstock.library.autodiff.register import get_gradient_function
from penstock.library.eager.recorders import recorders
from penstock.library.eager.replay import Record
from penstock.library.eager.tensor import EagerOperation, EagerTensor
from penstock.library.variables.reads import listeners
from penstock.ops.array.join import stack
from penstock.ops.array.reshape import reshape

# Read at each call that runs while a tape records.
_RESOURCE, _GRADIENTS = dtypes.resource, GRADIENTS


class GradientTape:
    """Records operations, to differentiate them.

    Args:
      persistent: whether ``gradient`` may be called more than once.
      watch_accessed_variables: whether trainable variables are watched when they are read.

    Raises:
      RuntimeError: ``gradient`` is called once more on a tape that is not persistent.
      ValueError: a tape is entered that is recording.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     x = tf.constant(3.0)
      ...     with tf.GradientTape() as tape:
      ...         tape.watch(x)
      ...         y = x * x
      ...     float(session.run(tape.gradient(y, x)))
      6.0
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_variables = watch_accessed_variables
        self._recording = False
        self._used = False
        self._clear()

    def _clear(self) -> None:
        self._watched: set[Any] = set()
        self._handles: dict[Any, Any] = {}
        self._ops: list[Record] = []

    # ---- recording ------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        self._push()
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._recording:
            self._pop()

    def _push(self) -> None:
        if self._recording:
            raise ValueError("Tape is already recording.")
        if not self._persistent:
            self._clear()
            self._used = False
        self._record_on()

    def _record_on(self) -> None:
        recorders.active.append(self._record)
        if self._watch_variables:
            listeners.active.append(self._read_by_node)
        self._recording = True

    def _pop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        recorders.active.remove(self._record)
        if self._watch_variables:
            listeners.active.remove(self._read_by_node)
        self._recording = False

    def _record(
        self, op_def: OpDef, attrs: dict[str, Any], inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> None:
        watched = self._watched
        found = not watched.isdisjoint(inputs)
        for tensor in inputs:
            if tensor.dtype is _RESOURCE and self._accessed(tensor):
                found = True
        if not found or _GRADIENTS.get(op_def.name, self) is None:  # nothing flows back
            return
        self._ops.append((op_def, attrs, inputs, outputs))
        for tensor in outputs:
            if is_trainable(tensor):
                watched.add(tensor)

    def _accessed(self, handle: Any) -> bool:
        """Whether the tensor is the handle of a variable that is to be watched; it is, then."""
        if not self._watch_variables:
            return False
        variable = variable_of(handle)
        if variable is None or not variable.trainable:
            return False
        self._watch_variable(variable)
        return True

    def _read_by_node(self, variable: Any) -> None:
        if variable.trainable and not get_default_graph().executes:
            self._watch_variable(variable)

    def _watch_variable(self, variable: Any) -> None:
        self._watched.add(variable.handle)
        self._handles[variable.handle] = variable

    def watch(self, tensor: Any) -> None:
        """Makes what is computed from a tensor or variable (or a nest of them) be recorded.

        Raises:
          ValueError: it is neither.
        """
        for one in nest.flatten(tensor):
            if not isinstance(one, Tensor) and not hasattr(one, "_dense_var_to_tensor"):
                raise ValueError(f"Passed in object of type {type(one)}, not tf.Tensor")
            if hasattr(one, "handle"):
                self._watch_variable(one)
            elif not isinstance(one, EagerTensor) or is_trainable(one):
                self._watched.add(one)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Leaves out what is computed inside.

        Raises:
          ValueError: the tape is not recording.
        """
        self._pop()
        try:
            yield
        finally:
            self._record_on()

    def reset(self) -> None:
        """Forgets what was recorded."""
        self._clear()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that are watched, in the order in which they were read."""
        return tuple(self._handles.values())

    # ---- gradients ------------------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradients of the sum of ``target`` with respect to ``sources``.

        Args:
          target: a tensor, or a nest of tensors.
          sources: a tensor or variable, or a nest of them.
          output_gradients: gradients of the targets to start from, one each.
          unconnected_gradients: what a source gets that no target depends on: none or zero.

        Returns:
          In the nesting of ``sources``, a tensor, an IndexedSlices or None for each.

        Raises:
          RuntimeError: it was called before, and the tape is not persistent.
          LookupError: an operation on the way has no gradient.
        """
        if self._used:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        if self._recording and not self._persistent:
            self._pop()
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        given = None if output_gradients is None else nest.flatten(output_gradients)
        flat = _handles(nest.flatten(sources))
        targets = [_as_target(t) for t in nest.flatten(target)]
        found = self._found(targets, flat, given)
        if zero:
            found = [_zeros(s) if g is None else g for g, s in zip(found, flat, strict=True)]
        if not self._persistent:
            self._used = True
            self._clear_ops()
        return nest.pack_sequence_as(sources, found)

    def _found(self, targets: list[Any], sources: list[Any], given: Any = None) -> list[Any]:
        context: Any = get_default_graph()
        if not context.executes:
            return self._of_nodes(targets, sources, given)
        if given is None:
            found = context.replays.gradients(
                self._ops, self._watched, targets, sources, _backwards
            )
            if found is not None:
                return found  # type: ignore[no-any-return]
        return _backwards(self._ops, self._watched, targets, sources, given)

    def _clear_ops(self) -> None:
        self._ops, self._watched = [], set()

    def _of_nodes(self, targets: list[Any], sources: list[Any], given: Any) -> list[Any]:
        watched = [s for s in sources if s in self._watched or self._is_variable(s)]
        graph = get_default_graph()
        nodes = [graph.capture(s) for s in watched]  # what ran is an argument of a function
        found = iter(gradients(targets, nodes, given) if watched else ())
        kept = set(watched)
        return [next(found) if s in kept else None for s in sources]

    def _is_variable(self, source: Any) -> bool:
        return self._watch_variables and source.dtype is dtypes.resource

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of each element of ``target``, of a target that has any number of them.

        Args:
          target: a tensor.
          sources: a tensor or variable, or a nest of them.
          unconnected_gradients: as of ``gradient``.
          parallel_iterations: accepted for compatibility.
          experimental_use_pfor: whether a tape may be used up by it.

        Returns:
          For each source a tensor [*target's dims, *source's dims], or None.

        Raises:
          RuntimeError: the tape is not persistent and calls run, and ``experimental_use_pfor`` is
            False.
        """
        self._check_reuse("jacobian", experimental_use_pfor)
        flat = nest.flatten(sources)
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        handles = _handles(flat)
        with self._paused():
            if get_default_graph().executes:
                starts = _units(target)
                rows = [self._found([target], handles, [start]) for start in starts]
                made = [_joined(column, target, one, 0) for column, one in zip(zip(*rows), flat)]
            else:
                made = jacobians.jacobian_of(lambda y: self._found([y], handles), target, flat)
        if zero:
            made = [
                _no_derivatives(target, one, 0) if part is None else part
                for part, one in zip(made, flat, strict=True)
            ]
        self._finish()
        return nest.pack_sequence_as(sources, made)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of each row of ``target`` by the same row of ``source``.

        Args:
          target: a tensor [b, ...], whose rows depend on those of ``source`` alone.
          source: a tensor [b, ...].
          unconnected_gradients: as of ``gradient``.
          parallel_iterations: accepted for compatibility.
          experimental_use_pfor: whether a tape may be used up by it.

        Returns:
          A tensor [b, *dims of a target's row, *dims of a source's row], or None.

        Raises:
          RuntimeError: the tape is not persistent and calls run, and ``experimental_use_pfor`` is
            False.
          ValueError: the first dims differ.
        """
        self._check_reuse("batch_jacobian", experimental_use_pfor)
        wanted, given = target.shape.as_list(), source.shape.as_list()
        if not wanted or not given or wanted[0] != given[0]:
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape"
                f" ({source.shape}) to match."
            )
        handles = _handles([source])
        with self._paused():
            if get_default_graph().executes:
                starts = _units_of_rows(target)
                columns = [self._found([target], handles, [start])[0] for start in starts]
                made = _joined(columns, target, source, 1)
            else:
                made = jacobians.batch_jacobian_of(
                    lambda y: self._found([y], handles), target, source
                )
        self._finish()
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        return _no_derivatives(target, source, 1) if made is None and zero else made

    def _check_reuse(self, method: str, vectorized: bool) -> None:
        """Refuses what TensorFlow does: rows one after the other, of a tape that has no second."""
        if self._persistent or vectorized or not get_default_graph().executes:
            return
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the {method} with"
            " eager execution enabled and with experimental_use_pfor set to False."
        )

    def _finish(self) -> None:
        """A tape that is not persistent is used up, where what ran was its record."""
        if not self._persistent and get_default_graph().executes:
            self._used = True
            self._clear_ops()

    @contextmanager
    def _paused(self) -> Iterator[None]:
        recording = self._recording
        if recording:
            self._pop()
        yield
        if recording:
            self._record_on()


def variable_of(handle: Any) -> Any:
    """The variable of a handle that was made eagerly; None of other resources."""
    made = getattr(handle, "handle_op", None)
    found = None if made is None else made.attrs.get("_variable")
    return None if found is None else found()


def _as_target(target: Any) -> Any:
    return convert_to_tensor(target) if not isinstance(target, Tensor) else target


def _handles(sources: Sequence[Any]) -> list[Any]:
    return [getattr(source, "handle", source) for source in sources]


def _units(target: Any) -> Iterator[Any]:
    """For each element of a target the gradient that it starts from."""
    dims = target.shape.as_list()
    for row in np.eye(int(np.prod(dims)), dtype=target.dtype.as_numpy_dtype):
        yield constant(row.reshape(dims), target.dtype)


def _units_of_rows(target: Any) -> Iterator[Any]:
    """For each element of a target's rows the gradient that all rows start from."""
    dims = target.shape.as_list()
    for row in np.eye(int(np.prod(dims[1:])), dtype=target.dtype.as_numpy_dtype):
        yield constant(np.broadcast_to(row.reshape(dims[1:]), dims).copy(), target.dtype)


def _joined(parts: Sequence[Any], target: Any, source: Any, shared: int) -> Any:
    """Gradients of the target's elements as one tensor; None where there is none."""
    if any(part is None for part in parts):
        return None
    dims = [*target.shape.as_list(), *source.shape.as_list()[shared:]]
    return reshape(stack([convert_to_tensor(part) for part in parts], shared), dims)


def _no_derivatives(target: Any, source: Any, shared: int) -> Any:
    dims = [*target.shape.as_list(), *source.shape.as_list()[shared:]]
    return constant(np.zeros(dims), target.dtype)


def _backwards(
    ops: Sequence[Record],
    watched: set[Any],
    targets: Sequence[Any],
    sources: Sequence[Any],
    given: Sequence[Any] | None,
) -> list[Any]:
    """The gradients of the targets' sum with respect to each source; None where there is none."""
    terms: dict[Any, list[Any]] = {}
    for index, target in enumerate(targets):
        start = None if given is None else given[index]
        if is_trainable(target):
            started = _ones(target) if start is None else convert_to_tensor(start)
            terms.setdefault(target, []).append(started)
    wanted = set(sources)
    kept: dict[Any, Any] = {}
    graph = get_default_graph()
    for op_def, attrs, inputs, outputs in reversed(ops):
        out_grads = []
        for output in outputs:
            found = terms.pop(output, None)
            total = None if found is None else _sum(found)
            out_grads.append(total)
            if output in wanted and total is not None:
                kept[output] = total
        if out_grads.count(None) == len(out_grads):
            continue
        op = EagerOperation(graph, op_def, op_def.name, inputs, outputs, attrs)
        _hand_on(op, out_grads, watched, terms)
    for source in sources:
        if source in terms:
            kept[source] = _sum(terms.pop(source))
    return [kept.get(source) for source in sources]


def _hand_on(
    op: Operation, out_grads: list[Any], watched: set[Any], terms: dict[Any, list[Any]]
) -> None:
    function = get_gradient_function(op)
    if function is None:
        return
    for index, output in enumerate(op.outputs):
        if out_grads[index] is None and is_trainable(output):
            out_grads[index] = _zeros(output)
    result = function(op, *out_grads)
    in_grads = list(result) if isinstance(result, list | tuple) else [result]
    if len(in_grads) != len(op.inputs):
        raise ValueError(
            f"the gradient function of op type {op.type} returned {len(in_grads)} gradient(s); the"
            f" op has {len(op.inputs)} input(s)"
        )
    for tensor, grad in zip(op.inputs, in_grads, strict=True):
        if grad is not None and tensor in watched:
            terms.setdefault(tensor, []).append(grad)


def _sum(terms: Sequence[Any]) -> Any:
    if len(terms) == 1:
        return terms[0]
    if any(isinstance(t, IndexedSlices) for t in terms):
        return aggregate_slices(terms)
    return make("AddN", list(terms))


def _ones(target: Any) -> Any:
    if target.dtype is dtypes.variant or target.dtype is dtypes.resource:
        raise TypeError(f"a target of type {target.dtype.name} cannot be differentiated")
    return make_tensor("OnesLike", target)


def _zeros(tensor: Any) -> Any:
    if tensor.dtype is dtypes.resource:
        variable = variable_of(tensor)
        return make_tensor("ZerosLike", variable.value())
    return make_tensor("ZerosLike", tensor)
