"""``tf.contrib.opt``: optimizers that ``tf.train`` does not have.

A family a file: ``adam_variants``, ``sign``, ``lars``, ``weight_decay``, ``reg_adagrad``,
``shampoo``, ``ggt``; ``centers`` has those of workers that meet a center, ``wrappers`` go around
another optimizer, ``external`` calls one outside of the graph.
"""

from penstock.contrib.opt.adam_variants import (
    AdaMaxOptimizer as AdaMaxOptimizer,
    AdamGSOptimizer as AdamGSOptimizer,
    LazyAdamGSOptimizer as LazyAdamGSOptimizer,
    LazyAdamOptimizer as LazyAdamOptimizer,
    NadamOptimizer as NadamOptimizer,
)
from penstock.contrib.opt.centers import (
    AGNCustomGetter as AGNCustomGetter,
    AGNOptimizer as AGNOptimizer,
    ElasticAverageCustomGetter as ElasticAverageCustomGetter,
    ElasticAverageOptimizer as ElasticAverageOptimizer,
    ModelAverageCustomGetter as ModelAverageCustomGetter,
    ModelAverageOptimizer as ModelAverageOptimizer,
)
from penstock.contrib.opt.external import (
    ExternalOptimizerInterface as ExternalOptimizerInterface,
    ScipyOptimizerInterface as ScipyOptimizerInterface,
)
from penstock.contrib.opt.ggt import GGTOptimizer as GGTOptimizer
from penstock.contrib.opt.lars import LARSOptimizer as LARSOptimizer
from penstock.contrib.opt.reg_adagrad import RegAdagradOptimizer as RegAdagradOptimizer
from penstock.contrib.opt.shampoo import ShampooOptimizer as ShampooOptimizer
from penstock.contrib.opt.sign import (
    AddSignOptimizer as AddSignOptimizer,
    PowerSignOptimizer as PowerSignOptimizer,
)
from penstock.contrib.opt.weight_decay import (
    AdamWOptimizer as AdamWOptimizer,
    DecoupledWeightDecayExtension as DecoupledWeightDecayExtension,
    MomentumWOptimizer as MomentumWOptimizer,
    extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay,
)
from penstock.contrib.opt.wrappers import (
    DropStaleGradientOptimizer as DropStaleGradientOptimizer,
    MovingAverageOptimizer as MovingAverageOptimizer,
    MultitaskOptimizerWrapper as MultitaskOptimizerWrapper,
    VariableClippingOptimizer as VariableClippingOptimizer,
    clip_gradients_by_global_norm as clip_gradients_by_global_norm,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
