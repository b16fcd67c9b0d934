"""``Network``: layers as one layer, made from tensors, or by a subclass that has a ``call``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import nest, scopes
from penstock.library.layer_base import calls, connections, tensors
from penstock.library.layer_base.layer import Layer
from penstock.training.keras_models import (
    configuration,
    connected_layers,
    model_files,
    op_layers,
    reading,
    saved_functions,
    saved_models,
    summaries,
    weight_files,
)


class Network(Layer):
    """Layers as one layer, without training; ``Model`` adds it.

    Args:
      inputs, outputs: tensors, or lists or dicts of them; none of both for a subclass.
      name: default the class's in snake case.
    """

    inputs: Any
    outputs: Any
    input_names: list[str]
    output_names: list[str]
    is_graph: bool
    _nested_inputs: Any
    _nested_outputs: Any
    _network_nodes: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(("inputs", "outputs", "name"), args, strict=False)) | kwargs
        functional = "inputs" in given
        super().__init__(
            name=given.get("name"),
            trainable=given.get("trainable", True), dtype=given.get("dtype"),
        )  # fmt: skip
        self.__dict__.update(is_graph=False, inputs=None, outputs=None, supports_masking=False)
        if functional:
            self._init_graph(given["inputs"], given["outputs"])

    def _init_graph(self, inputs: Any, outputs: Any) -> None:
        """Takes in the layers between tensors."""
        flat_in, flat_out = nest.flatten(inputs), nest.flatten(outputs)
        if len({id(one) for one in flat_in}) != len(flat_in):
            raise ValueError(
                "The list of inputs passed to the model is redundant. All inputs should only appear"
                f" once. Found: {flat_in}"
            )
        for one in flat_in:
            if tensors.history_of(one) is None:
                raise ValueError(
                    f"Input tensors to a {type(self).__name__} must come from `tf.keras.Input`."
                    f" Received: {one} (missing previous layer metadata)."
                )
        op_layers.connect_operations(flat_out)
        found = connected_layers.between(flat_in, flat_out)
        counts: dict[str, int] = {}
        for layer in found.layers:
            counts[layer.name] = counts.get(layer.name, 0) + 1
            if counts[layer.name] > 1:
                raise ValueError(
                    f'The name "{layer.name}" is used 2 times in the model. All layer names should'
                    " be unique."
                )
        of_inputs = [tensors.history_of(one).layer for one in flat_in]
        self.__dict__.update(
            is_graph=True, built=True, inputs=flat_in, outputs=flat_out,
            _nested_inputs=inputs, _nested_outputs=outputs, _layers=list(found.layers),
            _network_nodes=found.nodes, supports_masking=True,
            input_names=[layer.name for layer in of_inputs],
            output_names=_output_names(flat_out), _call_parameters=None,
        )  # fmt: skip
        self.__dict__.pop("_call_parameters")
        self._track(found.layers)

    def _track(self, layers: list[Any]) -> None:
        """Checkpoints of the model have its layers and, once it is compiled, its optimizer."""
        kept = [pair for pair in self._checkpoint_dependencies if pair[0] == "optimizer"]
        self.__dict__["_checkpoint_dependencies"] = [*layers_by_name(layers), *kept]

    # ---- what it has ---------------------------------------------------------------------------

    @property
    def layers(self) -> list[Any]:
        """Its layers, in the order in which they are called."""
        return self._inner_layers()

    @property
    def all_layers(self) -> list[Any]:
        """Its layers, with those of the inputs."""
        return self._inner_layers()

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer, by its name or its number.

        Raises:
          ValueError: there is none.
        """
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has"
                    f" {len(self.layers)} layers."
                )
            return self.layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    def _check_made(self) -> None:
        """Refuses to tell weights that are still to come.

        Raises:
          ValueError: the class has a ``build`` that did not run.
        """
        if not weights_made(self):
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created when"
                " the Model is first called on inputs or `build()` is called with an"
                " `input_shape`."
            )

    @property
    def trainable_weights(self) -> list[Any]:
        """Its trainable variables.

        Raises:
          ValueError: they are still to be made.
        """
        self._check_made()
        return super().trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Its other variables.

        Raises:
          ValueError: they are still to be made.
        """
        self._check_made()
        return super().non_trainable_weights

    @property
    def weights(self) -> list[Any]:
        """All its variables, layer by layer, then its own.

        Raises:
          ValueError: they are still to be made.
        """
        self._check_made()
        own = [*self._trainable_weights, *self._non_trainable_weights]
        return [*self._of_inner("weights"), *own]

    @property
    def input(self) -> Any:
        """The tensor that it is fed, or all of them."""
        return only(self.inputs) if self.is_graph else super().input

    @property
    def output(self) -> Any:
        """The tensor that it makes, or all of them."""
        return only(self.outputs) if self.is_graph else super().output

    @property
    def input_shape(self) -> Any:
        """The shape of ``input``."""
        if not self.is_graph:
            return super().input_shape
        return only([tuple(one.shape.as_list()) for one in self.inputs])

    @property
    def output_shape(self) -> Any:
        """The shape of ``output``."""
        if not self.is_graph:
            return super().output_shape
        return only([tuple(one.shape.as_list()) for one in self.outputs])

    @property
    def stateful(self) -> bool:  # type: ignore[override]
        """Whether a layer's states go on from batch to batch."""
        return any(getattr(layer, "stateful", False) for layer in self.layers)

    @property
    def state_updates(self) -> list[Any]:
        """The updates of stateful layers."""
        return [u for layer in self.layers if layer.stateful for u in layer.updates]

    def reset_states(self) -> None:
        """Sets the states of stateful layers to zero."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    # ---- what it tells beside its outputs ------------------------------------------------------

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses; one of the tensors between its layers is a layer of its own from then on.

        Args:
          losses, inputs: as of a layer.

        Raises:
          ValueError: where calls run, a value: it would be the same for all inputs.
        """
        rest = []
        for loss in nest.flatten(losses):
            if calls.current_call() is not None:
                rest.append(loss)
            elif self._holds(loss):
                self._insert(op_layers.AddLoss(inputs is None)(loss))
            elif scopes.get_default_graph().executes and loss is not None and not callable(loss):
                raise ValueError(
                    "Expected a symbolic Tensors or a callable for the loss value. Please wrap your"
                    f" loss computation in a zero argument `lambda`; found {loss!r}"
                )
            else:
                rest.append(loss)
        if rest:
            super().add_loss(rest, inputs)

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> None:
        """Adds a value that is told with the losses; see ``Layer.add_metric``.

        Raises:
          ValueError: there is no name, or another aggregation than "mean".
        """
        if tensors.metric_of(value) is None and aggregation == "mean" and self._holds(value):
            self._insert(op_layers.AddMetric(aggregation, name)(value))
        else:
            super().add_metric(value, aggregation, name)

    def _holds(self, value: Any) -> bool:
        outside = calls.current_call() is None
        return bool(self.is_graph and outside and op_layers.comes_from_layers(value))

    def _insert(self, tensor: Any) -> None:
        """Makes what a layer made of its tensors a part of it that is no output."""
        more = [*self.__dict__.get("_told", ()), tensor]
        found = connected_layers.between(self.inputs, [*self.outputs, *more])
        layers = list(dict.fromkeys([*self._layers, *found.layers]))
        self.__dict__.update(_told=more, _layers=layers, _network_nodes=found.nodes)
        self._track(layers)

    # ---- calls ---------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Nothing is to be made before the call; the layers do so themselves."""
        self.__dict__["built"] = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """What the layers make of other inputs.

        Raises:
          NotImplementedError: a subclass gives no ``call``.
        """
        if not self.is_graph:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a"
                                      " `call` method.")  # fmt: skip
        if isinstance(inputs, dict) and not isinstance(self._nested_inputs, dict):
            inputs = [inputs[name] for name in self.input_names]
        given = nest.flatten(inputs)
        for one, its_mask in zip(given, nest.flatten(mask), strict=False):
            if its_mask is not None:
                tensors.set_mask(one, its_mask)
        values = dict(zip((id(one) for one in self.inputs), given, strict=True))
        for node in self._network_nodes:
            if all(id(one) in values for one in nest.flatten(node.output_tensors)):
                continue
            called, arguments = node.given(values)
            if "training" in node.outbound_layer.call_arguments and training is not None:
                arguments.setdefault("training", training)
            made = node.outbound_layer(called, **arguments)
            for old, new in zip(nest.flatten(node.output_tensors), nest.flatten(made), strict=True):
                values[id(old)] = new
        return nest.map_structure(lambda one: values[id(one)], self._nested_outputs)

    def _calls_to_tell(self) -> list[connections.Node]:
        # Keras counts the making of a model as its first call.
        made = [connections.Node(self, self.inputs, self.outputs, {})] if self.is_graph else []
        return [*made, *super()._calls_to_tell()]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks that layers give with the outputs for such inputs; None of a subclass."""
        if not self.is_graph:
            return None
        return nest.map_structure(tensors.mask_of, self.call(inputs, mask=mask))

    def _set_masks(self, inputs: Any, outputs: Any, masks: Any) -> None:
        if not self.is_graph:  # else the layers have noted them as they made the outputs
            super()._set_masks(inputs, outputs, masks)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output, as of the tensors that it was made from."""
        return self.output_shape

    # ---- its description -----------------------------------------------------------------------

    def summary(
        self, line_length: int | None = None, positions: Sequence[float] | None = None,
        print_fn: Callable[[str], Any] | None = None,
    ) -> None:  # fmt: skip
        """Prints its layers, their shapes and numbers of parameters.

        Args:
          line_length: columns; default 65, or 98 where layers have several inputs.
          positions: where the columns end, in parts of a line.
          print_fn: takes the lines; default ``print``.

        Raises:
          ValueError: the model was not built.
        """
        summaries.print_summary(self, line_length, positions, print_fn)

    def get_config(self) -> dict[str, Any]:
        """What makes a model like this one.

        Raises:
          NotImplementedError: a subclass, whose ``call`` is code.
        """
        if not self.is_graph:
            raise NotImplementedError
        return configuration.of_network(self)

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """The model that ``get_config`` describes, with new weights."""
        return configuration.network_from(cls, config, custom_objects)

    def to_yaml(self) -> str:
        """The configuration as YAML; ``tf.keras.models.model_from_yaml`` reads it."""
        return reading.as_yaml(json.loads(self.to_json()))

    def to_json(self, **kwargs: Any) -> str:
        """The configuration as JSON; ``tf.keras.models.model_from_json`` reads it."""
        described = {
            "class_name": type(self).__name__, "config": self.get_config(),
            "keras_version": "2.2.4-tf", "backend": "tensorflow",
        }  # fmt: skip
        return json.dumps(described, default=configuration.plain, **kwargs)

    def functions_to_save(self) -> dict[str, Any]:
        """What ``tf.saved_model.save`` writes of its calls."""
        return saved_functions.functions_of(self)

    def metadata_to_save(self) -> str:
        """What ``tf.saved_model.save`` writes with it, to make it anew."""
        return saved_models.description(self)

    def parts_to_save(self) -> list[tuple[str, Any]]:
        """What ``tf.saved_model.save`` writes of it beside what a checkpoint has."""
        return [
            ("regularization_losses", []),
            ("trainable_variables", list(self.trainable_weights)),
            ("variables", list(self.weights)),
        ]

    # ---- its weights ---------------------------------------------------------------------------

    def get_weights(self) -> list[Any]:
        """The values of all weights, layer by layer.

        Raises:
          ValueError: they are still to be made.
        """
        self._check_made()
        return [value for layer in self.layers for value in layer.get_weights()]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Gives all weights values, layer by layer.

        Raises:
          ValueError: their number or shapes are others.
        """
        rest = list(weights)
        own = [layer.weights for layer in self.layers]
        if sum(map(len, own)) != len(rest):
            super().set_weights(rest)  # which says what is wrong
        for layer, held in zip(self.layers, own, strict=True):
            layer.set_weights(rest[: len(held)])
            del rest[: len(held)]

    def save_weights(
        self, filepath: str, overwrite: bool = True, save_format: str | None = None
    ) -> None:
        """Writes the weights, as a checkpoint of TensorFlow's format or as HDF5.

        Args:
          filepath: prefix of the files, or the HDF5 file.
          overwrite: must be True.
          save_format: ``"tf"`` or ``"h5"``; default by the path's ending, ``.h5``.

        Raises:
          ImportError: HDF5 is asked for, and h5py is not installed.
        """
        weight_files.save(self, filepath, save_format)

    def save(
        self, filepath: str, overwrite: bool = True, include_optimizer: bool = True,
        save_format: str | None = None, signatures: Any = None,
    ) -> None:  # fmt: skip
        """Writes the model, its weights and its training; see ``tf.keras.models.save_model``."""
        model_files.save_model(
            self, filepath, overwrite, include_optimizer, save_format, signatures
        )

    def load_weights(self, filepath: str, by_name: bool = False) -> Any:
        """Reads weights that ``save_weights`` wrote.

        Args:
          filepath: prefix of the files, or the HDF5 file.
          by_name: whether layers are found by their names and not in order; only for HDF5.

        Raises:
          ImportError: the file is HDF5, and h5py is not installed.
          ValueError: it has other layers.
        """
        return weight_files.load(self, filepath, by_name)


def each_once(weights: Sequence[Any]) -> list[Any]:
    """The weights, but for those that stood before: of layers that are in several models."""
    return list({id(one): one for one in weights}.values())


def weights_made(layer: Any) -> bool:
    """Whether a layer tells its weights: a model whose class has a ``build`` needs that first."""
    if not isinstance(layer, Network) or layer.is_graph or "build" not in type(layer).__dict__:
        return True
    return layer.built


def layers_by_name(layers: Sequence[Any]) -> list[tuple[str, Any]]:
    """Layers as checkpoints name them: those with weights counted apart, and all of them."""
    found = []
    weighted = 0
    for number, layer in enumerate(layers):
        if weights_made(layer) and layer.weights:
            found.append((f"layer_with_weights-{weighted}", layer))
            weighted += 1
        found.append((f"layer-{number}", layer))
    return found


def only(found: list[Any]) -> Any:
    """The member of a list of one; the list of more."""
    return found[0] if len(found) == 1 else found


def _output_names(outputs: list[Any]) -> list[str]:
    """The names of the layers of the outputs, with a number where one comes again."""
    counts: dict[str, int] = {}
    found = []
    for one in outputs:
        name = tensors.history_of(one).layer.name
        counts[name] = counts.get(name, -1) + 1
        found.append(f"{name}_{counts[name]}" if counts[name] else name)
    return found
