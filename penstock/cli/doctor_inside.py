"""What only a process that has imported torch and Penstock can tell.

A torch built for another machine may end the process that imports it.  So ``penstock doctor`` runs
this file as a process of its own, which writes what it learns, a line of JSON at a time, to a file
that is still there when the process is not.  At its top this imports the standard library only.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.engine.runtime import team_report

MAPS = Path("/proc/self/maps")
_OPENMP = re.compile(r"lib(gomp|iomp5|omp)[^/]*\.(so|dylib|dll).*")


@dataclass(frozen=True)
class Gpu:
    """A GPU that torch can use: its name and its memory in bytes."""

    name: str
    memory: int


@dataclass(frozen=True)
class Torch:
    """An installed torch: how it was built, and what it chose here.

    Args:
      version, folder: of the package.
      cuda, hip: the GPU libraries that it was built for; None without.
      debug: whether it was built for debugging.
      compiler, build_type: that built it.
      built_for: what its build settings name: ``AVX2`` and so on, though not its AVX-512 kernels.
      blas: the library of its products; ``mkl``, ``onednn``, ``openmp``: versions, if it has them.
      capability: what it calls the kernels that it uses here.
      threads, interop_threads: at its start.
      gpus: those that it can use.
      openmp_runtimes: the libraries of OpenMP that are loaded together with it.
      import_seconds: that its import took.
    """

    version: str
    folder: str
    cuda: str | None
    hip: str | None
    debug: bool
    compiler: str
    build_type: str
    built_for: tuple[str, ...]
    blas: str
    mkl: str | None
    onednn: str | None
    openmp: str | None
    capability: str
    threads: int
    interop_threads: int
    gpus: tuple[Gpu, ...]
    openmp_runtimes: tuple[str, ...]
    import_seconds: float


@dataclass(frozen=True)
class Choices:
    """What Penstock chose here.

    Args:
      products: for each class of matrix products the kernels that were tried, and the one chosen.
      teams: how many threads its kernels get, and why.
      import_seconds: that Penstock's import took.
    """

    products: list[dict[str, Any]]
    teams: dict[str, Any]
    import_seconds: float


def examine_torch() -> Torch:
    """What the torch that is installed says of itself; imports it."""
    begin = time.perf_counter()
    import torch

    took = time.perf_counter() - begin
    built = parse_config(torch.__config__.show())
    has_gpus = torch.cuda.is_available()
    numbers = range(torch.cuda.device_count() if has_gpus else 0)
    properties = (torch.cuda.get_device_properties(number) for number in numbers)
    return Torch(
        version=torch.__version__,
        folder=str(Path(torch.__file__).parent),
        cuda=torch.version.cuda,
        hip=torch.version.hip,
        debug=bool(torch.version.debug),
        capability=torch.backends.cpu.get_cpu_capability(),
        threads=torch.get_num_threads(),
        interop_threads=torch.get_num_interop_threads(),
        gpus=tuple(Gpu(each.name, each.total_memory) for each in properties),
        openmp_runtimes=openmp_runtimes(),
        import_seconds=took,
        **built,
    )


def parse_config(text: str) -> dict[str, Any]:
    """The fields of ``Torch`` that are in the text of ``torch.__config__.show()``.

    What the text does not have is empty or None: its form is nowhere promised.
    """
    line = re.search(r"Build settings:(.*)", text)
    settings = dict(re.findall(r"([A-Z][A-Z0-9_]*)=([^,]*)", line[1] if line else ""))
    built_for = [
        name.removeprefix("PERF_WITH_")
        for name, value in settings.items()
        if name.startswith("PERF_WITH_") and value.strip() == "1"
    ]
    return {
        "compiler": _found(r"- (GCC|clang|MSVC|Apple clang)[ :]*([\w.]+)", text),
        "build_type": settings.get("BUILD_TYPE", "").strip(),
        "built_for": tuple(built_for),
        "blas": settings.get("BLAS_INFO", "").strip(),
        "mkl": _found(r"Math Kernel Library Version ([\w.]+)", text) or None,
        "onednn": _found(r"MKL-DNN (v[\w.]+)", text) or None,
        "openmp": _found(r"OpenMP.*a\.k\.a\. OpenMP ([\w.]+)|OpenMP ([0-9]+)", text) or None,
    }


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return " ".join(filter(None, match.groups())) if match else ""


def openmp_runtimes(maps: Path = MAPS) -> tuple[str, ...]:
    """The files of OpenMP runtimes that are loaded in this process (on Linux)."""
    try:
        lines = maps.read_text(errors="replace").splitlines()
    except OSError:
        return ()
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
    # One file that is reached by two names is one runtime.
    files = {os.path.realpath(path) for path in paths if _OPENMP.fullmatch(os.path.basename(path))}
    return tuple(sorted(files))


def examine_choices() -> Choices:
    """What Penstock chose here; imports what every step needs."""
    begin = time.perf_counter()
    from penstock import Session  # noqa: F401  # that this works is a finding, too

    took = time.perf_counter() - begin
    from penstock.ops.linalg import product_choice

    return Choices(product_choice.report(), team_report.report(), took)


def describe(error: BaseException) -> str:
    """What went wrong, in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def main(path: str) -> None:
    """Writes to ``path`` what torch and Penstock say, or the errors of their imports."""
    with open(path, "w", encoding="utf-8") as file:
        for name, examine in (("torch", examine_torch), ("choices", examine_choices)):
            said: dict[str, Any]
            try:
                said = {name: asdict(examine())}
            except Exception as error:
                said = {f"{name}_error": describe(error)}
            file.write(json.dumps(said, default=str) + "\n")
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1])
