"""``from penstock.python.ops import control_flow_ops``."""

from penstock.control_flow.case import case
from penstock.control_flow.cond import cond
from penstock.control_flow.context import CondContext, ControlFlowContext, WhileContext
from penstock.control_flow.while_loop import while_loop
from penstock.ops.control import group, no_op, with_dependencies
from penstock.ops.control import tuple_ as tuple
from penstock.ops.control_flow import (
    abort,
    control_trigger,
    enter,
    loop_cond,
    merge,
    next_iteration,
    switch,
)
from penstock.ops.control_flow import exit_ as exit
from penstock.ops.debug import Assert

__all__ = [
    "Assert", "CondContext", "ControlFlowContext", "WhileContext", "abort", "case", "cond",
    "control_trigger", "enter", "exit", "group", "loop_cond", "merge", "next_iteration", "no_op",
    "switch", "tuple", "while_loop", "with_dependencies",
]  # fmt: skip
