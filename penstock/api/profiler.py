"""``tf.profiler``: what a graph and its runs cost; explicit re-exports, no logic."""

from penstock.formats.tfprof_messages import (
    AdviceProto,
    GraphNodeProto,
    MultiGraphNodeProto,
    OpLogProto,
)
from penstock.profiler.op_log import write_op_log
from penstock.profiler.options import ProfileOptionBuilder
from penstock.profiler.profiler import Profiler, advise, profile

__all__ = [
    "AdviceProto",
    "GraphNodeProto",
    "MultiGraphNodeProto",
    "OpLogProto",
    "ProfileOptionBuilder",
    "Profiler",
    "advise",
    "profile",
    "write_op_log",
]
