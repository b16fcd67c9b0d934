"""Lists of a graph's variables, and ops over such lists: initialize, report what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.families import Lister
from penstock.foundation.graph.keys import GraphKeys
from penstock.ops.control import control


def _lister(key: str, what: str) -> Lister:
    def listed(scope: str | None = None) -> list[Any]:
        return scopes.get_default_graph().get_collection(key, scope)

    listed.__doc__ = (
        f"{what}, of the default graph.\n\n"
        "Args:\n  scope: regular expression that names must begin with.\n\n"
        "Returns:\n  A list, in order of creation.\n\n"
        "Example:\n  >>> import penstock as tf\n"
        '  >>> weights = tf.get_variable("weights", [2, 3])\n'
        '  >>> steps = tf.get_variable("steps", [], tf.int32, trainable=False)\n'
        "  >>> [v.name for v in tf.trainable_variables()]\n  ['weights:0']\n"
        "  >>> [v.name for v in tf.global_variables()]\n  ['weights:0', 'steps:0']"
    )
    return listed


global_variables = _lister(GraphKeys.GLOBAL_VARIABLES, "Variables shared across machines")
local_variables = _lister(GraphKeys.LOCAL_VARIABLES, "Variables local to the process, not saved")
model_variables = _lister(GraphKeys.MODEL_VARIABLES, "Variables that inference needs")
trainable_variables = _lister(
    GraphKeys.TRAINABLE_VARIABLES, "Variables that optimizers update by default"
)
moving_average_variables = _lister(
    GraphKeys.MOVING_AVERAGE_VARIABLES, "Variables that keep moving averages"
)


def all_variables() -> list[Any]:
    """Deprecated name of ``global_variables``.

    Returns:
      A list of variables.

    Example:
      >>> import penstock as tf
      >>> v = tf.Variable(0.0, name="v")
      >>> [each.name for each in tf.all_variables()]
      ['v:0']
    """
    return global_variables()


def variables_initializer(var_list: Sequence[Any] | None, name: str = "init") -> Any:
    """An op that runs the initializers of ``var_list``.

    Args:
      var_list: variables; may be empty.

    Returns:
      The op.

    Example:
      >>> import penstock as tf
      >>> old, new = tf.Variable(1.0, name="old"), tf.Variable(2.0, name="new")
      >>> with tf.Session() as session:
      ...     session.run(tf.variables_initializer([new]))
      ...     session.run(tf.report_uninitialized_variables()).tolist()
      [b'old']
    """
    if var_list:
        return control.group(*[v.initializer for v in var_list], name=name)
    return control.no_op(name=name)


def global_variables_initializer() -> Any:
    """An op that gives every global variable its initial value; its name is ``init``.

    Returns:
      An operation that runs the initializer of every global variable that there is now.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     v = tf.Variable(2.0)
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(v)
      np.float32(2.0)
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Any:
    """An op that gives every local variable its initial value.

    Returns:
      An operation that runs the initializer of every local variable that there is now.

    Example:
      >>> import penstock as tf
      >>> accuracy, update = tf.metrics.accuracy(labels=[1, 2, 3, 4], predictions=[1, 2, 3, 0])
      >>> with tf.Session() as session:
      ...     session.run(tf.local_variables_initializer())  # the metric's counters
      ...     print(session.run(update))
      0.75
    """
    return variables_initializer(local_variables())


def initialize_variables(var_list: Sequence[Any] | None, name: str = "init") -> Any:
    """Deprecated name of ``variables_initializer``."""
    return variables_initializer(var_list, name)


def initialize_all_variables() -> Any:
    """Deprecated name of ``global_variables_initializer``.

    Returns:
      An operation.

    Example:
      >>> import penstock as tf
      >>> v = tf.Variable(3.0)
      >>> with tf.Session() as session:
      ...     session.run(tf.initialize_all_variables())
      ...     print(session.run(v))
      3.0
    """
    return global_variables_initializer()


def initialize_local_variables() -> Any:
    """Deprecated name of ``local_variables_initializer``."""
    return local_variables_initializer()
