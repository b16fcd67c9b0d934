"""``Input``: a placeholder that begins a model, as the output of a layer."""

from __future__ import annotations

from typing import Any

from penstock.library.layer_base import connections, names, settings, symbolic
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import constant
from penstock.training.keras_models import op_layers


class InputLayer(Layer):
    """The layer whose output is what a model is fed.

    Args:
      input_shape: the shape without the batch.
      batch_size: the batch, or None.
      dtype: default float32, or that of ``input_tensor``.
      input_tensor: a tensor that stands in the place of a placeholder.
      sparse, ragged: not supported.
      name: default ``input_1`` and so on.

    Raises:
      NotImplementedError: ``sparse`` or ``ragged``.
      ValueError: ``input_shape`` and ``batch_input_shape`` are both given.
    """

    def __init__(
        self, input_shape: Any = None, batch_size: Any = None, dtype: Any = None,
        input_tensor: Any = None, sparse: bool = False, name: Any = None, ragged: bool = False,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        if sparse or ragged:
            raise NotImplementedError("Input layers of sparse or ragged tensors are not supported")
        if "batch_input_shape" in kwargs:
            if input_shape and kwargs["batch_input_shape"] is not None:
                raise ValueError(
                    "Only provide the input_shape OR batch_input_shape argument to InputLayer, not"
                    " both at the same time."
                )
            whole: Any = tuple(kwargs.pop("batch_input_shape"))
        else:
            whole = None if input_shape is None else (batch_size, *_dims(input_shape))
        if input_tensor is not None:
            dtype = dtype or input_tensor.dtype
            whole = tuple(input_tensor.shape.as_list())
        super().__init__(
            dtype=dtype or settings.floatx(), name=name or names.unique_name("input", False)
        )
        placed = input_tensor is None
        op_layers.note_operations()
        if placed:
            with symbolic.inputs_scope():
                input_tensor = constant.placeholder(self.dtype, whole, name=self.name)
        self.__dict__.update(
            built=True, is_placeholder=placed, sparse=False, _batch_input_shape=whole,
            supports_masking=True,
        )  # fmt: skip
        connections.connect(self, input_tensor, input_tensor, {})

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return {
            "batch_input_shape": self.__dict__["_batch_input_shape"], "dtype": self.dtype,
            "sparse": False, "ragged": False, "name": self.name,
        }  # fmt: skip


def _dims(shape: Any) -> tuple[Any, ...]:
    if isinstance(shape, int):
        return (shape,)
    return tuple(shape.as_list() if hasattr(shape, "as_list") else shape)


def Input(
    shape: Any = None, batch_size: Any = None, name: Any = None, dtype: Any = None,
    sparse: bool = False, tensor: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """A tensor that a model is fed.

    Args:
      shape: its shape without the batch; dims may be None.
      batch_size: the batch, or None.
      name: default ``input_1`` and so on.
      dtype: default float32.
      sparse: not supported.
      tensor: a tensor that stands in its place.
      **kwargs: ``batch_shape``, the whole shape.

    Returns:
      A placeholder, from which layers and then models can be made.

    Raises:
      ValueError: no shape, or two.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.keras.Input(shape=[3])
      ...     tf.keras.Model(x, tf.keras.layers.Dense(2)(x)).output_shape
      (None, 2)
    """
    whole = kwargs.pop("batch_shape", None)
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {', '.join(kwargs)}")
    if whole is not None and (shape is not None or batch_size is not None):
        raise ValueError("Only provide the `shape` OR `batch_shape` argument to Input, not both.")
    if whole is None and shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape`"
            " does not include the batch dimension."
        )
    given = {"batch_input_shape": whole} if whole is not None else {"input_shape": shape}
    layer = InputLayer(
        batch_size=batch_size, name=name, dtype=dtype, sparse=sparse, input_tensor=tensor,
        **({} if tensor is not None else given),
    )  # fmt: skip
    return layer.inbound_nodes[0].output_tensors
