"""Docstrings of families of functions: what their arguments have in common is written once.

The function that is documented in full lends its ``Args``, ``Returns`` and ``Raises`` to the others
of its family, whose own docstrings say what is other.  ``help()`` shows each in full.
"""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_TITLED = re.compile(r"^(?=(Args|Returns|Raises|Example|Source):)", re.MULTILINE)
_ENTRY = re.compile(r"^ {2}(?=\S)", re.MULTILINE)


def documented_as(*others: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """A decorator that completes a docstring by those of other functions.

    Arguments that the docstring does not describe are described as the others' of that name, in
    the order of the signature; ``Returns`` and ``Raises`` that it does not have are the others'.
    The function itself stays as it is.

    Args:
      others: the functions to take the rest from; the first that has a part gives it.

    Returns:
      The decorator.

    Raises:
      ValueError: of the decorator, where a docstring describes what is no argument.

    Example:
      >>> def add(x, y):
      ...     '''The sum.
      ...
      ...     Args:
      ...       x: a number.
      ...       y: another.
      ...     '''
      >>> @documented_as(add)
      ... def divide(x, y):
      ...     '''The quotient.
      ...
      ...     Args:
      ...       y: a number other than 0.
      ...     '''
      >>> print(divide.__doc__)
      The quotient.
      <BLANKLINE>
      Args:
        x: a number.
        y: a number other than 0.
    """

    def complete(function: _Function) -> _Function:
        sources = [_sections(inspect.getdoc(each) or "") for each in (function, *others)]
        own, found = sources[0], ChainMap(*sources)
        args = [source.get("Args", "") for source in sources]
        sections = [
            own[""],
            _merged(args, list(inspect.signature(function).parameters)),
            *(found.get(title, "") for title in ("Returns", "Raises")),
            *(own.get(title, "") for title in ("Example", "Source")),
        ]
        function.__doc__ = "\n\n".join(filter(None, sections)) or None
        return function

    return complete


def named(
    name: str, doc: str | None, *others: Callable[..., Any]
) -> Callable[[_Function], _Function]:
    """A decorator for what another function makes: gives it its name and its docstring.

    Args:
      name: the name that it has in its module.
      doc: the docstring, indented as in a function.
      others: functions that complete the docstring, see ``documented_as``.

    Returns:
      The decorator.

    Example:
      >>> def power(exponent, name):
      ...     @named(name, f"A number to the power of {exponent}.")
      ...     def raised(x):
      ...         return x**exponent
      ...
      ...     return raised
      >>> square = power(2, "square")
      >>> square.__name__, square.__doc__, square(3)
      ('square', 'A number to the power of 2.', 9)
    """

    def give(function: _Function) -> _Function:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
        return documented_as(*others)(function) if others else function

    return give


def example(call: str, gives: str) -> str:
    """The section of a docstring that shows one call, for functions that others make.

    Args:
      call: what is run.
      gives: what its value is as a list.

    Returns:
      The section, indented as in a function; nothing where there is no call.

    Example:
      >>> print(example("tf.square([2.0])", "[4.0]").split()[-1])
      [4.0]
    """
    if not call:
        return ""
    return (
        "\n    Example:\n      >>> import penstock as tf\n"
        "      >>> with tf.Session() as session:\n"
        f"      ...     session.run({call}).tolist()\n      {gives}\n"
    )


def _sections(doc: str) -> dict[str, str]:
    """The parts of a docstring by title; what stands before them has the title ``""``."""
    head, *rest = _TITLED.split(doc)
    texts = (text.rstrip() for text in rest[1::2])
    return {"": head.rstrip(), **dict(zip(rest[::2], texts, strict=True))}


def _merged(sources: list[str], parameters: list[str]) -> str:
    """One list of arguments; what the first sources describe, the later do not any more."""
    entries: list[tuple[list[str], str]] = []
    missing = set(parameters)
    for source in sources:
        for names, text in _described(source):
            if source is sources[0] and not set(names) <= missing:
                raise ValueError(f"Args describes what is no argument: {', '.join(names)}")
            if wanted := [name for name in names if name in missing]:
                entries.append((wanted, text))
                missing -= set(wanted)
    entries.sort(key=lambda entry: parameters.index(entry[0][0]))
    lines = [f"  {', '.join(names)}:{text}" for names, text in entries]
    return "\n".join(["Args:", *lines]) if lines else ""


def _described(args: str) -> Iterator[tuple[list[str], str]]:
    """Of each entry of ``Args`` the names, and what is said of them."""
    for entry in _ENTRY.split(args)[1:]:
        names, _, text = entry.partition(":")
        yield [name.strip("* \n") for name in names.split(",")], text.rstrip()
