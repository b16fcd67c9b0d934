"""Programs of functions written above ops, to be run by Penstock and by TensorFlow 1.15 alike.

Run as ``python -m tests.ops.composed_programs FILE`` by TensorFlow; under Python 3.7 as well.
"""

import gzip
import zlib

import numpy as np

from tests.library.signal.programs import fed, gradient, wave
from tests.tf1_programs import answer

PROGRAMS = {}
ERRORS = {}
OTHER_NODES = set()
# TensorFlow knows which axes the gradient of what broadcasts is summed over.
VAGUER = {"pinv_gradient", "next_numbers"}


def program(function, name=None):
    PROGRAMS[name or function.__name__] = function
    return function


def error(function):
    ERRORS[function.__name__] = function
    return function


# ---- linear algebra ------------------------------------------------------------------------------

MATRICES = {
    "tall": ((5, 3), [5, 3]),
    "wide": ((2, 3, 4), [2, 3, 4]),
    "unknown": ((3, 4), [None, None]),
    "unknown_rank": ((2, 4, 3), None),
    "double": ((4, 4), [4, 4]),
}


def _pinv(case):
    shape, known = MATRICES[case]

    def build(tf):
        dtype = "float64" if case == "double" else "float32"
        x, value = fed(tf, wave(*shape, dtype=dtype), known)
        made = [tf.linalg.pinv(x), tf.linalg.matrix_rank(x)]
        made.append(tf.linalg.pinv(x, 0.4, validate_args=True, name="inverse"))
        made.append(tf.linalg.matrix_rank(x, 0.4, validate_args=True, name="rank"))
        return made, {x: value}

    program(build, "pinv_" + case)


for _case in MATRICES:
    _pinv(_case)


@program
def pinv_of_low_rank(tf):
    x = tf.constant(wave(5, 2).dot(wave(2, 4, seed=1)))
    cuts = tf.constant([0.1, 0.9])
    two = tf.stack([x, x + 1.0])
    return [tf.linalg.pinv(x), tf.linalg.matrix_rank(x), tf.linalg.pinv(two, rcond=cuts)]


@program
def pinv_gradient(tf):
    x, value = fed(tf, wave(4, 3), [4, 3])
    return [gradient(tf, tf.linalg.pinv(x), x)], {x: value}


@error
def pinv_of_integers(tf):
    tf.linalg.pinv(tf.zeros([2, 2], tf.int32))


@error
def pinv_of_vector(tf):
    tf.linalg.pinv(tf.zeros([2]))


@error
def rank_of_integers(tf):
    tf.linalg.matrix_rank(tf.zeros([2, 2], tf.int32))


@program
def tridiagonal_products(tf):
    d, value = fed(tf, wave(2, 3, 4), [2, 3, 4], "d")
    x, other = fed(tf, wave(2, 4, 3, seed=1), [2, 4, 3])
    y = tf.linalg.tridiagonal_matmul(d, x)
    made = [y, gradient(tf, y, d), gradient(tf, y, x)]
    above, main, below = d[..., 0, :], d[..., 1, :], d[..., 2, :]
    made.append(tf.linalg.tridiagonal_matmul((above, main, below), x, "sequence", name="parts"))
    m = tf.constant(wave(2, 4, 4, seed=2))
    made.append(tf.linalg.tridiagonal_matmul(m, x, diagonals_format="matrix"))
    return made, {d: value, x: other}


@program
def tridiagonal_products_of_unknown_shape(tf):
    d, value = fed(tf, wave(2, 3, 4), [None, 3, None], "d")
    x, other = fed(tf, wave(2, 4, 3, seed=1), [None, None, None])
    y = tf.linalg.tridiagonal_matmul(d, x)
    return [y, gradient(tf, y, d), gradient(tf, y, x)], {d: value, x: other}


@program
def tridiagonal_products_of_complex(tf):
    numbers = [wave(3, 4, seed=s) + 1j * wave(3, 4, seed=s + 1) for s in (0, 2)]
    d, value = fed(tf, numbers[0].astype("complex64"), [3, 4], "d")
    x, other = fed(tf, numbers[1].T.astype("complex64"), [4, 3])
    y = tf.linalg.tridiagonal_matmul(d, x)
    return [y, gradient(tf, y, d), gradient(tf, y, x)], {d: value, x: other}


@error
def tridiagonal_of_other_format(tf):
    tf.linalg.tridiagonal_matmul(tf.zeros([3, 4]), tf.zeros([4, 1]), "dense")


@error
def tridiagonal_of_two_diagonals(tf):
    tf.linalg.tridiagonal_matmul([tf.zeros([4])] * 2, tf.zeros([4, 1]), "sequence")


@error
def tridiagonal_of_other_sizes(tf):
    tf.linalg.tridiagonal_matmul(tf.zeros([3, 4]), tf.zeros([5, 1]))


# ---- special functions ---------------------------------------------------------------------------


def _bessel(name):
    def build(tf):
        function = getattr(tf.math, name)
        points = np.array([-9.5, -2.0, -1e-9, 0.0, 0.3, 1.0, 7.9, 8.1, 20.0], "float32")
        x, value = fed(tf, points, [9])
        y = function(x)
        z, other = fed(tf, points.astype("float64"), None, "z")
        made = [y, gradient(tf, y, x), function(z, name="given"), function(z)]
        return made, {x: value, z: other}

    program(build, name)


for _name in ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e"):
    _bessel(_name)


@program
def next_numbers(tf):
    x, value = fed(tf, wave(2, 3), [2, 3])
    y, other = fed(tf, np.array([1.0, -1.0, 0.0], "float32"), [3], "y")
    made = tf.math.nextafter(x, y)
    return [made, gradient(tf, made, x), gradient(tf, made, y)], {x: value, y: other}


# ---- text ----------------------------------------------------------------------------------------


@program
def scripts(tf):
    codes = [ord(c) for c in "aA1 \u00e9\u03b1\u0434\u05d0\u4e2d\u3042\u30a2\uac00\u0e01\u0915"]
    codes += [0x10FFFF, 0x10400, -1, 0x110000, 0x0301, 0xE000, 0xD800, 0x1F600, 0]
    return [tf.strings.unicode_script(tf.constant(codes)), tf.strings.unicode_script(65, "one")]


TEXTS = [
    "na\u00efve \u4e2d\u6587 \U0001f600".encode(),
    b"",
    b"a\xffb\xc3",
    b"\xe4\xb8z\xed\xa0\x80.",
    b"tab\t line\n nul\0 del\x7f \xc2\x85",
    b"\xf4\x90\x80\x80 \xc0\xaf \xf0\x9f\x98",
]


def _transcode(source, target):
    def build(tf):
        texts = [b"\x00a\x00b\xd8\x3d\xde\x00", b"\xd8\x3d", b"\x00", b"\xfe\xff\x00a"]
        texts = {"UTF-8": TEXTS, "UTF-16-BE": texts}.get(source, [b"\0\0\0a", b"\0\x11\0\0", b"ab"])
        if source == "US-ASCII":
            texts = [b"plain", b"caf\xe9\x80"]
        if source == "ISO-8859-1":
            texts = [b"plain", b"caf\xe9\x80"]
        x = tf.constant(np.array(texts, object))
        transcode = tf.strings.unicode_transcode
        made = [
            transcode(x, source, target),
            transcode(x, source, target, errors="ignore", name="ignored"),
            transcode(x, source, target, replacement_char=ord("?")),
            transcode(x, source, target, replace_control_characters=True),
            transcode(x, source, target, "ignore", replace_control_characters=True),
        ]
        return [tf.decode_raw(tf.reduce_join(y, separator="|"), tf.uint8) for y in made]

    program(build, f"transcode_{source}_{target}")


for _source, _target in (
    ("UTF-8", "UTF-8"), ("UTF-8", "UTF-16-BE"), ("UTF-8", "UTF-32-BE"), ("UTF-16-BE", "UTF-8"),
    ("UTF-32-BE", "UTF-8"), ("US-ASCII", "UTF-8"), ("ISO-8859-1", "UTF-8"),
):  # fmt: skip
    _transcode(_source, _target)


@error
def transcode_strictly(tf):
    x = tf.strings.unicode_transcode([b"a\xff"], "UTF-8", "UTF-8", errors="strict")
    tf.Session().run(x)


@error
def transcode_other_encoding(tf):
    x = tf.strings.unicode_transcode([b"a"], "no such", "UTF-8")
    tf.Session().run(x)


@error
def transcode_to_other_encoding(tf):
    tf.strings.unicode_transcode([b"a"], "UTF-8", "latin1")


@error
def transcode_with_other_errors(tf):
    tf.strings.unicode_transcode([b"a"], "UTF-8", "UTF-8", errors="raise")


@error
def transcode_with_no_character(tf):
    x = tf.strings.unicode_transcode([b"a\xff"], "UTF-8", "UTF-8", replacement_char=0x110000)
    tf.Session().run(x)


# ---- compressed ----------------------------------------------------------------------------------


@program
def decompressed(tf):
    words = [b"some words", b"", b"aaaa" * 1000]
    made = []
    for kind, pack in (("", bytes), ("ZLIB", zlib.compress), ("GZIP", gzip.compress)):
        x = tf.constant(np.array([pack(w) for w in words], object))
        y = tf.decode_compressed(x, kind)
        made.append(tf.decode_raw(tf.reduce_join(y, separator="|"), tf.uint8))
    return made


@error
def decompress_other(tf):
    tf.Session().run(tf.decode_compressed([b"a"], "LZ4"))


@error
def decompress_damaged(tf):
    tf.Session().run(tf.decode_compressed([zlib.compress(b"a" * 99)[:-1] + b"!"], "ZLIB"))


@error
def decompress_plain(tf):
    tf.Session().run(tf.decode_compressed([b"not packed"], "GZIP"))


# ---- crossed columns -----------------------------------------------------------------------------


def _column(tf, value):
    return tf.SparseTensor([[0, 0], [1, 0], [1, 1]], value, [2, 2])


@program
def crosses(tf):
    words = _column(tf, [b"a", b"b", b"c"])
    numbers = _column(tf, np.array([3, 1, 2], "int64"))
    dense = tf.constant([[b"x", b"y"], [b"z", b"w"]])
    codes = tf.constant(np.array([[7], [9]], "int64"))
    made = []
    for inputs in ([words, dense], [words, numbers, codes], [dense], [codes, numbers]):
        found = tf.sparse.cross(inputs)
        made += [found.indices, found.dense_shape]
        made.append(tf.decode_raw(tf.reduce_join(found.values, separator="|"), tf.uint8))
        for more in ({}, {"num_buckets": 100}, {"num_buckets": 100, "hash_key": 5}):
            found = tf.sparse.cross_hashed(inputs, **more)
            made += [found.indices, found.dense_shape, found.values]
    named = tf.sparse.cross([words, dense], name="crossed")
    return made + [named.dense_shape]


@program
def cross_of_nothing_and_of_floats(tf):
    made = [tf.sparse.cross([]), tf.sparse.cross([tf.constant([[1.7, -2.2]])])]
    return [x for found in made for x in (found.indices, found.dense_shape)]


@error
def cross_of_tuple(tf):
    tf.sparse.cross((tf.zeros([2, 2]),))


@error
def cross_of_numbers(tf):
    tf.sparse.cross([1, 2])


if __name__ == "__main__":
    answer(PROGRAMS, ERRORS)
