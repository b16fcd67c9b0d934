"""What graphs that run operations as they are called do otherwise; the others refuse it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from penstock.foundation.graph.tensor import Tensor


class Executing:
    """What builders ask of the graph that they build in; a base class of ``Graph``.

    These are the answers of a graph that runs nothing.
    """

    # Whether it runs operations as they are called, and keeps no nodes.
    executes = False
    # Of graphs that ``executes``: what runs operations of tensors of one dtype, without attrs, by
    # the op type and the dtype's id.
    entries: Mapping[str, dict[int, Any]] = MappingProxyType({})

    def execute(
        self, op_type: str, inputs: Sequence[Any], name: str | None, attrs: dict[str, Any]
    ) -> Any:
        """Runs an operation now; of graphs that ``executes``."""
        raise NotImplementedError(f"{op_type} is not run where it is called: this is a graph")

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a public function gives; of graphs that ``executes``."""
        return function(*args, **kwargs)

    def number_apart(self, value: Any, dtype: Any, array_of: Any) -> Any:
        """A new constant of a Python number; of graphs that ``executes``.

        Args:
          value: the number.
          dtype: its element type; None for the usual one.
          array_of: makes its array, of both.
        """
        raise NotImplementedError(f"{value} would be a node's value: this is a graph")

    def handle_in_function(self, handle: Tensor) -> Tensor:
        """The handle of a resource, made anew in the function being built; where it executes."""
        raise NotImplementedError(f"{handle} is no value")

    def loss_gradients(self, loss: Any, variables: Any, grad_loss: Any) -> Any:
        """Of a function without arguments; where it executes.

        Args:
          loss: the function.
          variables: with respect to which; None: the trainable ones that it reads.
          grad_loss: gradient of what follows with respect to what it returns; None for ones.

        Returns:
          A gradient for each variable, and the variables.
        """
        raise NotImplementedError("the loss is a tensor where nodes are built")

    def custom_gradient(self, f: Any, inputs: Any) -> Any:
        """Runs a function that says what its gradient is; where it executes."""
        raise NotImplementedError(f"{f} is differentiated as nodes are")
