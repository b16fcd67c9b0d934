"""Programs of ``tf.signal``, to be built and run by Penstock and by TensorFlow 1.15 alike.

Each takes the package as ``tf`` and returns tensors, or a list of them with a feed; the nodes and
the values are what is compared.  The file runs under Python 3.7 as well.
"""

import numpy as np

from tests.tf1_programs import answer

PROGRAMS = {}
ERRORS = {}
# We know that axis 0 is gathered along, and make slices of it; TensorFlow does not see that.
OTHER_NODES = {"frame_gradient_gaps", "frame_gradient_first_axis"}
# TensorFlow knows which axes the gradient of a complex number is summed over.
VAGUER = {"idct_2_None", "idct_2_ortho", "dct_3_None", "dct_3_ortho"}


def program(function, name=None):
    PROGRAMS[name or function.__name__] = function
    return function


def error(function):
    ERRORS[function.__name__] = function
    return function


def wave(*shape, **kind):
    random = np.random.RandomState(kind.get("seed", 0))
    return random.uniform(-1, 1, shape).astype(kind.get("dtype", "float32"))


def fed(tf, value, shape=None, name="x"):
    """A placeholder of ``shape`` with a value to feed."""
    return tf.placeholder(value.dtype, shape, name=name), value


def weighted(tf, y):
    """A loss in which each element of ``y`` counts differently."""
    size = tf.cast(tf.size(y), tf.float32)
    weights = tf.reshape(tf.cos(tf.range(size)), tf.shape(y))
    y = tf.abs(y) if y.dtype.is_complex else tf.cast(y, tf.float32)
    return tf.reduce_sum(y * weights)


def gradient(tf, y, x):
    return tf.gradients(weighted(tf, y), x)[0]


# ---- frames --------------------------------------------------------------------------------------

# Shape of the signal, what is known of it, length, step, and the rest.
FRAMES = {
    "plain": ((2, 20), [2, 20], 6, 2, {}),
    "padded": ((2, 21), [2, 21], 6, 4, {"pad_end": True, "pad_value": 0.5}),
    "gaps": ((21,), [21], 3, 5, {}),
    "coprime": ((3, 17), [3, 17], 5, 3, {"name": "cut"}),
    "first_axis": ((20, 2, 3), [20, 2, 3], 6, 4, {"axis": 0}),
    "inner_axis": ((2, 15, 3), [2, 15, 3], 6, 3, {"axis": -2, "pad_end": True}),
    "short": ((2, 5), [2, 5], 6, 3, {}),
    "short_padded": ((2, 5), [2, 5], 8, 3, {"pad_end": True}),
    "unknown_length": ((2, 20), [2, None], 6, 2, {}),
    "unknown_batch": ((2, 20), [None, 20], 6, 2, {"pad_end": True}),
    "unknown": ((2, 20), [None, None], 6, 4, {"pad_end": True}),
    "unknown_rank": ((2, 20), None, 6, 4, {"pad_end": True}),
    "unknown_rank_first": ((20, 2), None, 6, 4, {"axis": 0}),
}


def _frame(case, slope):
    shape, known, length, step, more = FRAMES[case]

    def build(tf):
        x, value = fed(tf, wave(*shape), known)
        y = tf.signal.frame(x, length, step, **more)
        return [gradient(tf, y, x) if slope else y], {x: value}

    program(build, ("frame_gradient_" if slope else "frame_") + case)


for _case in FRAMES:
    _frame(_case, False)
    _frame(_case, True)


@program
def frame_of_integers(tf):
    x = tf.constant(np.arange(40, dtype="int64").reshape(2, 20))
    return [tf.signal.frame(x, 7, 3, pad_end=True, pad_value=-1)]


@program
def frame_by_tensors(tf):
    x, value = fed(tf, wave(2, 20), [2, 20])
    length, count = fed(tf, np.int32(6), [], "length")
    step, far = fed(tf, np.int32(4), [], "step")
    return [tf.signal.frame(x, length, step)], {x: value, length: count, step: far}


@program
def frame_by_tensors_padded(tf):
    x, value = fed(tf, wave(2, 20), [2, 20])
    length, count = fed(tf, np.int32(9), [], "length")
    step, far = fed(tf, np.int32(6), [], "step")
    y = tf.signal.frame(x, length, step, pad_end=True)
    return [y, gradient(tf, y, x)], {x: value, length: count, step: far}


# ---- overlapping sums ----------------------------------------------------------------------------

SUMS = {
    "plain": ((3, 5, 4), [3, 5, 4], 2),
    "coprime": ((5, 7), [5, 7], 3),
    "whole": ((2, 5, 4), [2, 5, 4], 4),
    "one": ((1, 6), [1, 6], 2),
    "ones": ((4, 6), [4, 6], 1),
    "unknown_count": ((2, 5, 6), [2, None, 6], 2),
    "unknown_batch": ((2, 5, 6), [None, 5, 6], 4),
    "unknown": ((2, 5, 6), [None, None, None], 4),
    "unknown_rank": ((2, 5, 6), None, 4),
}


def _sum(case, slope):
    shape, known, step = SUMS[case]

    def build(tf):
        x, value = fed(tf, wave(*shape), known)
        y = tf.signal.overlap_and_add(x, step)
        return [gradient(tf, y, x) if slope else y], {x: value}

    program(build, ("sum_gradient_" if slope else "sum_") + case)


for _case in SUMS:
    _sum(_case, False)
    _sum(_case, True)


@program
def sum_by_tensor(tf):
    x, value = fed(tf, wave(2, 5, 6), [2, 5, 6])
    step, far = fed(tf, np.int32(4), [], "step")
    return [tf.signal.overlap_and_add(x, step, name="add")], {x: value, step: far}


@program
def sum_of_integers(tf):
    x = tf.constant(np.arange(40, dtype="int32").reshape(2, 4, 5))
    return [tf.signal.overlap_and_add(x, 3)]


# ---- windows -------------------------------------------------------------------------------------


def _window(*kind):
    def build(tf):
        function = getattr(tf.signal, kind[0] + "_window")
        made = []
        dtype = tf.as_dtype(kind[1])
        for length in (1, 2, 7, 8):
            made.append(function(length, dtype=dtype))
            made.append(function(length, periodic=False, dtype=dtype, name="still"))
        return made

    program(build, "window_" + "_".join(kind))


for _kind in ("hann", "hamming"):
    for _dtype in ("float16", "float32", "float64"):
        _window(_kind, _dtype)


@program
def window_by_tensors(tf):
    length, count = fed(tf, np.int32(6), [], "length")
    periodic, whether = fed(tf, np.bool_(False), [], "periodic")
    made = [tf.signal.hann_window(length), tf.signal.hamming_window(length, periodic)]
    return made, {length: count, periodic: whether}


# ---- spectra over time ---------------------------------------------------------------------------

STFTS = {
    "plain": ((2, 40), [2, 40], (8, 4), {}),
    "longer": ((2, 40), [2, 40], (7, 3), {"fft_length": 16, "name": "spectra"}),
    "shorter": ((40,), [40], (8, 5), {"fft_length": 6}),
    "bare": ((2, 40), [2, 40], (8, 4), {"window_fn": None}),
    "padded": ((2, 41), [2, 41], (8, 4), {"pad_end": True}),
    "unknown": ((2, 41), [None, None], (12, 4), {}),
    "unknown_rank": ((2, 41), None, (12, 4), {"pad_end": True}),
}


def _stft(case, slope):
    shape, known, sizes, more = STFTS[case]

    def build(tf):
        x, value = fed(tf, wave(*shape), known)
        y = tf.signal.stft(x, *sizes, **more)
        return [gradient(tf, y, x) if slope else y], {x: value}

    program(build, ("stft_gradient_" if slope else "stft_") + case)


for _case in STFTS:
    _stft(_case, False)
    if _case != "shorter":  # the gradient of a transform that cuts its input has another shape
        _stft(_case, True)


@program
def stft_by_tensors(tf):
    x, value = fed(tf, wave(2, 40), [2, 40])
    length, count = fed(tf, np.int32(10), [], "length")
    step, far = fed(tf, np.int32(4), [], "step")
    return [tf.signal.stft(x, length, step)], {x: value, length: count, step: far}


INVERSES = {
    "plain": ((2, 9, 5), [2, 9, 5], (8, 4), {}),
    "longer": ((2, 9, 9), [2, 9, 9], (7, 3), {"fft_length": 16, "name": "wave"}),
    "shorter": ((9, 5), [9, 5], (10, 5), {"fft_length": 8}),
    "bare": ((2, 9, 5), [2, 9, 5], (8, 4), {"window_fn": None}),
    "unknown": ((2, 9, 9), [None, None, None], (12, 4), {}),
    "unknown_rank": ((2, 9, 9), None, (16, 4), {}),
}


def _inverse(case, slope, window):
    shape, known, sizes, more = INVERSES[case]

    def build(tf):
        value = (wave(*shape) + 1j * wave(*shape, seed=1)).astype("complex64")
        x, value = fed(tf, value, known)
        if window:
            more["window_fn"] = tf.signal.inverse_stft_window_fn(sizes[1])
        y = tf.signal.inverse_stft(x, *sizes, **more)
        if slope:
            return [gradient(tf, y, x)], {x: value}
        return [y], {x: value}

    kind = "gradient_" if slope else "windowed_" if window else ""
    program(build, "inverse_stft_" + kind + case)


for _case in INVERSES:
    _inverse(_case, False, False)
    _inverse(_case, True, False)
_inverse("plain", False, True)
_inverse("unknown", False, True)


@program
def inverse_windows(tf):
    def bare(length, dtype):
        return tf.ones([length], dtype)

    functions = [tf.signal.inverse_stft_window_fn(step) for step in (1, 3, 4, 8)]
    functions.append(tf.signal.inverse_stft_window_fn(4, tf.signal.hamming_window, name="back"))
    functions.append(tf.signal.inverse_stft_window_fn(4, bare))
    return [function(8, dtype=tf.float32) for function in functions]


@program
def inverse_window_of_double(tf):
    return [tf.signal.inverse_stft_window_fn(5)(13, dtype=tf.float64)]


@program
def there_and_back(tf):
    x, value = fed(tf, wave(3, 100), [3, 100])
    y = tf.signal.stft(x, 16, 4)
    back = tf.signal.inverse_stft(y, 16, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
    return [back, gradient(tf, back, x)], {x: value}


# ---- cosine transforms ---------------------------------------------------------------------------


def _dct(kind, norm, inverse):
    def build(tf):
        function = getattr(tf.signal, "idct" if inverse else "dct")
        x, value = fed(tf, wave(2, 3, 7), [2, 3, 7])
        y = function(x, kind, norm=norm)
        z, other = fed(tf, wave(3, 8), None, "z")
        made = [y, gradient(tf, y, x), function(z, type=kind, norm=norm, name="turned")]
        return made, {x: value, z: other}

    program(build, f"{'i' if inverse else ''}dct_{kind}_{norm}")


for _number in (1, 2, 3):
    for _norm in (None, "ortho"):
        if (_number, _norm) != (1, "ortho"):
            _dct(_number, _norm, False)
            _dct(_number, _norm, True)


@program
def dct_of_unknown_length(tf):
    x, value = fed(tf, wave(2, 7), [None, None])
    return [tf.signal.dct(x, kind) for kind in (1, 2, 3)], {x: value}


@program
def dct_cut_or_filled(tf):
    x, value = fed(tf, wave(2, 7), [2, 7])
    return [tf.signal.dct(x, kind, n=n) for n in (4, 7, 9) for kind in (1, 2, 3)], {x: value}


# ---- mel -----------------------------------------------------------------------------------------


@program
def mel_weights(tf):
    function = tf.signal.linear_to_mel_weight_matrix
    return [
        function(),
        function(40, 257, 16000, 20.0, 7600.0, name="mel"),
        function(5, 9, dtype=tf.float64),
        function(4, 65, 8000.0, 0.0, 4000.0),
    ]


@program
def mel_weights_by_tensors(tf):
    rate = tf.constant(16000.0)
    bins, count = fed(tf, np.int32(65), [], "bins")
    made = [
        tf.signal.linear_to_mel_weight_matrix(6, 33, rate),
        tf.signal.linear_to_mel_weight_matrix(6, bins, 8000),
    ]
    return made, {bins: count}


@program
def mfccs(tf):
    x, value = fed(tf, wave(2, 5, 12), [2, 5, 12])
    y, other = fed(tf, wave(5, 12), [None, None], "y")
    z, last = fed(tf, wave(2, 5, 12), None, "z")
    made = [tf.signal.mfccs_from_log_mel_spectrograms(v) for v in (x, y, z)]
    return made, {x: value, y: other, z: last}


@program
def mfccs_of_sound(tf):
    x, value = fed(tf, wave(2, 2000), [2, 2000])
    spectra = tf.abs(tf.signal.stft(x, 256, 128))
    weights = tf.signal.linear_to_mel_weight_matrix(20, 129, 8000, 80.0, 3600.0)
    mels = tf.tensordot(spectra, weights, 1)
    made = tf.signal.mfccs_from_log_mel_spectrograms(tf.log(mels + 1e-3), name="coefficients")
    return [made, gradient(tf, made, x)], {x: value}


# ---- errors --------------------------------------------------------------------------------------


@error
def frame_of_scalar(tf):
    tf.signal.frame(tf.constant(1.0), 2, 1)


@error
def frame_length_of_rank_1(tf):
    tf.signal.frame(tf.zeros([10]), [2], 1)


@error
def frame_step_of_rank_1(tf):
    tf.signal.frame(tf.zeros([10]), 2, [1])


@error
def frame_axis_beyond(tf):
    tf.signal.frame(tf.zeros([10]), 2, 1, axis=1)


@error
def frame_axis_below(tf):
    tf.signal.frame(tf.zeros([10]), 2, 1, axis=-2)


@error
def sum_of_vector(tf):
    tf.signal.overlap_and_add(tf.zeros([10]), 1)


@error
def sum_with_vector(tf):
    tf.signal.overlap_and_add(tf.zeros([3, 10]), [1])


@error
def sum_with_fraction(tf):
    tf.signal.overlap_and_add(tf.zeros([3, 10]), 1.5)


@error
def window_of_integers(tf):
    tf.signal.hann_window(8, dtype=tf.int32)


@error
def window_of_vector(tf):
    tf.signal.hann_window([8])


@error
def stft_of_scalar(tf):
    tf.signal.stft(tf.constant(1.0), 2, 1)


@error
def stft_of_integers(tf):
    tf.signal.stft(tf.zeros([20], tf.int32), 2, 1)


@error
def inverse_stft_of_vector(tf):
    tf.signal.inverse_stft(tf.zeros([20], tf.complex64), 2, 1)


@error
def dct_of_other_type(tf):
    tf.signal.dct(tf.zeros([20]), type=5)


@error
def dct_of_type_4(tf):
    tf.signal.dct(tf.zeros([20]), type=4)


@error
def dct_of_other_axis(tf):
    tf.signal.dct(tf.zeros([4, 20]), axis=0)


@error
def dct_of_other_norm(tf):
    tf.signal.dct(tf.zeros([20]), norm="short")


@error
def dct_of_no_length(tf):
    tf.signal.dct(tf.zeros([20]), n=0)


@error
def dct_of_one(tf):
    tf.signal.dct(tf.zeros([4, 1]), type=1)


@error
def dct_of_type_1_normed(tf):
    tf.signal.dct(tf.zeros([20]), type=1, norm="ortho")


@error
def dct_of_double(tf):
    tf.signal.dct(tf.zeros([20], tf.float64))


@error
def mel_of_no_bins(tf):
    tf.signal.linear_to_mel_weight_matrix(num_mel_bins=0)


@error
def mel_below_zero(tf):
    tf.signal.linear_to_mel_weight_matrix(lower_edge_hertz=-1.0)


@error
def mel_edges_swapped(tf):
    tf.signal.linear_to_mel_weight_matrix(lower_edge_hertz=500.0, upper_edge_hertz=100.0)


@error
def mel_beyond_half_the_rate(tf):
    tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5000.0)


@error
def mel_of_no_rate(tf):
    tf.signal.linear_to_mel_weight_matrix(sample_rate=0)


@error
def mel_of_fed_rate(tf):
    tf.signal.linear_to_mel_weight_matrix(6, 33, tf.placeholder(tf.float32, []))


@error
def mel_of_integers(tf):
    tf.signal.linear_to_mel_weight_matrix(dtype=tf.int32)


@error
def mfccs_of_nothing(tf):
    tf.signal.mfccs_from_log_mel_spectrograms(tf.zeros([3, 0]))


if __name__ == "__main__":
    answer(PROGRAMS, ERRORS)
