"""``py_func`` with keyword arguments and nestings of inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base.shapes import as_shape
from penstock.foundation.graph import nest
from penstock.ops.control import py_func as py_func_ops


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function on NumPy arrays as an op.

    Args:
      func: takes the arguments, with arrays in place of tensors, and returns a nesting of values.
      args: list of nestings of tensors.
      kwargs: from names of arguments to nestings of tensors.
      output_types: nesting of the outputs' dtypes, or a function of the arguments that gives it.
      output_shapes: nesting of shapes, or a function of the arguments that gives it.
      stateful: False: the result depends on the inputs alone.
      name: name of the node.

    Returns:
      A nesting of tensors as ``output_types``.

    Raises:
      TypeError: arguments that are no list and dictionary.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, list | tuple):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    if callable(output_shapes):
        output_shapes = output_shapes(*args, **kwargs)
    given = (args, kwargs)

    def call(*values: Any) -> Any:
        positional, named = nest.pack_sequence_as(given, values)
        result = func(*positional, **named)
        nest.assert_shallow_structure(types, result)
        return nest.flatten(result)

    made = py_func_ops.py_func(call, nest.flatten(given), nest.flatten(types), stateful, name)
    if output_shapes is not None:
        shapes = nest.flatten_up_to(types, output_shapes)
        for tensor, shape in zip(made, shapes, strict=True):
            tensor.set_shape(as_shape(shape))
    return nest.pack_sequence_as(types, made)
