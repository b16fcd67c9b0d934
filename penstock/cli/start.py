"""Where the ``penstock`` command starts.

``penstock run [options] SCRIPT`` is read here, so that the program starts without the libraries
that read the lines of all commands: they take 0.2 s of the processor, as long as Penstock itself.
Whatever else stands on the line, options of ``run`` that are unknown here among it, is for
``penstock.cli.main``, which also words all errors.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from penstock.cli.run import run_program
from penstock.foundation.machine.leaving import ends_with
from penstock.tf1.front import VERSION


class Asked(NamedTuple):
    """What ``penstock run`` is asked for; the fields are arguments of ``run_program``."""

    words: list[str]
    version: str
    instead: bool
    strict: bool


def plain_run(words: Sequence[str]) -> Asked | None:
    """What a line asks for, if it is one of ``penstock run`` that is plain to see.

    >>> plain_run(["run", "--strict", "train.py", "--strict", "1"])
    Asked(words=['train.py', '--strict', '1'], version='1.15.0', instead=False, strict=True)
    >>> plain_run(["run", "--tf-version", "1.4.0", "-m", "train"])
    Asked(words=['-m', 'train'], version='1.4.0', instead=False, strict=False)
    >>> plain_run(["run", "--help"]), plain_run(["inspect", "x"])
    (None, None)
    """
    if words[:1] != ["run"]:
        return None
    version, flags, at = VERSION, set(), 1
    while at < len(words) and words[at].startswith("-") and words[at] != "-m":
        name, given, value = words[at].partition("=")
        if name in ("--instead", "--strict") and not given:
            flags.add(name)
        elif name == "--tf-version" and (given or at + 1 < len(words)):
            version = value if given else words[at + 1]
            at += not given
        else:
            return None
        at += 1
    if at >= len(words):
        return None
    return Asked(list(words[at:]), version, "--instead" in flags, "--strict" in flags)


def main() -> None:
    """Runs the command line and exits."""
    asked = plain_run(sys.argv[1:])
    if asked is not None:
        try:
            code = run_program(*asked)
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            from penstock.cli.main import exit_status

            code = exit_status(error)
        raise ends_with(SystemExit(code))
    from penstock.cli.main import app

    app(prog_name="penstock")
