"""The public names of ``tf.contrib.learn``; ``__init__.py`` reads it as well."""

from penstock.contrib.learn import (
    datasets as datasets,
    estimators as estimators,
    experiment as experiment,
    heads as _heads,
    learn_runner as learn_runner,
    model_fn as _model_fn,
    models as models,
    monitors as monitors,
    ops as ops,
    preprocessing as preprocessing,
    python as python,
    serving as _serving,
)
from penstock.contrib.learn.abstract import Evaluable as Evaluable, Trainable as Trainable
from penstock.contrib.learn.canned import (
    DNNClassifier as DNNClassifier,
    DNNEstimator as DNNEstimator,
    DNNRegressor as DNNRegressor,
    LinearClassifier as LinearClassifier,
    LinearEstimator as LinearEstimator,
    LinearRegressor as LinearRegressor,
)
from penstock.contrib.learn.combined import (
    DNNLinearCombinedClassifier as DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator as DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor as DNNLinearCombinedRegressor,
)
from penstock.contrib.learn.data_frames import (
    extract_dask_data as extract_dask_data,
    extract_dask_labels as extract_dask_labels,
    extract_pandas_data as extract_pandas_data,
    extract_pandas_labels as extract_pandas_labels,
    extract_pandas_matrix as extract_pandas_matrix,
)
from penstock.contrib.learn.dynamic_rnn import DynamicRnnEstimator as DynamicRnnEstimator
from penstock.contrib.learn.estimator import (
    BaseEstimator as BaseEstimator,
    Estimator as Estimator,
    SKCompat as SKCompat,
)
from penstock.contrib.learn.experiment import (
    Experiment as Experiment,
    ExportStrategy as ExportStrategy,
    make_export_strategy as make_export_strategy,
)
from penstock.contrib.learn.graph_actions import (
    infer as infer,
    run_feeds as run_feeds,
    run_n as run_n,
)
from penstock.contrib.learn.graph_training import evaluate as evaluate, train as train
from penstock.contrib.learn.heads import (
    Head as Head,
    multi_class_head as multi_class_head,
    no_op_train_fn as no_op_train_fn,
    regression_head as regression_head,
)
from penstock.contrib.learn.inferred_columns import (
    infer_real_valued_columns_from_input as infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn,
)
from penstock.contrib.learn.input_fn_utils import (
    InputFnOps as InputFnOps,
    build_parsing_serving_input_fn as build_parsing_serving_input_fn,
)
from penstock.contrib.learn.logistic_regressor import LogisticRegressor as LogisticRegressor
from penstock.contrib.learn.merged_heads import multi_head as multi_head
from penstock.contrib.learn.model_fn import (
    MetricSpec as MetricSpec,
    ModeKeys as ModeKeys,
    ModelFnOps as ModelFnOps,
    NotFittedError as NotFittedError,
    PredictionKey as PredictionKey,
    ProblemType as ProblemType,
)
from penstock.contrib.learn.more_heads import (
    binary_svm_head as binary_svm_head,
    multi_label_head as multi_label_head,
    poisson_regression_head as poisson_regression_head,
)
from penstock.contrib.learn.older_estimators import (
    TensorFlowDNNClassifier as TensorFlowDNNClassifier,
    TensorFlowDNNRegressor as TensorFlowDNNRegressor,
    TensorFlowEstimator as TensorFlowEstimator,
    TensorFlowLinearClassifier as TensorFlowLinearClassifier,
    TensorFlowLinearRegressor as TensorFlowLinearRegressor,
)
from penstock.contrib.learn.queued_files import (
    read_batch_examples as read_batch_examples,
    read_batch_features as read_batch_features,
    read_batch_record_features as read_batch_record_features,
    read_keyed_batch_examples as read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue as read_keyed_batch_examples_shared_queue,
    read_keyed_batch_features as read_keyed_batch_features,
    read_keyed_batch_features_shared_queue as read_keyed_batch_features_shared_queue,
)
from penstock.contrib.learn.run_config import RunConfig as RunConfig, TaskType as TaskType
from penstock.training.monitored.basic_hooks import (
    NanLossDuringTrainingError as NanLossDuringTrainingError,
)

head = _heads
metric_spec = _model_fn
utils = _serving
