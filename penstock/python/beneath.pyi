"""Names that programs import by module path and that are not public; ``paths.py`` says by which."""

from penstock.contrib.eager.variable_store import EagerVariableStore as EagerVariableStore
from penstock.contrib.learn.datasets.base import maybe_download as maybe_download
from penstock.engine.session.fetch_handler import FetchHandler as FetchHandler
from penstock.engine.session.fetches import (
    register_session_run_conversion_functions as register_session_run_conversion_functions,
)
from penstock.engine.session.local_devices import list_local_devices as list_local_devices
from penstock.foundation.base.decorators import TFDecorator as TFDecorator
from penstock.foundation.base.dimension import as_dimension as as_dimension
from penstock.foundation.base.shapes import (
    as_shape as as_shape,
    matrix as matrix,
    scalar as scalar,
    unknown_shape as unknown_shape,
    vector as vector,
)
from penstock.foundation.formats.record_reader import (
    PyRecordReader as PyRecordReader,
    new_reader as new_reader,
)
from penstock.foundation.formats.whole_files import (
    read_file_to_string as read_file_to_string,
    write_string_to_file as write_string_to_file,
)
from penstock.foundation.graph.behavior import (
    executing_eagerly as executing_eagerly,
)
from penstock.foundation.graph.composite import CompositeTensor as CompositeTensor
from penstock.foundation.graph.composite_specs import BatchableTypeSpec as BatchableTypeSpec
from penstock.foundation.graph.convert import (
    convert_n_to_tensor as convert_n_to_tensor,
    convert_to_tensor as _convert_to_tensor,
    is_dense_tensor_like as is_dense_tensor_like,
)
from penstock.foundation.graph.dense_like import (
    register_dense_tensor_like_type as register_dense_tensor_like_type,
)
from penstock.foundation.graph.nest import (
    assert_same_structure as assert_same_structure,
    assert_shallow_structure as assert_shallow_structure,
    flatten as flatten,
    flatten_up_to as flatten_up_to,
    is_nested as is_nested,
    is_sequence as is_sequence,
    is_sequence_or_composite as is_sequence_or_composite,
    map_structure as map_structure,
    map_structure_up_to as map_structure_up_to,
    pack_sequence_as as pack_sequence_as,
)
from penstock.foundation.graph.nest_paths import (
    flatten_dict_items as flatten_dict_items,
    flatten_with_joined_string_paths as flatten_with_joined_string_paths,
    flatten_with_tuple_paths as flatten_with_tuple_paths,
    flatten_with_tuple_paths_up_to as flatten_with_tuple_paths_up_to,
    get_traverse_shallow_structure as get_traverse_shallow_structure,
    is_namedtuple as is_namedtuple,
    map_structure_with_paths as map_structure_with_paths,
    map_structure_with_tuple_paths as map_structure_with_tuple_paths,
    map_structure_with_tuple_paths_up_to as map_structure_with_tuple_paths_up_to,
    yield_flat_paths as yield_flat_paths,
)
from penstock.foundation.graph.proto_functions import (
    get_to_proto_function as get_to_proto_function,
    register_proto_function as register_proto_function,
)
from penstock.foundation.graph.scoped_names import (
    get_name_scope as get_name_scope,
    prepend_name_scope as prepend_name_scope,
    strip_name_scope as strip_name_scope,
)
from penstock.foundation.graph.scopes import (
    get_default_graph as get_default_graph,
    graph_from_inputs as graph_from_inputs,
)
from penstock.foundation.graph.uid import uid as uid
from penstock.library.autodiff.gradients import gradients_v2 as gradients_v2
from penstock.library.autodiff.register import get_gradient_function as get_gradient_function
from penstock.library.control_flow.case import case_by as case_by, smart_case as smart_case
from penstock.library.control_flow.cond import (
    cond_v2 as cond_v2,
    smart_cond as smart_cond,
    smart_constant_value as smart_constant_value,
    try_evaluate_constant as try_evaluate_constant,
)
from penstock.library.control_flow.context import (
    CondContext as CondContext,
    ControlFlowContext as ControlFlowContext,
    WhileContext as WhileContext,
)
from penstock.library.control_flow.defun import (
    Declare as Declare,
    Defun as Defun,
    get_extra_args as get_extra_args,
    get_extra_inputs as get_extra_inputs,
    get_extra_vars as get_extra_vars,
)
from penstock.library.eager.function import Function as Function
from penstock.library.eager.mode import (
    eager_mode as eager_mode,
    graph_mode as graph_mode,
    v2_behavior_enabled as v2_behavior_enabled,
)
from penstock.library.eager.tensor import EagerTensor as EagerTensor
from penstock.library.keras.layers.recurrent_v2 import (
    GRUV2 as GRUV2,
    LSTMV2 as LSTMV2,
)
from penstock.library.keras.marshalled import func_dump as func_dump, func_load as func_load
from penstock.library.layer_base.reachable import reached_from as reached_from
from penstock.library.layer_base.sessions import (
    initialize_tracked as initialize_tracked,
    track_variable as track_variable,
)
from penstock.library.layer_base.tensors import (
    register_symbolic_tensor_type as register_symbolic_tensor_type,
)
from penstock.library.layers.arguments import (
    conv_input_length as conv_input_length,
    conv_output_length as conv_output_length,
    convert_data_format as convert_data_format,
    deconv_output_length as deconv_output_length,
    normalize_data_format as normalize_data_format,
    normalize_padding as normalize_padding,
    normalize_tuple as normalize_tuple,
)
from penstock.library.linear_operators.addition import add_operators as add_operators
from penstock.library.linear_operators.broadcasting import (
    broadcast_matrix_batch_dims as broadcast_matrix_batch_dims,
    cholesky_solve_with_broadcast as cholesky_solve_with_broadcast,
    matrix_solve_with_broadcast as matrix_solve_with_broadcast,
    matrix_triangular_solve_with_broadcast as matrix_triangular_solve_with_broadcast,
)
from penstock.library.nn.prepared import Convolution as Convolution
from penstock.library.recurrent.cell import (
    LayerRNNCell as LayerRNNCell,
    assert_like_rnncell as assert_like_rnncell,
    joined_shape as joined_shape,
    zeros_of as zeros_of,
)
from penstock.library.variables.auto_trackable import (
    AutoTrackable as AutoTrackable,
    Trackable as Trackable,
    TrackableAsset as TrackableAsset,
)
from penstock.library.variables.creation import create as _create
from penstock.library.variables.init_variable import init_variable as init_variable
from penstock.library.variables.initializers import (
    Initializer as Initializer,
    zeros_initializer as zeros_initializer,
)
from penstock.library.variables.messages import (
    variable_from_proto as variable_from_proto,
    variable_to_proto as variable_to_proto,
)
from penstock.library.variables.partition import PartitionedVariable as PartitionedVariable
from penstock.library.variables.resource_variable import (
    ResourceVariable as ResourceVariable,
    is_resource_variable as is_resource_variable,
)
from penstock.library.variables.scoping import pure_variable_scope as pure_variable_scope
from penstock.ops.array.boolean_masks import (
    boolean_mask_v2 as boolean_mask_v2,
)
from penstock.ops.array.indexed_slices import (
    convert_n_to_tensor_or_indexed_slices as convert_n_to_tensor_or_indexed_slices,
)
from penstock.ops.array.inplace_rows import (
    alias_inplace_add as alias_inplace_add,
    alias_inplace_sub as alias_inplace_sub,
    alias_inplace_update as alias_inplace_update,
    empty as empty,
    empty_like as empty_like,
    inplace_add as inplace_add,
    inplace_sub as inplace_sub,
    inplace_update as inplace_update,
)
from penstock.ops.array.ranks import size_internal as size_internal
from penstock.ops.array.shape import shape_internal as shape_internal
from penstock.ops.array.static_values import (
    get_static_shape as get_static_shape,
    get_static_value as get_static_value,
)
from penstock.ops.control.collective import (
    all_gather as all_gather,
    all_reduce as all_reduce,
    broadcast_recv as broadcast_recv,
    broadcast_send as broadcast_send,
)
from penstock.ops.control.control import (
    prevent_gradient as prevent_gradient,
    with_dependencies as with_dependencies,
)
from penstock.ops.control.control_flow import (
    abort as abort,
    as_indexed_slices_list as as_indexed_slices_list,
    control_trigger as control_trigger,
    enter as enter,
    exit_ as exit_,
    loop_cond as loop_cond,
    merge as merge,
    next_iteration as next_iteration,
    switch as switch,
)
from penstock.ops.math.bucketize import bucketize as bucketize
from penstock.ops.math.weights import (
    assert_broadcastable as assert_broadcastable,
    broadcast_weights as broadcast_weights,
    squeeze_last as squeeze_last,
)
from penstock.ops.random.cut_off import (
    parameterized_truncated_normal as parameterized_truncated_normal,
)
from penstock.python.refused_tpu import (
    XLAControlFlowContext as XLAControlFlowContext,
)
from penstock.python.tensor_like import TensorLike as TensorLike
from penstock.storage.checkpoint.builder import (
    BaseSaverBuilder as BaseSaverBuilder,
)
from penstock.storage.checkpoint.views import (
    ObjectGraphView as ObjectGraphView,
    frozen_saver as frozen_saver,
)
from penstock.storage.export.op_registry import (
    get_registered_ops as get_registered_ops,
    register_op_list as register_op_list,
)
from penstock.storage.export.registered_ops import (
    bytes_of_buffer as bytes_of_buffer,
    serialized_op_list as serialized_op_list,
)
from penstock.storage.export.sub_graph import (
    graph_summary as graph_summary,
    reachable_nodes as reachable_nodes,
)
from penstock.storage.saved_model.load_objects import load_v2 as load_v2
from penstock.storage.saved_model.loader import (
    main_op_of as main_op_of,
)
from penstock.storage.summary.build import (
    clean_tag as clean_tag,
    collect as collect,
    summary_scope as summary_scope,
)
from penstock.storage.summary.events_writer import EventsWriter as EventsWriter
from penstock.storage.summary.recording import record_if as record_if
from penstock.tools.debug.check_numerics import check_numerics_session as check_numerics_session
from penstock.tools.debug.dump import WatchOptions as WatchOptions, dump_step as dump_step
from penstock.tools.debug.dump_dir import (
    DebugDumpDir as DebugDumpDir,
    DebugTensorDatum as DebugTensorDatum,
    WatchKeyDoesNotExistInDebugDumpDirError as WatchKeyDoesNotExistInDebugDumpDirError,
    has_inf_or_nan as has_inf_or_nan,
)
from penstock.tools.debug.gradients import GradientsDebugger as GradientsDebugger
from penstock.tools.debug.wrappers import (
    DumpingDebugWrapperSession as DumpingDebugWrapperSession,
    LocalCLIDebugWrapperSession as LocalCLIDebugWrapperSession,
)
from penstock.tools.platform.all_names import (
    make_all as make_all,
    remove_undocumented as remove_undocumented,
)
from penstock.tools.platform.arguments import (
    has_kwargs as has_kwargs,
)
from penstock.tools.platform.decorators import (
    make_decorator as make_decorator,
    rewrap as rewrap,
    unwrap as unwrap,
)
from penstock.tools.platform.deprecation import (
    deprecated as deprecated,
    deprecated_arg_values as deprecated_arg_values,
    deprecated_args as deprecated_args,
    deprecated_argument_lookup as deprecated_argument_lookup,
    hide_attribute_from_api as hide_attribute_from_api,
    silence as silence,
)
from penstock.tools.platform.gauges import (
    BoolGauge as BoolGauge,
    Counter as Counter,
    IntGauge as IntGauge,
    StringGauge as StringGauge,
)
from penstock.tools.platform.lazy_loader import LazyLoader as LazyLoader
from penstock.tools.platform.module_wrapper import (
    TFModuleWrapper as TFModuleWrapper,
)
from penstock.tools.profiler.timeline import (
    AllocationMaximum as AllocationMaximum,
    StepStatsAnalysis as StepStatsAnalysis,
    Timeline as Timeline,
)
from penstock.tools.testing.case import TestCase as _TestCase
from penstock.tools.testing.graphs import (
    run_deprecated_v1 as run_deprecated_v1,
)
from penstock.tools.testing.meta_graphs import (
    assert_meta_graph_protos_equal as assert_meta_graph_protos_equal,
)
from penstock.training.data.dataset import (
    Dataset as Dataset,
)
from penstock.training.data.lookup import (
    HashTable as HashTable,
    InitializableLookupTableBase as InitializableLookupTableBase,
    LookupInterface as LookupInterface,
)
from penstock.training.data.lookup_initializers import (
    TableInitializerBase as TableInitializerBase,
    TextFileIdTableInitializer as TextFileIdTableInitializer,
    TextFileStringTableInitializer as TextFileStringTableInitializer,
)
from penstock.training.data.lookup_mutable import (
    MutableDenseHashTable as MutableDenseHashTable,
    MutableHashTable as MutableHashTable,
)
from penstock.training.data.lookup_vocabulary import (
    FastHashSpec as FastHashSpec,
    HasherSpec as HasherSpec,
    IdTableWithHashBuckets as IdTableWithHashBuckets,
    StrongHashSpec as StrongHashSpec,
    index_table_from_file as index_table_from_file,
    index_table_from_tensor as index_table_from_tensor,
    index_to_string_table_from_file as index_to_string_table_from_file,
    index_to_string_table_from_tensor as index_to_string_table_from_tensor,
)
from penstock.training.data.multi_device import MultiDeviceIterator as MultiDeviceIterator
from penstock.training.data.record_input import RecordInput as RecordInput
from penstock.training.data.staging import (
    MapStagingArea as MapStagingArea,
    StagingArea as StagingArea,
)
from penstock.training.distribute.context import (
    skip_summary as skip_summary,
)
from penstock.training.estimator.calling import arguments_of as arguments_of
from penstock.training.estimator.canned.tree_state import (
    PruningMode as PruningMode,
    QuantileAccumulator as QuantileAccumulator,
    TreeEnsemble as TreeEnsemble,
)
from penstock.training.estimator.export_outputs import (
    SupervisedOutput as SupervisedOutput,
)
from penstock.training.estimator.mode_keys import (
    ModeKeys as ModeKeys,
)
from penstock.training.feature_column.asked import (
    is_feature_column_v2 as is_feature_column_v2,
    transform_features as transform_features,
    transform_features_v2 as transform_features_v2,
)
from penstock.training.feature_column.categorical import (
    CrossedColumn as CrossedColumn,
    HashedCategoricalColumn as HashedCategoricalColumn,
    IdentityCategoricalColumn as IdentityCategoricalColumn,
    VocabularyFileCategoricalColumn as VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn as VocabularyListCategoricalColumn,
    WeightedCategoricalColumn as WeightedCategoricalColumn,
)
from penstock.training.feature_column.column import (
    Features as Features,
)
from penstock.training.feature_column.embedding import (
    EmbeddingColumn as EmbeddingColumn,
    IndicatorColumn as IndicatorColumn,
    SharedEmbeddingColumn as SharedEmbeddingColumn,
)
from penstock.training.feature_column.input_layer import (
    InputLayer as InputLayer,
    internal_input_layer as internal_input_layer,
    make_parse_example_spec as make_parse_example_spec,
)
from penstock.training.feature_column.keras_layers import (
    DenseFeatures as DenseFeatures,
    DenseFeaturesV2 as DenseFeaturesV2,
    SequenceFeatures as SequenceFeatures,
)
from penstock.training.feature_column.lengths import (
    sequence_length as sequence_length,
)
from penstock.training.feature_column.linear_layers import (
    LinearModel as LinearModel,
    LinearModelLayer as LinearModelLayer,
    OlderLinearModel as OlderLinearModel,
)
from penstock.training.feature_column.numeric import (
    BucketizedColumn as BucketizedColumn,
    NumericColumn as NumericColumn,
    SequenceNumericColumn as SequenceNumericColumn,
)
from penstock.training.feature_column.own_columns import (
    NewCategoricalColumn as NewCategoricalColumn,
    NewColumn as NewColumn,
    NewDenseColumn as NewDenseColumn,
    OldCategoricalColumn as OldCategoricalColumn,
    OldColumn as OldColumn,
    OldDenseColumn as OldDenseColumn,
    OldSequenceDenseColumn as OldSequenceDenseColumn,
    StateManager as StateManager,
    TransformationCache as TransformationCache,
)
from penstock.training.feature_column.sequence import (
    SequenceCategoricalColumn as SequenceCategoricalColumn,
)
from penstock.training.feature_column.sequence_input import (
    with_context as with_context,
)
from penstock.training.feature_column.serialization import (
    deserialize_feature_column as deserialize_feature_column,
    deserialize_feature_columns as deserialize_feature_columns,
    serialize_feature_column as serialize_feature_column,
    serialize_feature_columns as serialize_feature_columns,
)
from penstock.training.keras_models.cloning import (
    clone_and_build_model as clone_and_build_model,
    restore_in_place as restore_in_place,
)
from penstock.training.keras_models.optimizer import OptimizerV2 as OptimizerV2
from penstock.training.keras_models.weighting import (
    Reduction as Reduction,
    compute_weighted_loss as compute_weighted_loss,
    scale_loss_for_distribution as scale_loss_for_distribution,
    standardize_sample_weights as standardize_sample_weights,
)
from penstock.training.monitored.debug_hooks import (
    DumpingDebugHook as DumpingDebugHook,
    LocalCLIDebugHook as LocalCLIDebugHook,
)
from penstock.training.monitored.global_step_read import (
    GLOBAL_STEP_READ_KEY as GLOBAL_STEP_READ_KEY,
    global_step_read as global_step_read,
)
from penstock.training.monitored.multi_step import (
    MultiStepStopAfterNEvalsHook as MultiStepStopAfterNEvalsHook,
    MultiStepStopAtStepHook as MultiStepStopAtStepHook,
    get_or_create_steps_per_run_variable as get_or_create_steps_per_run_variable,
)
from penstock.training.monitored.shared_resources import (
    initialize_resources as initialize_resources,
    local_resources as local_resources,
    report_uninitialized_resources as report_uninitialized_resources,
    shared_resources as shared_resources,
)
from penstock.training.monitored.wrapped_sessions import (
    CoordinatedSession as CoordinatedSession,
    HookedSession as HookedSession,
    RecoverableSession as RecoverableSession,
    WrappedSession as WrappedSession,
)
from penstock.training.train.device_setter import (
    STANDARD_PS_OPS as STANDARD_PS_OPS,
    RoundRobinStrategy as RoundRobinStrategy,
)
from penstock.training.train.moving_averages import (
    assign_moving_average as assign_moving_average,
    weighted_moving_average as weighted_moving_average,
)
from penstock.training.train.slot_creator import (
    create_slot as create_slot,
    create_slot_with_initializer as create_slot_with_initializer,
    create_zeros_slot as create_zeros_slot,
)

create_variable = _create
TensorFlowTestCase = _TestCase
internal_convert_to_tensor = _convert_to_tensor
