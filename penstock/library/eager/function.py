"""``tfe.defun``: a Python function that is traced into a graph, which the session's compiler runs.

One graph for each combination of the arguments' dtypes and shapes (and of Python values).  Where a
tape watches an argument or a variable, the graph is extended by its gradient: the forward program
then also gives what the gradient's nodes take, so that nothing is computed twice and a random
number stays what it was.  A loop keeps such values in stacks that live for one step; there the
gradient computes the loop once more.

State: of a function, its traces; of a trace, its programs.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.engine.runtime.values import value_source
from penstock.engine.session.build import build_program
from penstock.engine.session.execute import execute
from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.gradients import gradients, is_trainable
from penstock.library.autograph.operators import requested
from penstock.library.eager.calls import unshare
from penstock.library.eager.context import EagerContext, recorders
from penstock.library.eager.custom import record
from penstock.library.eager.signature import Signature
from penstock.library.eager.tensor import EagerTensor, eager_tensor
from penstock.library.variables.creation import variable_creator_scope


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """Makes a Python function of tensors run as one compiled step.

    Args:
      func: the function; without it, ``defun`` gives a decorator.
      input_signature: a sequence of ``TensorSpec``: what it takes; it is traced once for them.
        Without it, it is traced for each combination of dtypes, shapes and Python values.
      autograph: whether Python's control flow over tensors is converted; see ``tf.autograph``.
      experimental_autograph_options, experimental_relax_shapes: accepted for compatibility.

    Returns:
      A function of the same arguments.

    Raises:
      TypeError, ValueError: when called, arguments that the signature does not allow.

    Example:
      >>> from penstock.contrib import eager as tfe
      >>> @tfe.defun
      ... def double(x):
      ...     return x * 2
    """
    if func is None:
        return functools.partial(defun, input_signature=input_signature, autograph=autograph)
    return _wrapped(Function(func, input_signature, autograph), func)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Any:
    """Makes a Python function of tensors run as one compiled step; it makes variables only once.

    Args:
      func: the function; without it, ``function`` gives a decorator.
      input_signature: a sequence of ``TensorSpec``: what it takes; it is traced once for them.
      autograph: whether Python's control flow over tensors is converted; see ``tf.autograph``.
      experimental_autograph_options, experimental_relax_shapes, experimental_compile: accepted
        for compatibility.

    Returns:
      A function of the same arguments.

    Raises:
      ValueError: when called, variables are made by another call than the first.

    Example:
      >>> import penstock as tf
      >>> @tf.function
      ... def size(x):
      ...     if x < 0.0:
      ...         x = -x
      ...     return x
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     float(sess.run(size(tf.constant(-2.0))))
      2.0
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature, autograph=autograph)
    made = Function(func, input_signature, autograph)
    made.variables_once = True
    return _wrapped(made, func)


def _wrapped(made: Function, func: Callable[..., Any]) -> Function:
    for name in ("__name__", "__doc__", "__module__", "__qualname__"):
        if hasattr(func, name):
            setattr(made, name, getattr(func, name))
    made.__wrapped__ = func  # type: ignore[attr-defined]
    return made


class Function:
    """What ``defun`` and ``function`` make.

    Args:
      function: the Python function.
      input_signature: what it takes, or None.
      autograph: whether its control flow is converted.
    """

    # Whether only the first trace may make variables.
    variables_once = False
    ag__left = True

    def __init__(
        self, function: Callable[..., Any], input_signature: Any = None, autograph: bool = True
    ) -> None:
        self.python_function = function
        self.input_signature = input_signature
        self._autograph = autograph
        self._signature = None if input_signature is None else Signature(input_signature, function)
        self._traces: dict[Any, _Trace] = {}
        self._bound: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        try:
            found = self._bound.get(instance)
        except TypeError:  # what has no hash or weak references is bound anew
            return self._bind(instance)
        if found is None:
            found = self._bound[instance] = self._bind(instance)
        return found

    def _bind(self, instance: Any) -> Function:
        """The function of one object, with traces of its own."""
        reference = weakref.ref(instance)
        python = self.python_function

        @functools.wraps(python)
        def method(*args: Any, **kwargs: Any) -> Any:
            return self._convert(python)(reference(), *args, **kwargs)

        # What the signature speaks of are the arguments without the object.
        method.__signature__ = _without_first(python)  # type: ignore[attr-defined]
        made = type(self)(method, self.input_signature, autograph=False)
        made.variables_once = self.variables_once
        return _wrapped(made, method)

    def _convert(self, function: Callable[..., Any]) -> Callable[..., Any]:
        made: Callable[..., Any] = requested(function) if self._autograph else function
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function's graph; where nodes are being built, builds its nodes."""
        context = get_default_graph()
        if self._signature is not None:
            args, kwargs = self._signature.arguments(args, kwargs), {}
        if not isinstance(context, EagerContext):
            return self._convert(self.python_function)(*args, **kwargs)
        flat = nest.flatten((args, kwargs))
        given = [convert_to_tensor(a) if isinstance(a, np.ndarray) else a for a in flat]
        trace = self._trace(context, args, kwargs, given)
        return trace([a for a in given if isinstance(a, EagerTensor)])

    def _trace(self, context: EagerContext, args: Any, kwargs: Any, given: Sequence[Any]) -> _Trace:
        form: Any = None
        key: Any = None
        if self._signature is None:
            key = tuple([_key_of(a) for a in given])
            form = (len(args), tuple(sorted(kwargs)), repr(nest.map_structure(lambda _: 0, args)))
        trace = self._traces.get((form, key))
        if trace is None:
            trace = self._traced(context, nest.pack_sequence_as((args, kwargs), given), given)
            self._traces[form, key] = trace
        return trace

    def _traced(self, context: EagerContext, nested: Any, given: Sequence[Any]) -> _Trace:
        sizes = None if self._signature is None else [_sizes(s) for s in self._signature.specs]
        function = self._convert(self.python_function)
        first = not self._traces
        trace = _Trace(context, function, nested, given, sizes)
        if not self.variables_once or not trace.made_variables:
            return trace
        if first:  # the second of the two is the one that is kept, and makes none
            trace = _Trace(context, function, nested, given, sizes)
        if trace.made_variables:
            raise ValueError(
                "tf.function-decorated function tried to create variables on non-first call."
            )
        return trace


def _without_first(function: Callable[..., Any]) -> inspect.Signature:
    found = inspect.signature(function)
    return found.replace(parameters=list(found.parameters.values())[1:])


def _sizes(spec: Any) -> Any:
    return None if spec.shape.dims is None else tuple(spec.shape.as_list())


def _key_of(value: Any) -> Any:
    if isinstance(value, EagerTensor):
        return value.dtype, value.value.shape
    if isinstance(value, Tensor):
        raise TypeError(f"{value!r} is of a graph; a function that is run takes values")
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


class _Trace:
    """A function's graph for one combination of arguments."""

    def __init__(
        self,
        context: EagerContext,
        function: Callable[..., Any],
        nested: Any,
        flat: Sequence[Any],
        sizes: Sequence[Any] | None,
    ) -> None:
        self._context = context
        self.made_variables = False
        name = getattr(function, "__name__", "function").strip("<>")
        body = self._body = FunctionGraph(name, outer=context)
        tensors = [a for a in flat if isinstance(a, EagerTensor)]
        dims = sizes or [t.sizes for t in tensors]
        arguments = [
            body.add_input(t.dtype, d, f"arg_{i}")
            for i, (t, d) in enumerate(zip(tensors, dims, strict=True))
        ]
        stands_for = iter(arguments)
        inner = [next(stands_for) if isinstance(a, EagerTensor) else a for a in flat]
        args, kwargs = nest.pack_sequence_as(nested, inner)
        recording, recorders.active = recorders.active, []
        try:
            with default_graph_scope(body), variable_creator_scope(self._lifted):
                self._result = function(*args, **kwargs)
                made = [_tensor(r) for r in nest.flatten(self._result)]
                self._returned = [t is not None for t in made]
                body.finish([body.capture(t) for t in made if t is not None])
        finally:
            recorders.active = recording
        body.size = len(body.operations)
        self._handles = {v: h for v, h in body.captured_values().items() if _is_handle(v)}
        self._forward = self._program(body.inputs, body.outputs, body.effects())
        self._gradient: _Gradient | None = None

    def _lifted(self, creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Makes a variable outside of the function, with its value."""
        self.made_variables = True
        with default_graph_scope(self._context):
            return creator(**kwargs)

    def _program(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
    ) -> Any:
        context = self._context
        shapes = [() if t.sizes is None else t.sizes for t in feeds]
        known = all(t.sizes is not None and None not in t.sizes for t in feeds)
        return build_program(
            self._body, feeds, fetches, targets, context.resources, context.options,
            shapes=shapes if known else None,  # type: ignore[arg-type]
            result_source=value_source,
        )  # fmt: skip

    def __call__(self, given: Sequence[EagerTensor]) -> Any:
        captured: list[Any] = self._body.captured_outer
        inputs = [*given, *captured]
        for handle in self._handles:
            unshare(handle.value)  # type: ignore[attr-defined]
        values = [t.value for t in inputs]
        kept: Sequence[Any] = ()
        if recorders.active and self._body.outputs:
            if self._gradient is None:
                self._gradient = _Gradient(self._body, list(self._handles.values()), self._program)
            results, kept = self._gradient.forward(values)
        else:
            results = execute(self._forward, values)
        outputs = [
            eager_tensor(v, t.dtype) for v, t in zip(results, self._body.outputs, strict=True)
        ]
        gradient = self._gradient
        if recorders.active and gradient is not None:
            record(
                self._body.name,
                [*inputs, *self._handles],
                outputs,
                lambda op, *grads: gradient.backward(kept, grads),
            )
        left = iter(outputs)
        packed = [next(left) if returned else None for returned in self._returned]
        return nest.pack_sequence_as(self._result, packed)


def _is_handle(tensor: Tensor) -> bool:
    return tensor.dtype is dtypes.resource


def _tensor(result: Any) -> Tensor | None:
    if result is None or isinstance(result, Operation):
        return None
    return convert_to_tensor(result)


class _Gradient:
    """The gradient of a function's graph: nodes added to it, and two programs."""

    def __init__(self, body: FunctionGraph, handles: list[Tensor], program: Any) -> None:
        self._sources = [*body.inputs, *handles]
        first = len(body.operations)
        ys = [t for t in body.outputs if is_trainable(t)]
        with default_graph_scope(body), body.control_dependencies(None):
            self._wanted = [is_trainable(t) for t in body.outputs]
            starts = [make("Placeholder", dtype=y.dtype, shape=y.shape) for y in ys]
            found = gradients(ys, self._sources, starts) if ys else [None] * len(self._sources)
        self._found = found
        fetches = [part for g in found if g is not None for part in _parts(g)]
        new = body.operations[first:]
        loops = any(op.op_def.control is not None for op in body.operations)
        kept = body.inputs if loops else _taken(new, first)
        self._kept = list(kept)
        self._count = len(body.outputs)
        self._forward = program(body.inputs, [*body.outputs, *self._kept], body.effects())
        self._backward = program([*self._kept, *starts], fetches, []) if fetches else None

    def forward(self, values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """The outputs' values, and those that ``backward`` takes."""
        results = execute(self._forward, values)
        return results[: self._count], results[self._count :]

    def backward(self, kept: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
        """A gradient for each input and handle, or None."""
        if self._backward is None:
            return [None] * len(self._found)
        starts = [
            convert_to_tensor(g).value  # type: ignore[attr-defined]
            for g, wanted in zip(grads, self._wanted, strict=True)
            if wanted
        ]
        values = iter(execute(self._backward, [*kept, *starts]))
        made: list[Any] = []
        for grad in self._found:
            if grad is None:
                made.append(None)
                continue
            parts = [eager_tensor(next(values), part.dtype) for part in _parts(grad)]
            made.append(IndexedSlices(*parts) if isinstance(grad, IndexedSlices) else parts[0])
        return made


def _taken(new: Sequence[Operation], first: int) -> list[Tensor]:
    """What the nodes of a gradient take of those before them, constants and handles apart."""
    found: dict[Tensor, None] = {}
    for op in new:
        for tensor in op.inputs:
            source = tensor.op
            if source.id < first and source.op_def.role != "constant":
                if tensor.dtype not in (dtypes.resource, dtypes.variant):
                    found[tensor] = None
    return list(found)


def _parts(grad: Any) -> list[Tensor]:
    if not isinstance(grad, IndexedSlices):
        return [grad]
    shape = grad.dense_shape
    return [grad.values, grad.indices, *([] if shape is None else [shape])]
