"""``penstock doctor``: what this machine has, what was chosen for it and why, what looks wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from penstock.cli.doctor_facts import Facts, gather
from penstock.cli.doctor_findings import Finding, Severity, findings
from penstock.cli.doctor_text import show
from penstock.cli.output import Output

# Of the JSON: it grows when a key changes its meaning or goes; new keys may come without.
FORMAT = 1


def examine(output: Output, strict: bool, seconds: float) -> int:
    """Prints the report.

    Args:
      output: where to.
      strict: whether errors that were found count as failure.
      seconds: for how long the use of the cores is watched.

    Returns:
      The exit status.
    """
    facts = gather(seconds)
    found = findings(facts)
    if output.as_json:
        output.json(document(facts, found))
    else:
        show(output, facts, found)
    return int(strict and any(each.severity is Severity.ERROR for each in found))


def document(facts: Facts, found: Sequence[Finding]) -> dict[str, Any]:
    """The report as JSON has it."""
    return {"format": FORMAT, **asdict(facts), "findings": [asdict(each) for each in found]}
