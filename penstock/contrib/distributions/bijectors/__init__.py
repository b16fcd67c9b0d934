"""``tf.contrib.distributions.bijectors``: changes of variables of random events.

``bijector`` has what every bijector does; ``elementwise`` and ``scalar_families`` have those of
single numbers, ``affine``, ``shaping`` and ``simplex`` those of vectors, ``matrices`` those of
matrices, ``flows`` and ``batch_normalization`` those with variables, and ``composing`` those made
of others.
"""

from penstock.contrib.distributions.bijectors.affine import (
    Affine as Affine,
    AffineLinearOperator as AffineLinearOperator,
    AffineScalar as AffineScalar,
)
from penstock.contrib.distributions.bijectors.batch_normalization import (
    BatchNormalization as BatchNormalization,
)
from penstock.contrib.distributions.bijectors.bijector import (
    Bijector as Bijector,
    ConditionalBijector as ConditionalBijector,
)
from penstock.contrib.distributions.bijectors.composing import (
    Chain as Chain,
    Inline as Inline,
    Invert as Invert,
)
from penstock.contrib.distributions.bijectors.elementwise import (
    AbsoluteValue as AbsoluteValue,
    Identity as Identity,
    Sigmoid as Sigmoid,
    Softplus as Softplus,
    Softsign as Softsign,
    Square as Square,
)
from penstock.contrib.distributions.bijectors.flows import (
    MaskedAutoregressiveFlow as MaskedAutoregressiveFlow,
    RealNVP as RealNVP,
    masked_autoregressive_default_template as masked_autoregressive_default_template,
    masked_dense as masked_dense,
    real_nvp_default_template as real_nvp_default_template,
)
from penstock.contrib.distributions.bijectors.matrices import (
    CholeskyOuterProduct as CholeskyOuterProduct,
    FillTriangular as FillTriangular,
    MatrixInverseTriL as MatrixInverseTriL,
    ScaleTriL as ScaleTriL,
    TransformDiagonal as TransformDiagonal,
)
from penstock.contrib.distributions.bijectors.scalar_families import (
    Exp as Exp,
    Gumbel as Gumbel,
    Kumaraswamy as Kumaraswamy,
    PowerTransform as PowerTransform,
    SinhArcsinh as SinhArcsinh,
)
from penstock.contrib.distributions.bijectors.shaping import (
    Permute as Permute,
    Reshape as Reshape,
)
from penstock.contrib.distributions.bijectors.simplex import (
    Ordered as Ordered,
    SoftmaxCentered as SoftmaxCentered,
)
