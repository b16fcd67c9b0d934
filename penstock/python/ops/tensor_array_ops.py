"""``from penstock.python.ops import tensor_array_ops``."""

from penstock.control_flow.tensor_array import (
    TensorArray as TensorArray,
    TensorArraySpec as TensorArraySpec,
)
