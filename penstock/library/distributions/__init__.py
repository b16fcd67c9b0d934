"""``tf.distributions``: batches of probability distributions.

``distribution`` has what every distribution does, ``divergence`` what two do beside each other; the
families stand in files of their own.  Nodes are those of TensorFlow, under its names.
"""

from penstock.library.distributions.bernoulli import Bernoulli as Bernoulli
from penstock.library.distributions.beta import Beta as Beta
from penstock.library.distributions.categorical import Categorical as Categorical
from penstock.library.distributions.dirichlet import Dirichlet as Dirichlet
from penstock.library.distributions.distribution import (
    FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED as NOT_REPARAMETERIZED,
    Distribution as Distribution,
    ReparameterizationType as ReparameterizationType,
)
from penstock.library.distributions.divergence import (
    RegisterKL as RegisterKL,
    kl_divergence as kl_divergence,
)
from penstock.library.distributions.gamma import Exponential as Exponential, Gamma as Gamma
from penstock.library.distributions.laplace import Laplace as Laplace
from penstock.library.distributions.multinomial import (
    DirichletMultinomial as DirichletMultinomial,
    Multinomial as Multinomial,
)
from penstock.library.distributions.normal import Normal as Normal
from penstock.library.distributions.student_t import StudentT as StudentT
from penstock.library.distributions.uniform import Uniform as Uniform
