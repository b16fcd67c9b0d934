"""``tf.contrib.learn``: estimators of TF 0.x, their configuration, and data sets.

``estimator`` trains and evaluates model functions, ``canned`` brings linear models and networks;
``heads`` makes losses and metrics of logits, ``feeding`` batches of arrays,
``queued_files`` of records.
"""

from penstock.foundation.base import public_names

__getattr__, __dir__, __all__ = public_names.of_package(
    __name__, page="docs/ops.md", first="penstock.api.from_the_start"
)
