"""``from penstock.python.framework import function``."""

from penstock.control_flow.defun import (
    Declare as Declare,
    Defun as Defun,
    get_extra_args as get_extra_args,
    get_extra_inputs as get_extra_inputs,
    get_extra_vars as get_extra_vars,
)
