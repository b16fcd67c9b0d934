"""``tf.contrib.estimator``: heads, and estimators and optimizers made of others.

``heads`` has the heads, ``extenders`` what is made of others, ``rnn`` recurrent
networks, ``saved_model_estimator`` an estimator of exported graphs, ``in_memory_trees`` and
``towers`` trees of one batch and models replicated; the rest is ``tf.estimator``'s.
"""

from penstock.contrib.estimator.annotated import (
    DNNClassifierWithLayerAnnotations as DNNClassifierWithLayerAnnotations,
    DNNRegressorWithLayerAnnotations as DNNRegressorWithLayerAnnotations,
)
from penstock.contrib.estimator.extenders import (
    clip_gradients_by_norm as clip_gradients_by_norm,
    export_all_saved_models as export_all_saved_models,
    export_saved_model_for_mode as export_saved_model_for_mode,
    forward_features as forward_features,
)
from penstock.contrib.estimator.heads import (
    binary_classification_head as binary_classification_head,
    logistic_regression_head as logistic_regression_head,
    multi_class_head as multi_class_head,
    multi_label_head as multi_label_head,
    poisson_regression_head as poisson_regression_head,
    regression_head as regression_head,
)
from penstock.contrib.estimator.in_memory_trees import (
    boosted_trees_classifier_train_in_memory as boosted_trees_classifier_train_in_memory,
    boosted_trees_regressor_train_in_memory as boosted_trees_regressor_train_in_memory,
)
from penstock.contrib.estimator.receivers import (
    build_supervised_input_receiver_fn_from_input_fn,
)
from penstock.contrib.estimator.rnn import (
    RNNClassifier as RNNClassifier,
    RNNEstimator as RNNEstimator,
)
from penstock.contrib.estimator.saved_model_estimator import (
    SavedModelEstimator as SavedModelEstimator,
)
from penstock.contrib.estimator.towers import (
    TowerOptimizer as TowerOptimizer,
    replicate_model_fn as replicate_model_fn,
)
from penstock.foundation.base import public_names
from penstock.training.estimator.added_metrics import add_metrics as add_metrics
from penstock.training.estimator.canned.multi_head import MultiHead as multi_head
from penstock.training.estimator.experimental import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
    call_logit_fn as call_logit_fn,
    dnn_logit_fn_builder as dnn_logit_fn_builder,
    linear_logit_fn_builder as linear_logit_fn_builder,
)

__all__ = [
    "DNNClassifierWithLayerAnnotations", "DNNRegressorWithLayerAnnotations",
    "RNNClassifier", "RNNEstimator", "SavedModelEstimator", "TowerOptimizer", "add_metrics",
    "binary_classification_head", "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory", "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn", "call_logit_fn",
    "clip_gradients_by_norm", "dnn_logit_fn_builder", "export_all_saved_models",
    "export_saved_model_for_mode", "forward_features", "linear_logit_fn_builder",
    "logistic_regression_head", "multi_class_head", "multi_head", "multi_label_head",
    "poisson_regression_head", "regression_head",
    "replicate_model_fn",
]  # fmt: skip

__dir__ = public_names.listing(__name__)
