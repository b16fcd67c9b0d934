"""Switching to eager execution, for the whole program and at its start.

State: whether the second API's behavior was asked for; the context of ``eager_mode``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.graph import Graph
from penstock.library.eager import custom, operators
from penstock.library.eager.context import EagerContext
from penstock.library.eager.tape import GradientTape
from penstock.library.variables.creation import enable_resource_variables


class Program(EagerContext):
    """The context of a program, which optimizers ask for gradients."""

    def loss_gradients(
        self, loss: Callable[[], Any], variables: Sequence[Any] | None, grad_loss: Any
    ) -> tuple[list[Any], list[Any]]:
        """Of a function without arguments; see ``Graph``."""
        with GradientTape() as tape:
            if variables is not None:
                tape.watch(list(variables))
            value = loss()
        read = list(tape.watched_variables() if variables is None else variables)
        return tape.gradient(value, read, grad_loss), read

    def custom_gradient(self, f: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """Runs a function that says what its gradient is."""
        return custom.call(f, inputs)


_v2_behavior = False
_aside: Program | None = None


def enable_v2_behavior() -> None:
    """Switches to what the second API takes for granted: eager execution and resource variables.

    Shapes stay those of the first API: their dims are ``tf.Dimension`` objects.

    Raises:
      ValueError: the program has built nodes already.
    """
    global _v2_behavior
    enable_eager_execution()
    enable_resource_variables()
    _v2_behavior = True


def v2_behavior_enabled() -> bool:
    """Whether ``enable_v2_behavior`` was called."""
    return _v2_behavior


@contextmanager
def eager_mode() -> Iterator[None]:
    """Operations run as they are called in a ``with`` block, in a program of graphs, too."""
    global _aside
    if scopes.get_default_graph().executes:
        yield
        return
    if _aside is None:
        operators.install()
        _aside = Program(None)
    with _aside.as_default():
        yield


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Makes operations run as they are called, from now on and in all threads.

    Inside ``with tf.Graph().as_default()`` nodes are built as before.

    Args:
      config: a ``ConfigProto``; what of it is for the process is set.
      device_policy, execution_mode: accepted for compatibility: calls run at once, on the host.

    Raises:
      TypeError: ``config`` is no ConfigProto.
      ValueError: the program has built nodes already.
    """
    if config is not None and not hasattr(config, "SerializeToString"):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config).__name__}")
    if not scopes.get_default_graph().executes:
        operators.install()
        scopes.replace_global_graph(Program(config))


@contextmanager
def graph_mode() -> Iterator[None]:
    """Operations become nodes in a ``with`` block, in a program that executes eagerly, too."""
    if not scopes.get_default_graph().executes:
        yield
        return
    with Graph().as_default():
        yield
