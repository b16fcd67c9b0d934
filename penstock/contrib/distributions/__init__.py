"""``tf.contrib.distributions``: the families of ``tf.distributions`` and variants of them.

``variants`` has the families whose parameters are made positive first; those that are only here
stand in files of their own.
"""

from penstock.contrib.distributions import bijectors as bijectors
from penstock.contrib.distributions.chi2 import Chi2 as Chi2, Chi2WithAbsDf as Chi2WithAbsDf
from penstock.contrib.distributions.loc_scale import Cauchy as Cauchy, Logistic as Logistic
from penstock.contrib.distributions.variants import (
    BetaWithSoftplusConcentration as BetaWithSoftplusConcentration,
    ExponentialWithSoftplusRate as ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate as GammaWithSoftplusConcentrationRate,
    LaplaceWithSoftplusScale as LaplaceWithSoftplusScale,
    NormalWithSoftplusScale as NormalWithSoftplusScale,
    StudentTWithAbsDfSoftplusScale as StudentTWithAbsDfSoftplusScale,
)
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
