"""``tf.test.TestCase``: each test has a graph of its own, seeds, sessions and a folder.

State of a test: its session that is kept until it ends (``cached_session``), its folder, and the
threads that it has started.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from absl.testing import absltest
from google.protobuf import text_format

from penstock.engine.session.options import ConfigProto, OptimizerOptions
from penstock.engine.session.session import Session
from penstock.foundation.base import devices, errors
from penstock.foundation.graph import scopes, seeds
from penstock.foundation.graph.graph import Graph
from penstock.tools.platform import tf_logging
from penstock.tools.platform.versions import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER
from penstock.tools.testing import folders
from penstock.tools.testing.arrays import ArrayAssertions
from penstock.tools.testing.devices import gpu_device_name
from penstock.tools.testing.eager_sessions import NoSession, ValuesAsSession, evaluated
from penstock.tools.testing.messages import with_rounded_numbers
from penstock.tools.testing.threads import CheckedThread

SEED = 87654321
# Names of Python 2's unittest, which TF1 programs use and later Pythons drop.
_FORMER_NAMES = {
    "assert_": "assertTrue",
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
    "assertNotRegexpMatches": "assertNotRegex",
    "failIf": "assertFalse",
    "failIfAlmostEqual": "assertNotAlmostEqual",
    "failIfEqual": "assertNotEqual",
    "failUnless": "assertTrue",
    "failUnlessAlmostEqual": "assertAlmostEqual",
    "failUnlessEqual": "assertEqual",
    "failUnlessRaises": "assertRaises",
}


class _LoggingSession(Session):
    """A session that logs the errors of its steps; the end of a dataset is none."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().run(*args, **kwargs)
        except errors.OutOfRangeError:
            raise
        except Exception as error:
            tf_logging.error(str(error))
            raise


class CapturedWrites:
    """What was written to a stream.

    Args:
      capture_location: the file that has it.
    """

    def __init__(self, capture_location: str) -> None:
        self.capture_location = capture_location

    def contents(self) -> str:
        """The text."""
        with open(self.capture_location) as file:
            return file.read()


class TestCase(ArrayAssertions):
    """A test case with sessions.

    Before each test the default graph is new, and the seeds of Python, NumPy and the graph are set.

    Example:
      >>> import penstock as tf
      >>> class SquareTest(tf.test.TestCase):
      ...     def test_square(self):
      ...         with self.cached_session():
      ...             self.assertAllClose([1.0, 4.0], tf.square([1.0, 2.0]))
      >>> SquareTest("test_square").run().wasSuccessful()
      True
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._folder: str | None = None
        self._cached: tuple[Session, Any, Any, bool] | None = None

    def setUp(self) -> None:
        """Makes the default graph new and sets the seeds."""
        super().setUp()
        self._close_cached_session()
        random.seed(SEED)
        np.random.seed(SEED)
        scopes.start_anew()
        seeds.set_random_seed(SEED)
        # Test runners take the method of this name for a test.
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")

    def tearDown(self) -> None:
        """Closes the session that is kept; fails where a thread was not joined."""
        for thread in self._threads:
            thread.check_termination()
        self._close_cached_session()
        super().tearDown()

    def _close_cached_session(self) -> None:
        if self._cached is not None:
            self._cached[0].close()
            self._cached = None

    # ---- sessions ----------------------------------------------------------------------------

    @contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """A new session, which is the default in the ``with`` block, as is its graph.

        Args:
          graph: the graph to run; default is the default graph.
          config: a ConfigProto; it runs without optimizing, as in TensorFlow.
          use_gpu: whether nodes may be on a GPU; otherwise they are put on the CPU.
          force_gpu: whether they are put on the first GPU.

        Yields:
          The session. Where operations run as they are called, something that says so.
        """
        if scopes.get_default_graph().executes:
            yield NoSession()
            return
        with _new_session(graph, config, force_gpu) as made:
            with _placed(made, use_gpu, force_gpu):
                yield made

    @contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """The session of this test: made by the first call, and open until the test ends.

        Args:
          graph, config, use_gpu, force_gpu: as ``session`` has.

        Yields:
          The session.

        Raises:
          ValueError: the session was made with other arguments.
        """
        if scopes.get_default_graph().executes:
            yield ValuesAsSession()
            return
        made = self._kept_session(graph, config, force_gpu, strict=True)
        with _placed(made, use_gpu, force_gpu):
            yield made

    def test_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> AbstractContextManager[Any]:
        """The former ``cached_session``; with a graph, a new session of it.

        Where operations run as they are called it gives None.
        """
        if scopes.get_default_graph().executes:
            return nullcontext()
        if graph is not None:
            return self.session(graph, config, use_gpu, force_gpu)
        made = self._kept_session(None, config, force_gpu, strict=False)
        return _placed(made, use_gpu, force_gpu)

    def _kept_session(
        self, graph: Graph | None, config: Any, force_gpu: bool, strict: bool
    ) -> Session:
        if self._cached is None:
            made = _new_session(graph, config, force_gpu)
            self._cached = (made, graph, config, force_gpu)
            return made
        made, *before = self._cached
        for name, old, new in zip(["graph", "config", "force_gpu value"], before, [
            graph, config, force_gpu,
        ]):  # fmt: skip
            if strict and old is not new:
                raise ValueError(
                    f"The {name} used to get the cached session is different than the one that"
                    " was used to create the session. Maybe create a new session with"
                    " self.session()"
                )
        return made

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors, by the default session or else that of this test.

        Args:
          tensors: a tensor, or a nesting of them.
        """
        if scopes.get_default_graph().executes:
            return evaluated(tensors)
        session = scopes.get_default_session()
        if session is not None:
            return session.run(tensors)
        own: Any
        with self.test_session() as own:
            return own.run(tensors)

    # ---- files, streams and threads ----------------------------------------------------------

    def get_temp_dir(self) -> str:
        """A folder of this test; it is deleted when the program ends."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=folders.get_temp_dir())
        return self._folder

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """Catches what is written to a stream, also below Python.

        Args:
          stream: has a file descriptor, as ``sys.stdout`` has.

        Yields:
          What was written, by its ``contents()``.
        """
        stream.flush()
        number = stream.fileno()
        before = os.dup(number)
        handle, path = tempfile.mkstemp(dir=self.get_temp_dir())
        os.dup2(handle, number)
        os.close(handle)
        try:
            yield CapturedWrites(path)
        finally:
            stream.flush()
            os.dup2(before, number)
            os.close(before)

    def checkedThread(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> CheckedThread:
        """A thread whose exceptions fail this test when it is joined, as it must be.

        Args:
          target: what it calls.
          args: positional arguments.
          kwargs: arguments by keyword.
        """
        made = CheckedThread(self, target, args, kwargs)
        self._threads.append(made)
        return made

    # ---- messages, errors and devices --------------------------------------------------------

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None
    ) -> None:
        """Fails where two protobuf messages differ.

        Args:
          expected_message_maybe_ascii: a message, or its text.
          message: a message of that type.
          msg: what the failure says besides.
        """
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Merge(expected, type(message)())
        if type(expected) is not type(message):
            self.fail(
                f"Can't compare protos of type {type(expected)} and {type(message)}. {msg or ''}"
            )
        if expected != message:
            one, other = (str(with_rounded_numbers(each)) for each in (expected, message))
            self.assertMultiLineEqual(one, other, msg=msg)  # type: ignore[no-untyped-call]

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: Any,
        producer: int = GRAPH_DEF_VERSION,
        min_consumer: int = GRAPH_DEF_VERSION_MIN_CONSUMER,
        msg: str | None = None,
    ) -> None:
        """``assertProtoEquals`` of a GraphDef and the text of one without its versions."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n"
        self.assertProtoEquals(versions + expected, actual, msg=msg)

    @contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]
        self, exception_type: type[BaseException], expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """Fails where the ``with`` block does not raise what is expected.

        Args:
          exception_type: of the exception.
          expected_err_re_or_predicate: a function that takes the exception and says whether it is
            the one, or a regular expression to search for in its message, of an OpError with the
            names of the ops that caused it.
        """
        test = expected_err_re_or_predicate
        matches = test if callable(test) else lambda error: re.search(test, _text_of(error))
        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not matches(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(
        self, expected_err_re_or_predicate: Any
    ) -> AbstractContextManager[None]:
        """``assertRaisesWithPredicateMatch`` of any ``tf.errors.OpError``."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:
        """Fails where two names or DeviceSpecs are of different devices."""
        one, other = devices.canonical_name(device1), devices.canonical_name(device2)
        self.assertEqual(one, other, f"Devices {one} and {other} are not equal. {msg}")


for _former, _name in _FORMER_NAMES.items():
    setattr(TestCase, _former, getattr(absltest.TestCase, _name))


def _text_of(error: BaseException) -> str:
    if not isinstance(error, errors.OpError):
        return str(error)
    text, op = str(error.message), error.op
    while op is not None:
        text += f"\nCaused by: {op.name}"
        op = getattr(op, "_original_op", None)
    return text


def _new_session(graph: Graph | None, config: Any, force_gpu: bool) -> Session:
    used = ConfigProto()
    if config is None:
        used.allow_soft_placement = not force_gpu
    else:
        used.CopyFrom(config)
        used.allow_soft_placement &= not force_gpu
    used.graph_options.optimizer_options.opt_level = OptimizerOptions.L0
    return _LoggingSession(graph=graph, config=used)


@contextmanager
def _placed(session: Session, use_gpu: bool, force_gpu: bool) -> Iterator[Session]:
    """``session`` and its graph as the defaults, with the device that new nodes get."""
    with session.graph.as_default(), session.as_default():
        if use_gpu and not force_gpu:
            yield session
            return
        device = (gpu_device_name() or "/device:GPU:0") if force_gpu else "/device:CPU:0"
        with session.graph.device(device):
            yield session
