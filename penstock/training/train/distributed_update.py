"""Applying the gradients of all replicas: what ``apply_gradients`` does in a strategy's replica.

The replicas meet; their gradients of each variable are summed; then each component of the variable
is updated with the sum on its own device::

    Adam/update_0/update_w/ResourceApplyAdam              the first device's
    Adam/update_1/update_w/replica_1/ResourceApplyAdam    the second's
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.training.distribute.context import ReduceOp
from penstock.training.distribute.values import DistributedValues


def apply_distributed(
    strategy: Any, optimizer: Any, pairs: Any, processor_of: Any, global_step: Any, name: Any
) -> Any:
    """Adds the updates of all components.

    Args:
      strategy: the strategy, in its cross-replica context.
      optimizer: the optimizer.
      pairs: (gradients of the replicas, variable); none of the gradients is None.
      processor_of: gives of a component what knows how to update it.
      global_step: variable to count up, or None.
      name: name of the returned operation; None for the optimizer's.

    Returns:
      The operation, or what stands for it on each device.
    """
    extended = strategy.extended
    pairs = list(pairs)
    variables = [var for _, var in pairs]
    gradients = extended.batch_reduce_to(ReduceOp.SUM, pairs)
    with scopes.control_dependencies(None):
        optimizer._create_slots(variables)

    def update(component: Any, gradient: Any) -> Any:
        with scopes.name_scope(f"update_{component.op.name}"):
            return processor_of(component).update_op(optimizer, gradient)

    def finish(updates: Any) -> Any:
        return optimizer._finish(updates, "update")

    with scopes.name_scope(name, optimizer._name) as scope:
        optimizer._prepare()
        updates = [
            op
            for gradient, var in zip(gradients, variables, strict=True)
            for op in extended.update(var, update, (gradient,), group=False)
        ]
        devices = extended.non_slot_devices(variables)
        finished = extended.update_non_slot(devices, finish, (updates,), group=False)
        if global_step is None:
            applied = strategy.group(finished, name=scope)
        else:
            with scopes.control_dependencies(finished):
                applied = extended.update(global_step, _count, (1,))
    _collect(applied)
    return applied


def _count(step: Any, one: int) -> Any:
    return step.assign_add(one)


def _collect(applied: Any) -> None:
    op = applied.primary if isinstance(applied, DistributedValues) else applied
    op = op.op if hasattr(op, "dtype") else op
    collected = scopes.get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if op not in collected:
        collected.append(op)
