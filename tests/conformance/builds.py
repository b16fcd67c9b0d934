"""Where TensorFlow 2.21 with its oneDNN kernels and without them are two TensorFlows.

Left alone, TensorFlow takes oneDNN's kernels on processors that it thinks fit, and Eigen's on
others.  Rows are held to the build with oneDNN (``--onednn off``: without).  A row that differs
from it, in a way that ``DIFFERENT`` gives a reason for, is run in the other build as well, and is
right if it agrees there in everything: then it is the builds that differ, not Penstock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.conformance import peers
from tests.conformance.judge import Verdict

Result = dict[str, Any]
REFERENCES = {"on": "tf2", "off": "tf2_eigen"}
OTHER = {"tf2": "tf2_eigen", "tf2_eigen": "tf2"}

# (op types or ANY, pattern found in each difference of a row, why).
ANY = "*"
DIFFERENT: tuple[tuple[str, str, str], ...] = (
    (
        ANY,
        r"^TensorFlow raises AbortedError .*could not create a (primitive )?descriptor",
        "TensorFlow asks the processor, not a oneDNN that is lowered below it, what has kernels",
    ),
    (
        "AvgPool MaxPool",
        "only supports NHWC on device type CPU",
        "NCHW on a CPU has kernels of oneDNN only",
    ),
    (
        "Conv2DBackpropInput Conv2DBackpropFilter",
        "do not yet support dilation rates larger than 1",
        "dilated gradients have kernels of oneDNN only",
    ),
    (
        "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
        r"^output [34]: np",
        "Eigen's inference leaves the reserved statistics unwritten",
    ),
    (
        "FusedBatchNormV3",
        r"^output 5: shape \[0\], expected \[\]",
        "the third reserved output is for cuDNN: empty from oneDNN's kernel, a scalar from Eigen's",
    ),
    (
        "DepthwiseConv2dNative MaxPool3D",
        r"^raises InvalidArgumentError .*(non-positive groups|Given groups=\d|into 0 element)",
        "no channels, or an image without elements: refused with oneDNN's kernels, not by Eigen's",
    ),
)


def why_different(verdict: Verdict) -> str:
    """Why the builds may differ in all that a row differs in; empty if nothing says so."""
    reasons = []
    for text in verdict.differences:
        reason = next(
            (
                why
                for ops, pattern, why in DIFFERENT
                if ops == ANY or verdict.bound.case.op in ops.split()
                if re.search(pattern, text, re.S)
            ),
            "",
        )
        if not reason:
            return ""
        reasons.append(reason)
    return "; ".join(dict.fromkeys(reasons))


def settled(
    verdicts: Iterable[Verdict],
    reference: str,
    job_of: Callable[[Verdict], Result],
    judge_again: Callable[[Verdict, Result], Verdict],
    runner: Path = peers.RUNNER,
) -> Mapping[str, Verdict]:
    """Runs what differs for a stated reason in the other build of TensorFlow 2.21.

    Args:
      verdicts: Of rows, held against ``reference``.
      reference: "tf2" or "tf2_eigen".
      job_of: The job of a row.
      judge_again: Judges a row by the other build's result.
      runner: Runs the jobs.

    Returns:
      The new verdicts of those rows that agree there, by row; ``other_build`` says why they may.
    """
    reasons = {v.bound.id: (v, why_different(v)) for v in verdicts}
    reasons = {name: item for name, item in reasons.items() if item[1]}
    if not reasons:
        return {}
    results = peers.run_jobs(
        OTHER[reference], [job_of(v) for v, _ in reasons.values()], runner=runner
    )
    found = {}
    for name, (verdict, why) in reasons.items():
        again = judge_again(verdict, results[name])
        if not (again.differences or again.skipped):
            again.other_build = why
            found[name] = again
    return found
