"""``tf.test.TestCase`` in a program that runs operations as they are called.

What the program prints is TensorFlow 1.15's, but for words of errors.
"""

from __future__ import annotations

import sys

import pytest

from tests.suite import warm

_PROGRAM = """
import penstock as tf
tf.enable_eager_execution()


class Cases(tf.test.TestCase):
    def test_eager(self):
        print("test", tf.executing_eagerly(), self.evaluate(tf.constant(3)))
        with self.test_session() as session:
            print("test_session", session)
        with self.session() as session:
            print("session", tf.get_default_session(), tf.executing_eagerly())
            self.assertRaisesRegex(AttributeError, "Trying to access", lambda: session.run)
        with self.cached_session() as session:
            print("cached_session", int(session.run({"a": [tf.constant(2)]})["a"][0]))
            with self.assertRaisesRegex(RuntimeError, "Optional args are not supported"):
                session.run([tf.constant(2)], {tf.constant(2): 3})
        variable = tf.Variable(3.0)
        tf.add_to_collection("numbers", 1)
        print("collected", tf.get_collection("numbers"))
        tf.reset_default_graph()
        print("reset", tf.executing_eagerly(), tf.get_collection("numbers"), variable.numpy())

    def test_graph(self):
        with tf.Graph().as_default() as graph:
            for _ in range(2):  # what runs a test twice sets it up in the block
                self.setUp()
            tf.constant(1)
            own = tf.get_default_graph()
            print("block", tf.executing_eagerly(), own is graph, len(own.get_operations()))
            with self.test_session() as session:
                print("in it", session.run(tf.constant(2)), session.graph is own)
        print("behind it", tf.executing_eagerly(), tf.constant(4).numpy())


tf.test.main()
"""
_PRINTED = """
test True 3
test_session None
session None True
cached_session 2
collected [1]
reset True [] 3.0
block False False 1
in it 2 True
behind it True 4
"""


@pytest.mark.long
def test_a_test_stays_eager_and_a_block_stays_a_graph() -> None:
    done = warm.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == _PRINTED[1:].split("\n")
