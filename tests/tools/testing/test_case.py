"""``tf.test``: what test cases assert, and their sessions."""

from __future__ import annotations

import os
import re
import sys
import threading
import unittest
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf


class Case(tf.test.TestCase):
    """A test case that other tests call the methods of."""

    __test__ = False

    def runTest(self) -> None: ...


@pytest.fixture
def case() -> Any:
    made = Case()
    made.setUp()
    yield made
    made.tearDown()


nan = float("nan")
Pair = namedtuple("Pair", "a b")
PASS: list[tuple[str, tuple[Any, ...]]] = [
    ("assertAllClose", ([1.0, nan], np.array([1.0 + 1e-7, nan]))),
    ("assertAllClose", ({"a": [1, 2], "b": (3, [4.0])}, {"b": (3, [4.0]), "a": [1, 2]})),
    ("assertAllClose", (Pair(1, 2), {"a": 1, "b": 2})),
    ("assertAllClose", ([[1], [2, 3]], ([1.0], [2.0, 3.0]))),
    ("assertAllClose", (np.inf, np.inf)),
    ("assertAllCloseAccordingToType", (np.float16(1), np.float16(1.0009765625))),
    ("assertAllCloseAccordingToType", (np.array(1, tf.bfloat16.as_numpy_dtype), 1.005)),
    ("assertNotAllClose", ([1.0], [1.1])),
    ("assertAllEqual", ([b"a", b"b"], np.array([b"a", b"b"], object))),
    ("assertAllEqual", ([[1.0, nan]], np.array([[1.0, nan]]))),
    ("assertNotAllEqual", ([1, 2], [2, 1])),
    ("assertAllGreater", ([2, 3], 1)),
    ("assertAllGreaterEqual", ([2, 3], 2)),
    ("assertAllLess", ([2, 3], 4)),
    ("assertAllLessEqual", ([2, 3], 3)),
    ("assertAllInRange", ([2, 3], 2, 3)),
    ("assertAllInRange", ([2.5], 2, 3, True, True)),
    ("assertAllInSet", ([[1, 2], [1, 1]], (1, 2))),
    ("assertArrayNear", ([1.0, 2.0], [1.1, 2.0], 0.2)),
    ("assertNDArrayNear", (np.ones(2), np.ones(2) * 1.1, 0.2)),
    ("assertNear", (1.0, 1.1, 0.2)),
    ("assertDTypeEqual", (np.ones(2, np.int8), np.int8)),
    ("assertDeviceEqual", ("/cpu:0", tf.DeviceSpec(device_type="CPU", device_index=0))),
    ("assertShapeEqual", (np.ones([2, 3]), tf.constant([[1.0] * 3] * 2))),
    (
        "assertProtoEquals",
        ("allow_soft_placement: true", tf.ConfigProto(allow_soft_placement=True)),
    ),
    ("assertItemsEqual", ([1, 2], [2, 1])),
    ("assertStartsWith", ("abc", "ab")),
    ("assertRaisesRegexp", (ValueError, "invalid literal", int, "x")),
    ("failUnlessEqual", (1, 1)),
    ("assert_", (True,)),
]
FAIL: list[tuple[str, tuple[Any, ...], str]] = [
    ("assertAllClose", ([1.0, 2.0], [1.0, 2.1]), r"not close where = \(array\(\[1\]\),\)"),
    ("assertAllClose", (1.0, 1.1), "not close lhs = 1.0"),
    ("assertAllClose", ({"a": [1]}, {"a": [2]}), r"Mismatched value: a\[a\] is different"),
    ("assertAllClose", ({"a": 1}, {"b": 1}), "mismatched keys"),
    ("assertAllClose", ([1.0], [1.0, 2.0]), r"Shape mismatch: expected \(1,\), got \(2,\)"),
    ("assertAllClose", (nan, 1.0), "not close"),
    ("assertNotAllClose", ([1.0], [1.0]), "close at all elements"),
    ("assertAllEqual", ([1, 2], [1, 3]), r"not equal where = \(array\(\[1\]\),\)"),
    ("assertAllEqual", ([1], 1), "Shape mismatch"),
    ("assertNotAllEqual", ([1], [1]), "equal at all elements"),
    ("assertAllGreater", ([1, 2], 1), "not greater"),
    ("assertAllLess", ([1, 2], 2), "not less"),
    (
        "assertAllInRange",
        ([0, 5, 9], 1, 8),
        r"2 of the 3 element\(s\) are outside the range \[1, 8",
    ),
    ("assertAllInRange", ([1.0, nan], 1, 8), "are NaN"),
    ("assertAllInRange", (["a"], 1, 8), "ordered numeric type"),
    ("assertAllInRange", ([1], 1, 8, True), r"\(1, 8\]"),
    ("assertAllInSet", ([1, 7], [1, 2]), r"1 unique element\(s\)"),
    ("assertNear", (1.0, 1.3, 0.2), r"1.0 != 1.3 \+/- 0.2"),
    ("assertArrayNear", ([1.0], [2.0], 0.2), r"1.0 != 2.0"),
    ("assertNDArrayNear", (np.ones(2), np.zeros(2), 0.2), "not true"),
    ("assertDTypeEqual", (np.ones(2, np.int8), np.int16), "int8"),
    ("assertDeviceEqual", ("/cpu:0", "/gpu:0"), "are not equal"),
    ("assertShapeEqual", (np.ones([2]), tf.constant([1.0])), "not equal|different"),
    ("assertProtoEquals", ("log_device_placement: true", tf.ConfigProto()), "log_device_placement"),
    ("assertItemsEqual", ([1, 2], [2, 2]), "Element counts"),
    ("failIf", (True,), "not false"),
]


@pytest.mark.parametrize("name,args", PASS, ids=lambda v: v if isinstance(v, str) else "")
def test_holds(case: Case, name: str, args: Any) -> None:
    getattr(case, name)(*args)


@pytest.mark.parametrize("name,args,text", FAIL, ids=lambda v: v if isinstance(v, str) else "")
def test_fails(case: Case, name: str, args: Any, text: str) -> None:
    with pytest.raises(AssertionError, match=text):
        getattr(case, name)(*args)


def test_nestings_that_differ(case: Case) -> None:
    with pytest.raises(ValueError, match="Can't compare dict to non-dict"):
        case.assertAllClose({"a": 1}, [1])
    with pytest.raises(ValueError, match=r"Mismatched length: a\[1\] has 1 items"):
        case.assertAllClose([[1], [[2, 3]], 3], [[1], [[2, 3], 4], 3])
    with pytest.raises(TypeError, match="Tensor"):
        case.assertShapeEqual(np.ones(1), np.ones(1))


def test_messages_that_differ_in_the_last_digits(case: Case) -> None:
    summary = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=0.1)])
    case.assertProtoEquals('value { tag: "a" simple_value: 0.10000000149 }', summary)
    with pytest.raises(AssertionError):
        case.assertProtoEquals('value { tag: "a" simple_value: 0.1001 }', summary)
    with pytest.raises(AssertionError, match="Can't compare protos of type"):
        case.assertProtoEquals(tf.Summary(), tf.ConfigProto())
    text = "node { name: 'a' op: 'NoOp' }"
    with tf.Graph().as_default() as graph:
        tf.no_op(name="a")
    case.assertProtoEqualsVersion(text, graph.as_graph_def())


def test_tensors_are_evaluated(case: Case) -> None:
    with case.cached_session():
        case.assertAllClose([2.0, 4.0], tf.constant([1.0, 2.0]) * 2)
        case.assertAllInRange(tf.range(3), 0, 2)
    # Without a session that of the test is used.
    assert case.evaluate({"a": tf.constant(1), "b": [tf.constant(2)]}) == {"a": 1, "b": [2]}


def test_errors(case: Case) -> None:
    with case.cached_session() as sess:
        x = tf.placeholder(tf.float32, name="ex")
        with case.assertRaisesOpError("Caused by: ex"):
            sess.run(x)
        with case.assertRaisesOpError(lambda e: e.op is x.op):
            sess.run(x)
        with pytest.raises(AssertionError, match="Exception of type .*InvalidArgumentError"):
            with case.assertRaisesOpError("no such text"):
                sess.run(x)
    with pytest.raises(AssertionError, match="OpError not raised"):
        with case.assertRaisesOpError("x"):
            pass


def test_sessions(case: Case) -> None:
    graph = tf.Graph()
    with case.session(graph=graph) as sess:
        assert tf.get_default_graph() is graph and tf.get_default_session() is sess
        assert tf.constant(1).device == "/device:CPU:0"
    with pytest.raises(RuntimeError, match="closed"):
        sess.run([])
    with case.cached_session(use_gpu=True) as first:
        assert tf.constant(1).device == ""
    with case.cached_session(use_gpu=True) as second:
        assert first is second
    with pytest.raises(ValueError, match="The graph used to get the cached session"):
        with case.cached_session(graph=graph):
            pass
    with case.test_session() as third:
        assert first is third
    with case.test_session(graph=graph) as other:
        assert other is not first and other.graph is graph
    with case.session(force_gpu=True):
        assert tf.constant(1).device == (tf.test.gpu_device_name() or "/device:GPU:0")


def test_each_test_begins_anew() -> None:
    numbers = []

    class Draws(tf.test.TestCase):
        def test_a(self) -> None:
            assert not tf.get_default_graph().get_operations()
            with self.session():
                numbers.append((np.random.rand(), tf.random_uniform([]).eval()))
            # A block that does not end, as a failure in a generator leaves it.
            tf.Graph().as_default().__enter__()

    for _ in range(2):
        result = Draws("test_a").run()
        assert result.wasSuccessful(), result.failures + result.errors
    assert numbers[0] == numbers[1]


def test_session_is_no_test() -> None:
    class Cases(tf.test.TestCase):
        pass

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Cases)
    result = unittest.TestResult()
    suite.run(result)
    assert len(result.skipped) == 1 and result.wasSuccessful()


def test_threads(case: Case) -> None:
    def broken() -> None:
        raise ValueError("in a thread")

    for target, text in [(broken, "in a thread"), (lambda: None, None)]:
        thread = case.checkedThread(target)
        thread.start()
        if text:
            with pytest.raises(AssertionError, match=text):
                thread.join()
        else:
            thread.join()
            assert not thread.is_alive()
    event = threading.Event()
    lost = case.checkedThread(event.wait, args=(0.01,))
    lost.start()
    with pytest.raises(AssertionError, match="was not joined"):
        case.tearDown()
    lost.join()


def test_folders_and_streams(case: Case, capfd: pytest.CaptureFixture[str]) -> None:
    folder = case.get_temp_dir()
    assert folder == case.get_temp_dir() and folder.startswith(tf.test.get_temp_dir())
    assert os.path.isdir(folder)
    with case.captureWritesToStream(sys.__stdout__) as captured:
        os.write(1, b"from below")
    assert captured.contents() == "from below"
    os.write(1, b"after")
    assert capfd.readouterr().out == "after"


def test_stubs() -> None:
    class Base:
        @staticmethod
        def twice(x: int) -> int:
            return 2 * x

    class Derived(Base):
        pass

    stubs = tf.test.StubOutForTesting()
    stubs.Set(os.path, "exists", lambda path: "stub")
    stubs.SmartSet(Derived(), "twice", staticmethod(lambda x: 3 * x))
    assert os.path.exists("x") == "stub" and Base.twice(1) == Derived.twice(1) == 3
    assert "twice" not in vars(Derived)
    with pytest.raises(AttributeError):
        stubs.SmartSet(Derived, "no_such", 1)
    stubs.CleanUp()
    assert os.path.exists("/") is True and Base.twice(1) == 2
    assert isinstance(vars(Base)["twice"], staticmethod)


def _graph(build: Callable[[], Any]) -> Any:
    with tf.Graph().as_default() as graph:
        build()
    return graph.as_graph_def()


def test_equal_graphs() -> None:
    def one() -> None:
        a = tf.constant([1.0, 2.0], name="a")
        b, d = tf.constant(2, name="b"), tf.constant(3, name="d")
        with tf.control_dependencies([b, d]):
            tf.identity(a, name="c")

    definition = _graph(one)
    other = tf.GraphDef()
    other.CopyFrom(definition)
    del other.node[:]
    other.node.extend(reversed(definition.node))
    other.node[0].input[:] = ["a:0", "^d", "^b"]
    other.versions.producer = 1
    spelled = other.node[3].attr["value"].tensor
    assert other.node[3].name == "a" and spelled.tensor_content
    spelled.tensor_content = b""
    spelled.float_val.extend([1.0, 2.0])
    tf.test.assert_equal_graph_def(other, definition)

    changes = {
        "Found unexpected node .*new": lambda g: g.node.add(name="new", op="NoOp"),
        "Did not find expected node .*a": lambda g: g.node.remove(g.node[3]),
        "op 'Exp' that is not expected 'Identity'": lambda g: setattr(g.node[0], "op", "Exp"),
        "device '/cpu:0' that": lambda g: setattr(g.node[0], "device", "/cpu:0"),
        "has input 0 'b' that doesn't match expected 'a'": lambda g: g.node[0].input.__setitem__(
            0, "b"
        ),
        "inputs 'b, a, ^b, ^d' that don't match expected 'a, ": lambda g: g.node[0].input.insert(
            0, "b"
        ),
        "inputs 'a, .d' that don't": lambda g: g.node[0].input.pop(),
        "unexpected attr 'X' with value: i: 1": lambda g: (
            g.node[0].attr["X"].CopyFrom(tf.AttrValue(i=1))
        ),
        "'c' missing expected attr 'T'": lambda g: g.node[0].attr.pop("T"),
        "attr 'value' .* that does not": lambda g: (
            g.node[3].attr["value"].tensor.float_val.__setitem__(0, 5.0)
        ),
        "attr 'T' with .* that does not": lambda g: setattr(g.node[0].attr["T"], "type", 2),
    }
    for text, change in changes.items():
        changed = tf.GraphDef()
        changed.CopyFrom(other)
        change(changed)
        with pytest.raises(AssertionError, match=text.replace("^", ".")):
            tf.test.assert_equal_graph_def(changed, definition)
    with pytest.raises(TypeError, match="Expected tf.GraphDef for expected, got str"):
        tf.test.assert_equal_graph_def(other, "x")


def test_devices() -> None:
    assert tf.test.is_gpu_available() == bool(tf.test.gpu_device_name())
    assert tf.test.is_built_with_gpu_support() == (
        tf.test.is_built_with_cuda() or tf.test.is_built_with_rocm()
    )
    assert re.fullmatch(r"(/device:GPU:\d+)?", tf.test.gpu_device_name())
    assert tf.test.mock is unittest.mock


def test_cluster() -> None:
    workers, servers = tf.test.create_local_cluster(num_workers=2, num_ps=1)
    try:
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                v = tf.Variable(3.0)
            with tf.device("/job:worker/task:1"):
                y = v * 2.0
            with tf.Session(workers[0].target) as sess:
                sess.run(v.initializer)
                assert sess.run(y) == 6.0
    finally:
        for server in [*workers, *servers]:
            server.stop()
