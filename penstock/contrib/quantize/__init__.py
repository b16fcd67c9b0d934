"""``tf.contrib.quantize``: networks trained for small integers.

``folding`` moves batch normalization into the weights of the layer before it, ``matching`` finds
the layers and what follows them, ``inserting`` puts fake quantization between, ``graphs`` has the
public functions.
"""

from penstock.contrib.quantize.graphs import (
    create_eval_graph as create_eval_graph,
    create_training_graph as create_training_graph,
    experimental_create_eval_graph as experimental_create_eval_graph,
    experimental_create_training_graph as experimental_create_training_graph,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
