"""``tf.math``: mathematics; explicit re-exports, no logic."""

from penstock.library.nn.normalization import (
    l2_normalize as l2_normalize,
    zero_fraction as zero_fraction,
)
from penstock.library.ragged_tensors.dispatched import (
    abs_ as _abs,
    acos as acos,
    acosh as acosh,
    add as add,
    add_n as add_n,
    angle as angle,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    ceil as ceil,
    conj as conj,
    cos as cos,
    cosh as cosh,
    digamma as digamma,
    div_no_nan as _divide_no_nan,
    divide as divide,
    equal as equal,
    erf as erf,
    erfc as erfc,
    exp as exp,
    expm1 as expm1,
    floor as floor,
    floordiv as floordiv,
    floormod as _mod,
    floormod as floormod,
    greater as greater,
    greater_equal as greater_equal,
    imag as imag,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    less as less,
    less_equal as less_equal,
    lgamma as lgamma,
    log as log,
    log1p as log1p,
    log_sigmoid as log_sigmoid,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negative as negative,
    not_equal as not_equal,
    pow_ as _pow,
    real as real,
    reciprocal as reciprocal,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
    rint as rint,
    round_ as _round,
    rsqrt as rsqrt,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    squared_difference as squared_difference,
    subtract as subtract,
    tan as tan,
    truediv as truediv,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)
from penstock.ops.array.sorting import in_top_k as in_top_k, top_k as top_k
from penstock.ops.array.transpose import invert_permutation as invert_permutation
from penstock.ops.control.check import (
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
)
from penstock.ops.math.addn import accumulate_n as accumulate_n
from penstock.ops.math.argmax import argmax as argmax, argmin as argmin
from penstock.ops.math.bessel import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
    nextafter as nextafter,
)
from penstock.ops.math.binary import scalar_mul as scalar_mul, xdivy as xdivy, xlogy as xlogy
from penstock.ops.math.confusion_matrix import confusion_matrix as confusion_matrix
from penstock.ops.math.cumulative import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_logsumexp as cumulative_logsumexp,
)
from penstock.ops.math.elementwise import sigmoid as sigmoid, tanh as tanh
from penstock.ops.math.functions import lbeta as lbeta, polyval as polyval
from penstock.ops.math.histogram import bincount as bincount
from penstock.ops.math.no_nan import (
    multiply_no_nan as multiply_no_nan,
    reciprocal_no_nan as reciprocal_no_nan,
)
from penstock.ops.math.reductions import reduce_euclidean_norm as reduce_euclidean_norm
from penstock.ops.math.segment import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
)
from penstock.ops.math.special import (
    betainc as betainc,
    igamma as igamma,
    igammac as igammac,
    polygamma as polygamma,
    zeta as zeta,
)
from penstock.ops.math.statistics import (
    count_nonzero as count_nonzero,
    reduce_logsumexp as reduce_logsumexp,
    reduce_std as reduce_std,
    reduce_variance as reduce_variance,
)
from penstock.ops.nn.activation import softplus as softplus, softsign as softsign
from penstock.ops.nn.softmax import log_softmax as log_softmax, softmax as softmax

abs = _abs
divide_no_nan = _divide_no_nan
mod = _mod
pow = _pow
round = _round
