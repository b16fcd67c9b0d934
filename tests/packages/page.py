"""The page of the packages, ``docs/packages.md``: its tables, between two marks."""

from collections import Counter

from tests.packages.sides import Result, files_with_record
from tests.peers import ROOT

PAGE = ROOT / "docs" / "packages.md"
_BEGIN = "<!-- made by `make packages`: from here -->"
_BEGIN_OTHER = "<!-- made by `make packages` under Python {}: from here -->"
_END = "<!-- to here -->"


def write_page(results: list[Result]) -> None:
    """Puts new tables between the page's marks."""
    lists = [make(result) for make in (_failures, _others, _not_run) for result in results]
    _write(_BEGIN, [_table(results), *filter(None, lists)])


def write_other_python(python: str, results: list[Result]) -> None:
    """Puts what another Python gives between the marks that the page has for it."""
    rows = [
        f"| package | files | pass under TensorFlow 1.15 | of them under Python {python} | share"
        " | failures that Python or NumPy alone cause |",
        "|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {result.package.name} {result.package.version} | {len(result.passed_115)} of"
        f" {files_with_record(result.package)}"
        f" | {result.wanted} | {met} | {met / max(result.wanted, 1):.1%} | {result.foreign()} |"
        for result in results
        for met in [result.wanted - len(result.failures())]
    ]
    _write(_BEGIN_OTHER.format(python), ["\n".join(rows), *filter(None, map(_failures, results))])


def _write(begin: str, parts: list[str]) -> None:
    before, found, rest = PAGE.read_text().partition(begin)
    if not found:
        raise ValueError(f"{PAGE.name} has no place for this: {begin}")
    _, _, after = rest.partition(_END)
    made = "\n\n".join(parts)
    PAGE.write_text(f"{before}{begin}\n\n{made}\n\n{_END}{after}")


def _table(results: list[Result]) -> str:
    rows = [
        "| package | files | pass under TensorFlow 1.15 | of them here | share"
        " | failures that Python or NumPy alone cause | pass here alone |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results:
        met = result.wanted - len(result.failures())
        rows.append(
            f"| {result.package.name} {result.package.version} | {len(result.passed_115)}"
            f" | {result.wanted} | {met} | {met / max(result.wanted, 1):.1%}"
            f" | {result.foreign()} | {result.passed - met} |"
        )
    return "\n".join(rows)


def _failures(result: Result) -> str:
    failures = result.failures()
    if not failures:
        return ""
    rows = [f"**{result.package.name}**, what passes under 1.15 and not here:", ""]
    foreign = Counter(result.cause(end) for end in failures.values())
    rows += [f"- {count} by this: {why}" for why, count in foreign.items() if why is not None]
    rows += [
        f"- `{test}`: {_plain(end)}"
        for test, end in sorted(failures.items())
        if result.cause(end) is None
    ]
    return "\n".join(rows)


def _others(result: Result) -> str:
    """What does not pass under TensorFlow 1.15, by how it ends there."""
    ends = Counter(end for ends in result.others_115.values() for end in ends.values())
    if not ends:
        return ""
    title = f"**{result.package.name}**, what does not pass under 1.15 as it is run here:"
    return "\n".join([title, "", *(f"- {count}: {_plain(end)}" for end, count in ends.items())])


def _not_run(result: Result) -> str:
    """The test files that are not in the table."""
    rows = [f"- `{part}`: {reason}" for part, reason in result.package.left_out]
    rows += [f"- `{file}`: no record of 1.15 yet" for file in result.without_record()]
    if not rows:
        return ""
    return "\n".join([f"**{result.package.name}**, files that were not run:", "", *rows])


def _plain(end: str) -> str:
    """A message as text of the page: no mark of it means anything there."""
    return "`" + end.replace("`", "'")[:160] + "`"
