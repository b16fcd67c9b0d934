"""`penstock inspect`: every kind of path is told, and what is printed is what is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.summary_pb2 import Summary

import penstock as tf
from penstock.cli.identify import identify
from penstock.foundation.formats.tfrecord import RecordWriter

KINDS = [
    ("model.ckpt-7", "checkpoint"), ("model.ckpt-7.index", "checkpoint"),
    ("model.ckpt-7.data-00000-of-00001", "checkpoint"), ("", "checkpoint"),
    ("model.ckpt-7.meta", "metagraph"), ("graph.pb", "graph"), ("graph.pbtxt", "graph"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_what_a_path_is(model: Any, name: str, kind: str) -> None:
    assert [found.kind for found in identify(str(model.directory / name))] == [kind]


def test_checkpoint(model: Any, penstock: Any) -> None:
    facts = json.loads(penstock("inspect", model.prefix, "--json", "--values", "layer/w"))
    rows = {row["name"]: row for row in facts["tensors"]}
    assert rows["layer/w"] == {
        "name": "layer/w", "dtype": "float32", "shape": [4, 3], "bytes": 48, "slices": [],
    }  # fmt: skip
    assert sorted(rows["parts/p"]["slices"]) == ["0,3:0,3", "3,3:0,3"]
    assert facts["total"]["bytes"] == sum(row["bytes"] for row in rows.values())
    values = facts["values"][0]
    assert values["min"] == model.weights.min() and values["max"] == model.weights.max()
    assert values["head"] == model.weights.reshape(-1)[:8].tolist()
    assert (values["nan"], values["inf"]) == (0, 0)


def test_names_stay_whole_on_one_line(penstock: Any, tmp_path: Path) -> None:
    from penstock.foundation.formats.bundle import BundleWriter

    long = "/".join(["a_scope_of_some_length"] * 20) + "/[bold]w"
    with BundleWriter(str(tmp_path / "c")) as writer:
        writer.add(long, np.ones([2], np.float32))
    lines = penstock("inspect", tmp_path / "c").splitlines()
    assert [line.split() for line in lines if line.startswith("a_scope")] == [
        [long, "float32", "[2]", "8"]
    ]


def test_verify_finds_a_flipped_bit(model: Any, penstock: Any, tmp_path: Path) -> None:
    from penstock.foundation.formats.bundle import BundleWriter

    prefix = tmp_path / "c"
    with BundleWriter(str(prefix)) as writer:
        writer.add("a", np.ones([4], np.float32))
        writer.add("b", np.ones([4], np.float32))
    assert "verified: 2 of 2" in penstock("inspect", prefix, "--verify")
    data = tmp_path / "c.data-00000-of-00001"
    content = bytearray(data.read_bytes())
    content[20] ^= 1
    data.write_bytes(content)
    said = penstock("inspect", prefix, "--verify", code=1)
    assert "verified: 1 of 2" in said and "problem: " in said and "tensor b at" in said
    assert "problem" not in penstock("inspect", prefix)


def test_graph(model: Any, penstock: Any) -> None:
    facts = json.loads(penstock("inspect", model.directory / "graph.pb", "--json"))
    assert facts == json.loads(
        penstock("inspect", model.directory / "graph.pbtxt", "--json").replace("pbtxt", "pb")
    )
    assert [(n["name"], n["dtype"], n["shape"]) for n in facts["inputs"]] == [
        ("x", "float32", [-1, 4]), ("labels", "int64", [-1]),
    ]  # fmt: skip
    assert [n["name"] for n in facts["outputs"]] == ["loss"]
    roles = {v["name"]: v["role"] for v in facts["variables"]}
    assert roles["layer/w"] == "trained" and roles["layer/w/Adam"] == "slot"
    assert facts["unknown"] == {} and facts["ops"]["ApplyAdam"] == 4


def test_unknown_ops_are_named(penstock: Any, tmp_path: Path) -> None:
    graph = GraphDef()
    graph.node.add(name="n/odd", op="OddOp")
    (tmp_path / "g.pb").write_bytes(graph.SerializeToString())
    said = penstock("inspect", tmp_path / "g.pb")
    assert "operations that Penstock does not have" in said
    assert [line.split() for line in said.splitlines()][-1] == ["OddOp", "n/odd"]


def test_meta_graph(model: Any, penstock: Any) -> None:
    facts = json.loads(penstock("inspect", f"{model.prefix}.meta", "--json"))
    assert facts["collections"]["train_op"] == 1 and facts["saver"] == "save/restore_all"


def write_events(path: Path, steps: int) -> None:
    with RecordWriter(str(path)) as writer:
        writer.write(Event(wall_time=100.0, file_version="brain.Event:2").SerializeToString())
        for step in range(steps):
            summary = Summary(value=[Summary.Value(tag="loss", simple_value=1.0 / (step + 1))])
            summary.value.add(tag="w").histo.min = -1.0
            event = Event(wall_time=100.0 + step, step=10 * step, summary=summary)
            writer.write(event.SerializeToString())


def test_events_of_sessions(penstock: Any, tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path / "logs"))
    for status in (tf.SessionLog.START, tf.SessionLog.STOP):
        writer.add_session_log(tf.SessionLog(status=status), global_step=1)
    writer.close()
    (row,) = (r for r in penstock("inspect", str(tmp_path / "logs")).splitlines() if "log)" in r)
    assert row.split()[1:7] == ["session", "log", "2", "1..1", "START", "STOP"]


def test_events(penstock: Any, tmp_path: Path) -> None:
    (tmp_path / "eval").mkdir()
    write_events(tmp_path / "events.out.tfevents.1.host", 4)
    write_events(tmp_path / "eval" / "events.out.tfevents.2.host", 2)
    facts = json.loads(penstock("inspect", tmp_path, "--json"))
    assert [run["run"] for run in facts["runs"]] == [".", "eval"]
    loss, w = facts["runs"][0]["tags"]
    assert (loss["tag"], loss["kind"], loss["count"]) == ("loss", "scalar", 4)
    assert (loss["first_step"], loss["last_step"]) == (0, 30)
    assert (loss["first"], loss["last"], loss["last_wall_time"]) == (1.0, 0.25, 103.0)
    assert w["kind"] == "histogram" and facts["problems"] == []
    assert "0..30" in penstock("inspect", tmp_path / "events.out.tfevents.1.host")


def test_events_cut_off(penstock: Any, tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1.host"
    write_events(path, 4)
    path.write_bytes(path.read_bytes()[:-5])
    facts = json.loads(penstock("inspect", path, "--json", code=1))
    assert facts["runs"][0]["tags"][0]["count"] == 3
    assert "truncated" in facts["problems"][0]


def test_torch_file_with_more_than_tensors(penstock: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    state = {"model": {"w": torch.ones(2, 3).bfloat16()}, "epoch": 3}
    torch.save(state, path)
    facts = json.loads(penstock("inspect", path, "--json"))
    assert [(t["name"], t["dtype"], t["shape"]) for t in facts["tensors"]] == [
        ("model.w", "bfloat16", [2, 3])
    ]


class Harmful:
    """Unpickling it would run something."""

    def __reduce__(self) -> Any:
        return print, ("harm",)


def test_torch_files_run_nothing(penstock: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.save({"w": torch.ones(1), "x": Harmful()}, path)
    said = penstock("inspect", path, code=1)
    assert "weights_only" in said and "harm\n" not in said


def test_mistakes(model: Any, penstock: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("just some words\n")
    assert "no such file" in penstock("inspect", tmp_path / "nope", code=1)
    assert "empty" in penstock("inspect", tmp_path / "empty", code=1)
    assert "not a checkpoint" in penstock("inspect", tmp_path / "text", code=1)
    assert "a directory without" in penstock("inspect", tmp_path, code=1)
    assert "no tensor 'q'" in penstock("inspect", model.prefix, "--values", "q", code=1)
    graph = model.directory / "graph.pb"
    assert "--values is for" in penstock("inspect", graph, "--values", "q", code=2)


@pytest.mark.parametrize("options", [(), ("--verify",)], ids=repr)
def test_a_missing_data_file_is_named(penstock: Any, tmp_path: Path, options: Any) -> None:
    from penstock.foundation.formats.bundle import BundleWriter

    prefix = tmp_path / "c"
    with BundleWriter(str(prefix)) as writer:
        writer.add("w", np.ones([2], np.float32))
    data = tmp_path / "c.data-00000-of-00001"
    data.unlink()
    said = penstock("inspect", prefix, *options, code=1)
    assert f"problem: the data file {data} is missing" in said
    assert "w     float32" in said
    if options:
        assert "verified: 0 of 1" in said
