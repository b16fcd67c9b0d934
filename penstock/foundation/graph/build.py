"""``make``: one call adds one node, with its inputs converted, its attrs solved and checked.

Public functions of ``ops`` are thin layers over ``make``.  The name rules are TF's: the node's name
is made unique first, and constants made for Python arguments live under it (``Add/y``).
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar, cast

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.base.decorators import decorates
from penstock.foundation.graph.defaults import stacks
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.solve import Solver, complete_attrs, output_types
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import OPS

as_dtype = dtypes.as_dtype
Function = TypeVar("Function", bound=Callable[..., Any])


def make(op_type: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
    """Adds one node of ``op_type`` to the graph of its inputs (else the default graph).

    Args:
      op_type: a registered op type.
      *inputs: one for each input argument, in order: tensors or what converts to them; a list
        argument takes a sequence.
      name: base name of the node; default is the op type.  A trailing slash means "exactly this".
      **attrs: attrs that the inputs do not determine; those with defaults may be left out.

    Returns:
      The output tensor; a list for a list output; a namedtuple of those for several outputs; the
      Operation when there are none (of a list output: where the op is stateful).

    Raises:
      TypeError: an input or attr of a wrong type, naming the op and both sides.
      ValueError: shapes that do not fit, or an attr value that is not allowed.
    """
    graph = get_default_graph()
    if graph.executes:
        return graph.execute(op_type, inputs, name, attrs)
    graph = _graph_of(inputs, graph)
    op_def = OPS[op_type]
    if len(inputs) != len(op_def.inputs):
        raise TypeError(
            f"{op_type} takes {len(op_def.inputs)} input(s) "
            f"({', '.join(map(str, op_def.inputs))}); {len(inputs)} were given"
        )
    full = graph.node_name(name, op_type)
    tensors, solved = Solver(op_def, graph, full, attrs).solve(inputs)
    if graph.building_function:
        tensors = [graph.capture(t) for t in tensors]
    all_attrs = complete_attrs(op_def, full, solved, attrs)
    types = output_types(op_def, all_attrs)
    if graph.scopes.control_flow is not None and op_def.role != "constant":
        # The nodes that bring the inputs into a branch or loop are named under this one.
        with graph.name_scope(f"{full}/"):
            return outputs_of(_add(graph, op_def, tensors, all_attrs, types, full))
    return outputs_of(_add(graph, op_def, tensors, all_attrs, types, full))


# ``make`` of an op that has one output, which is no list.
make_tensor: Callable[..., Tensor] = make


def one_operation(function: Function) -> Function:
    """Marks a public function that comes down to one operation, in most of its uses.

    Where operations run as they are called, such a function is not called each time: see
    ``library.eager.shortcuts``.  What it does must follow from the dtypes and shapes of tensors and
    from other arguments, not from the values of tensors.
    """

    @decorates(function, "one_operation")
    def calling(*args: Any, **kwargs: Any) -> Any:
        graphs = stacks.graphs  # as get_default_graph, without the call
        graph = graphs[-1] if graphs else get_default_graph()
        if graph.executes:
            return graph.call(function, args, kwargs)
        return function(*args, **kwargs)

    return cast(Function, calling)


def entry_of(op_type: str, x: Any) -> Callable[..., Any] | None:
    """What runs an operation of one tensor, without attrs, at once; None where it takes more."""
    graph = get_default_graph()
    entries = graph.entries.get(op_type)
    return entries.get(id(x.dtype)) if entries and type(x) is graph.tensor_class else None


def of_two(op_type: str, usual: Callable[..., Any]) -> Callable[..., Any]:
    """A function of two tensors that makes one operation without attrs.

    Where operations run as they are called, tensors of one dtype go to the kernel at once.

    Args:
      op_type: of the operation.
      usual: what it does with other arguments, and where nodes are built.
    """

    def calling(x: Any, y: Any, name: str | None = None) -> Any:
        graphs = stacks.graphs  # as get_default_graph, without the call
        graph = graphs[-1] if graphs else get_default_graph()
        entries = graph.entries.get(op_type)
        if entries is not None:
            kind = graph.tensor_class
            if type(x) is kind and type(y) is kind:
                dtype = x.dtype
                if y.dtype is dtype:
                    entry = entries.get(id(dtype))
                    if entry is not None:
                        return entry(x, y)
        return usual(x, y, name)

    calling.op_type = op_type  # type: ignore[attr-defined]
    return calling


def _add(graph: Graph, op_def: OpDef, tensors: list[Tensor], *node: Any) -> Operation:
    if op_def.writes or op_def.reads:
        # Of a list of references its first, as TensorFlow pairs tensors with arguments.
        refs = [t for t, arg in zip(tensors, op_def.inputs) if arg.is_ref]
        if refs:
            return _add_beside(refs, graph, op_def, tensors, *node)
    return graph.add_operation(op_def, tensors, *node)


def _add_beside(refs: list[Tensor], graph: Graph, *node: Any) -> Operation:
    """Adds a node colocated with the variables it takes by reference, as TF does."""
    with ExitStack() as stack:
        for ref in refs:
            stack.enter_context(graph.colocate_with(ref.op))
        return graph.add_operation(*node)


def outputs_of(op: Operation) -> Any:
    """What ``make`` returns for ``op``."""
    outputs = op.outputs
    definition = op.op_def
    if not definition.has_list_output:
        if len(outputs) == 1:
            return outputs[0]
        return tuple_of(definition)._make(outputs) if outputs else op
    if not outputs and definition.stateful:
        return op  # what it gives is what it does
    values = list(op.outputs_by_name().values())
    return values[0] if len(values) == 1 else tuple_of(definition)._make(values)


@functools.cache
def tuple_of(definition: OpDef) -> Any:
    """The namedtuple of an op's outputs: ``tf.nn.top_k(x).indices``."""
    fields = [arg.name for arg in definition.outputs]
    return collections.namedtuple(definition.name, fields, rename=True)


def _graph_of(inputs: Sequence[Any], graph: Graph) -> Graph:
    if graph.building_function or graph.shares_nodes:
        # Tensors of the graphs around are captured; those of a step belong to no one graph.
        return graph
    first: Any = None
    for item in inputs:
        for one in item if type(item) in (list, tuple) else (item,):
            if type(one) is Tensor:
                if first is None:
                    first = one
                elif one.op.graph is not first.op.graph:
                    raise ValueError(
                        f"{one} must be from the same graph as {first}.: {one.name!r} is not in the"
                        f" same graph as {first.name!r}"
                    )
    return graph if first is None else first.op.graph


def constant(value: Any, dtype: Any = None, name: str = "Const") -> Tensor:
    """A Const node from a NumPy array; ``ops.constant`` has the public one."""
    array = np.asarray(value, dtype=object if isinstance(value, bytes) else None)
    kind = dtypes.as_dtype(dtypes.string if array.dtype == object else dtype or array.dtype)
    array = array.astype(kind.base_dtype.as_numpy_dtype, copy=False)
    return make_tensor("Const", name=name, value=array, dtype=kind.base_dtype)
