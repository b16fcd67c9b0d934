"""The page of the packages, ``docs/packages.md``: its tables, between two marks."""

from collections import Counter

from tests.packages.sides import Result
from tests.peers import ROOT

PAGE = ROOT / "docs" / "packages.md"
_BEGIN = "<!-- made by `make packages`: from here -->"
_END = "<!-- to here -->"


def write_page(results: list[Result]) -> None:
    """Puts new tables between the page's marks."""
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    made = "\n\n".join([_table(results), *filter(None, map(_failures, results))])
    PAGE.write_text(f"{before}{_BEGIN}\n\n{made}\n\n{_END}{after}")


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


def _plain(end: str) -> str:
    """A message as text of the page: no mark of it means anything there."""
    return "`" + end.replace("`", "'")[:160] + "`"
