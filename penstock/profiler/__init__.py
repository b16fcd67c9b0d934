"""``tf.profiler``: what a graph and its runs cost: parameters, operations, time, memory."""

from penstock.formats.tfprof_messages import (
    AdviceProto as AdviceProto,
    GraphNodeProto as GraphNodeProto,
    MultiGraphNodeProto as MultiGraphNodeProto,
    OpLogProto as OpLogProto,
)
from penstock.profiler.op_log import write_op_log as write_op_log
from penstock.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from penstock.profiler.profiler import Profiler as Profiler, advise as advise, profile as profile
