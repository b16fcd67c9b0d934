"""``tf.quantization``: quantized tensors, and simulated quantization; re-exports, no logic."""

from penstock.ops.quantized.quantization import (
    fake_quant_with_min_max_args as fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient as _per_channel_gradient,
    quantize_and_dequantize as quantize_and_dequantize,
)
from penstock.ops.quantized.quantized import dequantize as dequantize, quantize as quantize
from penstock.ops.quantized.quantized_layers import quantized_concat as quantized_concat

fake_quant_with_min_max_vars_per_channel_gradient = _per_channel_gradient
