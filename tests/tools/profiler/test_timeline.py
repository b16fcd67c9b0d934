"""Timelines: against TensorFlow 1.15's for the same StepStats, and their structure."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.step_stats_pb2 import StepStats

import penstock as tf
from penstock.python.client import timeline
from tests.peers import TF115, needs

PEER = Path(__file__).with_name("timeline_peer.py")

# Overlapping nodes, a node listed twice, several outputs, what crosses devices, a GPU's kernels.
ODD = """
dev_stats {
  device: "/job:localhost/replica:0/task:0/device:CPU:0"
  node_stats { node_name: "a" all_start_micros: 10 all_end_rel_micros: 9 timeline_label: "a = A()"
    output { tensor_description { dtype: DT_FLOAT
      allocation_description { requested_bytes: 100 allocator_name: "cpu" } } }
    output { slot: 1 tensor_description { dtype: DT_INT32
      allocation_description { requested_bytes: 7 allocator_name: "cpu" } } } }
  node_stats { node_name: "b" all_start_micros: 12 all_end_rel_micros: 3
    timeline_label: "[cpu 1.0MB 1.0MB] b = B(x, a:1)"
    output { tensor_description { allocation_description {
      requested_bytes: 50 allocator_name: "other" } } } }
  node_stats { node_name: "b" all_start_micros: 16 all_end_rel_micros: 0 timeline_label: "b = B(a)"
    output { tensor_description { allocation_description {
      requested_bytes: 60 allocator_name: "other" } } } }
  node_stats { node_name: "c" all_start_micros: 30 all_end_rel_micros: 4
    timeline_label: "c = C(a/_12, b, ^a)" }
  node_stats { node_name: "RecvTensor" all_start_micros: 31 all_end_rel_micros: 4
    timeline_label: "edge_3_a" }
  node_stats { node_name: "bare" all_start_micros: 36 all_end_rel_micros: 4 }
}
dev_stats {
  device: "/job:localhost/replica:0/task:0/device:GPU:0"
  node_stats { node_name: "d" all_start_micros: 33 all_end_rel_micros: 4
    timeline_label: "d = D(a, a:1, c)" }
}
dev_stats {
  device: "/device:GPU:0/stream:all"
  node_stats { node_name: "kernel" all_start_micros: 34 all_end_rel_micros: 4
    timeline_label: "MEMCPY@@edge:MatMul#id=1" }
  node_stats { node_name: "plain:Op" all_start_micros: 35 all_end_rel_micros: 4 }
}
"""


def _traced() -> StepStats:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        w = tf.Variable(tf.ones([3, 2]), name="w")
        loss = tf.reduce_sum(tf.nn.relu(tf.matmul(x, w), name="hidden"), name="loss")
        train = tf.train.AdamOptimizer().minimize(loss)
        sess.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        feed = {x: [[1.0, 2.0, 3.0]] * 4}
        sess.run([train, loss], feed, options=options, run_metadata=metadata)
    stats: StepStats = metadata.step_stats
    return stats


def _timelines(data: bytes) -> list[Any]:
    result = []
    for dataflow in (False, True):
        for memory in (False, True):
            stats = StepStats.FromString(data)
            found = timeline.Timeline(stats).analyze_step_stats(dataflow, memory)
            maximums = {
                name: [maximum.timestamp, maximum.num_bytes, sorted(maximum.tensors)]
                for name, maximum in found.allocator_maximums.items()
            }
            result.append([json.loads(found.chrome_trace.format_to_string()), maximums])
    return result


@pytest.mark.long
def test_timelines_are_tensorflows(tmp_path: Path) -> None:
    needs(TF115)
    (tmp_path / "penstock.pb").write_bytes(_traced().SerializeToString())
    (tmp_path / "odd.pb").write_bytes(text_format.Parse(ODD, StepStats()).SerializeToString())
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    command = [str(TF115), "-W", "ignore", str(PEER), str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    for name in ("tensorflow", "penstock", "odd"):
        theirs = json.loads((tmp_path / f"{name}.json").read_text())
        ours = _timelines((tmp_path / f"{name}.pb").read_bytes())
        for mine, wanted in zip(ours, theirs, strict=True):
            assert mine[0]["traceEvents"] == wanted[0]["traceEvents"], name
            assert mine[1] == wanted[1], name


def test_a_traced_steps_timeline() -> None:
    text = timeline.Timeline(_traced()).generate_chrome_trace_format(show_memory=True)
    events = json.loads(text)["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    assert processes[1].endswith("device:CPU:0 Compute")
    nodes = {e["args"]["name"]: e for e in events if e["ph"] == "X"}
    assert nodes["loss"]["args"] == {
        "name": "loss", "op": "Sum", "input0": "hidden", "input1": "Const",
    }  # fmt: skip
    assert {e["pid"] for e in nodes.values()} == {1}
    totals = [e["args"]["cpu"] for e in events if e["ph"] == "C"]
    assert max(totals) >= 4 * 2 * 4 and totals[-1] == 0


def test_arrows_join_nodes_in_different_lanes() -> None:
    stats = text_format.Parse(ODD, StepStats())
    events = json.loads(timeline.Timeline(stats).generate_chrome_trace_format())["traceEvents"]
    starts = [e for e in events if e["ph"] == "s"]
    ends = [e for e in events if e["ph"] == "t"]
    assert len(starts) == len(ends) > 2
    for start, end in zip(starts, ends, strict=True):
        assert start["id"] == end["id"] and start["cat"] == end["cat"] == "DataFlow"
        assert (start["pid"], start["tid"]) != (end["pid"], end["tid"])
