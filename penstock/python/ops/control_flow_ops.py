"""``from penstock.python.ops import control_flow_ops``."""

from penstock.control_flow.case import case as case
from penstock.control_flow.cond import cond as cond
from penstock.control_flow.context import (
    CondContext as CondContext,
    ControlFlowContext as ControlFlowContext,
    WhileContext as WhileContext,
)
from penstock.control_flow.while_loop import while_loop as while_loop
from penstock.ops.control import (
    group as group,
    no_op as no_op,
    tuple_ as _tuple,
    with_dependencies as with_dependencies,
)
from penstock.ops.control_flow import (
    abort as abort,
    control_trigger as control_trigger,
    enter as enter,
    exit_ as _exit,
    loop_cond as loop_cond,
    merge as merge,
    next_iteration as next_iteration,
    switch as switch,
)
from penstock.ops.debug import Assert as Assert

exit = _exit
tuple = _tuple
