"""Versions come and go while calls run; calls are gathered into batches."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.cluster.serving.models import Model, Models
from penstock.cluster.serving.servable import Servable
from penstock.cluster.serving.server import Served
from penstock.cluster.serving.signature import Batching
from penstock.cluster.serving.versions import Policy, State
from penstock.foundation.base import errors
from penstock.foundation.formats import serving_messages as messages
from penstock.foundation.formats.tensor_proto import to_array
from tests.cluster.serving.models_of_tests import (
    PREDICT,
    call,
    channel,
    export_scaled,
    predict_request,
    rest,
    serving,
)

ROW = np.ones((1, 3), np.float32)


def _load(folder: str, name: str, version: int) -> Servable:
    return Servable(folder, name, version, Batching())


def _until(done: object, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)


def _answer(model: Model, version: int | None = None) -> float:
    with model.leased(version) as servable:
        return float(servable.signature()({"x": ROW}, ["y"])["y"][0])


def test_a_new_version_takes_the_place_of_the_old(tmp_path: Path) -> None:
    model = Model("m", tmp_path, Policy(latest=1), _load)
    with pytest.raises(errors.NotFoundError, match=r"Latest\(m\); versions that answer: none"):
        _answer(model)
    export_scaled(tmp_path, 1, 1.0)
    model.look()
    assert _answer(model) == 3.0
    export_scaled(tmp_path, 2, 2.0)
    with model.leased() as old:
        looking = threading.Thread(target=model.look)
        looking.start()
        _until(lambda: model.serving() == [2])
        assert _answer(model) == 6.0
        # The call that began with the old one ends with it.
        assert old.signature()({"x": ROW}, ["y"])["y"][0] == 3.0
        assert model.statuses()[1].state is State.UNLOADING
    looking.join()
    assert {v: s.state for v, s in model.statuses().items()} == {1: State.END, 2: State.AVAILABLE}
    with pytest.raises(errors.CancelledError, match="closed"):
        old.signature()({"x": ROW})
    model.close()


def test_a_version_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    loads: list[int] = []

    def load(folder: str, name: str, version: int) -> Servable:
        loads.append(version)
        return _load(folder, name, version)

    export_scaled(tmp_path, 1, 1.0)
    model = Model("m", tmp_path, Policy(latest=1), load)
    model.look()
    export_scaled(tmp_path / "later", 2, 2.0)
    shutil.copytree(tmp_path / "later" / "2", tmp_path / "2", ignore=lambda *_: ["variables"])
    for _ in range(5):
        model.look()
        assert _answer(model) == 3.0
    assert loads == [1, 2, 2, 2]
    assert model.statuses()[2].error is not None
    shutil.copytree(tmp_path / "later" / "2", tmp_path / "2", dirs_exist_ok=True)  # the rest comes
    model.look()
    assert (_answer(model), loads[4:]) == (6.0, [2])
    model.close()


def test_a_folder_that_goes_away_ends_nothing(tmp_path: Path) -> None:
    export_scaled(tmp_path / "m", 1, 1.0)
    model = Model("m", tmp_path / "m", Policy(latest=1), _load)
    model.look()
    os.rename(tmp_path / "m", tmp_path / "gone")
    model.look()
    assert _answer(model) == 3.0
    model.close()


def test_calls_at_once_are_one_batch(tmp_path: Path) -> None:
    export_scaled(tmp_path, 1, 1.0)
    batches: list[int] = []
    how = Batching(largest=8, seconds=30.0, threads=1)
    servable = Servable(str(tmp_path / "1"), "m", 1, how, batches.append)
    signature = servable.signature()
    found: dict[int, float] = {}

    def one(k: int) -> None:
        found[k] = float(signature({"x": ROW * k}, ["y"])["y"][0])

    threads = [threading.Thread(target=one, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (batches, found) == ([8], {k: 3.0 * k for k in range(8)})
    # More rows than a batch holds run by themselves.
    assert signature({"x": np.ones((9, 3), np.float32)}, ["y"])["y"].tolist() == [3.0] * 9
    servable.close()


def test_a_wrong_call_in_a_batch_hurts_nobody(tmp_path: Path) -> None:
    export_scaled(tmp_path, 1, 1.0)
    served = {"m": Served(str(tmp_path))}
    with serving(served, batching=Batching(largest=4, seconds=0.02)) as server:
        results: list[int] = []
        bodies = [{"inputs": [[1, 2, 3]]}, {"inputs": [[1, 2]]}, {"inputs": [["a"] * 3]}] * 8

        def one(body: object) -> None:
            results.append(rest(server, "/v1/models/m:predict", body)[0])

        threads = [threading.Thread(target=one, args=(body,)) for body in bodies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == [200] * 8 + [400] * 16


def test_reloading_under_load_drops_nothing(tmp_path: Path) -> None:
    export_scaled(tmp_path / "m", 1, 1.0)
    with serving({"m": Served(str(tmp_path / "m"))}) as server:
        end = threading.Event()
        seen: list[list[float]] = [[] for _ in range(4)]
        failures: list[object] = []

        def by_rest(mine: list[float]) -> None:
            while not end.is_set():
                status, body = rest(server, "/v1/models/m:predict", {"inputs": [[1, 1, 1]]})
                if status != 200:
                    failures.append(body)
                    return
                mine.append(body["outputs"]["y"][0] / 3)

        def by_grpc(mine: list[float]) -> None:
            try:
                with channel(server) as made:
                    while not end.is_set():
                        request = predict_request("m", x=ROW)
                        answer = call(made, PREDICT + "Predict", request, messages.PredictResponse)
                        mine.append(float(to_array(answer.outputs["y"])[0]) / 3)
            except Exception as error:
                failures.append(error)

        kinds = (by_rest, by_grpc, by_rest, by_grpc)
        threads = [
            threading.Thread(target=kind, args=(mine,))
            for kind, mine in zip(kinds, seen, strict=True)
        ]
        for thread in threads:
            thread.start()
        for version in range(2, 6):
            export_scaled(tmp_path / "new", version, float(version))
            os.rename(tmp_path / "new" / str(version), tmp_path / "m" / str(version))
            _until(lambda v=version: server.models.get("m").serving() == [v])
            # Each client is heard: a busy machine may give one of them no core for long.
            _until(lambda v=version: failures or all(mine and mine[-1] == v for mine in seen))
        end.set()
        for thread in threads:
            thread.join()
    assert not failures
    for mine in seen:
        assert mine == sorted(mine) and set(mine) - {1.0} == {2.0, 3.0, 4.0, 5.0}


def test_models_are_ready_when_each_has_a_version(tmp_path: Path) -> None:
    export_scaled(tmp_path / "a", 1, 1.0)
    (tmp_path / "b").mkdir()
    made = {n: Model(n, tmp_path / n, Policy(latest=1), _load) for n in ("a", "b")}
    models = Models(made, 0.02)
    models.start()
    assert not models.ready()
    export_scaled(tmp_path / "b", 1, 1.0)
    _until(models.ready)
    models.close()
    assert not models.ready() and made["a"].serving() == []


def test_models_are_served_where_dims_are_integers(tmp_path: Path) -> None:
    export_scaled(tmp_path, 1, 1.0)
    tf.enable_v2_tensorshape()
    try:
        servable = _load(str(tmp_path / "1"), "m", 1)
        assert servable.signature().rows_are_free
        servable.close()
    finally:
        tf.disable_v2_tensorshape()


def test_choices_of_outputs_beyond_those_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.cluster.serving.signature._MOST_CHOICES", 1)
    export_scaled(tmp_path, 1, 2.0)
    signature = _load(str(tmp_path / "1"), "m", 1).signature()
    made: list[tuple[str, ...]] = []
    make = signature._made
    monkeypatch.setattr(signature, "_made", lambda chosen: made.append(chosen) or make(chosen))
    for wanted in (["y"], ["rows"], ["rows"], [], []):
        found = signature({"x": ROW}, wanted)
        assert set(found) == set(wanted or ["rows", "y"])
        for name, value in found.items():
            assert value.tolist() == {"y": [6.0], "rows": [[2.0] * 3]}[name]
    assert made == [("y",), ("rows", "y")]
