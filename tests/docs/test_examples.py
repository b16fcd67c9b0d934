"""Each of the 300 most used public names of TensorFlow 1 shows a tested example in its docstring.

Examples of functions and classes that stand in a module as they are run with the module's other
doctests; those of what others make (families of functions, messages) are run here.
"""

from __future__ import annotations

import csv
import doctest
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests import spec

MOST_USED = 300
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def most_used() -> Iterator[tuple[str, Any]]:
    """Names with what they are, by the number of repositories that use them."""
    found = 0
    with open(spec.path("usage.tsv"), newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["symbol"].startswith("tf.python."):
                continue  # the way to a module that is there once something has imported it
            value = _named(row["symbol"])
            if value is None or not callable(value):
                continue
            yield row["symbol"], value
            found += 1
            if found == MOST_USED:
                return


def _named(symbol: str) -> Any:
    """What a name stands for; None for modules, and where it is none of Penstock's."""
    value: Any = tf
    for part in symbol.split(".")[1:]:
        value = getattr(value, part, None)
    return None if inspect.ismodule(value) else value


def _is_run_with_its_module(value: Any) -> bool:
    """Whether doctest finds it, as it looks into modules."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        value = type(value)  # an instance shows its class's
    value = inspect.unwrap(value)
    if inspect.ismethod(value):  # of a class
        value = value.__func__
    owner = getattr(value, "__qualname__", "?").split(".")[0]
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    found = getattr(module, owner, None)
    inside = inspect.isclass(found) or getattr(value, "__globals__", None) is vars(module or tf)
    return found is not None and inside and (module or tf).__name__.startswith("penstock")


def test_each_shows_an_example() -> None:
    assert [name for name, value in most_used() if ">>>" not in (inspect.getdoc(value) or "")] == []


def _elsewhere() -> dict[str, tuple[str, Any]]:
    """By docstring, since messages share them, what no module's doctests run."""
    found = {}
    for name, value in most_used():
        if not _is_run_with_its_module(value):
            found.setdefault(inspect.getdoc(value) or "", (name, value))
    return found


def test_what_is_run_here() -> None:
    names = {name for name, _ in _elsewhere().values()}
    assert {"tf.add", "tf.ConfigProto", "tf.train.Example"} < names
    assert not names & {"tf.app.flags.FLAGS", "tf.flags.FLAGS"}  # an instance of what doctest finds
    assert not names & {"tf.Session", "tf.matmul", "tf.nn.embedding_lookup", "tf.data.Dataset"}


def test_examples_of_what_others_make() -> None:
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    for doc, (name, _) in _elsewhere().items():
        tf.reset_default_graph()
        test = doctest.DocTestParser().get_doctest(doc, {"tf": tf, "np": np}, name, None, None)
        result = runner.run(test)
        if result.failed:
            pytest.fail(f"{name}: {result.failed} of {result.attempted} examples (see stdout)")
