"""``tf.contrib.losses``: the losses of TF 1.0, predictions before labels.

``weighting`` averages and collects losses, ``measures`` has them.
"""

from penstock.contrib.losses.measures import (
    absolute_difference as absolute_difference,
    cosine_distance as cosine_distance,
    hinge_loss as hinge_loss,
    log_loss as log_loss,
    mean_pairwise_squared_error as mean_pairwise_squared_error,
    mean_squared_error as mean_squared_error,
    sigmoid_cross_entropy as sigmoid_cross_entropy,
    softmax_cross_entropy as softmax_cross_entropy,
    sparse_softmax_cross_entropy as sparse_softmax_cross_entropy,
)
from penstock.contrib.losses.weighting import (
    add_loss as add_loss,
    compute_weighted_loss as compute_weighted_loss,
    get_losses as get_losses,
    get_regularization_losses as get_regularization_losses,
    get_total_loss as get_total_loss,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
