"""Programs: their main function, devices."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from penstock.library.eager.mode import enable_eager_execution


def run(main: Any = None, argv: Sequence[str] | None = None) -> None:
    """Switches to eager execution, and ends the program with what ``main(argv)`` returns.

    Args:
      main: a function of the command line; by default that of the program.
      argv: the command line; by default that of the program.
    """
    enable_eager_execution()
    function = main or sys.modules["__main__"].main
    sys.exit(function(list(argv or sys.argv)))


def list_devices() -> list[str]:
    """The names of the devices that eager calls run on."""
    return ["/job:localhost/replica:0/task:0/device:CPU:0"]


def num_gpus() -> int:
    """How many GPUs eager calls run on: none."""
    return 0
