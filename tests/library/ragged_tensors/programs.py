"""Expressions of ragged tensors, for Penstock and TensorFlow 1.15 alike.

``EXPRESSIONS`` are evaluated with ``tf``, ``np`` and the names that ``operands`` makes.  Run as a
script under TensorFlow 1.15 this writes what each gives, as JSON, into the file named.
"""

import json
import sys

import numpy as np


def operands(tf):
    """The tensors that expressions name."""
    constant = tf.ragged.constant
    flat = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    return {
        "tf": tf,
        "np": np,
        "R": tf.RaggedTensor,
        "rt": constant([[3, 1, 4], [], [1, 5], [9]]),
        "deep": constant([[[1, 2], [3]], [], [[4], [], [5, 6, 7]]]),
        "wide": constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1),
        "text": constant([["a", "bc"], ["d"], []]),
        "real": constant([[1.5, 2.5], [], [3.0]]),
        "truth": constant([[True, False], [], [True, True]]),
        "mask": constant([[True, False, True], [], [False, False], [True]]),
        "a": constant([[1, 2], [3]]),
        "b": constant([[4], []]),
        "flat": flat,
        "x": tf.RaggedTensor.from_row_splits(flat, [0, 2, 2, 5]),
        "grad": lambda y: tf.convert_to_tensor(tf.gradients(getattr(y, "flat_values", y), flat)[0]),
    }


def plain(value):
    """Nested lists of Python's numbers and texts."""
    if hasattr(value, "to_list"):
        value = value.to_list()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value.decode("latin-1") if isinstance(value, bytes) else value


def result(tf, expression):
    """What an expression gives: its value, number of ragged dims and type; or that it fails."""
    # Optimizing small graphs takes TensorFlow longer than running them.
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        try:
            made = eval(expression, operands(tf))
            parts = made if isinstance(made, (list, tuple)) else [made]
            kinds = [[getattr(p, "ragged_rank", 0), p.dtype.name] for p in parts]
            return [plain(session.run(made)), kinds]
        except Exception:
            return "refused"


_OF_EACH = """
    {} | {}.to_tensor() | {}.value_rowids() | {}.row_lengths() | {}.row_lengths(axis=-1)
    {}.nrows() | {}.row_starts() | {}.row_limits() | {}.bounding_shape() | {}.bounding_shape(axis=1)
    list({}.nested_row_lengths()) | list({}.nested_value_rowids()) | tf.rank({}) | tf.size({})
    tf.identity({}) | {}.values | {}.flat_values | tf.zeros_like({}) | {}.to_sparse().indices
    {}.to_sparse().values | {}.to_sparse().dense_shape
"""
_KEYS = """
    0 | 2 | -1 | : | 1: | :2 | 1:3 | -2: | ::2 | ::-1 | 3:0:-2 | 5:9 | 2:1 | -9:9 | ... | None
    0, 0 | 0, 1: | :, 1: | :, :1 | :, -2: | :, :-1 | :, ::2 | 1:3, 0:1 | :, 0 | :, None | None, :
    :, None, 1: | ..., :1 | 0, ... | :, :, 0 | :, :, 1: | :, :2, :1 | 2, 2, 1 | 0, 0, 1: | ..., None
    :, :, None | 2, 1:, :1 | 0, 1, 2, 3 | :, 100: | 2, -1, -1 | 0, 5
"""
_FACTORIES = """
    R.from_row_splits([3, 1, 4, 1], [0, 3, 3, 4]) | R.from_row_lengths([3, 1, 4, 1, 5], [3, 0, 2])
    R.from_row_starts([3, 1, 4, 1, 5], [0, 3, 3]) | R.from_row_limits([3, 1, 4, 1, 5], [3, 3, 5])
    R.from_value_rowids([3, 1, 4, 1, 5], [0, 0, 0, 2, 2]) | R.from_value_rowids([], [], nrows=3)
    R.from_value_rowids([3, 1, 4, 1, 5], [0, 0, 0, 2, 2], nrows=5) | R.from_row_lengths([], [])
    R.from_nested_row_splits([3, 1, 4, 1], [[0, 2, 2], [0, 3, 4]]) | R.from_row_splits([], [0])
    R.from_nested_row_lengths([3, 1, 4, 1], [[2, 0], [3, 1]]) | R.from_row_splits([1, 2], [1, 2])
    R.from_nested_value_rowids([3, 1, 4, 1], [[0, 0], [0, 0, 0, 1]], [3, 2])
    R.from_tensor([[5, 7, 0], [0, 3, 0], [6, 0, 0]])
    R.from_tensor([[5, 7, 0], [0, 3, 0], [6, 0, 0]], lengths=[1, -2, 7])
    R.from_tensor([[5, 7, 0], [0, 3, 0], [6, 0, 0]], padding=0)
    R.from_tensor([[[1, 2], [3, 4]], [[5, 6], [0, 0]]], padding=[0, 0])
    R.from_tensor([[[1, 0], [3, 4]], [[5, 0], [0, 0]]], ragged_rank=2, padding=0)
    R.from_tensor([[[1, 0], [3, 4]], [[5, 0], [0, 0]]], ragged_rank=2, lengths=[1, 2, 0, 1])
    R.from_tensor([["a", "b"], ["c", ""]], padding="") | R.from_tensor([1, 2])
    R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 5]))
    R.from_sparse(tf.SparseTensor([[0, 0], [0, 2]], [1, 2], [4, 5])) | R.from_sparse(3)
    tf.ragged.range([3, 2, 5]) | tf.ragged.range([0, 5], [3, 9], 2) | tf.ragged.range(5)
    tf.ragged.range([0.0, 5.0], [3.0, 2.0], [1.0, -1.5]) | tf.ragged.range([1, 2], [5, 5, 5])
    tf.ragged.range([1, 2], [5, 5], 0) | tf.ragged.range([1, 2], 5, dtype=tf.float32)
    tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]) | rt.with_row_splits_dtype(tf.int32)
    tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2], num_segments=5)
    rt.to_tensor(7) | deep.to_tensor(-1) | wide.to_tensor([8, 9]) | text.to_tensor("zz")
    tf.ragged.constant([[1], 2]) | tf.ragged.constant([[], [[1]]]) | tf.ragged.constant([])
    tf.ragged.constant([[[1, 2]], [[3]]], ragged_rank=1) | tf.ragged.constant([[1.5], []])
"""
_ELEMENTS = """
    rt + 1 | 1 + rt | rt + rt | rt * rt - rt | rt / 2 | rt // 2 | rt % 2 | rt ** 2 | 2 ** rt | -rt
    abs(-rt) | rt > 1 | rt <= rt | 3 > rt | truth & truth | ~truth | truth | True | truth ^ truth
    tf.constant(1) + rt | tf.constant(1) < rt | tf.constant([[1], [2], [3], [4]]) + rt
    rt + [[7]] | wide + [10, 20] | wide + tf.ones([3, 1, 2], tf.int32)
    deep + [[[1]], [[2]], [[3]]]
    rt + tf.ragged.constant([[1, 2, 3], [], [1, 2], [3, 4]]) | rt + [1, 2, 3] | rt + 1.5
    tf.math.maximum(rt, 3) | tf.equal(rt, 1) | tf.not_equal(1, rt)
    tf.squared_difference(real, 1.0)
    tf.bitwise.bitwise_and(rt, 1) | tf.truediv(rt, 2) | tf.floormod(rt, 2) | tf.multiply(2, rt)
    tf.sqrt(real) | tf.cast(rt, tf.float64) | tf.cast(x=rt, dtype="bool") | tf.to_float(rt)
    tf.clip_by_value(rt, 2, 4) | tf.as_string(rt) | tf.strings.length(text) | tf.math.is_nan(real)
    tf.strings.substr(text, 0, 1) | tf.strings.regex_replace(text, "b", "X")
    tf.add_n([rt, rt, rt])
    tf.strings.join([text, text], "-") | tf.strings.to_hash_bucket_fast(text, 10) | tf.shape(rt)
    tf.ragged.map_flat_values(tf.one_hot, rt, 4) | tf.ragged.map_flat_values(tf.add, rt, deep)
    tf.ragged.map_flat_values(tf.reduce_sum, rt) | tf.one_hot(rt, 3) | tf.reshape(rt, [-1])
"""
_REDUCED = """
    tf.reduce_sum({}, {}) | tf.reduce_prod({}, {}) | tf.reduce_min({}, {}) | tf.reduce_max({}, {})
    tf.reduce_mean({}, {})
"""
_MORE_REDUCED = """
    tf.reduce_any(truth, None) | tf.reduce_any(truth, 0) | tf.reduce_any(truth, 1)
    tf.reduce_all(truth, None) | tf.reduce_all(truth, 0) | tf.reduce_all(truth, 1)
    tf.reduce_sum(deep, [0, 1]) | tf.reduce_mean(deep, [1, 2]) | tf.reduce_sum(wide, (0, 2))
    tf.reduce_sum(rt, 2) | tf.strings.reduce_join(text, axis=1) | tf.reduce_join(text, axis=-1)
    tf.strings.reduce_join(text, axis=0, separator="-")
    tf.math.unsorted_segment_sum(rt, [1, 1, 0, 0], 2)
    tf.math.unsorted_segment_max(rt, [1, 1, 0, 0], 2)
    tf.math.unsorted_segment_mean(real, [0, 2, 0], 3)
    tf.math.unsorted_segment_sqrt_n(real, [0, 2, 0], 3)
    tf.math.unsorted_segment_sum(deep, [0, 0, 0], 1)
    tf.math.unsorted_segment_sum(rt, tf.ragged.constant([[0, 1, 0], [], [1, 1], [0]]), 2)
"""
_JOINED = """
    tf.concat([a, b], 0) | tf.concat([a, b], 1) | tf.concat([a, b], -1) | tf.concat([a, b], 2)
    tf.stack([a, b], 0) | tf.stack([a, b], 1) | tf.stack([a, b], -1) | tf.concat([a, deep], 0)
    tf.concat([deep, deep], 2) | tf.concat([deep, deep], 1) | tf.stack([deep, deep], 2)
    tf.concat([a, [[8, 9]]], 0) | tf.concat([a, [[8], [9]]], 1) | tf.stack([deep, deep], 1)
    tf.concat([[[8, 9], [7, 7]], a], 0) | tf.concat([a], 0) | tf.stack([a], 0)
    tf.ragged.stack([[[1, 2]], [[3]]]) | tf.ragged.stack([tf.ones([2, 2]), tf.ones([1, 3])])
    tf.ragged.stack([a, [[8, 9]]]) | tf.ragged.stack([1, 2]) | tf.ragged.stack([])
    tf.expand_dims(rt, 0) | tf.expand_dims(rt, 1) | tf.expand_dims(rt, 2) | tf.expand_dims(rt, -1)
    tf.expand_dims(wide, 2) | tf.expand_dims(wide, 3) | tf.expand_dims(rt, 3) | tf.tile(rt, [1])
    tf.tile(rt, [2, 1]) | tf.tile(rt, [1, 2]) | tf.tile(rt, [2, 3]) | tf.tile(rt, [0, 1])
    tf.tile(deep, [2, 2, 2]) | tf.tile(deep, [1, 2, 1]) | tf.tile(wide, [1, 2, 2])
    tf.squeeze(tf.ragged.constant([[1], [2]]), 1) | tf.squeeze(tf.ragged.constant([[1, 2]]), 0)
    tf.squeeze(tf.ragged.constant([[1]]), [0, 1]) | tf.squeeze(rt, 0) | tf.squeeze(rt, 1)
    tf.squeeze(tf.expand_dims(rt, 0), 0) | tf.squeeze(rt)
"""
_PICKED = """
    tf.gather(rt, [0, 2, 0]) | tf.gather(rt, [[0, 2], [3, 1]]) | tf.gather(deep, [2, 0])
    tf.gather(wide, [2, 0]) | tf.gather(rt, tf.ragged.constant([[0], [2, 2]])) | tf.gather(rt, 0)
    tf.gather(np.arange(10), rt) | tf.gather(rt, [9]) | tf.gather(text, [1, 0])
    tf.batch_gather(rt, tf.ragged.constant([[2, 0], [], [1], []])) | tf.batch_gather(a, [1, 0])
    tf.batch_gather([[1, 2], [3, 4]], tf.ragged.constant([[1], [0, 0]]))
    tf.batch_gather(a, [[0], [0]]) | tf.batch_gather(deep, tf.ragged.constant([[1], [], [2, 0]]))
    tf.gather_nd(rt, [[0, 1], [3, 0]]) | tf.gather_nd(rt, [[0], [3]]) | tf.gather_nd(rt, [0, 1])
    tf.gather_nd(deep, [[0, 1], [2, 2]]) | tf.gather_nd(deep, [[0, 1, 0], [2, 2, 1]])
    tf.gather_nd(wide, [[0, 1], [2, 0]]) | tf.gather_nd(rt, [[[0, 1]], [[2, 1]]])
    tf.gather_nd(rt, rt)
    tf.ragged.boolean_mask(rt, mask) | tf.ragged.boolean_mask(rt, [True, False, False, True])
    tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [False, False]])
    tf.ragged.boolean_mask(deep, tf.ragged.constant([[True, False], [], [False, True, True]]))
    tf.ragged.boolean_mask(deep, deep > 3) | tf.ragged.boolean_mask(rt, True)
    tf.where(mask) | tf.where(mask, rt, -rt) | tf.where([True, False, True, False], rt, -rt)
    tf.where(deep > 3) | tf.where(wide > 2) | tf.where(mask, rt, 0)
    tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [2, 0, 2, 1], 4)
    tf.ragged.stack_dynamic_partitions(rt, [1, 0, 1, 1], 2)
    tf.dynamic_partition(rt, [1, 0, 1, 1], 2)
"""
_STRINGS = """
    tf.strings.unicode_decode([u"h\\u00e9llo", "", u"\\u65e5"], "UTF-8")
    tf.strings.unicode_decode("abc", "UTF-8") | tf.strings.unicode_decode(text, "UTF-8")
    tf.strings.unicode_decode([["a", "bc"], ["", "d"]], "UTF-8")
    tf.strings.unicode_split([u"h\\u00e9", "ab"], "UTF-8") | tf.strings.unicode_split("a", "UTF-8")
    list(tf.strings.unicode_decode_with_offsets([b"\\xc3\\xa9\\xff\\xc3a"], "UTF-8"))
    list(tf.strings.unicode_split_with_offsets(["ab", u"\\u65e5a"], "UTF-8"))
    tf.strings.unicode_encode([[104, 233], [26085, 0]], "UTF-8")
    tf.strings.unicode_encode([104, 233], "UTF-16-BE") | tf.strings.unicode_encode(104, "UTF-8")
    tf.strings.unicode_encode(tf.ragged.constant([[[104], [233]], []]), "UTF-8")
    tf.strings.unicode_encode([[55296, 65]], "UTF-8") | tf.strings.unicode_encode([[65]], "UTF-7")
    tf.strings.unicode_decode([b"a\\xffb"], "UTF-8", errors="ignore")
    tf.strings.unicode_decode([b"a\\xffb"], "UTF-8", errors="strict")
    tf.strings.unicode_decode(["ab"], "nope") | tf.strings.bytes_split(["hello", "", "ab"])
    tf.strings.bytes_split("abc") | tf.strings.bytes_split(text)
    tf.strings.ngrams(["a", "b", "c", "d"], 2) | tf.strings.ngrams(text, 2)
    tf.strings.ngrams([["a", "b", "c"], ["d", "e", "f"]], [1, 3]) | tf.strings.ngrams(["a"], 0)
    tf.strings.ngrams(text, 2, separator="-", preserve_short_sequences=True)
    tf.strings.ngrams(text, 3, pad_values="p", padding_width=1)
    tf.strings.ngrams(["a", "b"], [2], pad_values=("l", "r"), padding_width=5)
    tf.strings.split(["a b c", "d", ""], result_type="RaggedTensor")
    tf.string_split(["a b c", "d", ""], result_type="RaggedTensor")
    tf.strings.split([["a b", "c"], ["d", ""]], result_type="RaggedTensor")
    tf.strings.split(["a,b,,c"], sep=",", maxsplit=1, result_type="RaggedTensor")
"""
_GRADIENTS = """
    grad(x * x) | grad(tf.reduce_sum(x * x, 1)) | grad(tf.reduce_max(x, 0)) | grad(x[:, 1:] * 3.0)
    grad(x.to_tensor() ** 2) | grad(x[2]) | grad(tf.concat([x, x * 2.0], 1))
    grad(tf.tile(x, [2, 2]))
    grad(tf.reduce_mean(x, 1)) | grad(tf.gather(x, [2, 2])) | grad(x.to_sparse().values * 3.0)
    grad(x + [[1.0], [2.0], [3.0]]) | grad(tf.ragged.boolean_mask(x, x > 1.5))
    grad(tf.stack([x, x], 1)) | grad(tf.where(x > 2.0, x * 5.0, x)) | grad(tf.expand_dims(x, 1))
    grad(tf.gather_nd(x, [[0, 1], [2, 2]])) | tf.cond(tf.constant(True), lambda: x, lambda: x * 2.0)
    tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r * 2.0), [0, x])[1]
"""


def _split(table):
    return [e.strip() for line in table.splitlines() for e in line.split(" | ") if e.strip()]


def _expressions():
    for name in ("rt", "deep", "wide", "text", "real", "truth"):
        for expression in _split(_OF_EACH):
            yield expression.replace("{}", name)
    for name in ("rt", "deep", "wide"):
        for key in _split(_KEYS):
            yield f"{name}[{key}]"
    for name in ("rt", "deep", "wide", "real"):
        for axis in ("None", "0", "1", "-1"):
            for expression in _split(_REDUCED):
                yield expression.format(name, axis)
    for table in (_FACTORIES, _ELEMENTS, _MORE_REDUCED, _JOINED, _PICKED, _STRINGS, _GRADIENTS):
        for expression in _split(table):
            yield expression


EXPRESSIONS = sorted(set(_expressions()))


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as out:
        json.dump({e: result(tensorflow, e) for e in EXPRESSIONS}, out)
