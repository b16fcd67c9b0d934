"""``clone_model``: the same layers anew, with weights of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import nest
from penstock.library.layer_base import configs, tensors
from penstock.training.keras_models.input_layer import Input, InputLayer
from penstock.training.keras_models.network import only
from penstock.training.keras_models.sequential import Sequential, given_layer
from penstock.training.keras_models.wrapped_optimizer import TFOptimizer


def clone_model(
    model: Any, input_tensors: Any = None, clone_function: Callable[[Any], Any] | None = None
) -> Any:
    """A model of the same configuration, whose weights are made anew.

    Args:
      model: a Sequential, or a model that was made from tensors.
      input_tensors: tensors that stand in the place of its inputs, one or a list; default new
        placeholders.
      clone_function: makes a layer of a layer; default from its configuration.

    Returns:
      The model.

    Raises:
      ValueError: a subclass of ``Model``, whose ``call`` is code; or ``clone_function`` cannot be
        called.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[3])])
      ...     tf.keras.models.clone_model(model).output_shape
      (None, 2)
    """
    make = clone_function or _anew
    if not callable(make):
        raise ValueError("Expected `clone_function` argument to be a callable.")
    if isinstance(model, Sequential):
        return _sequential(model, input_tensors, make)
    if not model.is_graph:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass"
            " model instead."
        )
    return _functional(model, input_tensors, make)


def _anew(layer: Any) -> Any:
    return layer.__class__.from_config(layer.get_config())


def _input_for(tensor: Any, given: Any) -> Any:
    """An input like ``tensor``, which is ``given`` where there is such."""
    layer = tensors.history_of(tensor).layer
    if given is None:
        return Input(batch_shape=tensor.shape.as_list(), dtype=tensor.dtype.name, name=layer.name)
    if tensors.history_of(given) is not None:
        return given
    return Input(tensor=given, name=f"input_wrapper_for_{layer.name}")


def _sequential(model: Any, input_tensors: Any, make: Callable[[Any], Any]) -> Any:
    layers = [make(layer) for layer in model.layers]
    if input_tensors is None:
        made = Sequential(layers=layers, name=model.name)
        if model.is_graph and not made.is_graph:
            made.build(model.input_shape)
        return made
    flat = nest.flatten(input_tensors)
    if len(flat) != 1:
        raise ValueError(f"A Sequential takes one input tensor; {len(flat)} were given")
    return Sequential(
        layers=[given_layer(_input_for(model.inputs[0], flat[0])), *layers], name=model.name
    )


def _functional(model: Any, input_tensors: Any, make: Callable[[Any], Any]) -> Any:
    given: Sequence[Any] = nest.flatten(input_tensors) if input_tensors is not None else ()
    given = given or [None] * len(model.inputs)
    inputs = [_input_for(one, own) for one, own in zip(model.inputs, given, strict=True)]
    values = {id(old): new for old, new in zip(model.inputs, inputs, strict=True)}
    layers: dict[int, Any] = {}
    for node in model._network_nodes:
        layer = node.outbound_layer
        if isinstance(layer, InputLayer):
            continue
        if id(layer) not in layers:
            layers[id(layer)] = make(layer)
        called, arguments = node.given(values)
        found = layers[id(layer)](called, **arguments)
        for old, new in zip(nest.flatten(node.output_tensors), nest.flatten(found), strict=True):
            values[id(old)] = new
    outputs = [values[id(one)] for one in model.outputs]
    return type(model)(inputs=only(inputs), outputs=only(outputs), name=model.name)


def clone_and_build_model(
    model: Any, input_tensors: Any = None, target_tensors: Any = None, custom_objects: Any = None,
    compile_clone: bool = True, in_place_reset: bool = False, optimizer_iterations: Any = None,
    optimizer_config: Any = None,
) -> Any:  # fmt: skip
    """A model of the same configuration, compiled as the model was.

    Args:
      model: a Sequential, a model that was made from tensors, or, with ``in_place_reset``, a
        subclass of ``Model``.
      input_tensors: tensors that stand in the place of its inputs.
      target_tensors: tensors that stand in the place of its targets.
      custom_objects: classes and functions of layers, by name.
      compile_clone: whether the new model is compiled.
      in_place_reset: whether a subclass may itself be made anew; ``restore_in_place`` undoes it.
      optimizer_iterations: the variable that counts the optimizer's steps.
      optimizer_config: of the new optimizer; default that of the model's.

    Returns:
      The model.

    Raises:
      ValueError: the model is to be compiled and was not, or it is a subclass and may not be reset.
      NotImplementedError: a subclass of ``Model``.
    """
    source = model.optimizer
    if compile_clone and not source:
        raise ValueError(
            "Error when cloning model: compile_clone was set to True, but the original model has"
            " not been compiled."
        )
    if not model.is_graph and not isinstance(model, Sequential):
        if not in_place_reset:
            raise ValueError(
                "This model is a subclassed model. Such a model cannot be cloned, but there is a"
                " workaround where the model is reset in-place. Set in_place_reset=True to use it"
            )
        raise NotImplementedError("a subclass of tf.keras.Model is not made anew in its place")
    with configs.custom_object_scope(custom_objects or {}):
        clone = clone_model(model, input_tensors)
    if not compile_clone:
        return clone
    if isinstance(source, TFOptimizer):
        optimizer: Any = TFOptimizer(source.optimizer, optimizer_iterations)
    else:
        optimizer = type(source).from_config(optimizer_config or source.get_config())
        if optimizer_iterations is not None:
            optimizer.set_iterations(optimizer_iterations)
    clone.compile(
        optimizer, model.loss, metrics=model.asked_metrics, loss_weights=model.loss_weights,
        weighted_metrics=model.asked_weighted_metrics, sample_weight_mode=model.sample_weight_mode,
        target_tensors=target_tensors,
    )  # fmt: skip
    return clone


def restore_in_place(model: Any) -> None:
    """Undoes what ``clone_and_build_model`` did to a subclass of ``Model``: nothing."""
