"""Advice: each checker looks at a profile and reports what stands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.formats.tfprof_messages import AdviceProto
from penstock.tools.profiler import views
from penstock.tools.profiler.nodes import NodeStats, Profile
from penstock.tools.profiler.options import Options
from penstock.tools.profiler.report import amount
from penstock.tools.profiler.views import ViewNode

_TOP = 3
# An accelerator that is busy for less of a step than this is reported.
_IDLE_BELOW = 0.5


def _expensive_operations(profile: Profile, nodes: list[NodeStats]) -> list[str]:
    """The op types, scopes and lines of code that take most of the time."""
    every = Options(max_depth=10000, order_by="micros", select=["micros"])
    types = views.build(nodes, "op", every)
    whole = types.total["micros"]
    if not whole:
        return []
    listed = [row for row, _ in views.rows(types) if row is not types][:_TOP]
    reports = ["\n".join(_ranked("operation type", listed, whole, "own"))]
    for what, view in (("scope", "scope"), ("line", "code")):
        top = views.build(nodes, view, every).children[:_TOP]
        if top:
            reports.append("\n".join(_ranked(what, top, whole, "total")))
    return reports


def _ranked(what: str, found: list[ViewNode], whole: int, of: str) -> list[str]:
    lines = []
    for rank, row in enumerate(found, start=1):
        numbers = getattr(row, of)
        cpu, accelerator, total = (
            amount(key, numbers[key]) for key in ("cpu_micros", "accelerator_micros", "micros")
        )
        share = 100 * numbers["micros"] / whole
        lines.append(
            f"top {rank} {what}: {row.name}, cpu: {cpu}, accelerator: {accelerator},"
            f" total: {total} ({share:.2f}%)"
        )
    return lines


def _operations(profile: Profile, nodes: list[NodeStats]) -> list[str]:
    """Convolutions on a GPU whose layout is not the one that its kernels want."""
    found = [
        node.name
        for node in nodes
        if node.op is not None
        and node.type in ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")
        and node.op.attrs.get("data_format") in ("NHWC", b"NHWC")
        and any("gpu" in device for device in node.devices)
    ]
    if not found:
        return []
    return [f"{len(found)} convolution(s) on a GPU have data_format NHWC, first {found[0]!r}"]


def _accelerators(profile: Profile, nodes: list[NodeStats]) -> list[str]:
    """Accelerators that wait for most of a step."""
    busy: dict[str, int] = {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for step in profile.steps:
        for execution in profile.measured(step).values():
            for device, accelerator, start, micros in execution.times:
                if accelerator:
                    key = f"{device} in step {step}"
                    busy[key] = busy.get(key, 0) + micros
                    first[key] = min(first.get(key, start), start)
                    last[key] = max(last.get(key, 0), start + micros)
    return [
        f"{key} computes for {busy[key] / (last[key] - first[key]):.0%} of the time from its first"
        " kernel to its last"
        for key in busy
        if last[key] > first[key] and busy[key] < _IDLE_BELOW * (last[key] - first[key])
    ]


def _jobs(profile: Profile, nodes: list[NodeStats]) -> list[str]:
    """Jobs of one step that are much slower than the others."""
    taken: dict[str, int] = {}
    for execution in profile.measured(-1).values():
        for device, _, _, micros in execution.times:
            task = device.partition("/device")[0]
            taken[task] = taken.get(task, 0) + micros
    if len(taken) < 2:
        return []
    slowest = max(taken, key=lambda task: taken[task])
    others = (sum(taken.values()) - taken[slowest]) / (len(taken) - 1)
    if taken[slowest] < 2 * others:
        return []
    return [f"{slowest} takes {taken[slowest] / max(others, 1):.1f} times what the others take"]


CHECKERS: dict[str, Callable[[Profile, list[NodeStats]], list[str]]] = {
    "ExpensiveOperationChecker": _expensive_operations,
    "AcceleratorUtilizationChecker": _accelerators,
    "JobChecker": _jobs,
    "OperationChecker": _operations,
}
ALL_ADVICE: dict[str, dict[str, Any]] = {name: {} for name in CHECKERS}


def advise(profile: Profile, options: Mapping[str, Any] | None) -> Any:
    """Runs checkers and prints what they report.

    Args:
      profile: the profile, with traced steps.
      options: a dict whose keys are the names of the checkers to run; None or an empty one for all.

    Returns:
      An AdviceProto: for each checker its reports.

    Raises:
      InvalidArgumentError: there is no such checker.
    """
    advice = AdviceProto()
    nodes = profile.nodes(-1)
    for name in options or ALL_ADVICE:
        if name not in CHECKERS:
            raise errors.invalid(f"no checker is called {name!r}; there are: {', '.join(CHECKERS)}")
        reports = CHECKERS[name](profile, nodes)
        advice.checkers[name].reports.extend(reports)
        print(f"\n{name}:", *reports, sep="\n")
    return advice
