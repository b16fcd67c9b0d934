"""Errors for names that are not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def missing_attribute(text: str) -> AttributeError:
    """An error that is shown as it is.

    Python adds a "Did you mean" of its own to an AttributeError, from what is spelled alike: of
    `keras` it makes `zeros`. With a name set, though to None, it leaves the text alone.

    >>> try:
    ...     raise missing_attribute("no 'keras' here")
    ... except AttributeError as error:
    ...     print(error, error.name)
    no 'keras' here None
    """
    return AttributeError(text, name=None, obj=None)


def close_to(name: str, known: Iterable[str]) -> list[str]:
    """At most three known names that this may be a slip of.

    >>> close_to("constnt", ["constant", "cond"]), close_to("conv2d", ["cond"])
    (['constant'], [])
    """
    return difflib.get_close_matches(name, known, n=3, cutoff=0.82)
