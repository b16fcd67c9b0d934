"""``tf.linalg``: linear algebra; explicit re-exports, no logic."""

from penstock.linear_operators import (
    LinearOperator,
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorComposition,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorHouseholder,
    LinearOperatorIdentity,
    LinearOperatorInversion,
    LinearOperatorKronecker,
    LinearOperatorLowerTriangular,
    LinearOperatorLowRankUpdate,
    LinearOperatorScaledIdentity,
    LinearOperatorToeplitz,
    LinearOperatorZeros,
)
from penstock.nn.normalization import l2_normalize
from penstock.ops.clip import global_norm
from penstock.ops.contraction import einsum, tensordot
from penstock.ops.functions import normalize
from penstock.ops.linalg import (
    adjoint,
    cholesky,
    cross,
    logdet,
    lu,
    matrix_transpose,
    slogdet,
    trace,
)
from penstock.ops.linalg import (
    matrix_determinant as det,
)
from penstock.ops.linalg import (
    matrix_inverse as inv,
)
from penstock.ops.linalg import (
    matrix_transpose as transpose,
)
from penstock.ops.linalg_eig import (
    qr,
    svd,
)
from penstock.ops.linalg_eig import (
    self_adjoint_eig as eigh,
)
from penstock.ops.linalg_eig import (
    self_adjoint_eigvals as eigvalsh,
)
from penstock.ops.linalg_norm import norm
from penstock.ops.linalg_rank import matrix_rank, pinv
from penstock.ops.linalg_solve import (
    cholesky_solve,
)
from penstock.ops.linalg_solve import (
    matrix_solve as solve,
)
from penstock.ops.linalg_solve import (
    matrix_solve_ls as lstsq,
)
from penstock.ops.linalg_solve import (
    matrix_triangular_solve as triangular_solve,
)
from penstock.ops.matmul import matmul, matvec
from penstock.ops.matrix_diag import (
    diag as tensor_diag,
)
from penstock.ops.matrix_diag import (
    diag_part as tensor_diag_part,
)
from penstock.ops.matrix_diag import (
    eye,
)
from penstock.ops.matrix_diag import (
    matrix_band_part as band_part,
)
from penstock.ops.matrix_diag import (
    matrix_diag as diag,
)
from penstock.ops.matrix_diag import (
    matrix_diag_part as diag_part,
)
from penstock.ops.matrix_diag import (
    matrix_set_diag as set_diag,
)
from penstock.ops.matrix_functions import expm, logm
from penstock.ops.matrix_functions import matrix_square_root as sqrtm
from penstock.ops.tridiagonal import tridiagonal_solve
from penstock.ops.tridiagonal_product import tridiagonal_matmul

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorBlockDiag",
    "LinearOperatorCirculant",
    "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D",
    "LinearOperatorComposition",
    "LinearOperatorDiag",
    "LinearOperatorFullMatrix",
    "LinearOperatorHouseholder",
    "LinearOperatorIdentity",
    "LinearOperatorInversion",
    "LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular",
    "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz",
    "LinearOperatorZeros",
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eigh",
    "eigvalsh",
    "einsum",
    "expm",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "logm",
    "lstsq",
    "lu",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "transpose",
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]
