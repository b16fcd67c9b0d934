"""``from penstock.python.framework import function``."""

from penstock.control_flow.defun import (
    Declare,
    Defun,
    get_extra_args,
    get_extra_inputs,
    get_extra_vars,
)

__all__ = ["Declare", "Defun", "get_extra_args", "get_extra_inputs", "get_extra_vars"]
