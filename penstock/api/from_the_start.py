"""What is loaded with the first public name, whichever that is.

These modules tell others what to do with what a program may bring by other ways than their own
names: a graph from a file that holds loops, functions, queue runners or savers.  The last one has
Python show the user's lines where an error ends a program.
"""

from penstock.foundation.base import tracebacks
from penstock.foundation.graph import composite_specs as composite_specs
from penstock.library.autodiff import functional as functional, gradients as gradients
from penstock.library.control_flow import (
    cond as cond,
    functional as loops,  # noqa: F401
    messages as messages,
    tensor_array as tensor_array,
)
from penstock.library.variables import creation as creation, partition as partition
from penstock.storage.checkpoint import saver as saver
from penstock.training.data import queue_runner as queue_runner

tracebacks.install()
