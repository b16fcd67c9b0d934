"""``tf.train``: optimizers, schedules, savers, training sessions, input pipelines, examples."""

from penstock.checkpoint.initialize import init_from_checkpoint
from penstock.checkpoint.management import (
    CheckpointState,
    checkpoint_exists,
    checkpoints_iterator,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from penstock.checkpoint.manager import CheckpointManager
from penstock.checkpoint.reader import (
    NewCheckpointReader,
    list_variables,
    load_checkpoint,
    load_variable,
)
from penstock.checkpoint.saver import Saver, import_meta_graph
from penstock.checkpoint.trackable import Checkpoint
from penstock.checkpoint.warm_start import warm_start
from penstock.data import queue_runner
from penstock.data.batching import (
    batch,
    batch_join,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    shuffle_batch,
    shuffle_batch_join,
)
from penstock.data.coordinator import Coordinator, LooperThread
from penstock.data.input import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)
from penstock.data.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from penstock.distributed.cluster_spec import ClusterDef, ClusterSpec, JobDef, ServerDef
from penstock.distributed.server import Server
from penstock.export.graph_file import write_graph
from penstock.export.meta_graph import export_meta_graph
from penstock.formats.messages import SaverDef
from penstock.formats.schema import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from penstock.monitored.basic_hooks import (
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    StopAtStepHook,
)
from penstock.monitored.checkpoint_hook import CheckpointSaverHook, CheckpointSaverListener
from penstock.monitored.creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from penstock.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from penstock.monitored.monitored_session import MonitoredSession, SingularMonitoredSession
from penstock.monitored.scaffold import Scaffold
from penstock.monitored.session_manager import SessionManager
from penstock.monitored.summary_hooks import (
    LoggingTensorHook,
    ProfilerHook,
    StepCounterHook,
    SummarySaverHook,
)
from penstock.monitored.supervisor import Supervisor, basic_train_loop
from penstock.monitored.timers import SecondOrStepTimer
from penstock.monitored.training_session import MonitoredTrainingSession
from penstock.summary.iterator import summary_iterator
from penstock.summary.writer import SummaryWriter
from penstock.train import experimental
from penstock.train.adadelta import AdadeltaOptimizer
from penstock.train.adagrad import AdagradOptimizer
from penstock.train.adagrad_da import AdagradDAOptimizer
from penstock.train.adam import AdamOptimizer
from penstock.train.device_setter import replica_device_setter
from penstock.train.ftrl import FtrlOptimizer
from penstock.train.gradient_descent import GradientDescentOptimizer
from penstock.train.learning_rate import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from penstock.train.momentum import MomentumOptimizer
from penstock.train.moving_averages import ExponentialMovingAverage
from penstock.train.optimizer import Optimizer
from penstock.train.proximal_adagrad import ProximalAdagradOptimizer
from penstock.train.proximal_gradient_descent import ProximalGradientDescentOptimizer
from penstock.train.rmsprop import RMSPropOptimizer
from penstock.train.sync_replicas import SyncReplicasOptimizer
from penstock.variables.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "BytesList",
    "Checkpoint", "CheckpointManager", "CheckpointSaverHook", "CheckpointSaverListener",
    "CheckpointState", "ChiefSessionCreator", "ClusterDef", "ClusterSpec", "Coordinator", "Example",
    "ExponentialMovingAverage", "Feature", "FeatureList", "FeatureLists", "Features", "FeedFnHook",
    "FinalOpsHook", "FloatList", "FtrlOptimizer", "GlobalStepWaiterHook",
    "GradientDescentOptimizer", "Int64List", "JobDef", "LoggingTensorHook", "LooperThread",
    "MomentumOptimizer", "MonitoredSession", "MonitoredTrainingSession",
    "NanLossDuringTrainingError", "NanTensorHook", "NewCheckpointReader", "Optimizer",
    "ProfilerHook", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer", "QueueRunner",
    "RMSPropOptimizer", "Saver", "SaverDef", "Scaffold", "SecondOrStepTimer", "SequenceExample",
    "Server", "ServerDef", "SessionCreator", "SessionManager", "SessionRunArgs",
    "SessionRunContext", "SessionRunHook", "SessionRunValues", "SingularMonitoredSession",
    "StepCounterHook", "StopAtStepHook", "SummarySaverHook", "SummaryWriter", "Supervisor",
    "SyncReplicasOptimizer", "WorkerSessionCreator", "add_queue_runner", "assert_global_step",
    "basic_train_loop", "batch", "batch_join", "checkpoint_exists", "checkpoints_iterator",
    "cosine_decay", "cosine_decay_restarts", "create_global_step", "experimental",
    "exponential_decay",
    "export_meta_graph", "generate_checkpoint_state_proto", "get_checkpoint_mtimes",
    "get_checkpoint_state", "get_global_step", "get_or_create_global_step", "global_step",
    "import_meta_graph", "init_from_checkpoint", "input_producer", "inverse_time_decay",
    "latest_checkpoint", "limit_epochs", "linear_cosine_decay", "list_variables", "load_checkpoint",
    "load_variable", "match_filenames_once", "maybe_batch", "maybe_batch_join",
    "maybe_shuffle_batch", "maybe_shuffle_batch_join", "natural_exp_decay",
    "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay",
    "polynomial_decay", "queue_runner", "range_input_producer", "remove_checkpoint",
    "replica_device_setter", "shuffle_batch", "shuffle_batch_join", "slice_input_producer",
    "start_queue_runners", "string_input_producer", "summary_iterator", "update_checkpoint_state",
    "warm_start", "write_graph",
]  # fmt: skip
