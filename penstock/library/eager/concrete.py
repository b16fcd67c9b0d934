"""Concrete functions: a Python function's graph for one combination of arguments, as a function.

The body takes what it uses of outside as further arguments, handles of variables among them, and a
call is a ``StatefulPartitionedCall`` of it: a node where nodes are built, and a program
(``trace``) where operations run as they are called.

State: the body, what it captured, and the programs by the dtypes and shapes they were made for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.eager import effects_order
from penstock.library.eager.context import EagerContext
from penstock.library.eager.recorders import recorders
from penstock.library.eager.tensor import EagerTensor
from penstock.library.eager.trace import Trace
from penstock.library.variables.creation import variable_creator_scope
from penstock.library.variables.variable import Variable


class ConcreteFunction:
    """A function of tensors, of one signature: what ``get_concrete_function`` gives.

    Args:
      body: its graph, of which the first inputs are the arguments, the others what it captured.
      captured: the tensors and handles that those others stand for.
      signature: ``(args, kwargs)`` with a ``TensorSpec`` for each tensor.
      result: a nesting with a tensor of the body for each result that is one.
      keywords: the names of the tensors among the arguments.
      positional: how many of them may be given by place.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     double = tf.function(lambda x: x * 2).get_concrete_function(
      ...         tf.TensorSpec([], tf.float32, name="x"))
      ...     with tf.Session() as sess:
      ...         double.structured_outputs.shape, float(sess.run(double(tf.constant(3.0))))
      (TensorShape([]), 6.0)
    """

    ag__left = True

    def __init__(
        self,
        body: FunctionGraph,
        captured: Sequence[Any],
        signature: Any,
        result: Any,
        keywords: Sequence[str],
        positional: int,
    ) -> None:
        self.graph = body
        self.captured_inputs = list(captured)
        body.variables = self.variables
        self.structured_input_signature = signature
        self.structured_outputs = result
        self.argument_names, self.positional = tuple(keywords), positional
        self.label = body.name
        # Variables that were made while it was traced live as long as it does.
        self.made_variables: list[Any] = []
        self._traces: dict[Any, Trace] = {}

    @property
    def name(self) -> bytes:
        """The name of the function in a graph's library."""
        return self.graph.name.encode()

    @property
    def inputs(self) -> list[Tensor]:
        """The arguments in the body: tensors, then what was captured."""
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The results in the body."""
        return list(self.graph.outputs)

    @property
    def variables(self) -> list[Any]:
        """The variables that it uses."""
        found = {id(v): v for v in map(variable_of, self.captured_inputs) if v is not None}
        return list(found.values())

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of its variables that are trainable."""
        return [v for v in self.variables if v.trainable]

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results, nested as they are."""
        return nest.map_structure(lambda t: t if t is None else t.dtype, self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of the results, nested as they are."""
        return nest.map_structure(lambda t: t if t is None else t.shape, self.structured_outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with its tensors, by place or by name.

        Raises:
          TypeError: there are others than it takes.
          ValueError: one is no tensor.
        """
        return self.call_flat(self._by_place(args, kwargs))

    def _by_place(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        names = list(self.argument_names)
        if len(args) > self.positional:
            raise TypeError(
                f"Expected at most {self.positional} positional arguments (and the rest keywords,"
                f" of {names}), got {args}. When calling a concrete function, positional arguments"
                " may not be bound to Tensors within nested structures."
            )
        rest = names[len(args) :]
        lacking = [name for name in rest if name not in kwargs]
        if lacking:
            raise TypeError(
                f"Expected argument names {rest} but got values for {sorted(kwargs)}. Missing:"
                f" {lacking}."
            )
        wrong = sorted(set(kwargs) - set(rest))
        if wrong:
            twice = [name for name in wrong if name in names]
            if twice:
                raise TypeError(f"Got two values for keyword {twice[0]!r}.")
            raise TypeError(f"Got unexpected keyword arguments {wrong}; it takes {names}")
        given = [*args, *(kwargs[name] for name in rest)]
        for place, value in enumerate(given):
            if not isinstance(value, Tensor | Variable):
                raise ValueError(
                    "All inputs to `ConcreteFunction`s must be Tensors; on invocation of"
                    f" {self.label}, the {place}-th input ({value!r}) was not a Tensor."
                )
        return given

    def call_flat(self, tensors: Sequence[Any]) -> Any:
        """Calls it with tensors in the order of its arguments."""
        graph = get_default_graph()
        arguments = self.graph.inputs[: len(self.graph.inputs) - len(self.captured_inputs)]
        given = [_fitted(t, a) for t, a in zip(tensors, arguments, strict=True)]
        if not isinstance(graph, EagerContext):
            return self._packed(self._node(given))
        key = tuple([(t.dtype, t.sizes) for t in given])
        trace = self._traces.get(key)
        if trace is None:
            if not self._traces:
                graph.begin()
                graph.log(self.graph.name)
            sizes = [t.sizes for t in given]
            trace = Trace(graph, lambda *inner: self._node(inner), (tuple(given), {}), given, sizes)
            self._traces[key] = trace
        return self._packed(trace(given))

    def _node(self, given: Sequence[Any]) -> list[Any]:
        types = [t.dtype for t in self.graph.outputs]
        inputs = [*given, *self.captured_inputs]
        made = make("StatefulPartitionedCall", inputs, Tout=types, f=self.graph)
        results = [] if isinstance(made, Operation) or made is None else list(made)
        for result, known in zip(results, self.graph.outputs, strict=True):
            result.set_shape(known.shape)
        return results

    def _packed(self, results: Sequence[Any]) -> Any:
        left = iter(results)
        flat = [None if t is None else next(left) for t in nest.flatten(self.structured_outputs)]
        return nest.pack_sequence_as(self.structured_outputs, flat)


def _fitted(value: Any, argument: Tensor) -> Any:
    if argument.dtype is dtypes.resource:
        return getattr(value, "handle", value)
    return value if type(value) is EagerTensor else convert_to_tensor(value)


def variable_of(tensor: Any) -> Any:
    """The variable that a captured handle is of, or None."""
    if tensor.dtype is not dtypes.resource:
        return None
    if not tensor.has_value:
        return _by_handle(tensor)
    made = getattr(tensor, "handle_op", None)
    kept = None if made is None else made.attrs.get("_variable")
    return None if kept is None else kept()


def _by_handle(handle: Tensor) -> Any:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in handle.op.graph.get_collection(key):
            if getattr(variable, "handle", None) is handle:
                return variable
    return None


def concrete(
    name: str,
    python: Callable[..., Any],
    signature: tuple[tuple[Any, ...], dict[str, Any]],
    names: Sequence[str],
    positional: int,
    internal: bool = True,
    pass_handles: bool = True,
) -> ConcreteFunction:
    """Traces a Python function for one signature.

    Args:
      name: of the function; a number is added.
      python: the function.
      signature: ``(args, kwargs)`` with a ``TensorSpec`` for each tensor.
      names: of the tensors among them.
      positional: how many of them may be given by place.
      internal: whether the name says that nodes call it, as TensorFlow's functions' do.
      pass_handles: whether handles of outside are arguments; else the body has them again.
    """
    context: Graph = get_default_graph()
    body = FunctionGraph(
        f"__inference_{name}" if internal else name, outer=context, pass_handles=pass_handles
    )
    body.arrays_are_lists = True
    flat = nest.flatten(signature)
    labels = iter(names)
    inner = [
        body.add_input(s.dtype, _dims(s), next(labels)) if isinstance(s, TensorSpec) else s
        for s in flat
    ]
    args, kwargs = nest.pack_sequence_as(signature, inner)
    made: list[Any] = []

    def lifted(creator: Callable[..., Any], **given: Any) -> Any:
        with default_graph_scope(context):
            variable = creator(**given)
        made.append(variable)
        return variable

    recording, recorders.active = recorders.active, []
    try:
        with default_graph_scope(body), variable_creator_scope(lifted):
            result = python(*args, **kwargs)
            tensors = [_tensor(r) for r in nest.flatten(result)]
            body.finish([body.capture(t) for t in tensors if t is not None])
    finally:
        recorders.active = recording
    effects_order.add(body)
    body.size = len(body.operations)
    outputs = iter(body.outputs)
    structured = [None if t is None else next(outputs) for t in tensors]
    found = ConcreteFunction(
        body, body.captured_outer, signature, nest.pack_sequence_as(result, structured), names,
        positional,
    )  # fmt: skip
    found.label, found.made_variables = name, made
    return found


def _tensor(result: Any) -> Tensor | None:
    if result is None or isinstance(result, Operation):
        return None
    return convert_to_tensor(result)


def _dims(spec: Any) -> Any:
    return None if spec.shape.dims is None else tuple(spec.shape.as_list())
