"""``tf.distributions``: probability distributions; explicit re-exports, no logic."""

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
