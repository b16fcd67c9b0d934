"""Modules that programs import by TensorFlow's paths, and where Penstock has their names.

A row is a path below ``tensorflow``, then the namespaces that are searched for a name, in order;
behind ``|`` names that are not public, found in ``beneath.pyi``, and ``NEW=OLD`` where a name was
another there. Packages above a row need none. A namespace that Penstock does not have yet says so
when one of its names is asked for.
"""

from __future__ import annotations

_PROTO = "tensorboard.compat.proto"
_TUTORIALS = "penstock.models.tutorials"

_FRAMEWORK = {
    "python.framework.common_shapes": "tf | broadcast_shape=broadcast_static_shape",
    "python.framework.composite_tensor": "| CompositeTensor",
    "python.framework.constant_op": "tf",
    "python.framework.convert_to_constants": "tf.graph_util",
    "python.framework.device": "tf",
    "python.framework.device_spec": "tf | DeviceSpecV1=DeviceSpec",
    "python.framework.dtypes": "tf.dtypes tf penstock.foundation.base.dtypes",
    "python.framework.errors": "tf.errors",
    "python.framework.errors_impl": "tf.errors",
    "python.framework.func_graph": "penstock.python.refused_functions",
    "python.framework.function":
        "| Declare Defun get_extra_args get_extra_inputs get_extra_vars",
    "python.framework.graph_io": "tf.io tf.train",
    "python.framework.graph_util": "tf.graph_util",
    "python.framework.graph_util_impl":
        "tf.graph_util | _bfs_for_reachable_nodes=reachable_nodes"
        " _extract_graph_summary=graph_summary",
    "python.framework.importer": "tf",
    "python.framework.indexed_slices": "tf",
    "python.framework.load_library": "tf",
    "python.framework.meta_graph": "tf.train",
    "python.framework.op_def_registry": "| get_registered_ops register_op_list",
    "python.framework.ops":
        "tf | EagerTensor convert_n_to_tensor convert_n_to_tensor_or_indexed_slices"
        " get_gradient_function internal_convert_to_tensor is_dense_tensor_like"
        " prepend_name_scope strip_name_scope register_dense_tensor_like_type"
        " register_proto_function uid"
        " _get_graph_from_inputs=graph_from_inputs _TensorLike=TensorLike"
        " executing_eagerly_outside_functions=executing_eagerly get_name_scope"
        " get_to_proto_function",
    "python.framework.random_seed": "tf.random tf",
    "python.framework.smart_cond": "| smart_case smart_cond smart_constant_value",
    "python.framework.sparse_tensor": "tf",
    "python.framework.tensor_conversion_registry": "tf",
    "python.framework.tensor_shape":
        "tf | as_dimension as_shape unknown_shape scalar vector matrix",
    "python.framework.tensor_spec": "tf",
    "python.framework.tensor_util":
        "tf | constant_value=get_static_value constant_value_as_shape=get_static_shape",
    "python.framework.test_util":
        "tf.test | TensorFlowTestCase assert_meta_graph_protos_equal run_deprecated_v1"
        " run_v1_only=run_deprecated_v1",
    "python.framework.type_spec": "tf | BatchableTypeSpec",
    "python.framework.versions": "tf.version tf",
    "python.client.device_lib": "| list_local_devices",
    "python.client.graph_util": "tf.graph_util",
    "python.client.session":
        "tf | register_session_run_conversion_functions _FetchHandler=FetchHandler",
    "python.client.timeline": "| AllocationMaximum StepStatsAnalysis Timeline",
}  # fmt: skip

_OPS = {
    "python.ops.array_ops": "tf | boolean_mask_v2 prevent_gradient shape_internal size_internal",
    "python.ops.batch_ops": "tf.contrib.batching",
    "python.ops.bitwise_ops": "tf.bitwise",
    "python.ops.boosted_trees_ops":
        "penstock.python.generated | PruningMode QuantileAccumulator TreeEnsemble"
        " calculate_best_gains_per_feature=boosted_trees_calculate_best_gains_per_feature"
        " center_bias=boosted_trees_center_bias"
        " create_quantile_stream_resource=boosted_trees_create_quantile_stream_resource"
        " get_bucket_boundaries=boosted_trees_quantile_stream_resource_get_bucket_boundaries"
        " make_quantile_summaries=boosted_trees_make_quantile_summaries"
        " make_stats_summary=boosted_trees_make_stats_summary"
        " predict=boosted_trees_predict training_predict=boosted_trees_training_predict"
        " quantile_add_summaries=boosted_trees_quantile_stream_resource_add_summaries"
        " quantile_flush=boosted_trees_quantile_stream_resource_flush"
        " update_ensemble=boosted_trees_update_ensemble",
    "python.ops.candidate_sampling_ops": "tf.nn",
    "python.ops.check_ops": "tf",
    "python.ops.clip_ops": "tf",
    "python.ops.collective_ops": "| all_gather all_reduce broadcast_recv broadcast_send",
    "python.ops.constant_op": "tf",
    "python.ops.confusion_matrix": "tf | remove_squeezable_dimensions=squeeze_last",
    "python.ops.clustering_ops": "penstock.training.estimator.canned.clustering",
    "python.ops.cond_v2": "| cond_v2",
    "python.ops.control_flow_v2_toggles":
        "tf",
    "python.ops.control_flow_ops":
        "tf | CondContext ControlFlowContext WhileContext abort control_trigger enter exit=exit_"
        " loop_cond merge next_iteration switch with_dependencies"
        " XLAControlFlowContext _case_helper=case_by",
    "python.ops.control_flow_util": "penstock.library.control_flow.kinds",
    "python.ops.critical_section_ops": "tf",
    "python.ops.ctc_ops": "tf.nn",
    "python.ops.custom_gradient": "tf",
    "python.ops.data_flow_ops": "tf tf.queue | MapStagingArea RecordInput StagingArea",
    "python.ops.distributions.distribution": "tf.distributions",
    "python.ops.distributions.distributions": "tf.distributions",
    "python.ops.distributions.normal": "tf.distributions",
    "python.ops.embedding_ops": "tf.nn",
    "python.ops.functional_ops": "tf",
    **{
        f"python.ops.gen_{each}_ops": "penstock.python.generated"
        for each in (
            "array", "audio", "bitwise", "boosted_trees", "candidate_sampling", "collective",
            "control_flow", "ctc", "data_flow", "dataset", "functional", "image", "io", "linalg",
            "list", "logging", "lookup", "manip", "math", "nn", "parsing", "random",
            "resource_variable", "rnn", "script", "sdca", "set", "sparse", "spectral", "state",
            "stateless_random", "string", "summary",
        )
    },
    "python.ops.gradient_checker": "tf.test",
    "python.ops.gradients": "tf",
    "python.ops.gradients_impl": "tf | gradients_v2",
    "python.ops.histogram_ops": "tf",
    "python.ops.image_ops": "tf.image",
    "python.ops.image_ops_impl": "tf.image",
    "python.ops.init_ops": "tf tf.initializers | Initializer Zeros=zeros_initializer",
    "python.ops.inplace_ops":
        "| alias_inplace_add alias_inplace_sub alias_inplace_update empty empty_like inplace_add"
        " inplace_sub inplace_update",
    "python.ops.io_ops": "tf tf.io penstock.python.generated",
    "python.ops.linalg_ops": "tf tf.linalg",
    "python.ops.linalg.linalg": "tf.linalg",
    "python.ops.linalg.linear_operator": "tf.linalg",
    "python.ops.linalg.linear_operator_addition": "| add_operators",
    "python.ops.linalg.linear_operator_util":
        "| broadcast_matrix_batch_dims cholesky_solve_with_broadcast matrix_solve_with_broadcast"
        " matrix_triangular_solve_with_broadcast",
    "python.ops.logging_ops": "tf",
    "python.ops.lookup_ops":
        "tf tf.lookup penstock.python.generated | FastHashSpec HasherSpec HashTable"
        " IdTableWithHashBuckets"
        " InitializableLookupTableBase LookupInterface MutableDenseHashTable MutableHashTable"
        " StrongHashSpec TableInitializerBase TextFileIdTableInitializer"
        " TextFileStringTableInitializer"
        " index_table_from_file index_table_from_tensor index_to_string_table_from_file"
        " index_to_string_table_from_tensor",
    "python.ops.losses.losses": "tf.losses",
    "python.ops.losses.losses_impl": "tf.losses",
    "python.ops.losses.util": "tf.losses",
    "python.ops.manip_ops": "tf.manip",
    "python.ops.map_fn": "tf",
    "python.ops.math_ops":
        "tf tf.math | _as_indexed_slices_list=as_indexed_slices_list _bucketize=bucketize",
    "python.ops.metrics": "tf.metrics",
    "python.ops.metrics_impl": "tf.metrics penstock.library.variables.metric_parts",
    "python.ops.nn": "tf.nn",
    "python.ops.nn_impl": "tf.nn",
    "python.ops.nn_ops": "tf.nn | Convolution",
    "python.ops.numerics": "tf",
    "python.ops.op_selector": "tf.contrib.graph_editor",
    "python.ops.parsing_ops": "tf tf.io",
    "python.ops.partitioned_variables": "tf",
    "python.ops.quantized_ops": "tf.quantization",
    "python.ops.ragged.ragged_factory_ops": "tf.ragged",
    "python.ops.ragged.ragged_tensor": "tf",
    "python.ops.random_ops": "tf tf.random | parameterized_truncated_normal",
    "python.ops.resource_variable_ops":
        "tf penstock.python.generated | ResourceVariable is_resource_variable"
        " _from_proto_fn=variable_from_proto _to_proto_fn=variable_to_proto",
    "python.ops.resources":
        "| initialize_resources local_resources report_uninitialized_resources shared_resources",
    "python.ops.rnn":
        "tf.nn | bidirectional_rnn=static_bidirectional_rnn rnn=static_rnn"
        " state_saving_rnn=static_state_saving_rnn",
    "python.ops.rnn_cell": "tf.nn.rnn_cell",
    "python.ops.rnn_cell_impl":
        "tf.nn.rnn_cell | LayerRNNCell assert_like_rnncell _concat=joined_shape"
        " _zero_state_tensors=zeros_of",
    "python.ops.script_ops": "tf",
    "python.ops.seq2seq": "tf.contrib.legacy_seq2seq",
    "python.ops.session_ops": "tf",
    "python.ops.sets": "tf.sets",
    "python.ops.sets_impl": "tf.sets",
    "python.ops.signal.signal": "tf.signal",
    "python.ops.sort_ops": "tf",
    "python.ops.sparse_ops": "tf tf.sparse",
    "python.ops.special_math_ops": "tf tf.math",
    "python.ops.spectral_ops": "tf.spectral",
    "python.ops.standard_ops": "tf",
    "python.ops.state_ops": "tf | init_variable",
    "python.ops.stateless_random_ops": "tf.random",
    "python.ops.string_ops": "tf tf.strings",
    "python.ops.summary_op_util": "| clean_tag collect skip_summary summary_scope",
    "python.ops.summary_ops": "tf.summary",
    "python.ops.summary_ops_v2": "tf.contrib.summary | record_if",
    "python.ops.template": "tf",
    "python.ops.tensor_array_ops": "tf",
    "python.ops.unconnected_gradients": "tf",
    "python.ops.variable_scope":
        "tf | EagerVariableStore variable=create_variable"
        " _pure_variable_scope=pure_variable_scope",
    "python.ops.variable_v1": "tf | VariableV1=Variable",
    "python.ops.variables": "tf | VariableV1=Variable PartitionedVariable",
    "python.ops.weights_broadcast_ops": "| assert_broadcastable broadcast_weights",
}  # fmt: skip

_TRAINING = {
    "python.training.adadelta": "tf.train",
    "python.training.adagrad": "tf.train",
    "python.training.adagrad_da": "tf.train",
    "python.training.adam": "tf.train",
    "python.training.basic_loops": "tf.train",
    "python.training.basic_session_run_hooks":
        "tf.train | _MultiStepStopAtStepHook=MultiStepStopAtStepHook",
    "python.training.checkpoint_management": "tf.train",
    "python.training.evaluation":
        "tf.contrib.training | _MultiStepStopAfterNEvalsHook=MultiStepStopAfterNEvalsHook"
        " _StopAfterNEvalsHook=StopAfterNEvalsHook"
        " _evaluate_once=evaluate_once _get_or_create_eval_step=get_or_create_eval_step",
    "python.training.checkpoint_ops": "tf.train",
    "python.training.checkpoint_utils": "tf.train",
    "python.training.coordinator": "tf.train",
    "python.training.device_setter":
        "tf.train | STANDARD_PS_OPS _RoundRobinStrategy=RoundRobinStrategy",
    "python.training.distribute": "tf.distribute",
    "python.training.ftrl": "tf.train",
    "python.training.gradient_descent": "tf.train",
    "python.training.input": "tf.train",
    "python.training.learning_rate_decay": "tf.train",
    "python.training.momentum": "tf.train",
    "python.training.monitored_session":
        "tf.train | _CoordinatedSession=CoordinatedSession _HookedSession=HookedSession"
        " _RecoverableSession=RecoverableSession _WrappedSession=WrappedSession",
    "python.training.moving_averages":
        "tf.train | assign_moving_average weighted_moving_average",
    "python.training.optimizer": "tf.train",
    "python.training.proximal_adagrad": "tf.train",
    "python.training.proximal_gradient_descent": "tf.train",
    "python.training.queue_runner": "tf.train",
    "python.training.queue_runner_impl": "tf.train",
    "python.training.rmsprop": "tf.train",
    "python.training.saver": "tf.train | BaseSaverBuilder",
    "python.training.server_lib": "tf.train",
    "python.training.session_manager": "tf.train",
    "python.training.session_run_hook": "tf.train",
    "python.training.slot_creator":
        "| create_slot create_slot_with_initializer create_zeros_slot",
    "python.training.summary_io": "tf.train tf.summary",
    "python.training.supervisor": "tf.train",
    "python.training.sync_replicas_optimizer": "tf.train",
    "python.training.training": "tf.train | get_or_create_steps_per_run_variable",
    "python.training.training_ops": "penstock.python.generated",
    "python.training.gen_training_ops": "penstock.python.generated",
    "python.training.training_util":
        "tf.train | GLOBAL_STEP_READ_KEY _get_or_create_global_step_read=global_step_read",
    "python.training.warm_starting_util": "tf.train",
}  # fmt: skip

_FILES = {
    "python.lib.io.file_io":
        "tf.gfile | FileIO=GFile copy=Copy create_dir=MkDir delete_file=Remove"
        " delete_recursively=DeleteRecursively file_exists=Exists get_matching_files=Glob"
        " is_directory=IsDirectory list_directory=ListDirectory read_file_to_string"
        " recursive_create_dir=MakeDirs rename=Rename stat=Stat walk=Walk write_string_to_file",
    "python.lib.io.python_io": "tf.python_io",
    "python.lib.io.tf_record": "tf.python_io",
    "python.saved_model.load": "| load=load_v2",
    "python.saved_model.save": "tf.saved_model",
    "python.saved_model.builder": "tf.saved_model.builder",
    "python.saved_model.builder_impl": "tf.saved_model.builder",
    "python.saved_model.constants": "tf.saved_model.constants tf.saved_model",
    "python.saved_model.loader": "tf.saved_model.loader",
    "python.saved_model.loader_impl":
        "tf.saved_model.loader | _get_main_op_tensor=main_op_of",
    "python.saved_model.main_op": "tf.saved_model.main_op",
    **{
        f"python.saved_model.model_utils{each}":
            "penstock.training.estimator.model_utils"
            " | _SupervisedOutput=SupervisedOutput EstimatorModeKeys=ModeKeys"
        for each in ("", ".export_output", ".export_utils", ".mode_keys")
    },
    "python.saved_model.saved_model": "tf.saved_model",
    "python.saved_model.signature_constants":
        "tf.saved_model.signature_constants penstock.storage.saved_model.supervised",
    "python.saved_model.signature_def_utils": "tf.saved_model.signature_def_utils",
    "python.saved_model.simple_save": "tf.saved_model",
    "python.saved_model.tag_constants":
        "tf.saved_model.tag_constants penstock.storage.saved_model.supervised",
    "python.saved_model.utils": "tf.saved_model.utils",
    "python.saved_model.utils_impl":
        "tf.saved_model.utils penstock.storage.saved_model.folders",
    "python.summary.summary": "tf.summary",
    "python.summary.summary_iterator": "tf.train",
    "python.summary.writer.writer": "tf.summary",
    "python.summary.writer.writer_cache": "tf.summary",
    "python.data": "tf.data",
    "python.data.ops.dataset_ops": "tf.data | DatasetV2=Dataset",
    "python.data.util.nest":
        "| assert_same_structure assert_shallow_structure flatten flatten_up_to is_sequence"
        " map_structure map_structure_up_to pack_sequence_as",
    "python.data.ops.iterator_ops": "tf.data",
    "python.data.ops.multi_device_iterator_ops": "| MultiDeviceIterator",
    "python.data.ops.readers": "tf.data",
}  # fmt: skip

_FRAME = {
    "python.platform.app": "tf.app",
    "python.platform.flags": "tf.flags",
    "python.platform.gfile": "tf.gfile | ListDir=ListDirectory",
    "python.platform.googletest": "tf.test | GetTempDir=get_temp_dir",
    "python.platform.resource_loader": "tf.resource_loader",
    "python.platform.sysconfig": "tf.sysconfig",
    "python.platform.test": "tf.test",
    "python.platform.tf_logging": "tf.logging",
    "python.debug":
        "| DebugDumpDir DebugTensorDatum DumpingDebugHook DumpingDebugWrapperSession"
        " GradientsDebugger LocalCLIDebugHook LocalCLIDebugWrapperSession WatchOptions"
        " WatchKeyDoesNotExistInDebugDumpDirError check_numerics_session dump_step"
        " has_inf_or_nan",
    "python.debug.lib.debug_data":
        "| DebugDumpDir DebugTensorDatum WatchKeyDoesNotExistInDebugDumpDirError has_inf_or_nan",
    "python.debug.wrappers.hooks": "| DumpingDebugHook LocalCLIDebugHook",
    "python.pywrap_tensorflow":
        "tf.train | EventsWriter PyRecordReader PyRecordReader_New=new_reader"
        " TF_GetAllOpList=serialized_op_list TF_GetBuffer=bytes_of_buffer"
        " TF_TryEvaluateConstant_wrapper=try_evaluate_constant",
    "python.profiler.model_analyzer": "tf.profiler",
    "python.profiler.option_builder": "tf.profiler",
    "python.profiler.profile_context": "tf.contrib.tfprof",
    "python.tools.optimize_for_inference_lib": "penstock.storage.export.for_inference",
    "python.tools.strip_unused_lib": "penstock.storage.export.for_inference",
    "python.tf2": "| enabled=v2_behavior_enabled",
    "python.compat.compat": "tf.compat",
    "python.util.all_util": "| make_all remove_undocumented",
    "python.util.compat": "tf.compat",
    "python.util.compat_internal": "tf.compat",
    "python.util.deprecation":
        "| deprecated deprecated_arg_values deprecated_args deprecated_argument_lookup"
        " hide_attribute_from_api silence",
    "python.util.function_utils": "| fn_args=arguments_of has_kwargs",
    "python.util.lazy_loader": "| LazyLoader",
    "python.util.module_wrapper": "| TFModuleWrapper",
    "python.util.nest":
        "| assert_same_structure assert_shallow_structure flatten flatten_dict_items"
        " flatten_up_to flatten_with_joined_string_paths flatten_with_tuple_paths"
        " flatten_with_tuple_paths_up_to get_traverse_shallow_structure is_nested is_sequence"
        " is_sequence_or_composite map_structure map_structure_up_to map_structure_with_paths"
        " map_structure_with_tuple_paths map_structure_with_tuple_paths_up_to pack_sequence_as"
        " yield_flat_paths _is_namedtuple=is_namedtuple",
    "python.util.tf_contextlib": "penstock.foundation.base.decorators contextlib",
    "python.util.tf_decorator": "| TFDecorator make_decorator rewrap unwrap",
    "python.util.tf_export": "penstock.tools.platform.export_names",
    "python.util.tf_inspect": "penstock.tools.platform.inspecting inspect",
}  # fmt: skip

# The columns of the newer protocol.
_COLUMNS = (
    "tf.feature_column | BucketizedColumn CategoricalColumn=NewCategoricalColumn CrossedColumn"
    " DenseColumn=NewDenseColumn EmbeddingColumn FeatureColumn=NewColumn"
    " FeatureTransformationCache=TransformationCache HashedCategoricalColumn"
    " IdentityCategoricalColumn IndicatorColumn LinearModel NumericColumn"
    " SequenceCategoricalColumn SequenceDenseColumn=OldSequenceDenseColumn SequenceNumericColumn"
    " SharedEmbeddingColumn StateManager VocabularyFileCategoricalColumn"
    " VocabularyListCategoricalColumn WeightedCategoricalColumn _LinearModelLayer=LinearModelLayer"
    " _StateManagerImpl=StateManager _transform_features_v2=transform_features_v2"
    " is_feature_column_v2 make_parse_example_spec_v2=make_parse_example_spec"
)

_LIBRARIES = {
    "python.distribute.all_reduce": "penstock.training.distribute.all_reduce",
    "python.distribute.cluster_resolver.tpu_cluster_resolver": "penstock.python.refused_tpu",
    "python.distribute.distribute_lib": "tf.distribute",
    "python.distribute.distribution_strategy_context": "tf.distribute",
    "python.distribute.estimator_training": "penstock.training.distribute.coordinator",
    "python.distribute.reduce_util": "tf.distribute",
    "python.distribute.summary_op_util": "| skip_summary",
    "python.eager.backprop": "tf",
    "python.eager.context": "tf | eager_mode graph_mode",
    "python.eager.def_function": "tf | Function",
    "python.eager.function": "penstock.python.refused_functions",
    "python.eager.monitoring": "| BoolGauge Counter IntGauge StringGauge",
    **{
        f"python.tpu.{each}": "penstock.python.refused_tpu"
        for each in (
            "device_assignment", "feature_column", "feature_column_v2", "functional",
            "preempted_hook", "session_support", "tensor_tracer", "tpu", "tpu_embedding",
            "tpu_embedding_gradient", "tpu_feed", "tpu_system_metadata", "training_loop",
        )
    },
    "python.tpu.ops.tpu_ops": "penstock.training.train.tpu penstock.python.refused_tpu",
    "python.tpu.topology": "penstock.contrib.tpu.topology",
    "python.tpu.tpu_config": "penstock.training.estimator.tpu",
    "python.tpu.tpu_estimator": "penstock.training.estimator.tpu",
    "python.tpu.tpu_function": "penstock.contrib.tpu.tpu_function penstock.python.refused_tpu",
    "python.tpu.tpu_optimizer": "penstock.training.train.tpu",
    "python.training.tracking.base": "| Trackable",
    "python.training.tracking.graph_view": "| ObjectGraphView",
    "python.training.tracking.util": "tf.train | frozen_saver",
    "python.training.tracking.tracking": "| AutoTrackable TrackableAsset",
    "python.eager.wrap_function": "tf penstock.python.refused_functions",
    "python.estimator": "tf.estimator",
    "python.estimator.estimator": "tf.estimator",
    "python.estimator.export.export": "tf.estimator.export",
    "python.estimator.inputs": "tf.estimator.inputs",
    "python.estimator.model_fn": "tf.estimator",
    "python.estimator.run_config": "tf.estimator",
    "python.feature_column.dense_features": "| DenseFeatures",
    "python.feature_column.dense_features_v2": "| DenseFeatures=DenseFeaturesV2",
    "python.feature_column.sequence_feature_column":
        "tf.feature_column | SequenceFeatures concatenate_context_input=with_context",
    "python.feature_column.utils": "| sequence_length_from_sparse_tensor=sequence_length",
    "python.feature_column.feature_column":
        "tf.feature_column penstock.training.feature_column.older | InputLayer"
        " _CategoricalColumn=OldCategoricalColumn _DenseColumn=OldDenseColumn"
        " _FeatureColumn=OldColumn _LazyBuilder=Features _LinearModel=OlderLinearModel"
        " _SequenceDenseColumn=OldSequenceDenseColumn _internal_input_layer=internal_input_layer"
        " _transform_features=transform_features",
    "python.feature_column.feature_column_v2": _COLUMNS,
    "python.feature_column.feature_column_lib":
        f"{_COLUMNS} DenseFeatures InputLayer SequenceFeatures"
        " concatenate_context_input=with_context deserialize_feature_column"
        " deserialize_feature_columns serialize_feature_column serialize_feature_columns",
    "python.keras": "tf.keras",
    **{
        f"python.keras.{each}": f"tf.keras.{each}"
        for each in (
            "activations", "applications", "callbacks", "constraints", "datasets",
            "estimator", "initializers", "layers", "losses", "metrics", "optimizers",
            "preprocessing", "regularizers", "utils", "wrappers",
        )
    },
    "python.keras.backend":
        "tf.keras.backend penstock.training.keras_models.backend_images"
        " penstock.training.keras_models.backend_batches"
        " | _initialize_variables=initialize_tracked get_graph=get_default_graph"
        " track_variable",
    "python.keras.models":
        "tf.keras.models | clone_and_build_model"
        " in_place_subclassed_model_state_restoration=restore_in_place",
    **{
        f"python.keras.optimizer_v2.{each}":
            "tf.keras.optimizers | OptimizerV2 RMSProp=RMSprop"
        for each in (
            "adadelta", "adagrad", "adam", "adamax", "ftrl", "gradient_descent", "nadam",
            "optimizer_v2", "rmsprop",
        )
    },
    "python.keras._impl.keras.datasets": "tf.keras.datasets",
    "python.keras._impl.keras.layers": "tf.keras.layers",
    "python.keras.utils.generic_utils": "tf.keras.utils | func_dump func_load",
    "python.keras.utils.losses_utils":
        "| ReductionV2=Reduction compute_weighted_loss"
        " scale_loss_for_distribution",
    "python.keras.utils.tf_utils":
        "| get_reachable_from_inputs=reached_from register_symbolic_tensor_type",
    "python.keras.engine.base_layer": "tf.keras.layers",
    "python.keras.engine.input_spec": "tf.keras.layers",
    "python.keras.engine.training": "tf.keras",
    "python.keras.engine.training_utils": "| standardize_sample_weights",
    "python.keras.layers.core": "tf.keras.layers",
    "python.keras.layers.convolutional": "tf.keras.layers",
    "python.keras.layers.normalization_v2": "tf.keras.layers",
    "python.keras.layers.pooling": "tf.keras.layers",
    "python.keras.layers.recurrent_v2": "tf.keras.layers | GRU=GRUV2 LSTM=LSTMV2",
    "python.keras.layers.recurrent": "tf.keras.layers",
    "python.keras.saving.hdf5_format": "tf.keras.models",
    "python.layers.base": "tf.layers",
    "python.layers.convolutional":
        "tf.layers | Convolution1D=Conv1D Convolution2D=Conv2D Convolution3D=Conv3D"
        " Convolution2DTranspose=Conv2DTranspose Convolution3DTranspose=Conv3DTranspose"
        " Deconv2D=Conv2DTranspose Deconv3D=Conv3DTranspose"
        " Deconvolution2D=Conv2DTranspose Deconvolution3D=Conv3DTranspose"
        " SeparableConvolution1D=SeparableConv1D SeparableConvolution2D=SeparableConv2D"
        " convolution1d=conv1d convolution2d=conv2d convolution3d=conv3d"
        " convolution2d_transpose=conv2d_transpose convolution3d_transpose=conv3d_transpose"
        " deconv2d=conv2d_transpose deconv3d=conv3d_transpose"
        " deconvolution2d=conv2d_transpose deconvolution3d=conv3d_transpose"
        " separable_convolution2d=separable_conv2d",
    "python.layers.core": "tf.layers | FullyConnected=Dense fully_connected=dense",
    "python.layers.layers": "tf.layers",
    "python.layers.normalization":
        "tf.layers | BatchNorm=BatchNormalization batch_norm=batch_normalization",
    "python.layers.pooling":
        "tf.layers | AvgPool2D=AveragePooling2D MaxPool2D=MaxPooling2D"
        " avg_pool2d=average_pooling2d max_pool2d=max_pooling2d",
    "python.layers.utils":
        "| constant_value=smart_constant_value conv_input_length conv_output_length"
        " convert_data_format deconv_output_length normalize_data_format normalize_padding"
        " normalize_tuple smart_cond",
    "python.layers.experimental": "tf.layers.experimental",
}  # fmt: skip

_MESSAGES = {
    "tools.graph_transforms": "penstock.storage.interchange.graph_transforms",
    "core.example.example_pb2": "tf.train",
    "core.example.feature_pb2": "tf.train",
    **{
        f"core.framework.{each}_pb2": f"{_PROTO}.{each}_pb2"
        for each in (
            "allocation_description", "api_def", "attr_value", "cost_graph", "function", "graph",
            "node_def", "op_def", "resource_handle", "step_stats", "summary",
            "tensor_description", "tensor", "tensor_shape", "types", "variable", "versions",
        )
    },
    **{
        f"core.protobuf.{each}_pb2": f"{_PROTO}.{each}_pb2"
        for each in (
            "cluster", "config", "debug", "meta_graph", "rewriter_config", "saved_object_graph",
            "saver", "struct", "trackable_object_graph", "verifier_config",
        )
    },
    **{
        f"core.protobuf.{each}_pb2": "penstock.foundation.formats.schema"
        for each in ("queue_runner", "saved_model", "tensor_bundle")
    },
    "core.protobuf.tensorflow_server_pb2": "penstock.foundation.formats.server_def",
    "core.profiler.tfprof_log_pb2": f"{_PROTO}.tfprof_log_pb2",
    "core.util.event_pb2": f"{_PROTO}.event_pb2",
    "core.kernels.boosted_trees.boosted_trees_pb2": "penstock.foundation.formats.tree_messages",
    "core.protobuf.tpu.compilation_result_pb2": "penstock.python.refused_tpu",
}  # fmt: skip

# What extends TensorFlow's own conversion of Python; ``refused.py`` says what there is instead.
_CONVERSION = {
    "python.autograph": "tf.autograph",
    **{
        f"python.autograph.{each}": "penstock.python.refused"
        for each in (
            "converters.break_statements", "converters.continue_statements",
            "converters.return_statements", "core.converter", "core.naming", "pyct.anno",
            "pyct.compiler", "pyct.inspect_utils", "pyct.parser", "pyct.qual_names",
            "pyct.templates", "pyct.transformer", "pyct.common_transformers.anf",
        )
    },
}  # fmt: skip

# Where things stood in 0.5 to 0.7.
_MODELS = {
    "models.rnn.rnn": "tf.nn | bidirectional_rnn=static_bidirectional_rnn rnn=static_rnn"
    " state_saving_rnn=static_state_saving_rnn",
    "models.rnn.ptb.reader": f"{_TUTORIALS}.ptb_reader",
    "models.rnn.rnn_cell": "tf.nn.rnn_cell",
    "models.rnn.translate.data_utils": f"{_TUTORIALS}.translate_data",
    "models.rnn.translate.seq2seq_model": f"{_TUTORIALS}.translate_model",
    "models.embedding.gen_word2vec": "penstock.python.generated",
    "models.embedding.word2vec": f"{_TUTORIALS}.word2vec_program",
    "models.embedding.word2vec_optimized": f"{_TUTORIALS}.word2vec_program",
    "models.image.cifar10.cifar10": f"{_TUTORIALS}.cifar10",
    "models.image.cifar10.cifar10_input": f"{_TUTORIALS}.cifar10_input",
    "models.rnn.seq2seq": "tf.contrib.legacy_seq2seq",
}

_EXAMPLES = {
    **{
        f"examples.get_started.regression.{each}": f"{_TUTORIALS}.{each}"
        for each in (
            "custom_regression", "dnn_regression", "imports85", "linear_regression",
            "linear_regression_categorical",
        )
    },
    "examples.image_retraining.retrain": f"{_TUTORIALS}.retrain",
    "examples.saved_model.integration_tests.mnist_util": f"{_TUTORIALS}.mnist_util",
    "examples.speech_commands.freeze": f"{_TUTORIALS}.speech_freeze",
    "examples.speech_commands.generate_streaming_test_wav": f"{_TUTORIALS}.speech_files",
    "examples.speech_commands.input_data":
        f"{_TUTORIALS}.speech_input {_TUTORIALS}.speech_processor",
    "examples.speech_commands.label_wav": f"{_TUTORIALS}.speech_files",
    "examples.speech_commands.models": f"{_TUTORIALS}.speech_models",
    "examples.speech_commands.train": f"{_TUTORIALS}.speech_train",
    "examples.speech_commands.wav_to_features": f"{_TUTORIALS}.speech_files",
    "examples.tutorials.mnist.input_data": "tf.contrib.learn.datasets.mnist | maybe_download",
    "examples.tutorials.mnist.mnist": "penstock.models.mnist_network",
}  # fmt: skip

PATHS: dict[str, str] = {
    **_FRAMEWORK, **_OPS, **_TRAINING, **_FILES, **_FRAME, **_LIBRARIES, **_MESSAGES,
    **_EXAMPLES, **_MODELS, **_CONVERSION,
}  # fmt: skip
