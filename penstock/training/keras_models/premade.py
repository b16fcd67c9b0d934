"""Whole models: ``LinearModel``, and ``WideDeepModel`` of such a one and a deep one."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import serialization
from penstock.library.keras.layers.dense import Dense
from penstock.library.layer_base import activations, initializers, regularizers
from penstock.library.layer_base.layer import Layer
from penstock.ops.nn import bias as biases
from penstock.training.keras_models import optimizers
from penstock.training.keras_models.model import Model


class LinearModel(Model):
    """``activation(sum of inputs @ kernels + bias)``.

    Args:
      units: size of the output.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      kernel_initializer, bias_initializer: of the weights.
      kernel_regularizer, bias_regularizer: functions of the weights whose results are losses.
      **kwargs: as of a model.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     model = tf.keras.experimental.LinearModel(kernel_initializer="zeros")
      ...     model.compile("sgd", "mse")
      ...     model.train_on_batch(np.ones([4, 2]), np.ones([4, 1]))
      np.float32(1.0)
    """

    def __init__(
        self, units: int = 1, activation: Any = None, use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None, bias_regularizer: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self.units, self.use_bias = units, use_bias
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)

    def build(self, input_shape: Any) -> None:
        """Makes a layer for each input, and ``bias`` [units]."""
        count = len(input_shape) if isinstance(input_shape, list) else 1
        self.dense_layers = [
            Dense(
                self.units, use_bias=False, kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer,
            )
            for _ in range(count)
        ]  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", shape=[self.units], initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, dtype=self.dtype, trainable=True,
            )  # fmt: skip
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The output for an input [batch, size], or a list of as many as there were at first.

        Raises:
          ValueError: another number of inputs.
        """
        given = inputs if isinstance(inputs, list | tuple) else [inputs]
        if len(given) != len(self.dense_layers):
            raise ValueError(
                f"Expected {len(self.dense_layers)} inputs, but got {len(given)} inputs"
            )
        made = [layer(one) for layer, one in zip(self.dense_layers, given, strict=True)]
        found = made[0]
        for one in made[1:]:
            found = found + one
        if self.bias is not None:
            found = biases.bias_add(found, self.bias)
        return found if self.activation is None else self.activation(found)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a model like this one."""
        return Layer.get_config(self) | {
            "units": self.units, "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The model that ``get_config`` describes, with new weights."""
        return cls(**config)


class WideDeepModel(Model):
    """The mean of a linear and a deep model, which are trained together.

    Its inputs are those of both, or a list of those of the linear and of the deep one. ``compile``
    takes two optimizers as well, for the linear and for the deep model.

    Args:
      linear_model: a ``LinearModel``.
      dnn_model: a model with outputs of the same shape.
      activation: function of the mean, or its name; None is none.
      **kwargs: as of a model.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     linear = tf.keras.experimental.LinearModel(kernel_initializer="zeros")
      ...     deep = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
      ...     model = tf.keras.experimental.WideDeepModel(linear, deep)
      ...     model.compile(["sgd", "adam"], "mse")
      ...     model.train_on_batch([np.ones([4, 2]), np.ones([4, 3])], np.ones([4, 1]))
      np.float32(1.0)

    Source: Cheng et al. 2016.
    """

    def __init__(
        self, linear_model: Any, dnn_model: Any, activation: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.linear_model, self.dnn_model = linear_model, dnn_model
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The mean of what the models make of their inputs."""
        pair = isinstance(inputs, list | tuple) and len(inputs) == 2
        wide, deep = inputs if pair else (inputs, inputs)
        found = 0.5 * (self.linear_model(wide) + self.dnn_model(deep))
        return self.activation(found) if self.activation else found

    def _optimizer_of(self, given: Any) -> Any:
        if isinstance(given, list | tuple):
            return [optimizers.get(one) for one in given]
        return optimizers.get(given)

    def _parts(self) -> list[tuple[Any, list[Any]]]:
        """The models' optimizers, and the weights that they train."""
        given = self.optimizer if isinstance(self.optimizer, list) else [self.optimizer] * 2
        models = (self.linear_model, self.dnn_model)
        return [
            (optimizer, model.trainable_weights)
            for optimizer, model in zip(given[:2], models, strict=True)
        ]

    def _optimizer_updates(self) -> list[Any]:
        return [
            made for optimizer, weights in self._parts()
            for made in optimizer.get_updates(self.total_loss, weights)
        ]  # fmt: skip

    def move(self, grads: list[Any], variables: list[Any]) -> None:
        """Moves each model's weights with its optimizer; see ``Model``."""
        found = {id(v): g for g, v in zip(grads, variables, strict=True)}
        for optimizer, weights in self._parts():
            moved = [(found[id(one)], one) for one in weights if id(one) in found]
            optimizer.apply_own_gradients(moved)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a model like this one."""
        return Layer.get_config(self) | {
            "linear_model": serialization.serialize(self.linear_model),
            "dnn_model": serialization.serialize(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The model that ``get_config`` describes, with new weights."""
        given = dict(config)
        parts = {
            name: serialization.deserialize(given.pop(name), custom_objects)
            for name in ("linear_model", "dnn_model")
        }
        return cls(**parts, **given)


serialization.CLASSES.update(LinearModel=LinearModel, WideDeepModel=WideDeepModel)
