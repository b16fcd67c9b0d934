"""Public functions that take ragged tensors, too; of tensors they are those of ``ops``."""

from penstock.library.ragged_tensors.dispatch import binary, of_list, to, unary
from penstock.ops.array import (
    cast as cast_ops,
    gather as gather_ops,
    join,
    onehot,
    ranks,
    reshape as reshape_ops,
    squeeze as squeeze_ops,
    stitch,
    tile as tile_ops,
)
from penstock.ops.control import control, debug
from penstock.ops.data import compressed, parsing
from penstock.ops.math import (
    addn,
    binary as binary_ops,
    bitwise,
    clip,
    comparison,
    complex as complex_ops,
    division,
    elementwise,
    no_nan,
    reduction,
    reductions,
    remainder,
    select,
    sums,
    unsorted_segment,
)
from penstock.ops.strings import (
    string_hash,
    string_join as string_join_ops,
    string_reduce,
    string_regex,
    string_text,
    string_unicode,
)

abs_ = unary(elementwise.abs_)
acos = unary(elementwise.acos)
acosh = unary(elementwise.acosh)
angle = unary(complex_ops.angle)
as_string = unary(string_text.as_string)
asin = unary(elementwise.asin)
asinh = unary(elementwise.asinh)
atan = unary(elementwise.atan)
atanh = unary(elementwise.atanh)
cast = unary(cast_ops.cast)
ceil = unary(elementwise.ceil)
check_numerics = unary(debug.check_numerics)
clip_by_value = unary(clip.clip_by_value)
conj = unary(complex_ops.conj)
cos = unary(elementwise.cos)
cosh = unary(elementwise.cosh)
decode_base64 = unary(string_text.decode_base64)
decode_compressed = unary(compressed.decode_compressed)
digamma = unary(elementwise.digamma)
encode_base64 = unary(string_text.encode_base64)
erf = unary(elementwise.erf)
erfc = unary(elementwise.erfc)
exp = unary(elementwise.exp)
expm1 = unary(elementwise.expm1)
floor = unary(elementwise.floor)
identity = unary(control.identity)
imag = unary(complex_ops.imag)
inv = unary(elementwise.inv)
invert = unary(bitwise.invert)
is_finite = unary(elementwise.is_finite)
is_inf = unary(elementwise.is_inf)
is_nan = unary(elementwise.is_nan)
lgamma = unary(elementwise.lgamma)
log = unary(elementwise.log)
log1p = unary(elementwise.log1p)
log_sigmoid = unary(elementwise.log_sigmoid)
logical_not = unary(elementwise.logical_not)
neg = unary(elementwise.neg)
negative = unary(elementwise.negative)
ones_like = unary(elementwise.ones_like)
real = unary(complex_ops.real)
reciprocal = unary(elementwise.reciprocal)
regex_full_match = unary(string_regex.regex_full_match)
regex_replace = unary(string_regex.regex_replace)
rint = unary(elementwise.rint)
round_ = unary(elementwise.round_)
rsqrt = unary(elementwise.rsqrt)
saturate_cast = unary(cast_ops.saturate_cast)
sign = unary(elementwise.sign)
sin = unary(elementwise.sin)
sinh = unary(elementwise.sinh)
sqrt = unary(elementwise.sqrt)
square = unary(elementwise.square)
string_length = unary(string_text.string_length)
string_strip = unary(string_text.string_strip)
string_to_hash_bucket = unary(string_hash.string_to_hash_bucket)
string_to_hash_bucket_fast = unary(string_hash.string_to_hash_bucket_fast)
string_to_hash_bucket_strong = unary(string_hash.string_to_hash_bucket_strong)
string_to_number = unary(parsing.string_to_number)
substr = unary(string_text.substr)
tan = unary(elementwise.tan)
to_bfloat16 = unary(cast_ops.to_bfloat16)
to_complex128 = unary(cast_ops.to_complex128)
to_complex64 = unary(cast_ops.to_complex64)
to_double = unary(cast_ops.to_double)
to_float = unary(cast_ops.to_float)
to_int32 = unary(cast_ops.to_int32)
to_int64 = unary(cast_ops.to_int64)
unicode_script = unary(string_unicode.unicode_script)
zeros_like = unary(elementwise.zeros_like)

add = binary(sums.add)
atan2 = binary(binary_ops.atan2)
bitwise_and = binary(bitwise.bitwise_and)
bitwise_or = binary(bitwise.bitwise_or)
bitwise_xor = binary(bitwise.bitwise_xor)
complex_ = binary(complex_ops.complex_)
div = binary(division.div)
div_no_nan = binary(no_nan.div_no_nan)
divide = binary(division.divide)
equal = binary(comparison.equal)
floor_div = binary(division.floor_div)
floordiv = binary(division.floordiv)
floormod = binary(remainder.floormod)
greater = binary(comparison.greater)
greater_equal = binary(comparison.greater_equal)
left_shift = binary(bitwise.left_shift)
less = binary(comparison.less)
less_equal = binary(comparison.less_equal)
logical_and = binary(comparison.logical_and)
logical_or = binary(comparison.logical_or)
logical_xor = binary(comparison.logical_xor)
maximum = binary(binary_ops.maximum)
minimum = binary(binary_ops.minimum)
mod = binary(remainder.mod)
mul = binary(binary_ops.mul)
multiply = binary(binary_ops.multiply)
not_equal = binary(comparison.not_equal)
pow_ = binary(binary_ops.pow_)
realdiv = binary(division.realdiv)
right_shift = binary(bitwise.right_shift)
squared_difference = binary(binary_ops.squared_difference)
sub = binary(sums.sub)
subtract = binary(sums.subtract)
truediv = binary(division.truediv)
truncatediv = binary(division.truncatediv)
truncatemod = binary(remainder.truncatemod)

add_n = of_list(addn.add_n)
string_join = of_list(string_join_ops.string_join)

batch_gather = to(gather_ops.batch_gather, "gathering", "batch_gather")
concat = to(join.concat, "joining", "concat")
dynamic_partition = to(stitch.dynamic_partition, "shaping", "dynamic_partition")
expand_dims = to(reshape_ops.expand_dims, "joining", "expand_dims")
gather = to(gather_ops.gather, "gathering", "gather")
gather_nd = to(gather_ops.gather_nd, "gathering", "gather_nd")
one_hot = to(onehot.one_hot, "shaping", "one_hot")
rank = to(ranks.rank, "shaping", "rank")
reduce_all = to(reductions.reduce_all, "reducing", "reduce_all")
reduce_any = to(reductions.reduce_any, "reducing", "reduce_any")
reduce_join = to(string_reduce.reduce_join, "shaping", "reduce_join")
reduce_max = to(reductions.reduce_max, "reducing", "reduce_max")
reduce_mean = to(reduction.reduce_mean, "reducing", "reduce_mean")
reduce_min = to(reductions.reduce_min, "reducing", "reduce_min")
reduce_prod = to(reductions.reduce_prod, "reducing", "reduce_prod")
reduce_sum = to(reduction.reduce_sum, "reducing", "reduce_sum")
size = to(ranks.size, "shaping", "size")
squeeze = to(squeeze_ops.squeeze, "joining", "squeeze")
stack = to(join.stack, "joining", "stack")
tile = to(tile_ops.tile, "joining", "tile")
unsorted_segment_max = to(unsorted_segment.unsorted_segment_max, "reducing", "segment_max")
unsorted_segment_mean = to(unsorted_segment.unsorted_segment_mean, "reducing", "segment_mean")
unsorted_segment_min = to(unsorted_segment.unsorted_segment_min, "reducing", "segment_min")
unsorted_segment_prod = to(unsorted_segment.unsorted_segment_prod, "reducing", "segment_prod")
unsorted_segment_sqrt_n = to(unsorted_segment.unsorted_segment_sqrt_n, "reducing", "segment_sqrt_n")
unsorted_segment_sum = to(unsorted_segment.unsorted_segment_sum, "reducing", "segment_sum")
where = to(select.where, "mapping", "where")
