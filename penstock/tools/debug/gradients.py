"""Getting at the gradients that ``tf.gradients`` and optimizers make inside.

State of a debugger: for each watched tensor's name the tensor of its gradient, once it is made.
The graph keeps, by node name, whom to tell (``penstock.ops.control.debug_gradient``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import build
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.control.debug_gradient import LISTENERS


class GradientsDebugger:
    """Collects the gradients of tensors as they are made.

    Args:
      y_tensor: the tensor that will be differentiated; only its graph is looked at.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.constant(3.0)
      ...     debugger = GradientsDebugger()
      ...     square = debugger.identify_gradient(tf.square(x))
      ...     grad, = tf.gradients(square * 2.0, x)
      ...     with tf.Session() as sess:
      ...         sess.run(debugger.gradient_tensor("Square:0"))
      np.float32(2.0)
    """

    def __init__(self, y_tensor: Tensor | None = None) -> None:
        self._y = y_tensor
        self._graph = y_tensor.graph if y_tensor is not None else None
        self._gradients: dict[str, Any] = {}
        self._active = True

    @property
    def y_tensor(self) -> Tensor | None:
        """The tensor that will be differentiated."""
        return self._y

    @property
    def graph(self) -> Graph | None:
        """The graph; None while no tensor of one was named."""
        return self._graph

    def __enter__(self) -> GradientsDebugger:
        self._active = True
        return self

    def __exit__(self, *exc: Any) -> None:
        self._active = False

    def identify_gradient(self, input_tensor: Tensor) -> Tensor:
        """A tensor equal to ``input_tensor`` whose gradient is noted under the input's name.

        Args:
          input_tensor: the tensor whose gradient is wanted.

        Returns:
          The tensor to go on with in its place.
        """
        is_ref = input_tensor.dtype.is_ref
        kind = "DebugGradientRefIdentity" if is_ref else "DebugGradientIdentity"
        name = f"gradient_debug_{input_tensor.op.name.replace('/', '_')}"
        with input_tensor.graph.as_default():
            made: Tensor = build.make(kind, input_tensor, name=name)
        self._graph = input_tensor.graph
        listeners = made.graph.attached.setdefault(LISTENERS, {})
        listeners[made.op.name] = self._noting(input_tensor.name)
        return made

    def _noting(self, name: str) -> Callable[[Any], None]:
        def note(gradient: Any) -> None:
            if self._active:
                self.register_gradient_tensor(name, gradient)

        return note

    def watch_gradients_by_tensors(
        self, graph: Graph, tensors: Tensor | Sequence[Tensor]
    ) -> GradientsDebugger:
        """Notes the gradients of tensors that are in the graph already.

        The consumers that they have now take an identity in their place.

        Args:
          graph: the graph.
          tensors: one tensor, or several.

        Returns:
          This debugger, to be used as a context manager around the making of the gradients.
        """
        self._active = False
        for tensor in [tensors] if isinstance(tensors, Tensor) else tensors:
            consumers = tensor.consumers()
            identity = self.identify_gradient(tensor)
            for op in consumers:
                for index, taken in enumerate(op.inputs):
                    if taken is tensor:
                        op._update_input(index, identity)
        return self

    def watch_gradients_by_tensor_names(
        self, graph: Graph, tensor_name_regex: str
    ) -> GradientsDebugger:
        """``watch_gradients_by_tensors`` for the floating tensors whose names begin with a match.

        Raises:
          ValueError: there is no such tensor.
        """
        found = [
            t
            for op in graph.get_operations()
            for t in op.outputs
            if re.match(tensor_name_regex, t.name)
            and (t.dtype.base_dtype.is_floating or t.dtype.base_dtype == dtypes.complex64)
        ]
        if not found:
            raise ValueError(f"no floating tensor's name matches {tensor_name_regex!r}")
        return self.watch_gradients_by_tensors(graph, found)

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: Any) -> None:
        """Notes a gradient.

        Args:
          x_tensor_name: name of the tensor that it is the gradient of.
          gradient_tensor: the gradient.

        Raises:
          ValueError: there is another one already; use one debugger a differentiation.
        """
        if x_tensor_name in self._gradients:
            raise ValueError(f"{x_tensor_name!r} has a gradient already; use a debugger of its own")
        self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Tensor | str) -> Any:
        """The gradient of a watched tensor.

        Args:
          x_tensor: the tensor, or its name.

        Returns:
          The tensor of its gradient.

        Raises:
          LookupError: none was made.
        """
        name = x_tensor if isinstance(x_tensor, str) else x_tensor.name
        if name not in self._gradients:
            raise LookupError(
                f"no gradient of {name!r} was made; there are {list(self._gradients)}"
            )
        return self._gradients[name]

    def gradient_tensors(self) -> dict[str, Any]:
        """All gradients, by name of the tensor that each is of."""
        return dict(self._gradients)
