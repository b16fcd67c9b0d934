"""Layers without weights that rearrange, mask or check what passes through."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.foundation.base import shapes
from penstock.library.keras.layers import function_code, windows
from penstock.library.keras.layers.dropout import Dropout
from penstock.library.layer_base import activations, configs, regularizers, tensors
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import cast, nodes, reshape, squeeze, tile, transpose
from penstock.ops.math import comparison, reductions


class Activation(Layer):
    """A function of every element.

    Args:
      activation: the function, or its name.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.Activation("relu")(tf.zeros([2])).name
      'activation/Relu:0'
    """

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        """The function's value."""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"activation": activations.serialize(self.activation)}


class Reshape(Layer):
    """Another shape for each example.

    Args:
      target_shape: dims without the batch; one may be -1.
      **kwargs: as of a layer.
    """

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        """The reshaped input."""
        batch = nodes.element(nodes.shape(inputs), 0)
        return reshape.reshape(inputs, (batch, *self.target_shape))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        batch, *dims = shapes.as_shape(input_shape).as_list()
        made: list[Any]
        if None in dims:
            made = [d if d != -1 else None for d in self.target_shape]
        else:
            made = self._filled(dims)
        return shapes.TensorShape([batch, *made])

    def _filled(self, dims: list[Any]) -> list[int]:
        known = math.prod(d for d in self.target_shape if d >= 0)
        size = math.prod(dims)
        text = "total size of new array must be unchanged"
        if sum(d < 0 for d in self.target_shape) > 1:
            raise ValueError("Can only specify one unknown dimension.")
        if -1 in self.target_shape:
            if known == 0 or size % known:
                raise ValueError(text)
            return [size // known if d < 0 else d for d in self.target_shape]
        if known != size:
            raise ValueError(text)
        return list(self.target_shape)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"target_shape": self.target_shape}


class Permute(Layer):
    """The dims of each example in another order.

    Args:
      dims: the order, counted from 1.
      **kwargs: as of a layer.
    """

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in"
                " `dims` must be consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        """The transposed input."""
        return transpose.transpose(inputs, perm=(0, *self.dims))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        known = shapes.as_shape(input_shape).as_list()
        return shapes.TensorShape([known[0], *(known[d] for d in self.dims)])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"dims": self.dims}


class RepeatVector(Layer):
    """Each row as a sequence of ``n`` equal steps.

    Args:
      n: number of steps.
      **kwargs: as of a layer.
    """

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        """[batch, n, size]."""
        wide = reshape.expand_dims(inputs, 1)
        return tile.tile(wide, nodes.pack([1, self.n, 1], "stack"))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        batch, size = shapes.as_shape(input_shape).as_list()
        return shapes.TensorShape([batch, self.n, size])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"n": self.n}


class Lambda(Layer):
    """Any function as a layer.

    Args:
      function: of the inputs; may take ``mask`` and ``training``.
      output_shape: dims without the batch, or a function of the input's shape.
      mask: the mask of the output, or a function of inputs and mask.
      arguments: more arguments of the function.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.Lambda(lambda x: x * 2.0)(tf.ones([3])).name
      'lambda/mul:0'
    """

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.function, self.arguments = function, arguments or {}
        self.mask, self._output_shape = mask, output_shape
        if mask is not None:
            self.supports_masking = True
        self.__dict__["_call_parameters"] = _parameters_of(function)

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """What the function returns."""
        more = dict(self.arguments)
        if "mask" in self.call_arguments:
            more["mask"] = mask
        if "training" in self.call_arguments:
            more["training"] = training
        return self.function(inputs, **more)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask given with the layer."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input.

        Raises:
          NotImplementedError: the layer was not told.
        """
        if self._output_shape is None:
            raise NotImplementedError(
                f"the output's shape of the Lambda layer {self.name} was not given: output_shape"
            )
        if callable(self._output_shape):
            return shapes.as_shape(self._output_shape(input_shape))
        batch = shapes.as_shape(input_shape).as_list()[0]
        return shapes.TensorShape([batch, *self._output_shape])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one; functions are written as their code."""
        config: dict[str, Any] = dict(super().get_config())
        function, kind, module = function_code.described(self.function)
        shape, shape_kind, shape_module = function_code.described(self._output_shape)
        return config | {
            "function": function, "function_type": kind, "module": module,
            "output_shape": shape, "output_shape_type": shape_kind,
            "output_shape_module": shape_module, "arguments": self.arguments,
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer that ``get_config`` describes; the code in it is that of the layer."""
        given = dict(config)
        known = configs.custom_objects
        for name, module in (("function", "module"), ("output_shape", "output_shape_module")):
            told = given[name], given.pop(f"{name}_type"), given.pop(module)
            given[name] = function_code.restored(*told, known)
        return cls(**given)


def _parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    found: dict[str, Any] = {"inputs": None}
    return found | {name: None for name in names[1:] if name in ("mask", "training")}


class Masking(Layer):
    """Masks the steps whose features all equal a value.

    Args:
      mask_value: the value.
      **kwargs: as of a layer.
    """

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True where a step counts."""
        return reductions.reduce_any(comparison.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        """The input, zero where it is masked."""
        counts = reductions.reduce_any(
            comparison.not_equal(inputs, self.mask_value), axis=-1, keepdims=True
        )
        outputs = inputs * cast.cast(counts, inputs.dtype)
        tensors.set_mask(outputs, squeeze.squeeze(counts, axis=-1))
        return outputs

    def _set_masks(self, inputs: Any, outputs: Any, masks: Any) -> None:
        """``call`` has noted the mask."""

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"mask_value": self.mask_value}


class ActivityRegularization(Layer):
    """Adds ``l1 * sum|x| + l2 * sum x**2`` of its input to the losses.

    Args:
      l1, l2: factors.
      **kwargs: as of a layer.
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1, self.l2 = l1, l2

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"l1": self.l1, "l2": self.l2}


class SpatialDropout1D(Dropout):
    """Drops whole channels of sequences; arguments as of ``Dropout``."""

    _rank = 1

    def __init__(self, rate: Any, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.data_format = windows.data_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def _get_noise_shape(self, inputs: Any) -> Any:
        dims = nodes.shape(inputs)
        axis = 1 if self.data_format == "channels_first" else self._rank + 1
        ones = (1,) * self._rank
        batch, channels = nodes.element(dims, 0), nodes.element(dims, axis)
        return (batch, channels, *ones) if axis == 1 else (batch, *ones, channels)


class SpatialDropout2D(SpatialDropout1D):
    """Drops whole channels of images."""

    _rank = 2


class SpatialDropout3D(SpatialDropout1D):
    """Drops whole channels of volumes."""

    _rank = 3
