"""What need not be collected: files that hold none of the tests that are asked for.

Collecting imports every module that tests or doctests may be in and looks at all it holds, once a
worker. A file's text tells sooner that there is nothing to find.
"""

from __future__ import annotations

import re
from pathlib import Path

# A module's mark, alone or in a list of marks.
_LONG = re.compile(r"^pytestmark = (?:\[[^\]]*?)?pytest\.mark\.long\b", re.MULTILINE)

# The room whose functions write examples into docstrings.
_TEMPLATES = "penstock.foundation.base.docstrings import"


def is_all_long(source: str) -> bool:
    """Whether every test of a module is a long one.

    >>> is_all_long("pytestmark = pytest.mark.long"), is_all_long("@pytest.mark.long")
    (True, False)
    """
    return _LONG.search(source) is not None


def may_hold_doctests(source: str) -> bool:
    """Whether a module may hold examples: prompts, given or made of templates."""
    return ">>>" in source or _TEMPLATES in source


def is_left_out(module: Path, marks: str) -> bool:
    """Whether a module of tests holds none that ``-m`` selects."""
    return marks == "not long" and is_all_long(module.read_text(encoding="utf-8"))
