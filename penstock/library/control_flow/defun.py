"""``Defun``: Python functions as functions of a graph's library, called by nodes of their own type.

The decorated function is traced when it is first called or asked for its name; its body is a
``graph.function.FunctionGraph``.  A call adds one node whose op type is the function's name and
whose inputs are the arguments, then what the body captured of the graph around.  A step has the
body's nodes in the call's place (``passes.functional``); gradients are in ``autodiff.functional``.

Without ``func_name`` a name is made of the Python function's and of a digest of the body, so that
equal bodies have equal names.

State: of a ``DefinedFunction`` its body, once it is traced; of a graph, in ``Graph.attached``, the
functions it knows by name.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import graph_message, nest, written_nodes
from penstock.foundation.graph.bodies import CallDef, known_functions
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import (
    control_dependencies,
    default_graph_scope,
    get_default_graph,
)
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.scoping import variable_scope
from penstock.ops.control import control

# Said of a call; nothing here depends on them.
_IGNORED = {"compute_shapes", "noinline", "compiled", "separate_compiled_gradients"}
_REMARK = {"_disable_call_shape_inference": True}


class Defun:
    """Decorator: a Python function of tensors becomes a function of the graph.

    Args:
      *input_types: dtypes of the arguments; without them the function is traced anew for each
        combination of types it is called with.
      func_name: its name in the library.
      grad_func: another defined function, from the arguments and a gradient of each result to a
        gradient of each argument.
      python_grad_func: a Python function of the call's node and its gradients that makes them.
      out_names: names of the results.
      shape_func: from the call's node to a shape of each output.
      **kwargs: further attrs of the function, such as ``noinline=True``.

    Raises:
      ValueError: when applied: it is not callable, has default or keyword arguments, or another
        number of arguments than types.

    Example:
      >>> import penstock as tf
      >>> from penstock.python.framework import function
      >>> @function.Defun(tf.float32, func_name="Twice")
      ... def twice(x):
      ...     return x + x
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     y = twice(tf.constant(2.0))
      ...     y.op.type, sess.run(y)
      ('Twice', np.float32(4.0))
    """

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        self._input_types = [dtypes.as_dtype(t) for t in input_types]
        self._options = kwargs

    def __call__(self, func: Callable[..., Any]) -> Any:
        """The function, defined."""
        if not callable(func):
            raise ValueError(f"func {func} must be a callable")
        names, variadic = _argument_names(func)
        if not self._input_types:
            if not names and not variadic:
                return DefinedFunction(func, [], [], self._options)
            return OverloadedFunction(func, names, self._options)
        count = len(self._input_types)
        if count < len(names) or (count > len(names) and not variadic):
            raise ValueError(
                f"The function {getattr(func, '__name__', func)} takes {len(names)} argument(s),"
                f" not as many as the {count} input type(s) given"
            )
        names += [f"arg{i}" for i in range(len(names), count)]
        return DefinedFunction(func, names, self._input_types, self._options)


def _argument_names(func: Callable[..., Any]) -> tuple[list[str], bool]:
    names, variadic = [], False
    for parameter in inspect.signature(func).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            variadic = True
        elif parameter.default is not parameter.empty or parameter.kind in (
            parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD,
        ):  # fmt: skip
            raise ValueError(
                "function with argument defaults or keywords arguments are not supported."
                f" {func} has {parameter}"
            )
        else:
            names.append(parameter.name)
    return names, variadic


class _Tracing(FunctionGraph):
    """A body being traced: variables made in it belong to the graph around."""

    def __init__(self, name: str, outer: Graph, unique: bool = False) -> None:
        super().__init__(name, outer, unique=unique, pass_handles=True)
        self.extra_vars: list[Any] = []

    def get_variable(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A custom getter of a variable scope."""
        outer = self.outer
        with default_graph_scope(outer), outer.control_dependencies(None), outer.name_scope(None):
            made = getter(*args, **kwargs)
        self.extra_vars.append(made)
        return made


class DefinedFunction:
    """A function of a graph's library; ``Defun`` makes it.

    Calling it with tensors adds a node and returns its output, a tuple of several, or the operation
    when there are none.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        names: Sequence[str],
        types: Sequence[dtypes.DType],
        options: dict[str, Any],
    ) -> None:
        known = dict(options)
        self._func, self._names, self._types = func, list(names), list(types)
        self._func_name = known.pop("func_name", None)
        self._grad_func = known.pop("grad_func", None)
        self._python_grad_func = known.pop("python_grad_func", None)
        self._out_names = known.pop("out_names", None)
        self._shape_func = known.pop("shape_func", None)
        known.pop("capture_by_value", None)
        self._extra = known
        self._body: _Tracing | None = None
        self._definition: CallDef | None = None

    # ---- what is asked of it -----------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name in the library."""
        return self.body.name

    @property
    def definition(self) -> Any:
        """Its ``FunctionDef`` message."""
        return graph_message.function_message(self.body)

    @property
    def body(self) -> _Tracing:
        """The traced body."""
        if self._body is None:
            self._body = self._traced()
        return self._body

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What the body takes of the graph around, in order."""
        return list(self.body.captured_outer)

    @property
    def declared_input_types(self) -> list[dtypes.DType]:
        """The types given to ``Defun``."""
        return list(self._types)

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """Name and type of the body's nodes that touch state."""
        found = (op for op in self.body.operations if not op.op_def.pure)
        return [(op.name, op.type) for op in found if op.op_def.role != "placeholder"]

    @property
    def python_grad_func(self) -> Callable[..., Any] | None:
        """The Python function that makes the gradient, if one was given."""
        given: Callable[..., Any] | None = self._python_grad_func
        return given

    @property
    def grad_func_name(self) -> str | None:
        """The name of the function that is the gradient, if one was given."""
        return self._grad_func.name if self._grad_func is not None else None

    def set_grad_func(self, grad_func: DefinedFunction) -> None:
        """Says which defined function is the gradient.

        Raises:
          ValueError: another one was given before.
        """
        if self._grad_func is not None and self._grad_func is not grad_func:
            raise ValueError(f"function {self.name!r} has a gradient function already")
        self._grad_func = grad_func
        if self._body is not None:
            self._body.gradient = grad_func.body

    def add_to_graph(self, g: Graph) -> None:
        """Adds it to a graph's library; a call does the same.

        Raises:
          ValueError: the graph has another function of this name.
        """
        functions = known_functions(g)
        found = functions.setdefault(self.name, self.body)
        if found is not self.body:
            ours = self.definition
            if graph_message.function_message(found) != ours:
                raise ValueError(
                    f"cannot add function {self.name!r}: the graph has a different function with"
                    " the same name already"
                )
        if self._grad_func is not None:
            self._grad_func.add_to_graph(g)

    # ---- tracing and calling -----------------------------------------------------------------

    def _traced(self) -> _Tracing:
        base = self._func_name or getattr(self._func, "__name__", "function").strip("<>")
        body = _Tracing(base, get_default_graph())
        arguments = [
            body.add_input(dtype, None, name)
            for dtype, name in zip(self._types, self._names, strict=True)
        ]
        with default_graph_scope(body), variable_scope("", custom_getter=body.get_variable):
            given = self._func(*arguments)
            values = [] if given is None else given
            if not isinstance(values, list | tuple):
                values = [values]
            body.outputs = [body.capture(convert_to_tensor(v)) for v in values]
        if any(v is None for v in values):
            raise ValueError("Function can not return None.")
        if self._out_names:
            if len(self._out_names) != len(body.outputs):
                raise ValueError(
                    f"Length of out_names ({len(self._out_names)}) does not match number of"
                    f" outputs ({len(body.outputs)}): {', '.join(self._out_names)}"
                )
            body.output_names = list(self._out_names)
        body.function_attrs = {f"_{key}": value for key, value in self._extra.items()}
        body.function_attrs |= _REMARK
        if self._grad_func is not None:
            body.gradient = self._grad_func.body
        if self._func_name is None:
            body.name = f"{base}_{_digest(body)}"
        return body

    def _call_def(self) -> CallDef:
        if self._definition is None:
            signature = self.definition.signature
            body = self.body
            self._definition = CallDef(
                body.name,
                [(a.name, dtypes.as_dtype(a.type)) for a in signature.input_arg],
                [(a.name, dtypes.as_dtype(a.type)) for a in signature.output_arg],
                body,
            )
            self._definition.gradient = self._python_grad_func
        return self._definition

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a call of it; ``name=`` names the node.

        Raises:
          ValueError: another number of arguments than it takes.
        """
        definition = self._call_def()
        _check_count(definition.name, args, len(self._types))
        tensors = [convert_to_tensor(a, dtype=t) for a, t in zip(args, self._types, strict=True)]
        op = _call(definition, [*tensors, *self.captured_inputs], kwargs)
        self.add_to_graph(outermost(op.graph))
        if self._shape_func is not None:
            for tensor, shape in zip(op.outputs, self._shape_func(op), strict=True):
                tensor.set_shape(shape)
        return _results(op)


def _digest(body: FunctionGraph) -> str:
    message = graph_message.function_message(body)
    message.signature.name = ""
    return hashlib.sha256(message.SerializeToString(deterministic=True)).hexdigest()[:11]


def _check_count(name: str, args: Sequence[Any], wanted: int) -> None:
    if len(args) != wanted:
        raise ValueError(
            f"Expected number of arguments: {wanted}, received: {len(args)} (function {name!r})"
        )


def _call(definition: CallDef, tensors: list[Tensor], kwargs: dict[str, Any]) -> Operation:
    """Adds the node of a call."""
    name = kwargs.pop("name", None)
    unknown = set(kwargs) - _IGNORED
    if unknown:
        raise ValueError(f"Unknown keyword arguments: {sorted(unknown)}")
    graph = get_default_graph()
    if tensors and not graph.building_function:
        graph = tensors[0].op.graph
    full = graph.node_name(name, definition.name)
    attrs: dict[str, Any] = dict(_REMARK)
    if graph.scopes.control_flow is None:
        return written_nodes.add_checked(graph, definition, tensors, attrs, full)
    # The nodes that bring the inputs into a branch or loop are named under this one.
    with graph.name_scope(f"{full}/"):
        return written_nodes.add_checked(graph, definition, tensors, attrs, full)


def _results(op: Operation) -> Any:
    if not op.outputs:
        return op
    return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


def outermost(graph: Graph) -> Graph:
    """The graph around all functions that ``graph`` is the body of; it has their library."""
    while isinstance(graph, FunctionGraph):
        graph = graph.outer
    return graph


class OverloadedFunction:
    """A function that is defined for each combination of argument types it is called with."""

    def __init__(
        self, func: Callable[..., Any], names: Sequence[str], options: dict[str, Any]
    ) -> None:
        self._func, self._names, self._options = func, list(names), dict(options)
        self._defined: dict[tuple[dtypes.DType, ...], DefinedFunction] = {}

    def instantiate(self, input_types: Sequence[Any]) -> DefinedFunction:
        """The function for these types."""
        key = tuple(dtypes.as_dtype(t).base_dtype for t in input_types)
        found = self._defined.get(key)
        if found is None:
            options = dict(self._options)
            if options.get("func_name") is not None:
                options["func_name"] += "_" + "".join(f"_{t.name}" for t in key)
            grad = options.get("grad_func")
            names = self._names + [f"arg{i}" for i in range(len(self._names), len(key))]
            options["grad_func"] = None
            found = self._defined[key] = DefinedFunction(self._func, names, key, options)
            if isinstance(grad, OverloadedFunction):
                outputs = [t.dtype for t in found.body.outputs]
                found.set_grad_func(grad.instantiate([*key, *outputs]))
            elif grad is not None:
                found.set_grad_func(grad)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a call of the function for the arguments' types."""
        _check_count(getattr(self._func, "__name__", "function"), args, len(self._names))
        tensors = [convert_to_tensor(a) for a in args]
        return self.instantiate([t.dtype for t in tensors])(*tensors, **kwargs)


class Declare:
    """A function that is called before it is defined, by ``Defun`` with the same ``func_name``.

    Args:
      func_name: its name.
      inputs: name and dtype of each argument.
      outputs: name and dtype of each result.
    """

    def __init__(
        self, func_name: str, inputs: Sequence[tuple[str, Any]], outputs: Sequence[tuple[str, Any]]
    ) -> None:
        args, results = ([(n, dtypes.as_dtype(t)) for n, t in side] for side in (inputs, outputs))
        self._definition = CallDef(func_name, args, results)

    @property
    def name(self) -> str:
        """Its name."""
        return self._definition.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a call of it."""
        definition = self._definition
        _check_count(definition.name, args, len(definition.inputs))
        tensors = [
            convert_to_tensor(a, dtype=arg.dtype)
            for a, arg in zip(args, definition.inputs, strict=True)
        ]
        return _results(_call(definition, tensors, kwargs))


def _traced_now() -> _Tracing | None:
    graph = get_default_graph()
    return graph if isinstance(graph, _Tracing) else None


def get_extra_vars() -> list[Any]:
    """The variables that the function being traced has made or got so far."""
    body = _traced_now()
    return list(body.extra_vars) if body else []


def get_extra_inputs() -> list[Tensor]:
    """What the function being traced has captured so far, as tensors of the graph around."""
    body = _traced_now()
    return list(body.captured_outer) if body else []


def get_extra_args() -> list[Tensor]:
    """The arguments that stand for what the function being traced has captured so far."""
    body = _traced_now()
    return list(body.inputs[len(body.inputs) - len(body.captured_outer) :]) if body else []


def trace_branch(
    name: str, branch: Callable[[], Any], instead: Tensor
) -> tuple[FunctionGraph, Any]:
    """The body of a branch that a node calls, and the nesting that it returns.

    Args:
      name: of the function; made unique.
      branch: takes nothing and returns tensors in a nesting, or operations.
      instead: what stands for an operation that it returns, or for nothing.
    """
    body = _Tracing(name, get_default_graph(), unique=True)

    def tensor(value: Any) -> Tensor:
        if value is None or isinstance(value, Operation):
            with control_dependencies([] if value is None else [value]):
                stands: Tensor = control.identity(body.capture(instead))
                return stands
        return convert_to_tensor(value)

    with default_graph_scope(body), variable_scope("", custom_getter=body.get_variable):
        given = branch()
        values = [tensor(value) for value in nest.flatten(given, expand_composites=True)]
    body.finish([body.capture(value) for value in values])
    return body, given
