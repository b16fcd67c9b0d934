"""``tf.train``: optimizers, schedules, savers, training sessions, input pipelines, examples."""

from penstock.cluster.distributed.cluster_spec import (
    ClusterDef as ClusterDef,
    ClusterSpec as ClusterSpec,
    JobDef as JobDef,
    ServerDef as ServerDef,
)
from penstock.cluster.distributed.server import Server as Server
from penstock.foundation.formats.messages import SaverDef as SaverDef
from penstock.foundation.formats.schema import (
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
from penstock.library.variables.global_step import (
    assert_global_step as assert_global_step,
    create_global_step as create_global_step,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
)
from penstock.ops.state.sdca import (
    sdca_fprint as sdca_fprint,
    sdca_optimizer as sdca_optimizer,
    sdca_shrink_l1 as sdca_shrink_l1,
)
from penstock.storage.checkpoint.initialize import init_from_checkpoint as init_from_checkpoint
from penstock.storage.checkpoint.management import (
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
from penstock.storage.checkpoint.manager import CheckpointManager as CheckpointManager
from penstock.storage.checkpoint.reader import (
    NewCheckpointReader as NewCheckpointReader,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from penstock.storage.checkpoint.saver import Saver as Saver, import_meta_graph as import_meta_graph
from penstock.storage.checkpoint.trackable import Checkpoint as Checkpoint
from penstock.storage.checkpoint.vocabulary import VocabInfo as VocabInfo
from penstock.storage.checkpoint.warm_start import warm_start as warm_start
from penstock.storage.export.graph_file import write_graph as write_graph
from penstock.storage.export.meta_graph import export_meta_graph as export_meta_graph
from penstock.storage.summary.iterator import summary_iterator as summary_iterator
from penstock.storage.summary.writer import SummaryWriter as SummaryWriter
from penstock.training.data import queue_runner as queue_runner
from penstock.training.data.batching import (
    batch as batch,
    batch_join as batch_join,
    maybe_batch as maybe_batch,
    maybe_batch_join as maybe_batch_join,
    maybe_shuffle_batch as maybe_shuffle_batch,
    maybe_shuffle_batch_join as maybe_shuffle_batch_join,
    shuffle_batch as shuffle_batch,
    shuffle_batch_join as shuffle_batch_join,
)
from penstock.training.data.coordinator import (
    Coordinator as Coordinator,
    LooperThread as LooperThread,
)
from penstock.training.data.input import (
    input_producer as input_producer,
    limit_epochs as limit_epochs,
    match_filenames_once as match_filenames_once,
    range_input_producer as range_input_producer,
    slice_input_producer as slice_input_producer,
    string_input_producer as string_input_producer,
)
from penstock.training.data.queue_runner import (
    QueueRunner as QueueRunner,
    add_queue_runner as add_queue_runner,
    start_queue_runners as start_queue_runners,
)
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
from penstock.training.monitored.creators import (
    ChiefSessionCreator as ChiefSessionCreator,
    SessionCreator as SessionCreator,
    WorkerSessionCreator as WorkerSessionCreator,
)
from penstock.training.monitored.hook import (
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
)
from penstock.training.monitored.monitored_session import (
    MonitoredSession as MonitoredSession,
    SingularMonitoredSession as SingularMonitoredSession,
)
from penstock.training.monitored.scaffold import Scaffold as Scaffold
from penstock.training.monitored.session_manager import SessionManager as SessionManager
from penstock.training.monitored.summary_hooks import (
    LoggingTensorHook as LoggingTensorHook,
    ProfilerHook as ProfilerHook,
    StepCounterHook as StepCounterHook,
    SummarySaverHook as SummarySaverHook,
)
from penstock.training.monitored.supervisor import (
    Supervisor as Supervisor,
    basic_train_loop as basic_train_loop,
)
from penstock.training.monitored.timers import SecondOrStepTimer as SecondOrStepTimer
from penstock.training.monitored.training_session import (
    MonitoredTrainingSession as MonitoredTrainingSession,
)
from penstock.training.train import experimental as experimental
from penstock.training.train.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from penstock.training.train.adagrad import AdagradOptimizer as AdagradOptimizer
from penstock.training.train.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from penstock.training.train.adam import AdamOptimizer as AdamOptimizer
from penstock.training.train.device_setter import replica_device_setter as replica_device_setter
from penstock.training.train.ftrl import FtrlOptimizer as FtrlOptimizer
from penstock.training.train.gradient_descent import (
    GradientDescentOptimizer as GradientDescentOptimizer,
)
from penstock.training.train.learning_rate import (
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
from penstock.training.train.momentum import MomentumOptimizer as MomentumOptimizer
from penstock.training.train.moving_averages import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from penstock.training.train.optimizer import Optimizer as Optimizer
from penstock.training.train.proximal_adagrad import (
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
)
from penstock.training.train.proximal_gradient_descent import (
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
)
from penstock.training.train.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from penstock.training.train.sync_replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
