"""``tf.app.run``: parses the flags, then runs a program's ``main``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import absl.app
import absl.logging

from penstock.foundation.machine.leaving import ends_with
from penstock.tools.platform import flags, tf_logging

__all__ = ["flags", "run"]


def run(
    main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None
) -> NoReturn:
    """Parses the command line and runs the program.

    Args:
      main: takes the list of arguments that are no flags, with the program's name first; default is
        ``main`` of the module that Python was started with. Flags that are not defined are among
        them.
      argv: the command line; default is ``sys.argv``.

    Raises:
      SystemExit: always: with what ``main`` returns, or with 1 after a flag that cannot be parsed
        and after ``--help``.

    Example:
      >>> import penstock as tf
      >>> def main(argv):
      ...     print("arguments:", argv[1:])
      >>> try:
      ...     tf.app.run(main, ["train.py", "fast"])
      ... except SystemExit as end:
      ...     print("ends with", end.code)
      arguments: ['fast']
      ends with None
    """
    found = main if main is not None else sys.modules["__main__"].main
    if tf_logging.get_logger().handlers:
        absl.logging.get_absl_handler().addFilter(_is_not_written_yet)
    command = None if argv is None else list(argv)
    try:
        absl.app.run(main=found, argv=command, flags_parser=_parse_what_is_known)
    except SystemExit as end:
        ends_with(end)
        raise
    raise AssertionError("absl.app.run returned")


def _is_not_written_yet(record: logging.LogRecord) -> bool:
    """Whether absl's handler, which ``absl.app.run`` adds, is to write a line."""
    return not tf_logging.is_of_program(record)


def _parse_what_is_known(argv: Sequence[str]) -> Any:
    return flags.FLAGS(sys.argv if argv is None else argv, known_only=True)
