"""Are the rows themselves right?  ``python -m tests.conformance.rows [family ...]``.

Runs the rows of the named modules of ``tests/ops/cases`` (default: all) in TensorFlow only, and
prints those that TensorFlow rejects although the row does not say ``raises=True``, and those that
say it and are accepted.  Penstock is not imported: rows can be written before the ops.
"""

from __future__ import annotations

import collections
import importlib
import pkgutil
import sys

from tests.conformance import peers
from tests.conformance.judge import lacks_kernel
from tests.ops import cases
from tests.ops.cases import all_cases


def main(families: list[str]) -> int:
    """Prints rows that are wrong; returns how many."""
    names = families or [m.name for m in pkgutil.iter_modules(cases.__path__)]
    modules = [importlib.import_module(f"tests.ops.cases.{name}") for name in names]
    wanted = collections.Counter(case.op for module in modules for case in module.CASES)
    bounds = [c.bind(d) for c in all_cases() if c.op in wanted for d in c.dtypes]
    wrong = 0
    for peer in ("tf2", "tf1"):
        mine = [b for b in bounds if b.case.oracle == peer]
        if not mine or not peers.available(peer):
            continue
        results = peers.run_jobs(peer, [peers.to_job(b) for b in mine])
        for bound in mine:
            error = results[bound.id].get("error")
            text = f"{error['class']} at {error['stage']}: {error['message']}" if error else ""
            if bound.case.raises == (error is not None):
                continue
            if error is not None and lacks_kernel(error):
                print(f"{bound.id}: not comparable: {text[:200]}")
                continue
            wrong += 1
            print(f"{bound.id}: WRONG: {text[:300] or 'does not raise'}")
    print(f"{len(bounds)} runs, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
