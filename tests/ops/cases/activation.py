"""Rows of activations and biases."""

from tests.ops.opcase import COMPLEX, FLOATS, INTS, REALS, OpCase, distinct, real

# Kinks lie at 0 and 6; values keep away from them so that gradients can be checked numerically.
_VALUES = distinct(4, 6, lo=-3, hi=9)
_WIDE = distinct(2, 3, 5, lo=-20, hi=40)

_FORWARD = ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign")
_WITH_INPUT = ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad")
_WITH_OUTPUT = ("EluGrad", "SeluGrad")
_INTEGERS = ("Relu", "Relu6", "ReluGrad", "Relu6Grad")


def _sweep(op: str) -> tuple[str, ...]:
    return REALS if op in _INTEGERS else FLOATS


CASES = [
    *(OpCase(op, [_VALUES], {}, _sweep(op), grad2=op != "Softsign") for op in _FORWARD),
    *(OpCase(op, [_WIDE], {}, ("float32", "float64")) for op in _FORWARD),
    OpCase("LeakyRelu", [_VALUES], {"alpha": 0.01}, FLOATS),
    *(OpCase(op, [real(4, 6), _VALUES], {}, _sweep(op)) for op in _WITH_INPUT),
    # Outputs of elu lie above -1, of selu above -1.76.
    *(OpCase(op, [real(4, 6), distinct(4, 6, lo=-0.97, hi=3)], {}, FLOATS) for op in _WITH_OUTPUT),
    OpCase("LeakyReluGrad", [real(4, 6), _VALUES], {"alpha": 0.3}, FLOATS),
    OpCase("ReluGrad", [real(4, 6), real(4, 5)], raises=True),
    OpCase("BiasAdd", [real(3, 4), real(4)], {}, FLOATS + COMPLEX + INTS, grad2=True),
    OpCase("BiasAdd", [real(2, 3, 3, 4), real(4)], {}, FLOATS),
    OpCase("BiasAdd", [real(2, 4, 3, 3), real(4)], {"data_format": "NCHW"}, FLOATS),
    OpCase("BiasAdd", [real(2, 4, 3), real(4)], {"data_format": "NCHW"}, ("float32",)),
    OpCase("BiasAdd", [real(3, 4), real(3)], raises=True),
    OpCase("BiasAdd", [real(4), real(4)], raises=True),
    OpCase("BiasAddV1", [real(2, 3, 4), real(4)], {}, FLOATS + INTS),
    OpCase("BiasAddGrad", [real(3, 4)], {}, FLOATS + COMPLEX + INTS),
    OpCase("BiasAddGrad", [real(2, 3, 3, 4)], {}, FLOATS),
    OpCase("BiasAddGrad", [real(2, 4, 3, 3)], {"data_format": "NCHW"}, FLOATS),
]
