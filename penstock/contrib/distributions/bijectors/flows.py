"""Flows: bijectors of vectors the parts of which networks shift and scale by other parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.contrib.distributions.bijectors.bijector import Bijector
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library import layers
from penstock.library.control_flow.while_loop import while_loop
from penstock.library.variables.initializers import glorot_normal_initializer
from penstock.library.variables.template import make_template
from penstock.ops.array import join, reshape, shape, split, squeeze
from penstock.ops.control import control
from penstock.ops.math import clip, elementwise, reduction
from penstock.ops.nn.activation import relu

# Of which any arguments may be handed on.
_DENSE_LAYER: Any = layers.Dense
_DENSE: Any = layers.dense
_UNKNOWN = "Rightmost dimension must be known prior to graph execution."


def _depth(x: Any) -> int:
    """The size of the last dim.

    Raises:
      NotImplementedError: it is not known.
    """
    depth = None if x.shape.ndims is None else x.shape.as_list()[-1]
    if depth is None:
        raise NotImplementedError(_UNKNOWN)
    return int(depth)


def _mask(num_blocks: Any, rows: int, columns: int, exclusive: bool) -> Any:
    """The ``[rows, columns]`` weights of which are kept: those from earlier blocks to later ones.

    A block of inputs reaches its own block of outputs, too, unless ``exclusive``.
    """
    kept = np.zeros([rows, columns])
    height, width = rows // num_blocks, columns // num_blocks
    for block in range(num_blocks):
        first = (block + exclusive) * width
        kept[block * height : (block + 1) * height, first:] = 1
    return kept


def masked_dense(
    inputs: Any,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: Any = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A dense layer in which a block of outputs depends on earlier blocks of inputs only.

    Args:
      inputs: ``[..., d]``.
      units: number of outputs.
      num_blocks: number of blocks that inputs and outputs are divided into.
      exclusive: whether a block of outputs does not depend on the same block of inputs.
      kernel_initializer: initializer of the weights; Glorot's normal one by default.
      reuse: whether variables of the same name are used again.
      args, kwargs: more of ``tf.layers.Dense``.

    Returns:
      A tensor ``[..., units]``.

    Raises:
      NotImplementedError: the last dim of ``inputs`` is not known.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     bijectors = tf.contrib.distributions.bijectors
      ...     bijectors.masked_dense(tf.zeros([5, 2]), 4, num_blocks=2).shape
      TensorShape([Dimension(5), Dimension(4)])

    Source: Germain, M. et al. "MADE: masked autoencoder for distribution estimation". ICML 2015.
    """
    inputs = convert_to_tensor(inputs)
    mask = _mask(num_blocks, _depth(inputs), units, exclusive)
    initializer = kernel_initializer or glorot_normal_initializer()

    def masked(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * initializer(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        own: dict[str, Any] = {
            "kernel_initializer": masked,
            "kernel_constraint": lambda kernel: mask * kernel,
            "name": name,
            "dtype": inputs.dtype.base_dtype.name,
            "_scope": name,
            "_reuse": reuse,
        }
        return _DENSE_LAYER(units, *args, **own, **kwargs).apply(inputs)


def masked_autoregressive_default_template(
    hidden_layers: Any,
    shift_only: bool = False,
    activation: Any = relu,
    log_scale_min_clip: float = -5.0,
    log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A network for ``MaskedAutoregressiveFlow``: masked dense layers.

    Args:
      hidden_layers: numbers of units of the hidden layers.
      shift_only: whether there are no scales.
      activation: of the hidden layers.
      log_scale_min_clip, log_scale_max_clip: bounds of the logarithms of scales.
      log_scale_clip_gradient: whether there is no gradient beyond them.
      args, kwargs: more of ``tf.layers.Dense``.

    Returns:
      A template: a function from ``[..., d]`` to shifts and logarithms of scales, of the same
      shape, number i of which depends on the numbers before i; the same variables at each call.

    Raises:
      NotImplementedError: at a call, the last dim is not known.

    Example:
      >>> import penstock as tf
      >>> bijectors = tf.contrib.distributions.bijectors
      >>> with tf.Graph().as_default():
      ...     network = bijectors.masked_autoregressive_default_template([8])
      ...     shift, log_scale = network(tf.ones([2, 3]))
      >>> log_scale.shape
      TensorShape([Dimension(2), Dimension(3)])

    Source: Germain, M. et al. "MADE: masked autoencoder for distribution estimation". ICML 2015.
    """

    def network(x: Any) -> tuple[Any, Any]:
        x = convert_to_tensor(x)
        depth = _depth(x)
        dims: Any = x.shape.as_list() if x.shape.is_fully_defined() else shape.shape(x)
        if x.shape.ndims == 1:
            x = reshape.expand_dims(x, 0)
        for i, units in enumerate(hidden_layers):
            x = masked_dense(
                x,
                units,
                depth,
                i == 0,
                *args,
                activation=activation,
                **kwargs,
            )
        outputs = depth if shift_only else 2 * depth
        x = masked_dense(x, outputs, depth, not hidden_layers, *args, activation=None, **kwargs)
        if shift_only:
            return reshape.reshape(x, dims), None
        pairs = reshape.reshape(x, join.concat([dims, [2]], 0))
        shift, log_scale = split.unstack(pairs, num=2, axis=-1)
        clipped = clip.clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        if not log_scale_clip_gradient:
            clipped = log_scale + control.stop_gradient(clipped - log_scale)
        return shift, clipped

    default = "masked_autoregressive_default_template"
    with name_scope(name, default, [log_scale_min_clip, log_scale_max_clip]):
        return make_template(name or default, network)


class MaskedAutoregressiveFlow(Bijector):
    """``y[i] = x[i] exp(log_scale[i]) + shift[i]``, both found from the ``y[j]`` of j < i.

    Args:
      shift_and_log_scale_fn: from y ``[..., d]`` to shifts and logarithms of scales, or None for
        one of them.
      is_constant_jacobian: whether scales do not depend on y.
      validate_args: whether arguments are checked in every step.
      unroll_loop: whether ``forward`` makes nodes for each number of an event, not a loop.
      name: name of the scope of the methods.

    Example:
      >>> import penstock as tf
      >>> bijectors = tf.contrib.distributions.bijectors
      >>> flow = bijectors.MaskedAutoregressiveFlow(lambda y: (2.0 * tf.ones_like(y), None))
      >>> tf.Session().run(flow.inverse([3.0, 5.0])).tolist()
      [1.0, 3.0]

    Source: Papamakarios, G., Pavlakou, T. and Murray, I. "Masked autoregressive flow for density
    estimation". NeurIPS 2017.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _moved(self, x: Any, y: Any) -> Any:
        shift, log_scale = self._shift_and_log_scale_fn(y)
        return _moved(x, shift, log_scale)

    def _forward(self, x: Any) -> Any:
        # Each round has one more number right.
        if self._unroll_loop:
            y = elementwise.zeros_like(x, name="y0")
            for _ in range(_depth(x)):
                y = self._moved(x, y)
            return y
        dims: Any = shape.shape(x)
        known = None if x.shape.ndims is None else x.shape.as_list()[-1]
        size = dims[-1] if known is None else known
        # A first round outside of the loop: a template must not make variables within it.
        y = self._moved(x, elementwise.zeros_like(x, name="y0"))
        _, y = while_loop(
            lambda i, _: i < size,
            lambda i, y: (i + 1, self._moved(x, y)),
            (convert_to_tensor(1), y),
        )
        return y

    def _inverse(self, y: Any) -> Any:
        shift, log_scale = self._shift_and_log_scale_fn(y)
        return _moved_back(y, shift, log_scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        _, log_scale = self._shift_and_log_scale_fn(y)
        return _ildj(y, log_scale)


def _moved(x: Any, shift: Any, log_scale: Any) -> Any:
    y = x if log_scale is None else x * elementwise.exp(log_scale)
    return y if shift is None else y + shift


def _moved_back(y: Any, shift: Any, log_scale: Any) -> Any:
    x = y if shift is None else y - shift
    return x if log_scale is None else x * elementwise.exp(-log_scale)


def _ildj(y: Any, log_scale: Any) -> Any:
    if log_scale is None:
        return convert_to_tensor(0.0, dtype=y.dtype, name="ildj")
    return -reduction.reduce_sum(log_scale, axis=-1)


def real_nvp_default_template(
    hidden_layers: Any,
    shift_only: bool = False,
    activation: Any = relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A network for ``RealNVP``: dense layers.

    Args:
      hidden_layers: numbers of units of the hidden layers.
      shift_only: whether there are no scales.
      activation: of the hidden layers.
      args, kwargs: more of ``tf.layers.dense``.

    Returns:
      A template: a function from ``[..., d]`` and a number of units to shifts and logarithms of
      scales ``[..., units]``; the same variables at each call.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     network = tf.contrib.distributions.bijectors.real_nvp_default_template([8])
      ...     shift, log_scale = network(tf.ones([2, 3]), 1)
      >>> shift.shape
      TensorShape([Dimension(2), Dimension(1)])

    Source: Dinh, L., Sohl-Dickstein, J. and Bengio, S. "Density estimation using Real NVP".
    ICLR 2017.
    """

    def network(x: Any, output_units: int) -> tuple[Any, Any]:
        x = convert_to_tensor(x)
        is_vector = x.shape.ndims == 1
        if is_vector:
            x = reshape.expand_dims(x, 0)
        for units in hidden_layers:
            x = _DENSE(x, units, *args, activation=activation, **kwargs)
        outputs = output_units if shift_only else 2 * output_units
        x = _DENSE(x, outputs, *args, activation=None, **kwargs)
        if is_vector:
            x = squeeze.squeeze(x, [0])
        if shift_only:
            return x, None
        shift, log_scale = split.split(x, 2, axis=-1)
        return shift, log_scale

    default = "real_nvp_default_template"
    with name_scope(name, default):
        return make_template(default, network)


class RealNVP(Bijector):
    """The first ``num_masked`` numbers stay; the others are shifted and scaled by them.

    Args:
      num_masked: how many numbers stay, less than an event has.
      shift_and_log_scale_fn: from those numbers ``[..., num_masked]``, and how many others there
        are, to shifts and logarithms of scales of the others, or None for one of them.
      is_constant_jacobian: whether scales do not depend on the value.
      validate_args: whether arguments are checked in every step.
      name: name of the scope of the methods.

    Raises:
      ValueError: ``num_masked`` is no integer of 0 or more; of the methods, it is not less than
        an event has.

    Example:
      >>> import penstock as tf
      >>> def moved(x, units):
      ...     return x, None
      >>> nvp = tf.contrib.distributions.bijectors.RealNVP(1, moved)
      >>> tf.Session().run(nvp.forward([3.0, 5.0])).tolist()
      [3.0, 8.0]

    Source: Dinh, L., Sohl-Dickstein, J. and Bengio, S. "Density estimation using Real NVP".
    ICLR 2017.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked < 0 or int(num_masked) != num_masked:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _parts(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """What stays, what does not, and the shifts and logarithms of scales of that."""
        depth = _depth(x)
        if self._num_masked >= depth:
            raise ValueError("Number of masked units must be smaller than the event size.")
        kept, others = x[..., : self._num_masked], x[..., self._num_masked :]
        shift, log_scale = self._shift_and_log_scale_fn(kept, depth - self._num_masked)
        return kept, others, shift, log_scale

    def _forward(self, x: Any) -> Any:
        kept, others, shift, log_scale = self._parts(x)
        return join.concat([kept, _moved(others, shift, log_scale)], axis=-1)

    def _inverse(self, y: Any) -> Any:
        kept, others, shift, log_scale = self._parts(y)
        return join.concat([kept, _moved_back(others, shift, log_scale)], axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return _ildj(y, self._parts(y)[3])

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -_ildj(x, self._parts(x)[3])
