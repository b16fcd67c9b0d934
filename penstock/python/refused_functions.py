"""What a program can import and not use: the inner parts of TensorFlow's traced functions.

``tf.function`` and ``tf.compat.v1.wrap_function`` are here, made in another way; classes that
libraries derive from the parts of TensorFlow's say so when one is made.
"""

from __future__ import annotations

from penstock.python.refused import Refused

# What is said of a name that such a module would have.
WHY = (
    "is a part of TensorFlow's own traced functions, which Penstock makes in another way:"
    " use tf.function or tf.compat.v1.wrap_function"
)


class _Refused(Refused):
    """A part of TensorFlow's traced functions."""

    why = WHY


class Function(_Refused):
    """A function that was traced."""


class VariableHolder(_Refused):
    """The variables of functions that share them."""


class WrappedGraph(_Refused):
    """Functions over one graph."""
