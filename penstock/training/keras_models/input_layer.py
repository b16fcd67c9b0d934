"""``Input``: a placeholder that begins a model, as the output of a layer."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.library.layer_base import connections, names, settings, symbolic, tensors
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
      **kwargs: ``batch_input_shape``, the whole shape.

    Raises:
      NotImplementedError: ``sparse`` or ``ragged``.
      ValueError: ``input_shape`` and ``batch_input_shape`` are both given; another keyword; the
        type of ``input_tensor`` is another than ``dtype``, or it has a value.
    """

    def __init__(
        self, input_shape: Any = None, batch_size: Any = None, dtype: Any = None,
        input_tensor: Any = None, sparse: bool = False, name: Any = None, ragged: bool = False,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        if sparse or ragged:
            raise NotImplementedError("Input layers of sparse or ragged tensors are not supported")
        if "batch_input_shape" in kwargs:
            batch_input_shape = kwargs.pop("batch_input_shape")
            if input_shape and batch_input_shape:
                raise ValueError(
                    "Only provide the input_shape OR batch_input_shape argument to InputLayer, not"
                    f" both at the same time. Found: {input_shape} and {batch_input_shape}"
                )
            whole: Any = tuple(batch_input_shape)
        else:
            whole = None if input_shape is None else (batch_size, *_dims(input_shape))
        _refuse(kwargs)
        if input_tensor is not None:
            _check_tensor(input_tensor, dtype)
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


def is_given(tensor: Any) -> bool:
    """Whether it is a tensor that ``Input`` was given, and so is not fed."""
    history = tensors.history_of(tensor)
    return history is not None and not getattr(history.layer, "is_placeholder", True)


def _refuse(keywords: dict[str, Any]) -> None:
    if keywords:
        raise ValueError("Unrecognized keyword arguments:", keywords.keys())


def _check_tensor(tensor: Any, dtype: Any) -> None:
    if dtype and tensor.dtype != dtypes.as_dtype(dtype):
        raise ValueError(f"`input_tensor.dtype` differs from `dtype`: {tensor.dtype} vs. {dtype}")
    if getattr(tensor, "has_value", False):
        raise ValueError(
            "You should not pass an EagerTensor to `Input`. For example, instead of creating an"
            " InputLayer, you should instantiate your model and directly call it on your input."
        )


def _dims(shape: Any) -> tuple[Any, ...]:
    if isinstance(shape, int):
        return (shape,)
    return tuple(shape.as_list() if hasattr(shape, "as_list") else shape)


def Input(
    shape: Any = None, batch_size: Any = None, name: Any = None, dtype: Any = None,
    sparse: bool = False, tensor: Any = None, ragged: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """A tensor that a model is fed.

    Args:
      shape: its shape without the batch; dims may be None.
      batch_size: the batch, or None.
      name: default ``input_1`` and so on.
      dtype: default float32.
      sparse, ragged: not supported.
      tensor: a tensor that stands in its place.
      **kwargs: ``batch_shape`` or ``batch_input_shape``, the whole shape.

    Returns:
      A placeholder, from which layers and then models can be made.

    Raises:
      NotImplementedError: ``sparse`` or ``ragged``.
      ValueError: no shape, or two; another keyword.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.keras.Input(shape=[3])
      ...     tf.keras.Model(x, tf.keras.layers.Dense(2)(x)).output_shape
      (None, 2)
    """
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
    whole = kwargs.pop("batch_input_shape", kwargs.pop("batch_shape", None))
    if shape and whole:
        raise ValueError(
            "Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the"
            f" same time. Found: {shape} and {whole}"
        )
    _refuse(kwargs)
    if not whole and shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape`"
            " does not include the batch dimension."
        )
    given = {"batch_input_shape": whole} if whole else {
        "input_shape": shape, "batch_size": batch_size,
    }  # fmt: skip
    layer = InputLayer(
        name=name, dtype=dtype, sparse=sparse, ragged=ragged, input_tensor=tensor, **given
    )
    return layer.inbound_nodes[0].output_tensors
