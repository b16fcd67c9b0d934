"""What a program can import and not use: parts of TensorFlow's own conversion of Python.

Penstock's autograph rewrites Python's syntax trees by itself and has no such parts; what is derived
from them (as in ``tensorflow_probability.experimental.auto_batching``) says so when it is used.
"""

from __future__ import annotations

from typing import Any, ClassVar

# What is said of a name that such a module would have.
WHY = (
    "extends TensorFlow's own conversion of Python to graphs, of which Penstock has no parts: its"
    " tf.autograph rewrites Python's syntax trees by itself"
)


class Refused:
    """A class of which none can be made.

    Attributes:
      why: what is said after the name of the class.

    Raises:
      NotImplementedError: when one is made.
    """

    why: ClassVar[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} {self.why}")


class Base(Refused):
    """The base of a program's own transformers of syntax trees."""

    why = WHY
