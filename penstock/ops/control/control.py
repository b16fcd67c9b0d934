"""Control ops: pass-throughs, ``NoOp``, and functions that tie nodes together by control edges.

``group`` and ``tuple`` make the nodes of TF: one ``NoOp`` a device under one final ``NoOp``, and
one ``Identity`` a gated tensor, so that graphs made here and there have the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import (
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
)
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, first_input, no_outputs
from penstock.foundation.opdef.kinds import Role
from penstock.foundation.opdef.static import constant_value_as_shape, partial_value


def _pass_value(ctx: ShapeContext, *values: Any) -> Any:
    return values[0]


# Ops that can differentiate what TF 1.15 guards with a PreventGradient, as TF 2 can.
_DIFFERENTIABLE = ("SparseSoftmaxCrossEntropyWithLogits",)


def _refuse_gradient(op: Operation, grad: Any) -> Any:
    if op.inputs[0].op_type in _DIFFERENTIABLE:
        return grad
    raise LookupError(
        f"the gradient of {op.name!r} is asked for, but PreventGradient forbids it: "
        f"{op.attrs['message'] or 'no reason was given'}"
    )


define_op("NoOp", "->", shape=no_outputs, kernel="None", no_gradient="it has no inputs")


def _pass_through(
    op_type: str,
    gradient: Any,
    *,
    attrs: Sequence[str] = (),
    role: Role | None = None,
    number: str | None = None,
) -> None:
    define_op(
        op_type,
        "input: T -> output: T",
        attrs=["T: type", *attrs],
        shape=first_input,
        kernel="{input}",
        aliases=("input",),
        fold=_pass_value,
        gradient=gradient,
        moves=True,
        role=role,
        number=number,
        no_gradient=None if gradient else "stopping gradients is what it is for",
    )

    def as_shape(ctx: ShapeContext) -> Any:
        return constant_value_as_shape(ctx.op.inputs[0])

    partial_value(op_type)(as_shape)


_pass_through("Identity", lambda op, grad: grad, role="identity", number="{0}")
_pass_through("StopGradient", None)
_pass_through("PreventGradient", _refuse_gradient, attrs=['message: string = ""'])

define_op(
    "RefIdentity",
    "input: Ref(T) -> output: Ref(T)",
    attrs=["T: type"],
    shape=first_input,
    kernel="{input}",
    aliases=("input",),
    role="identity",
    gradient=lambda op, grad: grad,
    moves=True,
)


def _identity_n_shape(ctx: ShapeContext) -> list[Any]:
    return [t.sizes for t in ctx.op.inputs]


define_op(
    "IdentityN",
    "input: list(T) -> output: list(T)",
    attrs=["T: list(type) >= 1"],
    shape=_identity_n_shape,
    kernel="{input}",
    aliases=("input",),
    gradient=lambda op, *grads: list(grads),
    moves=True,
)


def identity(input: Any, name: str | None = None) -> Any:
    """A tensor with the value of ``input``, made by a node of its own.

    Args:
      input: a tensor, or an IndexedSlices or SparseTensor, whose parts are passed each.

    Returns:
      The same kind of value as ``input``.

    Example:
      >>> import penstock as tf
      >>> logits = tf.constant([1.0, 2.0]) * 3
      >>> output = tf.identity(logits, name="output")  # a name that others find it by
      >>> with tf.Session() as session:
      ...     session.run("output:0").tolist()
      [3.0, 6.0]
    """
    if isinstance(input, IndexedSlices | SparseTensor):
        return _map_parts(lambda part: identity(part, name=name), input)
    return make("Identity", input, name=name)


def _map_parts(function: Any, value: Any) -> Any:
    if isinstance(value, SparseTensor):
        parts = (value.indices, value.values, value.dense_shape)
        return SparseTensor(*(function(p) for p in parts))
    shape = None if value.dense_shape is None else function(value.dense_shape)
    return IndexedSlices(function(value.values), function(value.indices), shape)


def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """The tensors of ``input``, passed through one node: all are computed before any is used."""
    return make("IdentityN", list(input), name=name)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """``input`` as a constant for ``tf.gradients``: nothing flows back through it.

    Args:
      input: a tensor.

    Returns:
      A tensor of the same value, shape and type.

    Example:
      >>> import penstock as tf
      >>> x = tf.constant(3.0)
      >>> gradient = tf.gradients(x * tf.stop_gradient(x), x)[0]  # the second factor is no x
      >>> with tf.Session() as session:
      ...     print(session.run(gradient))
      3.0
    """
    return make("StopGradient", input, name=name)


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """``input``, whose gradient is an error.

    Args:
      input: a tensor.
      message: why; the error says it.
    """
    return make("PreventGradient", input, name=name, message=message)


def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing; a place for control edges.

    Returns:
      An operation without outputs.

    Example:
      >>> import penstock as tf
      >>> with tf.control_dependencies([tf.Assert(True, ["never"])]):
      ...     checked = tf.no_op(name="checked")
      >>> with tf.Session() as session:
      ...     session.run(checked) is None
      True
    """
    return make("NoOp", name=name)


def _flatten(items: Iterable[Any]) -> list[Any]:
    flat: list[Any] = []
    for item in items:
        if isinstance(item, dict):
            flat.extend(_flatten(item[key] for key in sorted(item)))
        elif isinstance(item, list | tuple):
            flat.extend(_flatten(item))
        else:
            flat.append(item)
    return flat


def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that is done when all of ``inputs`` are.

    Args:
      *inputs: operations, tensors, variables, or nested sequences of those.
      name: name of the operation (keyword).

    Returns:
      A ``NoOp`` with control edges from the inputs, by way of one for each device they are on.

    Raises:
      TypeError: an input that is no graph element, or an unknown keyword.

    Example:
      >>> import penstock as tf
      >>> a, b = tf.Variable(1.0), tf.Variable(2.0)
      >>> update = tf.group(a.assign_add(10.0), b.assign_add(10.0))
      >>> with tf.Session() as session:
      ...     session.run(tf.global_variables_initializer())
      ...     session.run(update)  # both, and no value
      ...     [float(value) for value in session.run([a, b])]
      [11.0, 12.0]
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"group takes only the keyword 'name'; found {sorted(kwargs)}")
    if get_default_graph().executes:
        return None  # type: ignore[return-value]  # they have run
    with name_scope(name, "group_deps", _flatten(inputs)) as scope:
        if not inputs:
            return no_op(name=scope)
        by_device: dict[str, list[Any]] = {}
        for item in _flatten(inputs):
            if not hasattr(item, "device"):
                raise TypeError(
                    f"group takes operations, tensors and variables; found {item!r} of type "
                    f"{type(item).__name__}"
                )
            by_device.setdefault(item.device or "", []).append(item)
        if len(by_device) == 1:
            [(where, items)] = by_device.items()
            return _group_on(where, items, scope)
        parts = [_group_on(where, by_device[where], None) for where in sorted(by_device)]
        with control_dependencies(parts):
            return no_op(name=scope)


def _group_on(where: str, items: list[Any], name: str | None) -> Operation:
    with control_dependencies(items):
        if not where:
            return no_op(name=name)
        with device(where):
            return no_op(name=name)


def with_dependencies(
    dependencies: Sequence[Any], output_tensor: Any, name: str | None = None
) -> Any:
    """``output_tensor``, not available before ``dependencies`` have run.

    Args:
      dependencies: operations or tensors.
      output_tensor: a tensor or IndexedSlices.
      name: name of the ``Identity`` made.

    Returns:
      The same kind of value as ``output_tensor``.
    """
    values = [*dependencies, output_tensor]
    with name_scope(name, "control_dependency", values) as scope, colocate_with(output_tensor):
        with control_dependencies(dependencies):
            if isinstance(output_tensor, IndexedSlices):
                # The first part takes the scope's name; the others are made unique under it.
                return IndexedSlices(
                    identity(output_tensor.values, name=scope),
                    output_tensor.indices,
                    output_tensor.dense_shape,
                )
            tensor = convert.convert_to_tensor(output_tensor)
            if tensor.dtype.is_ref:
                return make("RefIdentity", tensor, name=scope)
            return identity(tensor, name=scope)


def tuple_(
    tensors: Sequence[Any], name: str | None = None, control_inputs: Sequence[Any] | None = None
) -> list[Any]:
    """The ``tensors``, none of them available before all of them are.

    Args:
      tensors: tensors or what becomes one, IndexedSlices, operations or None.
      control_inputs: more operations to wait for.

    Returns:
      A list like ``tensors``; None stays None, an operation becomes a ``NoOp``.

    Raises:
      ValueError: no tensor or operation at all.
      TypeError: a control input that is no graph element.
    """
    if get_default_graph().executes:
        return list(tensors)
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        tensors = [
            t
            if t is None or hasattr(t, "op") or isinstance(t, Operation)
            else convert.convert_to_tensor(t)
            for t in tensors
        ]
        gating = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for control in control_inputs or ():
            op = control if isinstance(control, Operation) else getattr(control, "op", None)
            if op is None:
                raise TypeError(f"a control input is an operation or tensor; found {control!r}")
            gating.append(op)
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors!r}")
        gate = group(*sorted(set(gating), key=lambda op: op.id))
        result: list[Any] = []
        for item in tensors:
            if item is None:
                result.append(None)
            elif isinstance(item, Operation):
                with control_dependencies([gate]):
                    result.append(group(item))
            else:
                result.append(with_dependencies([gate], item))
        return result
