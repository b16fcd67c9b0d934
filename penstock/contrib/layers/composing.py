"""Layers one after another: ``repeat`` and ``stack``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.variables.scoping import variable_scope


def _name(layer: Any, wanted: str) -> str:
    if hasattr(layer, "__name__"):
        return str(layer.__name__)
    if hasattr(layer, "func") and hasattr(layer.func, "__name__"):
        return str(layer.func.__name__)
    return wanted


@add_arg_scope
def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """The same layer several times, each with variables of its own.

    Args:
      inputs: input of the first.
      repetitions: how many.
      layer: a function such as ``conv2d``, called with ``scope``.
      *args, **kwargs: its other arguments; ``scope`` names the variable scope of all, and is by
        default the layer's name.

    Returns:
      The output of the last.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layers = tf.contrib.layers
      ...     _ = layers.repeat(tf.ones([1, 8, 8, 3]), 2, layers.conv2d, 4, 3, scope="conv1")
      ...     [v.name for v in tf.trainable_variables()][::2]
      ['conv1/conv1_1/weights:0', 'conv1/conv1_2/weights:0']
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        inputs = convert_to_tensor(inputs)
        scope = _name(layer, "repeat") if scope is None else scope
        outputs = inputs
        for index in range(repetitions):
            outputs = layer(outputs, *args, scope=f"{scope}_{index + 1}", **kwargs)
        return outputs


@add_arg_scope
def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """One layer several times, each with other arguments and with variables of its own.

    Args:
      inputs: input of the first.
      layer: a function such as ``fully_connected``, called with ``scope``.
      stack_args: for each, its argument or a list of its arguments after the input.
      **kwargs: arguments of all; ``scope`` names the variable scope of all, and is by default the
        layer's name.

    Returns:
      The output of the last.

    Raises:
      ValueError: ``stack_args`` is no list or tuple.
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, list | tuple):
        raise ValueError(f"stack_args need to be a list or tuple; found {stack_args!r}")
    with variable_scope(scope, "Stack", [inputs]):
        inputs = convert_to_tensor(inputs)
        scope = _name(layer, "stack") if scope is None else scope
        outputs = inputs
        for index, given in enumerate(stack_args):
            arguments = given if isinstance(given, list | tuple) else [given]
            outputs = layer(outputs, *arguments, scope=f"{scope}_{index + 1}", **kwargs)
        return outputs
