"""``tf.test.main``: runs the tests, or the benchmarks, of a program."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from absl.testing import absltest

from penstock.tools.platform import app
from penstock.tools.testing.benchmark import run_benchmarks_or


def main(argv: Sequence[str] | None = None) -> None:
    """Runs all tests of the module that Python was started with.

    Flags are parsed first; what is no flag names tests, as ``unittest`` takes them. With
    ``--benchmarks=PATTERN`` the benchmarks whose names have the pattern in them are run instead.

    Args:
      argv: the command line; default is ``sys.argv``.

    Raises:
      SystemExit: always: 0 where all tests passed, else 1.

    Example:
      >>> import penstock as tf
      >>> class SquareTest(tf.test.TestCase):
      ...     def test_square(self):
      ...         with self.test_session():
      ...             self.assertAllClose([1.0, 4.0], tf.square([1.0, 2.0]).eval())
      >>> if __name__ == "__main__":  # of the file of tests
      ...     tf.test.main()  # doctest: +SKIP
    """
    command = list(sys.argv if argv is None else argv)
    run_benchmarks_or(lambda: app.run(lambda rest: absltest.main(argv=rest), argv=command))
