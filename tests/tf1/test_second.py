"""``tf.compat.v2``: what is there is TensorFlow 1.15's, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import penstock as tf
from penstock.compat import v2 as module
from tests.peers import TF115, needs
from tests.suite import warm
from tests.tf1 import second
from tests.tf1.processes import ROOT

v2 = tf.compat.v2
# In these the first API's names have more methods.
WIDER = ("data", "distribute")


def _shared() -> list[str]:
    return [
        f"{namespace}.{name}".lstrip(".")
        for namespace, names in module.SHARED.items()
        for name in names.split()
    ]


def _find(api: object, name: str) -> object:
    for part in name.split("."):
        api = getattr(api, part)
    return api


def test_shared_names_are_the_same() -> None:
    assert [n for n in _shared() if _find(v2, n) is not _find(tf, n)] == []
    assert len(_shared()) > 600
    assert [n for n in module.ADAPTED if not callable(_find(v2, n))] == []


def test_what_it_does_not_have() -> None:
    assert not hasattr(v2, "placeholder") and not hasattr(v2, "Session")
    with pytest.raises(AttributeError, match="'tensorflow.compat.v2.math' has no attribute 'ad';"):
        v2.math.ad
    with pytest.raises(TypeError, match=r"reduce_sum\(\) of tf.compat.v2 takes input_tensor, axis"):
        v2.reduce_sum([1], reduction_indices=0)
    with pytest.raises(TypeError, match="each once"):
        v2.squeeze([[1]], input=[[1]])


def test_arguments_are_those_of_the_second_api() -> None:
    from penstock.python.util import tf_inspect

    like = tf_inspect.getfullargspec(lambda input_tensor, axis=None, keepdims=False, name=None: 0)
    assert tf_inspect.getfullargspec(v2.reduce_sum) == like
    with pytest.raises(TypeError, match=r"expand_dims\(\) of tf.compat.v2 takes input, axis, name"):
        v2.expand_dims([1])


def test_every_variable_is_one_of_the_second_api() -> None:
    with tf.Graph().as_default():
        made = v2.Variable([1.0], False, name="v", dtype=tf.float64)
        ours = [tf.Variable(1.0), tf.get_variable("x", []), tf.contrib.eager.Variable(1.0), made]
        assert all(isinstance(v, v2.Variable) for v in ours) and not isinstance(1, v2.Variable)
        assert issubclass(type(ours[0]), v2.Variable) and not issubclass(tf.Graph, v2.Variable)
        assert type(made) is type(ours[2]) and made.dtype is tf.float64 and not made.trainable

        class Own(v2.Variable):
            pass

        own = Own(2.0, name="own")
        assert type(own) is Own and isinstance(own, Own) and not isinstance(made, Own)
        seen = []

        def creator(following: object, **kwargs: object) -> object:
            seen.append(kwargs["name"])
            return following(**kwargs)

        with v2.variable_creator_scope(creator):
            v2.Variable(1.0, name="watched")
        assert seen == ["watched"]


def test_initializers_are_told_the_dtype_when_they_are_called() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ones = v2.ones_initializer()([2], dtype=tf.float64)
        drawn = v2.random_normal_initializer(seed=1)([20000])
        uniform = v2.random_uniform_initializer(seed=1)([2000])
        ones, drawn, uniform = session.run([ones, drawn, uniform])
    assert ones.tolist() == [1, 1] and ones.dtype == np.float64
    assert drawn.std() == pytest.approx(0.05, rel=0.05)
    assert -0.05 <= uniform.min() < -0.045 and 0.045 < uniform.max() <= 0.05


def test_it_is_imported_as_a_module() -> None:
    import penstock.compat.v2 as one
    from penstock.compat.v2 import math
    from penstock.compat.v2.nn import softmax

    assert one is v2 and math is v2.math and softmax is v2.nn.softmax
    assert "reduce_sum" in dir(v2) and "softmax" in dir(v2.nn)


@pytest.mark.long
def test_calls_by_place_are_tensorflows() -> None:
    needs(TF115)
    names = [n for n in _shared() if not n.startswith(WIDER)]
    command = [str(TF115), "-m", "tests.tf1.second", *names, "--", *module.ADAPTED]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    theirs, other, signatures = json.loads(done.stdout.splitlines()[-1])
    assert other == []
    assert {n: second.signature(tf, n) for n in module.ADAPTED} == signatures
    for name, (value, dtype, types) in second.answers(tf).items():
        wanted, wanted_dtype, wanted_types = theirs[name]
        assert (dtype, types) == (wanted_dtype, wanted_types), name
        if dtype == "object":
            assert value == wanted
        else:
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6, err_msg=name)


def test_programs_of_the_second_api() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = v2.Variable([1.0, 2.0], True, name="v")
        parts = v2.strings.split(["a b", "c"])
        either = v2.cond(v2.constant(True), lambda: [v2.constant(1)], lambda: [v2.constant(2)])
        (looped,) = v2.while_loop(lambda i: i < 3, lambda i: [i + 1], [v2.constant(0)])
        session.run(v.initializer)
        assert isinstance(v, v2.Variable) and v.trainable and v.name == "v:0"
        assert session.run([parts.values, parts.row_splits])[1].tolist() == [0, 2, 3]
        assert session.run([v, either, looped])[1:] == [[1], 3]
        path = v2.train.Checkpoint(v=v)
        assert type(path) is tf.train.Checkpoint


@pytest.mark.long
def test_v2_behavior_is_eager_execution() -> None:
    program = (
        "import penstock.compat.v2 as tf; tf.enable_v2_behavior()\n"
        "@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])\n"
        "def f(x):\n    return tf.reduce_sum(x) * v\n"
        "v = tf.Variable(2.0)\n"
        "with tf.GradientTape() as tape:\n    y = f(tf.constant([1.0, 2.0]))\n"
        "print(tf.executing_eagerly(), y.numpy(), tape.gradient(y, v).numpy())\n"
    )
    done = warm.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["True", "6.0", "3.0"]


def test_both_apis_have_each_other_and_the_version() -> None:
    program = (
        "import penstock.as_tensorflow, tensorflow as tf, tensorflow.compat.v2 as tf2\n"
        "from tensorflow.compat.v2.compat.v1 import placeholder\n"
        "print(tf2.__version__, tf2.compat.v1 is tf, tf.compat.v2 is tf2, tf2.nest is not None)\n"
        "print(placeholder is tf.placeholder, tf2.data.Options is tf.data.Options)\n"
    )
    done = warm.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "1.15.0 True True True\nTrue True\n", done.stderr
