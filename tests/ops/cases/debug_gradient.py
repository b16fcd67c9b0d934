"""Rows for the identities that tell of gradients."""

from tests.ops.opcase import ALL, OpCase, real, var

_REASON = "TensorFlow's gradient looks for a debugger by the node's name; see tests/tools/debug"

CASES = [
    OpCase("DebugGradientIdentity", [real(3, 4)], {}, ALL, grad=False, grad_reason=_REASON,
           ref=lambda x: x),
    OpCase("DebugGradientIdentity", [real(0, 2)], grad=False, grad_reason=_REASON),
    OpCase("DebugGradientRefIdentity", [var(real(3))], grad=False, grad_reason=_REASON),
]  # fmt: skip
