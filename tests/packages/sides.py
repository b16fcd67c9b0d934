"""A package's own tests: how they end under Penstock, beside what TensorFlow 1.15 passes."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.packages.catalogue import Package
from tests.packages.packages import FOLDER, HERE, environment
from tests.peers import TF115
from tests.suite.clock import Clock

ASKED = 0.95  # of the tests that pass under TensorFlow 1.15
SECONDS = 900  # a file, of the clock that leaves out what the machine could not give
Ends = dict[str, str]  # test -> how it ended
# The table of the page is of this Python; what others give is kept, file by file, for another.
FIRST, PYTHON = "3.11", ".".join(map(str, sys.version_info[:2]))

# How processes of the two sides begin.
_PENSTOCK = [sys.executable, "-m", "penstock", "run"]
_TENSORFLOW = [str(TF115)]


@dataclass(frozen=True)
class Result:
    """How a package's tests ended here.

    Attributes:
        package: Whose tests they are.
        passed_115: File -> the tests that pass under TensorFlow 1.15.
        others_115: File -> test -> how it ends under TensorFlow 1.15 where it does not pass.
        ends: File -> test -> how it ended under Penstock.
        causes: How a message begins -> what of Python or NumPy alone makes tests fail with it,
            where a traceback was seen to end in the package's own lines.
    """

    package: Package
    passed_115: dict[str, list[str]]
    others_115: dict[str, Ends]
    ends: dict[str, Ends]
    causes: dict[str, str]

    @property
    def wanted(self) -> int:
        """How many tests pass under TensorFlow 1.15."""
        return sum(map(len, self.passed_115.values()))

    @property
    def passed(self) -> int:
        """How many tests pass here, of whatever TensorFlow 1.15 says."""
        return sum(end == "passed" for ends in self.ends.values() for end in ends.values())

    def failures(self) -> Ends:
        """The tests that pass there and not here."""
        failed = {}
        for file, tests in self.passed_115.items():
            for test in tests:
                end = self.ends.get(file, {}).get(test) or self._end_of_file(file)
                if end != "passed":
                    failed[f"{file}:{test}"] = end
        return failed

    def without_record(self) -> list[str]:
        """The test files of which it is not known what passes under TensorFlow 1.15."""
        return [file for file in test_files(self.package) if file not in self.passed_115]

    def _end_of_file(self, file: str) -> str:
        return self.ends.get(file, {}).get("import", "did not run")

    def cause(self, end: str) -> str | None:
        """What of Python or NumPy alone is behind an end, or None."""
        return next((why for start, why in self.causes.items() if end.startswith(start)), None)

    def foreign(self) -> int:
        """The failures that Python or NumPy alone cause."""
        return sum(self.cause(end) is not None for end in self.failures().values())

    def enough(self) -> bool:
        """Whether as many pass as are asked."""
        return self.wanted - len(self.failures()) >= ASKED * self.wanted

    def line(self) -> str:
        """One line that says it."""
        met = self.wanted - len(self.failures())
        return (
            f"{self.package.name} {self.package.version}: {len(self.passed_115)} files;"
            f" {self.wanted} pass under TensorFlow 1.15, {met} of them here"
            f" ({met / max(self.wanted, 1):.1%}); of the others {self.foreign()} by Python or NumPy"
            f" alone; {self.passed - met} pass here alone"
        )


def compare(package: Package, workers: int, part: str) -> Result:
    """Runs the package's tests under Penstock, those files that have a record."""
    recorded = {file: tests for file, tests in _kept(_passed(package)).items() if part in file}
    others = {file: ends for file, ends in _kept(_others(package)).items() if part in file}
    ends = {}
    for file, found in _run_all(package, _PENSTOCK, workers, list(recorded)):
        ends[file] = found
        if PYTHON != FIRST:
            keep_ends(package, file, found)
    return Result(package, recorded, others, ends, _causes(package))


def _causes(package: Package) -> dict[str, str]:
    known: dict[str, dict[str, str]] = json.loads((HERE / "causes.json").read_text())
    return known.get(package.name, {})


def keep_ends(package: Package, file: str, ends: Ends) -> None:
    """Keeps how a file's tests end under this Python, of those that pass under TensorFlow 1.15."""
    wanted = _kept(_passed(package))[file]
    ended = {test: ends.get(test) or ends.get("import", "did not run") for test in wanted}
    kept = _kept(_ends(package))
    kept[file] = {test: end for test, end in ended.items() if end != "passed"}
    _keep(_ends(package), kept)


def kept_result(package: Package) -> Result | None:
    """What was kept of this Python; None where the package was not run by it."""
    kept, passed = _kept(_ends(package)), _kept(_passed(package))
    if not kept:
        return None
    recorded = {file: tests for file, tests in passed.items() if file in kept}
    ends = {file: dict.fromkeys(tests, "passed") | kept[file] for file, tests in recorded.items()}
    return Result(package, recorded, {}, ends, _causes(package))


def files_with_record(package: Package) -> int:
    """How many test files it is known of what passes under TensorFlow 1.15."""
    return len(_kept(_passed(package)))


def _ends(package: Package) -> Path:
    """File -> test -> how it ends under this Python where it does not pass."""
    return HERE / "expected" / f"ends_{PYTHON}_{package.name}.json"


def record(package: Package, workers: int, part: str) -> None:
    """Keeps how tests end under TensorFlow 1.15; of files that are not asked, as before."""
    passed, others = _kept(_passed(package)), _kept(_others(package))
    files = [file for file in test_files(package) if part in file]
    for file, ends in _run_all(package, _TENSORFLOW, workers, files):
        passed[file] = sorted(test for test, end in ends.items() if end == "passed")
        others[file] = {test: end for test, end in ends.items() if end != "passed"}
        _keep(_passed(package), passed)
        _keep(_others(package), {file: ends for file, ends in others.items() if ends})


def _passed(package: Package) -> Path:
    """File -> the tests that pass under TensorFlow 1.15."""
    return HERE / "expected" / f"own_tests_{package.name}.json"


def _others(package: Package) -> Path:
    """File -> test -> how it ends under TensorFlow 1.15 where it does not pass."""
    return HERE / "expected" / f"other_ends_{package.name}.json"


def _kept(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def _keep(path: Path, record: dict[str, Any]) -> None:
    path.write_text(json.dumps(record, indent=0, sort_keys=True) + "\n")


def _run_all(
    package: Package, begin: list[str], workers: int, files: list[str]
) -> Iterator[tuple[str, Ends]]:
    with ThreadPoolExecutor(workers) as pool:
        yield from zip(files, pool.map(lambda file: _run(package, begin, file), files))


def test_files(package: Package) -> list[str]:
    """The test files that a package ships, by their paths in its folder."""
    if package.mixins:
        return sorted(package.mixins)
    folder = FOLDER / package.name
    modules = (folder / package.module).rglob("*_test.py")
    found = (str(path.relative_to(folder)) for path in modules)
    left_out = [part for part, _ in package.left_out]
    return sorted(file for file in found if not any(part in file for part in left_out))


def _run(package: Package, begin: list[str], file: str) -> Ends:
    """One file in a process of its own; what it left behind where it died or took too long."""
    folder = HERE / "mixins" if package.mixins else FOLDER / package.name
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch) / "results.json"
        command = [*begin, str(HERE / "own_tests.py"), str(folder), file, str(results)]
        env = environment(package.name, *package.beside, python37=begin is _TENSORFLOW)
        nowhere = subprocess.DEVNULL
        with subprocess.Popen(command, env=env, stdout=nowhere, stderr=nowhere) as process:
            clock = Clock()
            while process.poll() is None and clock.seconds() < SECONDS:
                time.sleep(0.2)
            process.kill()  # what was written until then stands
        return json.loads(results.read_text()) if results.exists() else {}
