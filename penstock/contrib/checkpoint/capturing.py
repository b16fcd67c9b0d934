"""``capture_dependencies``: variables that are made meanwhile are tracked by a template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.foundation.base.decorators import contextmanager


@contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """Has a template track the variables of its scope that are made in a ``with`` block.

    Args:
      template: an object of ``tf.make_template``, inside a call.

    Example:
      >>> import penstock as tf
      >>> def scale(x):
      ...     with tf.contrib.checkpoint.capture_dependencies(made):
      ...         return x * tf.get_variable("w", [])
      >>> with tf.Graph().as_default():
      ...     made = tf.make_template("layer", scale)
      ...     y = made(1.0)
      ...     [v.name for v in tf.contrib.checkpoint.list_objects(made)[1:]]
      ['layer/w:0']
    """
    with template.capturing():
        yield
