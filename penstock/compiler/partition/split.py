"""``partition``: a placed step becomes parts, one a task.

Devices inside a task share one program, so only edges between tasks are cut; ``display`` shows the
cuts between devices too.  ``order`` has the order that all parts keep, ``scope`` what is known of a
step and its blocks, ``needs`` finds the cuts, and ``assemble`` makes the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.compiler.partition.assemble import Assembly
from penstock.compiler.partition.needs import find_needs, home_of, tasks_of
from penstock.compiler.partition.order import ordered, task_of
from penstock.compiler.partition.part import Part as Part
from penstock.compiler.partition.scope import Scope, locate
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.verify import verify


def partition(
    step: StepGraph,
    placement: Mapping[Operation, str],
    *,
    compress: bool = False,
    shapes: Sequence[tuple[int | None, ...] | None] | None = None,
) -> list[Part]:
    """Cuts a step into one part a task.

    Args:
      step: as ``prune`` leaves it.
      placement: full device name of every node, those in blocks of regions too.
      compress: whether every float32 tensor that travels between tasks is sent as 16 bits (scalars
        excepted); without it those are that nodes ask for, with the attr ``_compress``.
      shapes: of the values that will be fed, in the order of ``step.feeds``; then the parts are for
        these alone, and what a part receives has a known shape too.

    Returns:
      The parts, by task name.  They must all run at the same time, each with the rendezvous of the
      step (``resources.rendezvous``).  A step without anything to run gives none.

    Raises:
      tf.errors.InvalidArgumentError: a node is placed in another task than the state it works on,
        or a handle would have to travel.
    """
    found = ordered(step, placement, shapes)
    whole, devices = found.step, found.devices
    scope = Scope(whole, devices, compress=compress, rounds=found.rounds)
    locate(scope, {op: task_of(device) for op, device in devices.items()})
    find_needs(scope)
    fetched = [home_of(scope, tensor) for tensor in whole.fetches]
    tasks = {task for op in whole.operations for task in tasks_of(scope, op)} | set(fetched)
    tasks |= set(scope.feeds_at) | {cut.source for cut in scope.cuts.values()}
    assembly = Assembly(scope, sorted(tasks))
    assembly.walk()
    parts = []
    for task, builder in assembly.builders.items():
        feeds = sorted(scope.feeds_at.get(task, ()))
        fetches = [i for i, home in enumerate(fetched) if home == task]
        names = [step.feed_names[i] for i in feeds]
        made = builder.step([whole.fetches[i] for i in fetches], names)
        parts.append(Part(task, verify(made, f"partition for {task}"), feeds, fetches))
    return parts
