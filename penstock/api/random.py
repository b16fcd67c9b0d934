"""``tf.random``: random numbers; explicit re-exports, no logic."""

from penstock.foundation.graph.seeds import get_seed as get_seed, set_random_seed as set_random_seed
from penstock.ops.nn.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from penstock.ops.random.random import (
    categorical as categorical,
    multinomial as multinomial,
    random_normal as _normal,
    random_shuffle as _shuffle,
    random_uniform as _uniform,
    truncated_normal as truncated_normal,
)
from penstock.ops.random.random_gamma import random_gamma as _gamma, random_poisson as _poisson
from penstock.ops.random.stateless_random import (
    stateless_categorical as stateless_categorical,
    stateless_multinomial as stateless_multinomial,
    stateless_normal as stateless_normal,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
)

gamma = _gamma
normal = _normal
poisson = _poisson
shuffle = _shuffle
uniform = _uniform
