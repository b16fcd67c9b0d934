"""``from penstock.python.framework import smart_cond``."""

from penstock.control_flow.case import smart_case as smart_case
from penstock.control_flow.cond import (
    smart_cond as smart_cond,
    smart_constant_value as smart_constant_value,
)
