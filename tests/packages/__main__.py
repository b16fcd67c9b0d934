"""``make packages``: others' packages from the index, their own tests, and the page of both.

Each test file runs in a process of its own under Penstock; what passes under TensorFlow 1.15 is
recorded in ``expected/own_tests_NAME.json`` (``--record`` runs that side anew, where a Python 3.7
is).  The page is ``docs/packages.md``.
"""

import argparse
import sys

from tests.packages import install, sides
from tests.packages.catalogue import PACKAGES, by_name
from tests.packages.page import write_other_python, write_page


def main() -> int:
    """Installs, runs and writes; the exit status is 1 where a package is below what is asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.packages", description=__doc__)
    names = [p.name for p in PACKAGES if p.ships_tests]
    parser.add_argument("--only", default=",".join(names), help="names, with commas between")
    parser.add_argument("--record", action="store_true", help="run TensorFlow 1.15's side anew")
    parser.add_argument("--page", action="store_true", help="write docs/packages.md anew")
    parser.add_argument("--workers", type=int, default=2, help="files tested at a time")
    parser.add_argument("--files", default="", help="only test files whose path holds this")
    asked = parser.parse_args()
    install.everything(python37=asked.record)
    chosen = [by_name(name) for name in asked.only.split(",")]
    results = []
    for package in chosen:
        if asked.record:
            sides.record(package, asked.workers, asked.files)
        result = sides.compare(package, asked.workers, asked.files)
        print(result.line(), flush=True)
        for test, end in result.failures().items():
            print(f"  {test}: {end}", flush=True)
        results.append(result)
    if asked.page and sides.PYTHON == sides.FIRST:
        write_page(results)
    elif asked.page:
        known = map(sides.kept_result, (p for p in PACKAGES if p.ships_tests))
        write_other_python(sides.PYTHON, [result for result in known if result is not None])
    return int(any(not result.enough() for result in results))


if __name__ == "__main__":
    sys.exit(main())
