"""``from penstock.python.ops import tensor_array_ops``."""

from penstock.control_flow.tensor_array import TensorArray, TensorArraySpec

__all__ = ["TensorArray", "TensorArraySpec"]
