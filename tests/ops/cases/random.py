"""Random ops: what they draw differs from TensorFlow's; dtypes and shapes are compared."""

from tests.ops.opcase import (
    FLOAT_DOUBLE,
    FLOATS,
    INDEX,
    INTS,
    OpCase,
    const,
    feed,
    ints,
    real,
)

DRAWN = (
    "it draws random numbers, by another generator than TensorFlow's; tests/ops/test_random checks"
    " the distribution"
)
SHAPES = ([3, 4], [], [2, 0, 3], [7])


def _drawn(op, inputs, attrs, dtypes=("float32",), **more):
    return OpCase(op, inputs, attrs, dtypes, reason=DRAWN, **more)


CASES = [
    *(
        _drawn(op, [const(shape)], {"dtype": "T"}, FLOATS, type_attr="dtype")
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
        for shape in SHAPES
    ),
    *(
        _drawn(
            op,
            [feed([2, 3], "int64")],
            {"dtype": "T", "seed": 3, "seed2": 5},
            FLOATS,
            type_attr="dtype",
        )
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
    ),
    _drawn(
        "RandomUniform",
        [feed([-1, 3], "int32")],
        {"dtype": "T"},
        ("float32",),
        type_attr="dtype",
        raises=True,
    ),
    _drawn("RandomUniformInt", [const([3, 4]), feed(-5), feed(9)], {}, INDEX, type_attr="Tout"),
    _drawn(
        "RandomUniformInt", [feed([0, 2], "int64"), feed(0), feed(1)], {}, INDEX, type_attr="Tout"
    ),
    _drawn(
        "RandomUniformInt", [const([3]), feed(4), feed(4)], {}, INDEX, type_attr="Tout", raises=True
    ),
    *(
        _drawn(
            "ParameterizedTruncatedNormal",
            [const(shape), feed(mean), feed(1.5), feed(low), feed(high)],
            {},
            FLOATS,
            type_attr="dtype",
        )
        for shape, mean, low, high in (
            ([5], 0.0, -1.0, 2.0),
            ([2, 3], [1.0, -1.0], 0.0, [3.0, 4.0]),
            ([4, 2], 0.0, 8.0, 9.0),
        )
    ),
    _drawn(
        "ParameterizedTruncatedNormal",
        [const([3, 2]), feed([0.0, 1.0]), feed(1.0), feed(-1.0), feed(1.0)],
        {},
        ("float32",),
        type_attr="dtype",
        raises=True,
    ),
    _drawn("RandomShuffle", [real(5, 2)], {}, (*FLOATS, *INTS, "bool", "complex64", "string")),
    _drawn("RandomShuffle", [real(0, 3)], {}),
    _drawn("RandomShuffle", [real()], {}),
    _drawn(
        "Multinomial",
        [real(3, 4), feed(6, "int32")],
        {"output_dtype": "int64"},
        (*FLOATS, "int32", "int64"),
    ),
    _drawn("Multinomial", [real(2, 5), const(0)], {"output_dtype": "int32"}),
    _drawn("Multinomial", [real(4), const(2)], {}, raises=True),
    _drawn(
        "RandomGamma",
        [const([4]), real(2, 3, lo=0.2, hi=3)],
        {},
        ("half", "float32", "float64"),
        grad=False,
        grad_reason="a numeric check would compare two draws; see test_random",
    ),
    _drawn(
        "RandomGamma",
        [const([]), real(lo=0.2, hi=3)],
        {},
        grad=False,
        grad_reason="a numeric check would compare two draws; see test_random",
    ),
    OpCase(
        "RandomGammaGrad",
        [real(2, 3, lo=0.3, hi=4), real(2, 3, lo=0.1, hi=5)],
        {},
        FLOAT_DOUBLE,
        rtol=2e-3,
        tol_reason="both sides approximate the derivative of the inverse incomplete gamma",
    ),
    OpCase(
        "RandomGammaGrad",
        [real(3, lo=0.3, hi=4), real(2, 3, lo=0.1, hi=5)],
        {},
        ("float64",),
        rtol=2e-3,
        tol_reason="both sides approximate the derivative of the inverse incomplete gamma",
    ),
    _drawn(
        "RandomPoisson",
        [const([4]), real(2, 3, lo=0.2, hi=9)],
        {},
        ("half", "float32", "float64"),
        type_attr="dtype",
    ),
    _drawn(
        "RandomPoissonV2",
        [const([4, 1]), real(3, lo=0.2, hi=9)],
        {"dtype": "int32"},
        ("half", "float32", "float64", "int32", "int64"),
        type_attr="R",
    ),
    _drawn(
        "RandomPoissonV2",
        [const([4]), real(3, lo=0.2, hi=9, dtype="float32")],
        {"dtype": "T"},
        ("half", "float32", "float64", "int32", "int64"),
        type_attr="dtype",
    ),
    *(
        _drawn(
            op, [const([3, 2]), feed([1, -7], "int64")], {"dtype": "T"}, FLOATS, type_attr="dtype"
        )
        for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")
    ),
    _drawn(
        "StatelessRandomUniform",
        [const([3]), feed([1, 2, 3], "int32")],
        {"dtype": "float32"},
        type_attr="dtype",
        raises=True,
    ),
    _drawn(
        "StatelessRandomUniformInt",
        [const([3, 2]), ints(2), feed(-3), feed(8)],
        {},
        INDEX,
        type_attr="dtype",
    ),
    _drawn(
        "StatelessMultinomial",
        [real(3, 4), const(5), feed([4, 5], "int32")],
        {"output_dtype": "int32"},
        (*FLOATS, "int32"),
    ),
]
