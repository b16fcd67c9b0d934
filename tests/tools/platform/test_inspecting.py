"""``tf_decorator`` and ``tf_inspect`` answer as TensorFlow 1.15's do."""

from __future__ import annotations

import functools
import inspect

import pytest

import penstock as tf
from penstock.python.util import tf_contextlib, tf_decorator, tf_inspect


def f(a, b=2, *c, **d):
    return a


def g(a, b, c=3, d=4):
    return a


def _wrapped(*args, **kwargs):
    return f(*args, **kwargs)


class Named:
    def method(self, a, b=1):
        return a

    @classmethod
    def of_class(cls, a):
        return a


def _shown(spec) -> tuple:
    return spec.args, spec.varargs, spec.varkw, spec.defaults


def test_a_program_compares_argspecs_of_public_functions() -> None:
    cases = {
        tf.cast: lambda x, dtype, name=None: 0,
        tf.concat: lambda values, axis, name="concat": 0,
        tf.shape: lambda input, name=None, out_type=tf.int32: 0,
        tf.size: lambda input, name=None, out_type=tf.int32: 0,
        tf.test.get_temp_dir: lambda: 0,
        tf.contrib.layers.flatten: (
            lambda inputs, outputs_collections=None, scope=None: 0
        ),
        tf.contrib.framework.arg_scope: lambda list_ops_or_scope, **kwargs: 0,
        tf.Graph.name_scope: lambda self, name: 0,
    }  # fmt: skip
    for function, like in cases.items():
        assert tf_inspect.getfullargspec(function) == inspect.getfullargspec(like), function


def test_only_tensorflows_decorators_are_seen_through() -> None:
    assert _shown(tf_inspect.getfullargspec(functools.wraps(f)(lambda *a, **k: 0)))[:1] == ([],)
    made = tf_decorator.make_decorator(f, lambda *a, **k: 0)
    assert _shown(tf_inspect.getfullargspec(made)) == (["a", "b"], "c", "d", (2,))
    assert made.__name__ == "f" and made.__wrapped__ is f
    stated = tf_inspect.FullArgSpec(["z"], None, None, None, [], None, {})
    made = tf_decorator.make_decorator(f, lambda z: 0, decorator_argspec=stated)
    assert tf_inspect.getfullargspec(made) == stated
    assert tf_inspect.getcallargs(made, 1) == {"z": 1}
    (mark,), target = tf_decorator.unwrap(made)
    assert target is f and isinstance(mark, tf_decorator.TFDecorator)
    assert mark.decorator_name == "test_only_tensorflows_decorators_are_seen_through"
    method = tf_decorator.make_decorator(Named().method, lambda *a: 1)
    assert tf_inspect.ismethod(method) and not tf_inspect.isfunction(method)


def test_what_lies_below_decorators_is_exchanged() -> None:
    inner = tf_decorator.make_decorator(f, lambda *a: 1, "first")
    outer = tf_decorator.make_decorator(inner, lambda *a: 2, "second", "doc of it")
    marks, target = tf_decorator.unwrap(outer)
    assert [mark.decorator_name for mark in marks] == ["second", "first"] and target is f
    assert marks[0].decorator_doc == "doc of it"
    assert tf_decorator.rewrap(outer, f, g) is outer
    assert tf_decorator.unwrap(outer)[1] is g and inner.__wrapped__ is g
    assert tf_inspect.getfullargspec(outer) == inspect.getfullargspec(g)
    assert tf_decorator.rewrap(f, f, g) is g


def test_context_managers_show_their_arguments() -> None:
    @tf_contextlib.contextmanager
    def scope(a, b=1):
        yield a

    with scope(3) as given:
        assert given == 3
    assert tf_inspect.getargspec(scope) == (["a", "b"], None, None, (1,))
    assert tf_inspect.getcallargs(scope, 3) == {"a": 3, "b": 1}


def test_positional_arguments_of_partial_functions() -> None:
    part, spec = functools.partial, tf_inspect.getargspec
    assert spec(part(f, 1)) == (["b"], "c", "d", (2,))
    assert spec(part(f, b=5)) == (["a", "b"], "c", "d", (5,))
    assert spec(part(g, b=7)) == (["a", "b", "c", "d"], None, None, (7, 3, 4))
    assert spec(part(g, 1, d=9)) == (["b", "c", "d"], None, None, (3, 9))
    assert spec(part(part(g, 1), b=2)) == (["b", "c", "d"], None, None, (2, 3, 4))
    with pytest.raises(ValueError, match=r"Some arguments \['b'\] do not have default value"):
        spec(part(g, a=1))


def test_what_a_call_gives_each_argument() -> None:
    given = Named()
    assert tf_inspect.getcallargs(given.method, 5) == {"self": given, "a": 5, "b": 1}
    assert tf_inspect.getcallargs(Named.of_class, 5) == {"cls": Named, "a": 5}
    assert tf_inspect.getcallargs(f, 5, 6, 7, q=1) == {"a": 5, "b": 6, "q": 1}
