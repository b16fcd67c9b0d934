"""Registered ops that lack a row in the op table, or a kernel: op type -> why."""

from __future__ import annotations

WITHOUT_ROW: dict[str, str] = {
    "FixedLengthRecordReader": "a handle; tests/data/test_pipelines.py reads with it",
    "FixedLengthRecordReaderV2": "a handle; tests/data/test_pipelines.py reads with it",
    "IdentityReader": "a handle; tests/data/test_pipelines.py reads with it",
    "IdentityReaderV2": "a handle; tests/data/test_pipelines.py reads with it",
    "TFRecordReader": "a handle; tests/data/test_pipelines.py reads with it",
    "TFRecordReaderV2": "a handle; tests/data/test_pipelines.py reads with it",
    "TextLineReader": "a handle; tests/data/test_pipelines.py reads with it",
    "TextLineReaderV2": "a handle; tests/data/test_pipelines.py reads with it",
    "WholeFileReader": "a handle; tests/data/test_pipelines.py reads with it",
    "WholeFileReaderV2": "a handle; tests/data/test_pipelines.py reads with it",
    "ReaderRead": "it takes a name from a filled queue; tests/data/test_pipelines.py",
    "ReaderReadV2": "it takes a name from a filled queue; tests/data/test_pipelines.py",
    "ReaderReadUpTo": "it takes a name from a filled queue; tests/data/test_pipelines.py",
    "ReaderReadUpToV2": "it takes a name from a filled queue; tests/data/test_pipelines.py",
    **{
        f"{kind}{form}": "it makes a handle; the rows of the queue ops run it"
        for kind in ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue")
        for form in ("", "V2")
    },
    **{
        f"QueueDequeue{form}": "it waits for an earlier step's element; see tests/data/test_queues"
        for form in ("", "V2")
    },
    "Placeholder": "its value is whatever is fed; every row of the table feeds one",
}

# Ops that make state (variables, queues) have ``state`` in place of a kernel: not named here.
WITHOUT_KERNEL: dict[str, str] = {
    "Const": "its value is bound in the program",
    "Placeholder": "its value is fed; running it is an error",
    "_Feed": "its value is an argument of the program",
}

# What these do shows only in sequences of steps.
_SEQUENCES = "random sequences against TensorFlow: tests/data/test_sync_conformance.py"
_SESSIONS = "in sessions, under threads: tests/data/test_synchronization.py"
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

# Datasets are variants, and iterators have positions.
_DATASETS = "whole pipelines against TensorFlow: tests/data/test_dataset.py"
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
