"""``tf.linalg``: linear algebra; explicit re-exports, no logic."""

from penstock.library.control_flow.least_squares import matrix_solve_ls as _lstsq
from penstock.library.linear_operators import (
    LinearOperator as LinearOperator,
    LinearOperatorAdjoint as LinearOperatorAdjoint,
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
    LinearOperatorCirculant as LinearOperatorCirculant,
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
    LinearOperatorComposition as LinearOperatorComposition,
    LinearOperatorDiag as LinearOperatorDiag,
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
    LinearOperatorHouseholder as LinearOperatorHouseholder,
    LinearOperatorIdentity as LinearOperatorIdentity,
    LinearOperatorInversion as LinearOperatorInversion,
    LinearOperatorKronecker as LinearOperatorKronecker,
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
    LinearOperatorToeplitz as LinearOperatorToeplitz,
    LinearOperatorZeros as LinearOperatorZeros,
)
from penstock.library.nn.normalization import l2_normalize as l2_normalize
from penstock.ops.linalg.affine import matvec as matvec
from penstock.ops.linalg.contraction import einsum as einsum, tensordot as tensordot
from penstock.ops.linalg.linalg import (
    adjoint as adjoint,
    cholesky as cholesky,
    cross as cross,
    logdet as logdet,
    lu as lu,
    matrix_determinant as _det,
    matrix_inverse as _inv,
    matrix_transpose as _transpose,
    matrix_transpose as matrix_transpose,
    slogdet as slogdet,
    trace as trace,
)
from penstock.ops.linalg.linalg_eig import (
    qr as qr,
    self_adjoint_eig as _eigh,
    self_adjoint_eigvals as _eigvalsh,
    svd as svd,
)
from penstock.ops.linalg.linalg_norm import norm as norm
from penstock.ops.linalg.linalg_rank import matrix_rank as matrix_rank, pinv as pinv
from penstock.ops.linalg.linalg_solve import (
    cholesky_solve as cholesky_solve,
    matrix_solve as _solve,
    matrix_triangular_solve as _triangular_solve,
)
from penstock.ops.linalg.matmul import matmul as matmul
from penstock.ops.linalg.matrix_diag import (
    diag as _tensor_diag,
    diag_part as _tensor_diag_part,
    eye as eye,
    matrix_band_part as _band_part,
    matrix_diag as _diag,
    matrix_diag_part as _diag_part,
    matrix_set_diag as _set_diag,
)
from penstock.ops.linalg.matrix_functions import (
    expm as expm,
    logm as logm,
    matrix_square_root as _sqrtm,
)
from penstock.ops.linalg.tridiagonal import tridiagonal_solve as tridiagonal_solve
from penstock.ops.linalg.tridiagonal_product import tridiagonal_matmul as tridiagonal_matmul
from penstock.ops.math.clip import global_norm as global_norm
from penstock.ops.math.functions import normalize as normalize

band_part = _band_part
det = _det
diag = _diag
diag_part = _diag_part
eigh = _eigh
eigvalsh = _eigvalsh
inv = _inv
lstsq = _lstsq
set_diag = _set_diag
solve = _solve
sqrtm = _sqrtm
tensor_diag = _tensor_diag
tensor_diag_part = _tensor_diag_part
transpose = _transpose
triangular_solve = _triangular_solve
