"""The report of ``penstock doctor`` for people: a section after the other, findings last."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.cli.doctor_facts import Cache, Facts, Machine, Package, Python
from penstock.cli.doctor_findings import Finding, Severity
from penstock.cli.doctor_inside import Choices
from penstock.cli.output import Output, cell, size
from penstock.foundation.machine.instructions import capability

# Of lines; where a terminal is narrower, it decides.
_WIDTH = 96
_LABEL = 16
# Longer values of variables are cut: TF_CONFIG may name hundreds of tasks.
_VALUE = 40

Row = tuple[str, str]


def show(output: Output, facts: Facts, findings: Sequence[Finding]) -> None:
    """Prints everything.

    Args:
      output: where to.
      facts: what was found.
      findings: what looks wrong.
    """
    _section(output, "machine", _machine(facts.machine, facts.fingerprint))
    _section(output, "python", _python(facts.python))
    _section(output, "torch", [*_torch(facts), ("packages", _packages(facts.packages))])
    _choices(output, facts.choices)
    _section(output, "environment", _environment(facts))
    _section(output, "cached", _cache(facts.cache))
    _findings(output, findings)


def _section(output: Output, title: str, rows: Iterable[Row]) -> None:
    output.title(title)
    for label, text in rows:
        _row(output, label, text)
    output.line()


def _row(output: Output, label: str, text: str) -> None:
    """A label and its text, which goes on below itself."""
    start = f"  {cell(label):<{_LABEL}}"
    start = start if start.endswith(" ") else start + " "
    width = max(_LABEL + 20, min(_WIDTH, output.columns or _WIDTH))
    lines = textwrap.wrap(
        cell(text) or "-", width, initial_indent=start, subsequent_indent=" " * (_LABEL + 2),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    for line in lines:
        output.line(line)


def _machine(machine: Machine, fingerprint: str) -> Iterable[Row]:
    chip, memory = machine.processor, machine.memory
    virtual = ", virtual machine" if chip.virtual else ""
    yield "processor", f"{chip.name} ({chip.vendor}, {chip.architecture}{virtual})"
    yield "instructions", " ".join(chip.instruction_sets) or "not told"
    yield "cores", _cores(machine)
    yield "used now", _use(machine)
    total = "?" if memory.total is None else size(memory.total)
    left = "?" if memory.available is None else size(memory.available)
    limit = "" if memory.limit is None else f"; a cgroup allows {size(memory.limit)}"
    yield "memory", f"{left} left of {total}{limit}"
    yield "GPUs", ", ".join(machine.gpus) or "none"
    tools = machine.toolchain
    named = (f"{each.command}: {each.version}" for each in tools.compilers)
    works = "" if tools.builds is None else ", works" if tools.builds else ", builds no library"
    yield "compilers", "; ".join(named) + works if tools.compilers else "none"
    yield "Python.h", tools.python_headers or "not installed"
    yield "system", machine.system
    yield "fingerprint", fingerprint


def _cores(machine: Machine) -> str:
    cores = machine.cores
    text = f"{cores.usable} usable: {cores.online} online"
    if cores.physical is not None:
        text += f" ({cores.physical} physical)"
    text += f", {cores.allowed} allowed by affinity"
    return f"{text}, {'no quota' if cores.quota is None else f'a quota of {cores.quota:g}'}"


def _use(machine: Machine) -> str:
    use = machine.use
    if use is None:
        return "not told"
    text = f"{use.others:.2f} cores by others, stolen {use.steal:.2f}"
    waited = "" if use.pressure is None else f", tasks waited {use.pressure:.0%} of the time"
    return f"{text}{waited} (over {use.seconds:.1f} s)"


def _python(python: Python) -> Iterable[Row]:
    built = {True: ", optimized", False: ", not optimized", None: ""}[python.optimized]
    built += ", debug build" if python.debug else ""
    built += ", free-threaded" if python.free_threaded else ""
    yield "version", f"{python.implementation} {python.version} ({python.compiler}{built})"
    yield "executable", python.executable


def _torch(facts: Facts) -> Iterable[Row]:
    torch = facts.torch
    if torch is None:
        yield "import", f"failed: {facts.torch_error}"
        return
    yield "version", torch.version
    gpu = f"CUDA {torch.cuda}" if torch.cuda else f"ROCm {torch.hip}" if torch.hip else "CPU only"
    debug = ", debug" if torch.debug else ""
    yield "build", f"{torch.compiler or '?'}, {torch.build_type or '?'}{debug}, {gpu}"
    libraries = {"MKL": torch.mkl, "oneDNN": torch.onednn, "OpenMP": torch.openmp}
    named = " ".join(f"{name} {version}," for name, version in libraries.items() if version)
    yield "libraries", f"{named} products by {torch.blas or '?'}"
    offered = capability(facts.machine.processor.instruction_sets)
    yield "kernels", torch.capability + (f"; the processor offers {offered}" if offered else "")
    yield "threads", f"{torch.threads}, and {torch.interop_threads} between operations"
    yield "GPUs", ", ".join(f"{g.name}, {size(g.memory)}" for g in torch.gpus) or "none"
    yield "OpenMP", ", ".join(torch.openmp_runtimes) or "not told"
    yield "import", f"{torch.import_seconds:.1f} s"


def _packages(packages: Iterable[Package]) -> str:
    there = ", ".join(f"{each.name} {each.version}" for each in packages if each.version)
    return there or "not told: Penstock is not installed as a package"


def _choices(output: Output, choices: Choices | None) -> None:
    output.title("kernels and teams")
    if choices is None:
        output.line("  not known: Penstock cannot be imported")
    else:
        for name, value in choices.teams.items():
            _row(output, name.replace("_", " "), _plain(value))
        if choices.products:
            columns = list(choices.products[0])
            rows = [[_plain(row.get(name)) for name in columns] for row in choices.products]
            output.table(["times, us" if name == "times" else name for name in columns], rows)
        elif not choices.teams:
            output.line("  nothing was measured or chosen yet")
    output.line()


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return cell(value)


def _environment(facts: Facts) -> Iterable[Row]:
    for each in facts.environment:
        value = each.value if len(each.value) <= _VALUE else each.value[:_VALUE] + "..."
        yield each.name, f"= {value or '(empty)'}" + (f" ({each.meaning})" if each.meaning else "")
    if not facts.environment:
        yield "", "nothing that Penstock, torch or their libraries read"


def _cache(cache: Cache | None) -> Iterable[Row]:
    if cache is None:
        yield "folder", "none: nothing is kept between runs"
        return
    yield "folder", cache.folder + ("" if cache.writable else " (cannot be written)")
    yield "free", "not told" if cache.free is None else size(cache.free)
    for file in cache.files:
        yield "", f"{file.name}  {size(file.size)}, {_age(file.age)} old"
    if not cache.files:
        yield "", "nothing kept yet"


def _age(seconds: float) -> str:
    """Time for people.

    >>> _age(5), _age(7200), _age(172800)
    ('5 s', '2 h', '2 days')
    """
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"


def _findings(output: Output, findings: Sequence[Finding]) -> None:
    output.title("findings")
    if not findings:
        output.line("  nothing looks wrong")
    for finding in findings:
        _row(output, finding.severity.value, f"{finding.found} [{finding.code}]")
        _row(output, "", f"-> {finding.advice}")
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    if findings:
        output.line()
        output.line(f"findings: {len(findings)}, errors among them: {errors}")
