"""The comparison of signatures finds what differs: in names, order, kinds, defaults and members."""

from __future__ import annotations

import enum
import functools
from collections import namedtuple
from typing import Any

import pytest

import penstock as tf
from tests.api import signatures


class Mode(enum.Enum):
    AUTO = 0
    NONE = 1


def plain(x: Any, axis: Any = None, name: str = "a", shape: Any = (1, 2)) -> None: ...
def typed(x: Any, dtype: Any = tf.float32, mode: Any = Mode.AUTO, key: Any = plain) -> None: ...
def starred(x: Any, *args: Any, **kwargs: Any) -> None: ...
def keyword(x: Any, *, name: Any = None) -> None: ...
def after_star(*args: Any, name: Any = None) -> None: ...
def positional(x: Any, /, name: Any = None) -> None: ...
def objects(x: Any = object(), y: Any = tf.zeros_initializer()) -> None: ...  # noqa: B008


@functools.wraps(plain)
def wrapped(*args: Any, **kwargs: Any) -> None: ...


SAME = [
    (plain, "(x, axis=None, name='a', shape=[1, 2])"),
    (plain, "(x, axis=None, name='a', shape=(1, 2))"),
    (wrapped, "(x, axis=None, name='a', shape=(1, 2))"),
    (typed, "(x, dtype=tf.float32, mode=<Mode.AUTO: 0>, key=<function plain at 0x7f>)"),
    (typed, "(x, dtype=tf.float32, mode=<Mode.AUTO: 0>, key=<object>)"),
    (starred, "(x, *args, **kwargs)"),
    (after_star, "(*args, name=None)"),
    (objects, "(x=<object>, y=<tensorflow.python.ops.init_ops.Zeros object at 0x7f>)"),
    (namedtuple("Pair", "a b"), "(a, b)"),
    (tf.train.AdamOptimizer, "(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08,"
     " use_locking=False, name='Adam')"),
    # What says nothing is not compared, and is counted apart.
    (plain, "(*args, **kwargs)"),
]  # fmt: skip
OTHER = [
    (plain, "(x, axis=None, name='a')"),
    (plain, "(x, axis=None, name='a', shape=[1, 2], more=None)"),
    (plain, "(x, name='a', axis=None, shape=[1, 2])"),
    (plain, "(x, axis=0, name='a', shape=[1, 2])"),
    (plain, "(x, axis=None, name='<b>', shape=[1, 2])"),
    (plain, "(x, axis=None, name='a', shape=[1, 3])"),
    (plain, "(y, axis=None, name='a', shape=[1, 2])"),
    (plain, "(x, axis, name='a', shape=[1, 2])"),
    (plain, "(x, axis=<object>, name='a', shape=[1, 2])"),
    (plain, "(x, axis=None, name=<object>, shape=[1, 2])"),
    (typed, "(x, dtype=tf.float64, mode=<Mode.AUTO: 0>, key=<object>)"),
    (typed, "(x, dtype=tf.float32, mode=<Mode.NONE: 1>, key=<object>)"),
    (typed, "(x, dtype=tf.float32, mode=<Mode.AUTO: 0>, key=<function other at 0x7f>)"),
    (starred, "(x, *args)"),
    (starred, "(x, **kwargs)"),
    (keyword, "(x, name=None)"),
    (positional, "(x, name=None)"),
    (3, "(x)"),
    (None, "(x)"),
]


@pytest.mark.parametrize("function,text", SAME)
def test_same(function: Any, text: str) -> None:
    assert signatures.difference(function, text) is None


@pytest.mark.parametrize("function,text", OTHER)
def test_other(function: Any, text: str) -> None:
    assert signatures.difference(function, text)


class Base:
    count: int

    def __init__(self) -> None:
        self.made = 1

    def inherited(self, a: Any) -> None: ...
    @property
    def prop(self) -> int:
        return 1

    @classmethod
    def make(cls, a: Any) -> None: ...
    @staticmethod
    def free(a: Any) -> None: ...


class Derived(Base):
    def own(self, a: Any, b: Any = 1) -> None: ...


def test_members() -> None:
    said = {
        "inherited": "(self, a)", "own": "(self, a, b=1)", "make": "(cls, a)", "free": "(a)",
        "prop": "property", "made": "property", "count": "property",
    }  # fmt: skip
    assert dict(signatures.members(Derived, said)) == {}
    wrong = {
        "inherited": "(self)", "own": "(self, b=1, a)", "make": "(cls, a, b)", "free": "(b)",
        "prop": "(self)", "gone": "property", "lost": "(self)", "vanished": None,
    }  # fmt: skip
    assert set(dict(signatures.members(Derived, wrong))) == set(wrong)
    assert dict(signatures.members(Derived, {"own": "property"})) == {
        "own": "a method; theirs is a property"
    }


def test_absent_is_not_none() -> None:
    assert signatures.resolve(tf, "newaxis") is None
    assert signatures.resolve(tf, "no.such") is signatures.ABSENT
