"""``tf.contrib.framework``: conditionals on what may be known, and nestings."""

from penstock.contrib.framework import nest
from penstock.control_flow.case import smart_case
from penstock.control_flow.cond import smart_cond, smart_constant_value

__all__ = ["nest", "smart_case", "smart_cond", "smart_constant_value"]
