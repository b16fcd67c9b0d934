"""Registered ops that lack a row in the op table, or a kernel: op type -> why."""

from __future__ import annotations

WITHOUT_ROW: dict[str, str] = {
    "FakeQueue": "a handle; tests/training/data/test_lmdb.py reads by it",
    "RecordInput": "draws records of files; tests/training/data/test_record_input.py reads them",
    "LMDBReader": "a handle; tests/training/data/test_lmdb.py reads with it",
    "FixedLengthRecordReader": "a handle; tests/training/data/test_pipelines.py reads with it",
    "FixedLengthRecordReaderV2": "a handle; tests/training/data/test_pipelines.py reads with it",
    "IdentityReader": "a handle; tests/training/data/test_pipelines.py reads with it",
    "IdentityReaderV2": "a handle; tests/training/data/test_pipelines.py reads with it",
    "TFRecordReader": "a handle; tests/training/data/test_pipelines.py reads with it",
    "TFRecordReaderV2": "a handle; tests/training/data/test_pipelines.py reads with it",
    "TextLineReader": "a handle; tests/training/data/test_pipelines.py reads with it",
    "TextLineReaderV2": "a handle; tests/training/data/test_pipelines.py reads with it",
    "WholeFileReader": "a handle; tests/training/data/test_pipelines.py reads with it",
    "WholeFileReaderV2": "a handle; tests/training/data/test_pipelines.py reads with it",
    "ReaderRead": "a name from a filled queue; tests/training/data/test_pipelines.py",
    "ReaderReadV2": "a name from a filled queue; tests/training/data/test_pipelines.py",
    "ReaderReadUpTo": "a name from a filled queue; tests/training/data/test_pipelines.py",
    "ReaderReadUpToV2": "a name from a filled queue; tests/training/data/test_pipelines.py",
    **{
        f"{kind}{form}": "it makes a handle; the rows of the queue ops run it"
        for kind in ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue")
        for form in ("", "V2")
    },
    **{
        f"QueueDequeue{form}": "an earlier step's element; tests/training/data/test_queues"
        for form in ("", "V2")
    },
    "Placeholder": "its value is whatever is fed; every row of the table feeds one",
    "Skipgram": "it draws pairs from a file; tests/ops/test_skipgram.py",
    "_If": "it holds steps; tests/compiler/codegen/test_control_flow.py runs it",
    "_While": "it holds steps; tests/compiler/codegen/test_control_flow.py runs it",
}

# Ops that make state (variables, queues) have ``state`` in place of a kernel: not named here.
WITHOUT_KERNEL: dict[str, str] = {
    "Const": "its value is bound in the program",
    "Placeholder": "its value is fed; running it is an error",
    "_Feed": "its value is an argument of the program",
    "_If": "an `if` of the program; tests/compiler/codegen/test_control_flow.py",
    "_While": "a `while` of the program; tests/compiler/codegen/test_control_flow.py",
}

# What these do shows only in sequences of steps.
_SEQUENCES = "random sequences against TensorFlow: tests/training/data/test_sync_conformance.py"
_SESSIONS = "in sessions, under threads: tests/training/data/test_synchronization.py"
WITHOUT_ROW |= dict.fromkeys(
    """
    Barrier BarrierInsertMany BarrierTakeMany BarrierClose BarrierReadySize
    BarrierIncompleteSize Stage Unstage StagePeek StageSize StageClear MapStage MapUnstage
    MapPeek MapUnstageNoKey MapSize MapIncompleteSize MapClear OrderedMapStage
    OrderedMapUnstage OrderedMapPeek OrderedMapUnstageNoKey OrderedMapSize
    OrderedMapIncompleteSize OrderedMapClear ResourceConditionalAccumulator
    ResourceAccumulatorApplyGradient ResourceAccumulatorTakeGradient
    ResourceAccumulatorSetGlobalStep ResourceAccumulatorNumAccumulated
    SparseConditionalAccumulator SparseAccumulatorApplyGradient
    SparseAccumulatorTakeGradient AccumulatorNumAccumulated
    """.split(),
    _SEQUENCES,
)
WITHOUT_ROW |= dict.fromkeys(
    """
    ConditionalAccumulator AccumulatorApplyGradient AccumulatorTakeGradient
    AccumulatorSetGlobalStep MutexV2 MutexLock ConsumeMutexLock Stack StackPush StackPop
    StackClose StackV2 StackPushV2 StackPopV2 StackCloseV2
    """.split(),
    _SESSIONS,
)

_TREES = "state that grows over steps, against TensorFlow 1.15: tests/contrib/programs_trees.py"
WITHOUT_ROW |= dict.fromkeys(
    """
    BoostedTreesBucketize BoostedTreesCalculateBestGainsPerFeature BoostedTreesCenterBias
    BoostedTreesCreateEnsemble BoostedTreesCreateQuantileStreamResource
    BoostedTreesDeserializeEnsemble BoostedTreesEnsembleResourceHandleOp
    BoostedTreesGetEnsembleStates BoostedTreesMakeQuantileSummaries BoostedTreesMakeStatsSummary
    BoostedTreesPredict BoostedTreesQuantileStreamResourceAddSummaries
    BoostedTreesQuantileStreamResourceDeserialize BoostedTreesQuantileStreamResourceFlush
    BoostedTreesQuantileStreamResourceGetBucketBoundaries
    BoostedTreesQuantileStreamResourceHandleOp BoostedTreesSerializeEnsemble
    BoostedTreesTrainingPredict BoostedTreesUpdateEnsemble IsBoostedTreesEnsembleInitialized
    IsBoostedTreesQuantileStreamResourceInitialized
    """.split(),
    _TREES,
)

# Arrays are values of a step, which only several nodes together show.
_ARRAYS = (
    "random sequences against TensorFlow: "
    "tests/library/control_flow/test_tensor_array_conformance.py"
)
_OLDER_ARRAYS = "as the V3 ops, which are compared with TensorFlow: tests/ops/test_tensor_array.py"
for _name in "Close Concat Gather Grad Read Scatter Size Split Write".split():
    WITHOUT_ROW |= {f"TensorArray{_name}V2": _OLDER_ARRAYS, f"TensorArray{_name}V3": _ARRAYS}
WITHOUT_ROW |= {
    "TensorArrayV2": _OLDER_ARRAYS,
    "TensorArrayV3": _ARRAYS,
    "TensorArrayGradWithShape": _OLDER_ARRAYS,
}

# What the first form has, a reference to a string, no graph of this version of TensorFlow may.
_FIRST_ARRAYS = "as the V3 ops, in whole programs: tests/ops/test_tensor_array.py"
WITHOUT_ROW |= dict.fromkeys(
    """
    TensorArray TensorArrayClose TensorArrayConcat TensorArrayGather TensorArrayGrad
    TensorArrayPack TensorArrayRead TensorArrayScatter TensorArraySize TensorArraySplit
    TensorArrayUnpack TensorArrayWrite
    """.split(),
    _FIRST_ARRAYS,
)
WITHOUT_ROW |= dict.fromkeys(
    "GetSessionHandle GetSessionHandleV2 GetSessionTensor DeleteSessionTensor".split(),
    "a step uses what another kept: tests/engine/session/test_handles.py",
)
WITHOUT_ROW["PlaceholderV2"] = "its value is whatever is fed; tests/ops/test_constant.py"
WITHOUT_ROW |= dict.fromkeys(
    ("RaggedTensorFromVariant", "RaggedTensorToVariant"),
    "there and back, in datasets: tests/library/ragged_tensors/test_datasets.py",
)
WITHOUT_ROW["EagerPyFunc"] = (
    "what it does is the function's: tests/library/immediate/test_py_function.py"
)
WITHOUT_ROW["BatchFunction"] = (
    "several steps at once, and a function: tests/engine/resources/test_batching.py"
)

# Datasets are variants, and iterators have positions.
_DATASETS = "whole pipelines against TensorFlow: tests/training/data/test_dataset.py"
WITHOUT_ROW |= dict.fromkeys(
    """
    BatchDataset BatchDatasetV2 CSVDataset CacheDataset ConcatenateDataset DatasetCardinality
    DatasetToSingleElement DeserializeIterator DeserializeSparse DirectedInterleaveDataset
    FilterDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2 FlatMapDataset
    GeneratorDataset GroupByReducerDataset GroupByWindowDataset IgnoreErrorsDataset
    InterleaveDataset Iterator IteratorFromStringHandle IteratorFromStringHandleV2
    IteratorGetNext IteratorGetNextSync IteratorToStringHandle IteratorV2 MakeIterator
    MapAndBatchDataset MapDataset ModelDataset OneShotIterator OptimizeDataset
    PaddedBatchDataset PaddedBatchDatasetV2 ParallelInterleaveDataset
    ParallelInterleaveDatasetV2 ParallelMapDataset PrefetchDataset PyFunc PyFuncStateless
    RandomDataset RangeDataset ReduceDataset RepeatDataset ScanDataset SerializeIterator
    SerializeManySparse SerializeSparse ShardDataset ShuffleAndRepeatDataset ShuffleDataset
    SkipDataset SparseTensorSliceDataset TFRecordDataset TakeDataset TakeWhileDataset
    TensorDataset TensorSliceDataset TextLineDataset UnbatchDataset UniqueDataset
    WindowDataset ZipDataset
    """.split(),
    _DATASETS,
)
WITHOUT_ROW |= dict.fromkeys(
    """
    BytesProducedStatsDataset DatasetToTFRecord DenseToSparseBatchDataset
    IteratorGetNextAsOptional LatencyStatsDataset LMDBDataset OptionalFromValue OptionalGetValue
    OptionalHasValue OptionalNone ParseExampleDataset PythonWorkersDataset
    SetStatsAggregatorDataset SlidingWindowDataset SqlDataset StatsAggregatorHandle
    StatsAggregatorHandleV2 StatsAggregatorSummary
    """.split(),
    "whole pipelines: tests/training/data/test_dataset_experimental.py, test_dataset_workers.py",
)

WITHOUT_ROW |= dict.fromkeys(
    ["AddSparseToTensorsMap", "AddManySparseToTensorsMap", "TakeManySparseFromTensorsMap"],
    "a step takes out what another put in; tests/training/data/test_sparse_queues.py",
)

# What these do shows only together: tests/library/control_flow builds and runs constructs of them.
_PRIMITIVES = """
    Switch RefSwitch Merge RefMerge Enter RefEnter Exit RefExit NextIteration RefNextIteration
    LoopCond
""".split()
WITHOUT_ROW |= dict.fromkeys(
    [*_PRIMITIVES, "ControlTrigger", "Abort"], "constructs made of them: tests/library/control_flow"
)
WITHOUT_KERNEL |= dict.fromkeys(
    _PRIMITIVES, "lowering makes Python's if and while of them; the executor interprets them"
)

# Calls of functions: steps and gradients have what they stand for in their place.
_FUNCTIONAL = """
    If StatelessIf Case StatelessCase While StatelessWhile For PartitionedCall
    StatefulPartitionedCall RemoteCall SymbolicGradient
""".split()
WITHOUT_ROW |= dict.fromkeys(
    _FUNCTIONAL,
    "programs against TensorFlow: tests/library/control_flow/test_functions_conformance.py",
)
WITHOUT_KERNEL |= dict.fromkeys(
    _FUNCTIONAL,
    "a step has the bodies' nodes in its place: tests/compiler/passes/test_functional.py",
)
# Lists are values of a step, which only several nodes together show.
WITHOUT_ROW |= dict.fromkeys(
    """
    EmptyTensorList TensorListReserve TensorListFromTensor TensorListGetItem TensorListSetItem
    TensorListPushBack TensorListPopBack TensorListLength TensorListElementShape TensorListResize
    TensorListStack TensorListGather TensorListScatter TensorListScatterV2
    TensorListScatterIntoExistingList TensorListSplit TensorListConcat TensorListConcatV2
    TensorListConcatLists
    """.split(),
    "graphs of TensorFlow 2.21: tests/library/control_flow/test_functions_conformance.py",
)
WITHOUT_ROW |= dict.fromkeys(
    """
    HashTable HashTableV2 MutableHashTable MutableHashTableV2 MutableHashTableOfTensors
    MutableHashTableOfTensorsV2 MutableDenseHashTable MutableDenseHashTableV2
    """.split(),
    "it makes a table; the rows of the lookup ops and tests/training/data/test_lookup.py use it",
)
WITHOUT_ROW |= dict.fromkeys(
    ("GenerateVocabRemapping", "LoadAndRemapMatrix"),
    "it reads files; tests/ops/test_vocabulary.py",
)

WITHOUT_ROW |= dict.fromkeys(
    ["FractionalMaxPool", "FractionalAvgPool"],
    "windows are drawn, and TensorFlow's static shapes are wrong; tests/ops/test_fractional_pool",
)

# They take part in a group of processes; one process alone would only copy.
WITHOUT_ROW |= dict.fromkeys(
    ("CollectiveReduce", "CollectiveGather", "CollectiveBcastSend", "CollectiveBcastRecv"),
    "between processes, each op on each dtype: tests/training/distribute/test_processes.py",
)

WITHOUT_ROW |= dict.fromkeys(
    """
    SummaryWriter CreateSummaryFileWriter CreateSummaryDbWriter FlushSummaryWriter
    CloseSummaryWriter WriteSummary WriteRawProtoSummary ImportEvent WriteScalarSummary
    WriteHistogramSummary WriteImageSummary WriteAudioSummary WriteGraphSummary
    """.split(),
    "it writes to a file: tests/contrib/programs_summary.py",
)
