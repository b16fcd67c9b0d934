"""``tf.contrib.model_pruning``: weights under masks that training narrows.

``masks`` puts a mask on weights, ``layers`` and ``cells`` have masked layers, ``pruning`` updates
the masks, ``learning`` trains with it, and ``stripping`` leaves the masks out of a frozen graph.
"""

from penstock.contrib.model_pruning.cells import (
    MaskedBasicLSTMCell as MaskedBasicLSTMCell,
    MaskedLSTMCell as MaskedLSTMCell,
)
from penstock.contrib.model_pruning.layers import (
    masked_conv2d as masked_conv2d,
    masked_convolution as masked_convolution,
    masked_fully_connected as masked_fully_connected,
)
from penstock.contrib.model_pruning.learning import train as train
from penstock.contrib.model_pruning.masks import (
    apply_mask as apply_mask,
    get_masked_weights as get_masked_weights,
    get_masks as get_masks,
    get_thresholds as get_thresholds,
    get_weight_sparsity as get_weight_sparsity,
    get_weights as get_weights,
)
from penstock.contrib.model_pruning.pruning import (
    Pruning as Pruning,
    get_pruning_hparams as get_pruning_hparams,
)
from penstock.contrib.model_pruning.stripping import (
    graph_def_from_checkpoint as graph_def_from_checkpoint,
    strip_pruning_vars_fn as strip_pruning_vars_fn,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
