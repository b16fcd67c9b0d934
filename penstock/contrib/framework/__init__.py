"""``tf.contrib.framework``: conditionals on what may be known, and nestings."""

from penstock.contrib.framework import nest as nest
from penstock.control_flow.case import smart_case as smart_case
from penstock.control_flow.cond import (
    smart_cond as smart_cond,
    smart_constant_value as smart_constant_value,
)
