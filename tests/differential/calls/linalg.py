"""Linear algebra and Fourier transforms."""

from __future__ import annotations

from tests.differential.args import A, C, D, I, K, M, O, R, S, X, call, each

HALVES = O(False, True)
# A positive definite matrix, one that has an inverse, a lower triangle.
DEFINITE = X([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
REGULAR = X([[2.0, 1.0, 0.0], [0.5, 3.0, 1.0], [1.0, 0.0, 4.0]])
LOWER = X([[2.0, 0.0, 0.0], [0.5, 3.0, 0.0], [1.0, 0.25, 4.0]])

CALLS = [
    call("matmul", R(2, 3), R(3, 4), HALVES, HALVES, adjoint_a=HALVES, a_is_sparse=HALVES),
    call("linalg.matvec", R(2, 3), R(3), HALVES),
    call("linalg.adjoint", C(2, 3)),
    call("trace", R(3, 3)),
    call("linalg.cholesky", DEFINITE),
    call("cholesky_solve", LOWER, R(3, 2)),
    call("linalg.det", REGULAR),
    call("linalg.logdet", DEFINITE),
    call("linalg.slogdet", REGULAR),
    call("linalg.inv", REGULAR, HALVES),
    call("linalg.solve", REGULAR, R(3, 2), HALVES),
    call("linalg.triangular_solve", LOWER, R(3, 2), O(True, False), HALVES),
    call("linalg.lstsq", REGULAR, R(3, 2), O(0.0, 0.5, -1.0), O(True, False)),
    call("linalg.expm", REGULAR),
    call("linalg.sqrtm", DEFINITE),
    call("linalg.lu", REGULAR, D("int32", "int64", "float32")),
    call("linalg.eigvalsh", DEFINITE),
    call("linalg.svd", REGULAR, HALVES, O(False)),
    call("linalg.pinv", REGULAR),
    call("linalg.matrix_rank", REGULAR),
    call(
        "linalg.norm",
        R(2, 3),
        O("euclidean", 1, 2, float("inf"), "fro", 0.5, -1, "x"),
        M(A([0, 1])),
        keepdims=O(False, True, None),
    ),
    call("linalg.normalize", R(2, 3), O("euclidean", 1, 2, float("inf"), "x"), M(A(1))),
    call("linalg.tensor_diag", R(2, 3)),
    call("linalg.tensor_diag_part", R(2, 3, 2, 3)),
    call(
        "linalg.tridiagonal_solve",
        X([[1.0, 1.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 1.0]]),
        R(3, 2),
        O("compact", "matrix", "x"),
    ),
    call("linalg.tridiagonal_matmul", R(3, 3), R(3, 2), O("compact", "x")),
    call("linalg.logm", X([[4.0, 1.0], [1.0, 3.0]], "complex64")),
    *each("signal.fft signal.ifft", C(2, 4)),
    *each("signal.fft2d signal.ifft2d", C(4, 3)),
    *each("signal.fft3d signal.ifft3d", C(2, 3, 2)),
    call("signal.rfft", R(2, 4), M(S([6]))),
    call("signal.irfft", C(2, 3), M(S([4]))),
    call("signal.rfft2d", R(3, 4), M(S([2, 6]))),
    call("signal.irfft2d", C(3, 3), M(S([2, 4]))),
    call("signal.rfft3d", R(2, 3, 4), M(S([2, 2, 6]))),
    call("signal.irfft3d", C(2, 3, 3), M(S([2, 2, 4]))),
    *each("signal.fftshift signal.ifftshift", R(3, 4), M(A([1]))),
    call("signal.dct", R(2, 4), O(2, 1, 3, 4), norm=O(None, "ortho", "x")),
    call("signal.idct", R(2, 4), O(2, 1, 3, 4), norm=O(None, "ortho", "x")),
    *each(
        "signal.hann_window signal.hamming_window",
        S(6),
        O(True, False),
        D("float32", "float64", "int32"),
    ),
    call("signal.frame", R(2, 9), S(4), S(2), pad_end=HALVES, pad_value=O(0, 1.5), axis=A(-1)),
    call("signal.overlap_and_add", R(3, 4), S(2)),
    call("signal.stft", R(2, 12), S(4), S(2), M(S(8)), pad_end=HALVES),
    call("signal.inverse_stft", C(3, 3), S(4), S(2), M(S(4))),
    call(
        "signal.linear_to_mel_weight_matrix",
        O(4, 0, 8),
        O(9, 0, 5),
        O(8000, 0, 4000.0),
        O(125.0, -1.0, 5000.0),
        O(3800.0, 100.0, 9000.0),
    ),
    call("signal.mfccs_from_log_mel_spectrograms", R(2, 6)),
    call("linalg.einsum", O("ij,jk->ik", "ij,jk", "ij,ik->"), K(R(2, 3)), K(R(3, 2))),
    call("linalg.band_part", R(3, 3), S(0), S(1)),
    call("linalg.transpose", R(2, 3, 4)),
    call("linalg.set_diag", R(3, 3), R(3)),
    call(
        "nn.embedding_lookup",
        R(5, 3),
        I([0, 4, 2]),
        O("mod", "div", "x"),
        max_norm=O(None, 0.5, 0.0),
    ),
]
