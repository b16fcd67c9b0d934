"""How layers are connected: each call whose inputs came from layers is noted as a ``Node``.

``tf.keras.Input`` begins such a chain; models are made from it.  Calls on other tensors are not
noted, and then a layer has no inputs or outputs to tell.

State: ``between_layers``, at most one function, which the room of such models puts there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.foundation.graph import nest
from penstock.library.layer_base import tensors
from penstock.library.variables.module import Module

# Notes what operations have made of layers' outputs, where models from ``tf.keras.Input`` are.
between_layers: list[Callable[[Any], None]] = []


class KerasHistory(NamedTuple):
    """Where a tensor came from: a layer, which of its calls, and which of that call's outputs."""

    layer: Any
    node_index: int
    tensor_index: int


class Node:
    """One noted call of a layer.

    Args:
      layer: the layer that was called.
      inputs, outputs: tensors or nestings of tensors.
      arguments: the other arguments of the call.
    """

    def __init__(self, layer: Any, inputs: Any, outputs: Any, arguments: dict[str, Any]) -> None:
        self.outbound_layer = layer
        self.input_tensors, self.output_tensors = inputs, outputs
        self.arguments = arguments
        # The inputs, and what else came from layers.
        self.sources: list[Any] = nest.flatten(inputs)
        self.sources += [t for t in nest.flatten(arguments) if tensors.history_of(t) is not None]
        self.origins: list[KerasHistory] = [tensors.history_of(t) for t in self.sources]
        self.inbound_layers = [origin.layer for origin in self.origins if origin is not None]

    def given(self, values: dict[int, Any]) -> tuple[Any, dict[str, Any]]:
        """Inputs and arguments with other values, by the ids of the tensors that they replace."""
        inputs = nest.map_structure(lambda one: values[id(one)], self.input_tensors)
        more = nest.map_structure(lambda one: values.get(id(one), one), self.arguments)
        return inputs, more

    @property
    def input_masks(self) -> Any:
        """The masks of the inputs."""
        return nest.map_structure(tensors.mask_of, self.input_tensors)

    @property
    def output_masks(self) -> Any:
        """The masks of the outputs."""
        return nest.map_structure(tensors.mask_of, self.output_tensors)

    @property
    def input_shapes(self) -> Any:
        """The shapes of the inputs, as tuples."""
        return nest.map_structure(_shape, self.input_tensors)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the outputs, as tuples."""
        return nest.map_structure(_shape, self.output_tensors)


def _shape(tensor: Any) -> Any:
    shape = tensor.shape
    return None if shape.ndims is None else tuple(shape.as_list())


def connect(layer: Any, inputs: Any, outputs: Any, arguments: dict[str, Any]) -> None:
    """Notes a call, with its layer, the layers before, and its outputs."""
    node = Node(layer, inputs, outputs, arguments)
    layer.inbound_nodes.append(node)
    for before in node.inbound_layers:
        before.outbound_nodes.append(node)
    at = len(layer.inbound_nodes) - 1
    for index, tensor in enumerate(nest.flatten(outputs)):
        tensors.set_history(tensor, KerasHistory(layer, at, index))


def connect_operations(values: Any) -> None:
    """Notes the operations that made values of layers' outputs as layers."""
    flat = nest.flatten(values)
    if any(tensors.history_of(one) is None for one in flat):
        for function in between_layers:
            function(flat)


def all_connected(inputs: Any) -> bool:
    """Whether all inputs came from layers, by way of ``tf.keras.Input``."""
    flat = nest.flatten(inputs)
    return bool(flat) and all(tensors.history_of(one) is not None for one in flat)


class Connected(Module):
    """What a layer can tell of its noted calls."""

    _inbound_nodes: list[Node]
    _outbound_nodes: list[Node]

    @property
    def name(self) -> str:
        """The layer's name."""
        return self._name

    @property
    def inbound_nodes(self) -> list[Node]:
        """Its noted calls."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        """The noted calls of other layers on its outputs."""
        return self._outbound_nodes

    def _calls_to_tell(self) -> list[Node]:
        """The calls that ``get_output_at`` and its like count."""
        return self._inbound_nodes

    def _at(self, node_index: int, attribute: str, what: str) -> Any:
        known = self._calls_to_tell()
        if not known:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not len(known) > node_index:
            raise ValueError(
                f"Asked to get {what} at node {node_index}, but the layer has only {len(known)}"
                " inbound nodes."
            )
        return _one(getattr(known[node_index], attribute))

    def get_input_at(self, node_index: int) -> Any:
        """The inputs of a noted call."""
        return self._at(node_index, "input_tensors", "input")

    def get_output_at(self, node_index: int) -> Any:
        """The outputs of a noted call."""
        return self._at(node_index, "output_tensors", "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shapes of the inputs of a noted call."""
        return self._at(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shapes of the outputs of a noted call."""
        return self._at(node_index, "output_shapes", "output shape")

    def get_input_mask_at(self, node_index: int) -> Any:
        """The masks of the inputs of a noted call."""
        return self._at(node_index, "input_masks", "input")

    def get_output_mask_at(self, node_index: int) -> Any:
        """The masks of the outputs of a noted call."""
        return self._at(node_index, "output_masks", "output")

    def _of_first_call(self, attribute: str, lacking: str) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(lacking)
        return _one(getattr(self._inbound_nodes[0], attribute))

    @property
    def input(self) -> Any:
        """The inputs of its only noted call."""
        lacking = f"Layer {self.name} is not connected, no input to return."
        return self._of_first_call("input_tensors", lacking)

    @property
    def output(self) -> Any:
        """The outputs of its only noted call."""
        return self._of_first_call("output_tensors", f"Layer {self.name} has no inbound nodes.")

    @property
    def input_mask(self) -> Any:
        """The masks of the inputs of its only noted call."""
        lacking = f"Layer {self.name} is not connected, no input to return."
        return self._of_first_call("input_masks", lacking)

    @property
    def output_mask(self) -> Any:
        """The masks of the outputs of its only noted call."""
        lacking = f"Layer {self.name} has no inbound nodes."
        return self._of_first_call("output_masks", lacking)

    @property
    def input_shape(self) -> Any:
        """The shapes of the inputs, if those of all noted calls are the same."""
        return self._common("input_shapes", "input shape")

    @property
    def output_shape(self) -> Any:
        """The shapes of the outputs, if those of all noted calls are the same."""
        return self._common("output_shapes", "output shape")

    def _common(self, attribute: str, what: str) -> Any:
        known = self._inbound_nodes
        if not known:
            raise AttributeError(f"The layer has never been called and thus has no defined {what}.")
        found = [getattr(node, attribute) for node in known]
        if any(str(one) != str(found[0]) for one in found):
            raise AttributeError(
                f'The layer "{self.name}" has multiple inbound nodes, with different {what}s.'
                f' Hence the notion of "{what}" is ill-defined for the layer. Use'
                f" `get_{what.replace(' ', '_')}_at(node_index)` instead."
            )
        return _one(found[0])


def _one(found: Any) -> Any:
    """The member of a list of one."""
    return found[0] if isinstance(found, list) and len(found) == 1 else found
