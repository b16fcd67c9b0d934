"""Mathematics: elementwise functions, reductions, segments, comparisons."""

from __future__ import annotations

from tests.differential.args import (
    A,
    B,
    C,
    D,
    I,
    L,
    M,
    O,
    P,
    R,
    S,
    X,
    Z,
    call,
    each,
)

ELEMENTWISE = """
    abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc exp expm1 floor lgamma log
    log1p negative reciprocal rint round rsqrt sigmoid sign sin sinh sqrt square tan tanh
    log_sigmoid math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e math.reciprocal_no_nan
    math.softplus math.softsign math.zero_fraction is_finite is_inf is_nan zeros_like ones_like
    identity stop_gradient is_non_decreasing is_strictly_increasing
    to_float to_double to_int32 to_int64 to_bfloat16 to_complex64 to_complex128
    operator:neg operator:abs
"""
PAIRS = """
    add subtract multiply divide div div_no_nan maximum minimum squared_difference truediv floordiv
    floormod mod pow realdiv atan2 equal not_equal less less_equal greater greater_equal floor_div
    truncatediv truncatemod math.multiply_no_nan math.xdivy math.xlogy math.nextafter
    operator:add operator:sub operator:mul operator:truediv operator:floordiv operator:mod
    operator:pow operator:lt operator:ge
"""
REDUCTIONS = """
    reduce_sum reduce_prod reduce_max reduce_min reduce_mean reduce_logsumexp
    math.reduce_euclidean_norm math.reduce_std math.reduce_variance
"""
KEEP = O(False, True, None)
IDS = I([0, 0, 2])
HALVES = O(False, True)

CALLS = [
    *each(ELEMENTWISE, R(2, 3)),
    *each(PAIRS, R(2, 3), R(2, 3)),
    *each("igamma igammac zeta polygamma", P(2, 3), P(2, 3)),
    call("betainc", P(4), P(4), P(4)),
    call("lbeta", P(2, 3)),
    *each(REDUCTIONS, R(2, 3, 2), A(1), keepdims=KEEP),
    *each("reduce_all reduce_any", B(2, 3, 2), A(1), keepdims=KEEP),
    call("count_nonzero", Z(2, 3), A(1), keepdims=KEEP, dtype=D("int64", "int32", "float32")),
    *each("argmax argmin", R(2, 3), A(1), output_type=D("int64", "int32", "float32")),
    *each("arg_max arg_min", R(2, 3), A(1)),
    *each("cumsum cumprod", R(2, 3), A(0), exclusive=HALVES, reverse=HALVES),
    call("math.cumulative_logsumexp", R(2, 3), A(0), exclusive=HALVES, reverse=HALVES),
    *each("segment_sum segment_mean segment_prod segment_max segment_min", R(3, 2), IDS),
    *each(
        """unsorted_segment_sum unsorted_segment_mean unsorted_segment_prod unsorted_segment_max
        unsorted_segment_min unsorted_segment_sqrt_n""",
        R(3, 2),
        I([2, 0, 2]),
        S(4),
    ),
    *each(
        "sparse_segment_sum sparse_segment_mean sparse_segment_sqrt_n",
        R(4, 2),
        I([0, 3, 1]),
        I([0, 0, 1]),
        num_segments=M(S(3)),
    ),
    *each("logical_and logical_or logical_xor", B(2, 3), B(2, 3)),
    *each("logical_not operator:invert", B(2, 3)),
    *each("operator:and_ operator:or_ operator:xor", B(2, 3), B(2, 3)),
    *each("bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor", Z(2, 3), Z(2, 3)),
    *each("bitwise.left_shift bitwise.right_shift", Z(2, 3), S([1, 2, 3])),
    call("bitwise.invert", Z(2, 3)),
    *each("conj real imag angle", C(2, 3)),
    call("complex", R(2, 3), R(2, 3)),
    *each("add_n accumulate_n", L(R(2, 3), R(2, 3), R(2, 3))),
    call("scalar_mul", R(), R(2, 3)),
    call("math.polyval", L(R(), R(), R()), R(2, 3)),
    call("math.top_k", R(2, 4), S(2), sorted=O(True, False)),
    call("math.in_top_k", R(3, 4), I([0, 3, 1]), S(2)),
    call("math.l2_normalize", R(2, 3), A(1)),
    *each("math.softmax math.log_softmax", R(2, 3), A(1)),
    call("bincount", I([1, 2, 2, 0]), weights=M(R(4)), minlength=M(S(2)), maxlength=M(S(2))),
    call(
        "confusion_matrix",
        I([0, 1, 2]),
        I([0, 2, 2]),
        M(S(3)),
        weights=M(R(3)),
        dtype=D("int32", "float32", "int64"),
    ),
    call("histogram_fixed_width", R(5), X([-1.0, 1.0]), S(4)),
    call("histogram_fixed_width_bins", R(5), X([-1.0, 1.0]), S(4)),
    call("cast", R(2, 3), D("int32", "float64", "bool", "uint8", "complex64", "float16", "string")),
    call("saturate_cast", R(2, 3), D("uint8", "int8", "int32", "float16", "bool")),
    call("bitcast", R(2, 4), D("int32", "uint8", "float64", "int16", "bool")),
    *each("clip_by_value", R(2, 3), R(), R()),
    call("clip_by_norm", R(2, 3), P(), M(A([1]))),
    call("clip_by_average_norm", R(2, 3), P()),
    call("clip_by_global_norm", L(R(2, 3), R(2)), P()),
    call("global_norm", L(R(2, 3), R(2))),
    call("invert_permutation", I([2, 0, 1])),
    call("searchsorted", X([[0.0, 1.0, 2.0]]), R(1, 4), side=O("left", "right", "up")),
    call("linspace", R(), R(), S(4)),
    call("lin_space", R(), R(), S(4)),
    call("range", S(1), S(9), S(3)),
    call("check_numerics", R(2, 3), O("message")),
    call("verify_tensor_all_finite", R(2, 3), O("message")),
    call("cross", R(2, 3), R(2, 3)),
    call("nn.l2_loss", R(2, 3)),
    call("sparse_matmul", R(2, 3), R(3, 2), HALVES, HALVES),
    call(
        "quantization.fake_quant_with_min_max_args",
        R(2, 3),
        O(-6, -1.0, 3, 0),
        O(6, 1, 0.5),
        num_bits=O(8, 2, 16, 1, 17),
        narrow_range=HALVES,
    ),
    call(
        "quantization.fake_quant_with_min_max_vars",
        R(2, 3),
        X(-1.0),
        X(1.0),
        num_bits=O(8, 2, 16, 1, 17),
    ),
    call(
        "quantization.fake_quant_with_min_max_vars_per_channel",
        R(2, 3),
        X([-1.0, -2.0, 0.0]),
        X([1.0, 0.5, 2.0]),
    ),
    call("fake_quant_with_min_max_args_gradient", R(2, 3), R(2, 3)),
    call("fake_quant_with_min_max_vars_gradient", R(2, 3), R(2, 3), X(-1.0), X(1.0)),
    call(
        "quantize",
        R(2, 3),
        X(-2.0),
        X(2.0),
        D("quint8", "qint8", "qint32", "float32"),
        O("MIN_COMBINED", "MIN_FIRST", "SCALED", "NONE"),
    ),
    call("quantization.quantize_and_dequantize", R(2, 3), X(-2.0), X(2.0), HALVES, O(8, 4, 1, 0)),
    call("operator:matmul", R(2, 3), R(3, 2)),
]
