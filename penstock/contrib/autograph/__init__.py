"""``tf.contrib.autograph``: Python's control flow over tensors, at its first place."""

from penstock.contrib.autograph.lists import (
    set_element_type as set_element_type,
    stack as stack,
)
from penstock.contrib.autograph.options import ConversionOptions as ConversionOptions
from penstock.foundation.base import public_names
from penstock.library.autograph.calls import do_not_convert as do_not_convert
from penstock.library.autograph.public import (
    AutoGraphError as AutoGraphError,
    Feature as Feature,
    convert as convert,
    converted_call as converted_call,
    set_loop_options as set_loop_options,
    to_code as to_code,
    to_graph as to_graph,
)

__dir__ = public_names.listing(__name__)
