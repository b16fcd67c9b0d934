"""``tf.linalg.LinearOperator`` and kin: matrices known by what they do.

``operator`` has the base class and all that derives from multiplying; a class of operators is a
file, ``rules`` says what their products, adjoints and inverses are, and ``dense`` has the batched
matrices below.
"""

from penstock.library.linear_operators import rules as rules
from penstock.library.linear_operators.block_diag import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
)
from penstock.library.linear_operators.circulant import (
    LinearOperatorCirculant as LinearOperatorCirculant,
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
)
from penstock.library.linear_operators.composition import (
    LinearOperatorComposition as LinearOperatorComposition,
)
from penstock.library.linear_operators.derived import (
    LinearOperatorAdjoint as LinearOperatorAdjoint,
    LinearOperatorInversion as LinearOperatorInversion,
)
from penstock.library.linear_operators.diagonal import LinearOperatorDiag as LinearOperatorDiag
from penstock.library.linear_operators.householder import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
)
from penstock.library.linear_operators.identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from penstock.library.linear_operators.kronecker import (
    LinearOperatorKronecker as LinearOperatorKronecker,
)
from penstock.library.linear_operators.low_rank_update import (
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from penstock.library.linear_operators.matrices import (
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from penstock.library.linear_operators.operator import LinearOperator as LinearOperator
from penstock.library.linear_operators.toeplitz import (
    LinearOperatorToeplitz as LinearOperatorToeplitz,
)
from penstock.library.linear_operators.zeros import LinearOperatorZeros as LinearOperatorZeros
