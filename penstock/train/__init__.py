"""``tf.train``: optimizers, schedules, savers, training sessions, input pipelines, examples."""

from penstock.checkpoint.initialize import init_from_checkpoint as init_from_checkpoint
from penstock.checkpoint.management import (
    CheckpointState as CheckpointState,
    checkpoint_exists as checkpoint_exists,
    checkpoints_iterator as checkpoints_iterator,
    generate_checkpoint_state_proto as generate_checkpoint_state_proto,
    get_checkpoint_mtimes as get_checkpoint_mtimes,
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
    remove_checkpoint as remove_checkpoint,
    update_checkpoint_state as update_checkpoint_state,
)
from penstock.checkpoint.manager import CheckpointManager as CheckpointManager
from penstock.checkpoint.reader import (
    NewCheckpointReader as NewCheckpointReader,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from penstock.checkpoint.saver import Saver as Saver, import_meta_graph as import_meta_graph
from penstock.checkpoint.trackable import Checkpoint as Checkpoint
from penstock.checkpoint.warm_start import warm_start as warm_start
from penstock.data import queue_runner as queue_runner
from penstock.data.batching import (
    batch as batch,
    batch_join as batch_join,
    maybe_batch as maybe_batch,
    maybe_batch_join as maybe_batch_join,
    maybe_shuffle_batch as maybe_shuffle_batch,
    maybe_shuffle_batch_join as maybe_shuffle_batch_join,
    shuffle_batch as shuffle_batch,
    shuffle_batch_join as shuffle_batch_join,
)
from penstock.data.coordinator import Coordinator as Coordinator, LooperThread as LooperThread
from penstock.data.input import (
    input_producer as input_producer,
    limit_epochs as limit_epochs,
    match_filenames_once as match_filenames_once,
    range_input_producer as range_input_producer,
    slice_input_producer as slice_input_producer,
    string_input_producer as string_input_producer,
)
from penstock.data.queue_runner import (
    QueueRunner as QueueRunner,
    add_queue_runner as add_queue_runner,
    start_queue_runners as start_queue_runners,
)
from penstock.distributed.cluster_spec import (
    ClusterDef as ClusterDef,
    ClusterSpec as ClusterSpec,
    JobDef as JobDef,
    ServerDef as ServerDef,
)
from penstock.distributed.server import Server as Server
from penstock.export.graph_file import write_graph as write_graph
from penstock.export.meta_graph import export_meta_graph as export_meta_graph
from penstock.formats.messages import SaverDef as SaverDef
from penstock.formats.schema import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    FeatureList as FeatureList,
    FeatureLists as FeatureLists,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
    SequenceExample as SequenceExample,
)
from penstock.monitored.basic_hooks import (
    FeedFnHook as FeedFnHook,
    FinalOpsHook as FinalOpsHook,
    GlobalStepWaiterHook as GlobalStepWaiterHook,
    NanLossDuringTrainingError as NanLossDuringTrainingError,
    NanTensorHook as NanTensorHook,
    StopAtStepHook as StopAtStepHook,
)
from penstock.monitored.checkpoint_hook import (
    CheckpointSaverHook as CheckpointSaverHook,
    CheckpointSaverListener as CheckpointSaverListener,
)
from penstock.monitored.creators import (
    ChiefSessionCreator as ChiefSessionCreator,
    SessionCreator as SessionCreator,
    WorkerSessionCreator as WorkerSessionCreator,
)
from penstock.monitored.hook import (
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
)
from penstock.monitored.monitored_session import (
    MonitoredSession as MonitoredSession,
    SingularMonitoredSession as SingularMonitoredSession,
)
from penstock.monitored.scaffold import Scaffold as Scaffold
from penstock.monitored.session_manager import SessionManager as SessionManager
from penstock.monitored.summary_hooks import (
    LoggingTensorHook as LoggingTensorHook,
    ProfilerHook as ProfilerHook,
    StepCounterHook as StepCounterHook,
    SummarySaverHook as SummarySaverHook,
)
from penstock.monitored.supervisor import (
    Supervisor as Supervisor,
    basic_train_loop as basic_train_loop,
)
from penstock.monitored.timers import SecondOrStepTimer as SecondOrStepTimer
from penstock.monitored.training_session import MonitoredTrainingSession as MonitoredTrainingSession
from penstock.summary.iterator import summary_iterator as summary_iterator
from penstock.summary.writer import SummaryWriter as SummaryWriter
from penstock.train import experimental as experimental
from penstock.train.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from penstock.train.adagrad import AdagradOptimizer as AdagradOptimizer
from penstock.train.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from penstock.train.adam import AdamOptimizer as AdamOptimizer
from penstock.train.device_setter import replica_device_setter as replica_device_setter
from penstock.train.ftrl import FtrlOptimizer as FtrlOptimizer
from penstock.train.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from penstock.train.learning_rate import (
    cosine_decay as cosine_decay,
    cosine_decay_restarts as cosine_decay_restarts,
    exponential_decay as exponential_decay,
    inverse_time_decay as inverse_time_decay,
    linear_cosine_decay as linear_cosine_decay,
    natural_exp_decay as natural_exp_decay,
    noisy_linear_cosine_decay as noisy_linear_cosine_decay,
    piecewise_constant as piecewise_constant,
    piecewise_constant_decay as piecewise_constant_decay,
    polynomial_decay as polynomial_decay,
)
from penstock.train.momentum import MomentumOptimizer as MomentumOptimizer
from penstock.train.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from penstock.train.optimizer import Optimizer as Optimizer
from penstock.train.proximal_adagrad import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from penstock.train.proximal_gradient_descent import (
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
)
from penstock.train.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from penstock.train.sync_replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
from penstock.variables.global_step import (
    assert_global_step as assert_global_step,
    create_global_step as create_global_step,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
)
