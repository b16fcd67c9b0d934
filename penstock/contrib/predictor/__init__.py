"""``tf.contrib.predictor``: a model as a function from arrays to arrays.

``saved`` makes one of a SavedModel, ``of_estimator`` of an estimator; ``calling`` is what both are.
"""

from penstock.contrib.predictor.of_estimator import (
    from_contrib_estimator as from_contrib_estimator,
    from_estimator as from_estimator,
)
from penstock.contrib.predictor.saved import from_saved_model as from_saved_model
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
