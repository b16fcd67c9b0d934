"""``tf.contrib.distributions``: the families of ``tf.distributions`` and many more.

A family is a file; ``variants`` has those whose parameters are made positive first.  ``bijectors``
are changes of variables, of which ``transformed`` makes distributions; ``vectors`` and
``multivariate_normal`` have those of vectors, ``conditional`` those the methods of which take
further arguments.  ``independent``, ``mixture``, ``quantized``, ``batch_reshape`` and
``autoregressive`` are made of other distributions.
"""

from penstock.contrib.distributions import bijectors as bijectors
from penstock.contrib.distributions.autoregressive import (
    Autoregressive as Autoregressive,
)
from penstock.contrib.distributions.batch_reshape import (
    BatchReshape as BatchReshape,
)
from penstock.contrib.distributions.chi2 import (
    Chi2 as Chi2,
    Chi2WithAbsDf as Chi2WithAbsDf,
)
from penstock.contrib.distributions.conditional import (
    ConditionalDistribution as ConditionalDistribution,
    ConditionalTransformedDistribution as ConditionalTransformedDistribution,
)
from penstock.contrib.distributions.conjugates import (
    normal_conjugates_known_scale_posterior as normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive as normal_conjugates_known_scale_predictive,
)
from penstock.contrib.distributions.counts import (
    Binomial as Binomial,
    Geometric as Geometric,
    NegativeBinomial as NegativeBinomial,
    Poisson as Poisson,
)
from penstock.contrib.distributions.deterministic import (
    Deterministic as Deterministic,
    VectorDeterministic as VectorDeterministic,
)
from penstock.contrib.distributions.half_normal import (
    HalfNormal as HalfNormal,
)
from penstock.contrib.distributions.head import (
    estimator_head_distribution_regression as estimator_head_distribution_regression,
)
from penstock.contrib.distributions.independent import (
    Independent as Independent,
)
from penstock.contrib.distributions.inverse_gamma import (
    InverseGamma as InverseGamma,
    InverseGammaWithSoftplusConcentrationRate as InverseGammaWithSoftplusConcentrationRate,
)
from penstock.contrib.distributions.kumaraswamy import (
    Kumaraswamy as Kumaraswamy,
)
from penstock.contrib.distributions.loc_scale import (
    Cauchy as Cauchy,
    Logistic as Logistic,
)
from penstock.contrib.distributions.mixture import (
    Mixture as Mixture,
    MixtureSameFamily as MixtureSameFamily,
)
from penstock.contrib.distributions.moving_statistics import (
    assign_log_moving_mean_exp as assign_log_moving_mean_exp,
    assign_moving_mean_variance as assign_moving_mean_variance,
    moving_mean_variance as moving_mean_variance,
)
from penstock.contrib.distributions.multivariate_normal import (
    MultivariateNormalDiag as MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank as MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale as MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance as MultivariateNormalFullCovariance,
    MultivariateNormalTriL as MultivariateNormalTriL,
)
from penstock.contrib.distributions.one_hot import (
    ExpRelaxedOneHotCategorical as ExpRelaxedOneHotCategorical,
    OneHotCategorical as OneHotCategorical,
    RelaxedBernoulli as RelaxedBernoulli,
    RelaxedOneHotCategorical as RelaxedOneHotCategorical,
)
from penstock.contrib.distributions.poisson_lognormal import (
    PoissonLogNormalQuadratureCompound as PoissonLogNormalQuadratureCompound,
)
from penstock.contrib.distributions.quadrature import (
    quadrature_scheme_lognormal_gauss_hermite as quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles as quadrature_scheme_lognormal_quantiles,
    quadrature_scheme_softmaxnormal_gauss_hermite as quadrature_scheme_softmaxnormal_gauss_hermite,
    quadrature_scheme_softmaxnormal_quantiles as quadrature_scheme_softmaxnormal_quantiles,
)
from penstock.contrib.distributions.quantized import (
    QuantizedDistribution as QuantizedDistribution,
)
from penstock.contrib.distributions.reductions import (
    reduce_weighted_logsumexp as reduce_weighted_logsumexp,
    softplus_inverse as softplus_inverse,
)
from penstock.contrib.distributions.sample_statistics import (
    auto_correlation as auto_correlation,
    percentile as percentile,
)
from penstock.contrib.distributions.seed_stream import (
    SeedStream as SeedStream,
)
from penstock.contrib.distributions.sinh_arcsinh import (
    SinhArcsinh as SinhArcsinh,
)
from penstock.contrib.distributions.transformed import (
    TransformedDistribution as TransformedDistribution,
)
from penstock.contrib.distributions.triangles import (
    fill_triangular as fill_triangular,
    fill_triangular_inverse as fill_triangular_inverse,
    matrix_diag_transform as matrix_diag_transform,
    tridiag as tridiag,
)
from penstock.contrib.distributions.variants import (
    BetaWithSoftplusConcentration as BetaWithSoftplusConcentration,
    ExponentialWithSoftplusRate as ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate as GammaWithSoftplusConcentrationRate,
    LaplaceWithSoftplusScale as LaplaceWithSoftplusScale,
    NormalWithSoftplusScale as NormalWithSoftplusScale,
    StudentTWithAbsDfSoftplusScale as StudentTWithAbsDfSoftplusScale,
)
from penstock.contrib.distributions.vector_diffeomixture import (
    VectorDiffeomixture as VectorDiffeomixture,
)
from penstock.contrib.distributions.vectors import (
    VectorExponentialDiag as VectorExponentialDiag,
    VectorLaplaceDiag as VectorLaplaceDiag,
    VectorSinhArcsinhDiag as VectorSinhArcsinhDiag,
)
from penstock.contrib.distributions.wishart import (
    WishartCholesky as WishartCholesky,
    WishartFull as WishartFull,
)
from penstock.foundation.base import public_names
from penstock.library.distributions import (
    FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED as NOT_REPARAMETERIZED,
    Bernoulli as Bernoulli,
    Beta as Beta,
    Categorical as Categorical,
    Dirichlet as Dirichlet,
    DirichletMultinomial as DirichletMultinomial,
    Distribution as Distribution,
    Exponential as Exponential,
    Gamma as Gamma,
    Laplace as Laplace,
    Multinomial as Multinomial,
    Normal as Normal,
    RegisterKL as RegisterKL,
    ReparameterizationType as ReparameterizationType,
    StudentT as StudentT,
    Uniform as Uniform,
    kl_divergence as kl_divergence,
)

__dir__ = public_names.listing(__name__)
