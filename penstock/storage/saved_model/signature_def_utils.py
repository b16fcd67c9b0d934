"""``tf.saved_model.signature_def_utils``: signatures made from tensors, and looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto import meta_graph_pb2

from penstock.foundation.base import dtypes
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.saved_model import signature_constants as keys
from penstock.storage.saved_model.tensor_info import build_tensor_info


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
) -> Any:
    """A ``SignatureDef``.

    Args:
      inputs, outputs: ``TensorInfo`` messages by key.
      method_name: what a server calls it by.
    """
    signature = meta_graph_pb2.SignatureDef()
    for key, info in (inputs or {}).items():
        signature.inputs[key].CopyFrom(info)
    for key, info in (outputs or {}).items():
        signature.outputs[key].CopyFrom(info)
    if method_name is not None:
        signature.method_name = method_name
    return signature


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """The signature of a regression for TensorFlow Serving.

    Args:
      examples: string tensor of serialized ``tf.Example`` messages.
      predictions: float32 tensor.

    Raises:
      ValueError: one is None or of another type.
    """
    inputs = {keys.REGRESS_INPUTS: _info("Regression examples", examples, dtypes.string)}
    outputs = {keys.REGRESS_OUTPUTS: _info("Regression predictions", predictions, dtypes.float32)}
    return build_signature_def(inputs, outputs, keys.REGRESS_METHOD_NAME)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """The signature of a classification for TensorFlow Serving.

    Args:
      examples: string tensor of serialized ``tf.Example`` messages.
      classes: string tensor of labels, or None.
      scores: float32 tensor, or None; one of the two must be given.

    Raises:
      ValueError: a tensor is missing or of another type.
    """
    inputs = {keys.CLASSIFY_INPUTS: _info("Classification examples", examples, dtypes.string)}
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    if classes is not None:
        info = _info("Classification classes", classes, dtypes.string)
        outputs[keys.CLASSIFY_OUTPUT_CLASSES] = info
    if scores is not None:
        info = _info("Classification scores", scores, dtypes.float32)
        outputs[keys.CLASSIFY_OUTPUT_SCORES] = info
    return build_signature_def(inputs, outputs, keys.CLASSIFY_METHOD_NAME)


def _info(what: str, tensor: Any, dtype: dtypes.DType) -> Any:
    if tensor is None:
        raise ValueError(f"{what} cannot be None.")
    if not isinstance(tensor, Tensor) or tensor.dtype is not dtype:
        raise ValueError(f"{what} must be a {dtype.name} Tensor; found {tensor!r}")
    return build_tensor_info(tensor)


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """The signature of a prediction, any tensors in and out.

    Args:
      inputs, outputs: tensors by key.

    Raises:
      ValueError: one of them is empty.
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(tensor) for key, tensor in inputs.items()},
        {key: build_tensor_info(tensor) for key, tensor in outputs.items()},
        keys.PREDICT_METHOD_NAME,
    )


# What TensorFlow Serving asks of a signature: the types of its inputs, of its outputs, and whether
# all outputs must be there.
_SERVED = {
    keys.CLASSIFY_METHOD_NAME: (
        {keys.CLASSIFY_INPUTS: dtypes.string},
        {
            keys.CLASSIFY_OUTPUT_CLASSES: dtypes.string,
            keys.CLASSIFY_OUTPUT_SCORES: dtypes.float32,
        },
        False,
    ),
    keys.REGRESS_METHOD_NAME: (
        {keys.REGRESS_INPUTS: dtypes.string},
        {keys.REGRESS_OUTPUTS: dtypes.float32},
        True,
    ),
}


def is_valid_signature(signature_def: Any) -> bool:
    """Whether TensorFlow Serving can serve a ``SignatureDef``."""
    if signature_def is None or not signature_def.inputs or not signature_def.outputs:
        return False
    if signature_def.method_name == keys.PREDICT_METHOD_NAME:
        return True
    if signature_def.method_name not in _SERVED:
        return False
    inputs, outputs, all_outputs = _SERVED[signature_def.method_name]
    return (
        _types(signature_def.inputs) == inputs
        and _types(signature_def.outputs).items() <= outputs.items()
        and (not all_outputs or len(signature_def.outputs) == len(outputs))
    )


def _types(infos: Any) -> dict[str, Any]:
    return {key: dtypes.as_dtype(info.dtype) for key, info in infos.items()}
