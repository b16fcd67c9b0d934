"""``tf.estimator``: models trained, evaluated, used and exported as a whole.

The hooks are those of ``tf.train`` under their later names.  This module only gathers the names.
"""

from penstock.storage.checkpoint.vocabulary import VocabInfo as VocabInfo
from penstock.training.estimator import (
    experimental as experimental,
    export as export,
    inputs as inputs,
    tpu as tpu,
)
from penstock.training.estimator.added_metrics import add_metrics as add_metrics
from penstock.training.estimator.canned.boosted_trees import (
    BoostedTreesClassifier as BoostedTreesClassifier,
    BoostedTreesEstimator as BoostedTreesEstimator,
    BoostedTreesRegressor as BoostedTreesRegressor,
)
from penstock.training.estimator.canned.estimators import (
    BaselineClassifier as BaselineClassifier,
    BaselineEstimator as BaselineEstimator,
    BaselineRegressor as BaselineRegressor,
    DNNClassifier as DNNClassifier,
    DNNEstimator as DNNEstimator,
    DNNLinearCombinedClassifier as DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator as DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor as DNNLinearCombinedRegressor,
    DNNRegressor as DNNRegressor,
    LinearClassifier as LinearClassifier,
    LinearEstimator as LinearEstimator,
    LinearRegressor as LinearRegressor,
)
from penstock.training.estimator.canned.parsing import (
    classifier_parse_example_spec as classifier_parse_example_spec,
    regressor_parse_example_spec as regressor_parse_example_spec,
)
from penstock.training.estimator.estimator import Estimator as Estimator
from penstock.training.estimator.estimator_spec import EstimatorSpec as EstimatorSpec
from penstock.training.estimator.exporters import (
    BestExporter as BestExporter,
    Exporter as Exporter,
    FinalExporter as FinalExporter,
    LatestExporter as LatestExporter,
)
from penstock.training.estimator.heads.base import Head as Head
from penstock.training.estimator.heads.classes import (
    BinaryClassHead as BinaryClassHead,
    MultiClassHead as MultiClassHead,
)
from penstock.training.estimator.heads.multi_label import MultiLabelHead as MultiLabelHead
from penstock.training.estimator.heads.numbers import (
    LogisticRegressionHead as LogisticRegressionHead,
    PoissonRegressionHead as PoissonRegressionHead,
    RegressionHead as RegressionHead,
)
from penstock.training.estimator.heads.several import MultiHead as MultiHead
from penstock.training.estimator.mode_keys import ModeKeys as ModeKeys
from penstock.training.estimator.run_config import RunConfig as RunConfig
from penstock.training.estimator.train_and_evaluate import (
    EvalSpec as EvalSpec,
    TrainSpec as TrainSpec,
    train_and_evaluate as train_and_evaluate,
)
from penstock.training.estimator.warm_starting import WarmStartSettings as WarmStartSettings
from penstock.training.monitored.basic_hooks import (
    FeedFnHook as FeedFnHook,
    FinalOpsHook as FinalOpsHook,
    GlobalStepWaiterHook as GlobalStepWaiterHook,
    NanLossDuringTrainingError as NanLossDuringTrainingError,
    NanTensorHook as NanTensorHook,
    StopAtStepHook as StopAtStepHook,
)
from penstock.training.monitored.checkpoint_hook import (
    CheckpointSaverHook as CheckpointSaverHook,
    CheckpointSaverListener as CheckpointSaverListener,
)
from penstock.training.monitored.hook import (
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
)
from penstock.training.monitored.summary_hooks import (
    LoggingTensorHook as LoggingTensorHook,
    ProfilerHook as ProfilerHook,
    StepCounterHook as StepCounterHook,
    SummarySaverHook as SummarySaverHook,
)
from penstock.training.monitored.timers import SecondOrStepTimer as SecondOrStepTimer
