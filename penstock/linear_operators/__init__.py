"""``tf.linalg.LinearOperator`` and kin: matrices known by what they do.

``operator`` has the base class and all that derives from multiplying; a class of operators is a
file, ``rules`` says what their products, adjoints and inverses are, and ``dense`` has the batched
matrices below.
"""

from penstock.linear_operators import rules as rules
from penstock.linear_operators.block_diag import LinearOperatorBlockDiag
from penstock.linear_operators.circulant import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
)
from penstock.linear_operators.composition import LinearOperatorComposition
from penstock.linear_operators.derived import LinearOperatorAdjoint, LinearOperatorInversion
from penstock.linear_operators.diagonal import LinearOperatorDiag
from penstock.linear_operators.householder import LinearOperatorHouseholder
from penstock.linear_operators.identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
)
from penstock.linear_operators.kronecker import LinearOperatorKronecker
from penstock.linear_operators.low_rank_update import LinearOperatorLowRankUpdate
from penstock.linear_operators.matrices import (
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from penstock.linear_operators.operator import LinearOperator
from penstock.linear_operators.toeplitz import LinearOperatorToeplitz
from penstock.linear_operators.zeros import LinearOperatorZeros

__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag",
    "LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D",
    "LinearOperatorComposition", "LinearOperatorDiag", "LinearOperatorFullMatrix",
    "LinearOperatorHouseholder", "LinearOperatorIdentity", "LinearOperatorInversion",
    "LinearOperatorKronecker", "LinearOperatorLowRankUpdate", "LinearOperatorLowerTriangular",
    "LinearOperatorScaledIdentity", "LinearOperatorToeplitz", "LinearOperatorZeros",
]  # fmt: skip
