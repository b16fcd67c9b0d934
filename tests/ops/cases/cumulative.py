"""Rows of running sums, products and log-sum-exps."""

from tests.ops.opcase import COMPLEX, FLOAT_DOUBLE, NUMERIC, REALS, OpCase, const, feed, real

_FLAGS = [
    {"exclusive": exclusive, "reverse": reverse}
    for exclusive in (False, True)
    for reverse in (False, True)
]

CASES = [
    OpCase("Cumsum", [real(3, 4), const(1)], {}, NUMERIC, id="Cumsum_types", grad2=True),
    OpCase("Cumsum", [real(3, 4), feed(-2, "int64")], id="Cumsum_fed"),
    OpCase("Cumsum", [real(3, 4), const(2)], raises=True, id="Cumsum_out_of_range"),
    *[OpCase("Cumsum", [real(3, 4), const(0)], flags) for flags in _FLAGS],
    OpCase("Cumprod", [real(3, 4, lo=0.5), const(1)], {}, REALS, id="Cumprod_types"),
    OpCase(
        "Cumprod",
        [real(3, 4, lo=0.5), const(1)],
        {},
        COMPLEX,
        id="Cumprod_complex",
        grad=False,
        grad_reason="TF's gradient, which ours is, lacks a conjugate",
    ),
    *[OpCase("Cumprod", [real(3, 4, lo=0.5), const(0)], flags) for flags in _FLAGS],
    OpCase("CumulativeLogsumexp", [real(3, 4), const(-1)], {}, FLOAT_DOUBLE, id="Cumlse_types"),
    *[
        OpCase("CumulativeLogsumexp", [real(3, 4), const(0)], flags)
        for flags in _FLAGS
        if not flags["exclusive"]
    ],
    *[
        OpCase(
            "CumulativeLogsumexp",
            [real(3, 4), const(0)],
            flags,
            grad=False,
            grad_reason="an exclusive run starts at -inf, where differences are NaN",
        )
        for flags in _FLAGS
        if flags["exclusive"]
    ],
]
