"""``tf.custom_gradient`` where operations run: one record for the whole call, with its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.bodies import CallDef
from penstock.foundation.graph.build import make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.eager.recorders import recorders
from penstock.library.eager.tape import GradientTape


def call(f: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Runs a function that returns ``(result, grad)``; tapes record no more than the call.

    Raises:
      TypeError: it reads trainable variables, and its gradient takes no ``variables``.
      ValueError: the gradient gives another number than there are arguments.
    """
    inner = GradientTape()
    saved, recorders.active = recorders.active, []
    try:
        with inner:
            result, grad_fn = f(*inputs)
    finally:
        recorders.active = saved
    given = {id(t) for t in inputs}
    variables = [v for v in inner.watched_variables() if id(v.handle) not in given]
    outputs = [make_tensor("Identity", convert_to_tensor(r)) for r in nest.flatten(result)]
    record(
        getattr(f, "__name__", "custom_gradient"),
        [*inputs, *(v.handle for v in variables)],
        outputs,
        lambda op, *grads: _grads(grad_fn, grads, len(inputs), variables),
    )
    return nest.pack_sequence_as(result, outputs)


def record(
    name: str, inputs: Sequence[Any], outputs: Sequence[Any], gradient: Callable[..., Any]
) -> None:
    """Tells the tapes of one call whose gradient is a function."""
    if not recorders.active:
        return
    sides = [[(str(i), t.dtype) for i, t in enumerate(side)] for side in (inputs, outputs)]
    definition = CallDef(name, sides[0], sides[1])
    definition.gradient = gradient
    for recorder in tuple(recorders.active):
        recorder(definition, {}, inputs, outputs)


def _grads(
    grad_fn: Callable[..., Any], grads: Sequence[Any], count: int, variables: Sequence[Any]
) -> list[Any]:
    of_variables: list[Any] = []
    if variables:
        found, of_variables = grad_fn(*grads, variables=variables)
    else:
        found = grad_fn(*grads)
    flat = nest.flatten(found)
    if len(flat) != count:
        raise ValueError(
            f"custom_gradient function expected to return {count} gradients but returned"
            f" {len(flat)} instead."
        )
    return [*flat, *of_variables]
