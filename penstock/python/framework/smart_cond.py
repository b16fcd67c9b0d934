"""``from penstock.python.framework import smart_cond``."""

from penstock.control_flow.case import smart_case
from penstock.control_flow.cond import smart_cond, smart_constant_value

__all__ = ["smart_case", "smart_cond", "smart_constant_value"]
