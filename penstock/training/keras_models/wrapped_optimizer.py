"""An optimizer of ``tf.train`` as models take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.library.layer_base import initializers, sessions
from penstock.library.layer_base.weights import make_variable


class TFOptimizer:
    """Wraps an optimizer of ``tf.train``.

    Args:
      optimizer: the optimizer.
      iterations: the variable that counts its steps; default ``TFOptimizer/iterations``.
    """

    def __init__(self, optimizer: Any, iterations: Any = None) -> None:
        self.optimizer = optimizer
        if iterations is not None:
            self.iterations = iterations
            return
        with scopes.name_scope(type(self).__name__):
            self.iterations = make_variable(
                "iterations", [], dtypes.int64, initializers.get("zeros"), False
            )
        sessions.track_variable(self.iterations)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("optimizer", self.optimizer), ("global_step", self.iterations)]

    @property
    def weights(self) -> list[Any]:
        """Not told, as of an optimizer that makes its slots itself.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The op that moves ``params`` against the gradients of ``loss``, in a list."""
        if not params:
            return [self.iterations.assign_add(1)]
        pairs = self.optimizer.compute_gradients(loss, list(params))
        made = [self.optimizer.apply_gradients(pairs, global_step=self.iterations)]
        for variable in self.optimizer.variables():
            sessions.track_variable(variable)
        return made

    def apply_own_gradients(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Moves variables by gradients of a model's loss."""
        self.optimizer.apply_gradients(pairs, global_step=self.iterations)

    def apply_gradients(self, grads_and_vars: Any) -> Any:
        """Applies pairs of a gradient and a variable, and counts the step."""
        return self.optimizer.apply_gradients(grads_and_vars, global_step=self.iterations)

    def get_config(self) -> Any:
        """Not told.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError
