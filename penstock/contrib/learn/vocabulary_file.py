"""Files of vocabularies: pickles of which only the parts of a vocabulary are read.

A pickle may name any function of Python and have it called.  Read here is one that names the
classes of ``preprocessing``, whether Penstock or TensorFlow wrote it, and plain functions of the
program itself, which a ``VocabularyProcessor`` may hold as its tokenizer.
"""

from __future__ import annotations

import collections
import io
import pickle
import sys
import types
from collections.abc import Mapping
from typing import Any

from penstock.foundation.base import errors


def read(data: bytes, known: Mapping[str, Any], path: str) -> Any:
    """The object that a file holds.

    Args:
      data: what is in the file.
      known: what a vocabulary is made of, by name.
      path: of the file, for errors.

    Raises:
      tf.errors.DataLossError: the file names something else, or is none of a vocabulary.
    """
    try:
        return _Reader(data, known).load()
    except (pickle.UnpicklingError, EOFError, IndexError, KeyError, TypeError, ValueError) as error:
        raise errors.DataLossError(
            None, None, f"{path} is not the file of a VocabularyProcessor: {error}"
        ) from None


class _Reader(pickle.Unpickler):
    def __init__(self, data: bytes, known: Mapping[str, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._known = known

    def find_class(self, module: str, name: str) -> Any:
        """What a name of the file stands for."""
        if module == "collections" and name == "defaultdict":
            return collections.defaultdict
        if module in ("builtins", "__builtin__") and name in ("int", "long"):
            return int
        if module.startswith(("tensorflow", "penstock")) and name in self._known:
            return self._known[name]
        own = vars(sys.modules["__main__"]).get(name) if module == "__main__" else None
        if isinstance(own, types.FunctionType) and own.__module__ == "__main__":
            return own
        raise pickle.UnpicklingError(
            f"it names {module}.{name}; allowed are {', '.join(sorted(self._known))}, and functions"
            " of the program itself"
        )
