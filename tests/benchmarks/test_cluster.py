"""The cluster benchmark without implementations: its processes, its turns, its table."""

from __future__ import annotations

import doctest
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cluster, cluster_processes, cluster_role, cluster_rows, data
from benchmarks.cases import Implementation, Requirement
from benchmarks.cluster import Driver
from benchmarks.cluster_processes import Cluster, TaskProcess, ask_all, free_ports
from benchmarks.cluster_rows import Layout, Row
from benchmarks.cluster_turns import Prepared
from benchmarks.workers import WorkerError
from tests.suite.clock import Clock

# A role that does nothing but what its module argument says.
ROLE = """
import json, os, sys, time
behaviour = sys.argv[sys.argv.index("--module") + 1]
for line in sys.stdin:
    request = json.loads(line)
    if behaviour == "dies":
        sys.exit(3)
    if behaviour == "fails" and request.get("index") == 1:
        print(json.dumps({"error": "Traceback\\nOSError: address in use"}), flush=True)
        continue
    if "serve" in request:
        reply = {"ready": "1.0", "got": request}
    elif "run" in request:
        reply = {"seconds": [0.001 * (1 + os.getpid() % 1)] * request["run"]}
    elif "check" in request:
        reply = {"value": float(os.environ.get("COUNTED", "0")), "counts": False}
    elif "sleep" in request:
        time.sleep(60)
    else:
        reply = {"request": request}
    print(json.dumps(reply), flush=True)
if behaviour == "stubborn":
    time.sleep(60)
"""


@pytest.fixture
def role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.setattr(cluster_processes, "RESULTS", tmp_path)
    path = tmp_path / "role.py"
    path.write_text(ROLE)
    return (str(path),)


def implementation(behaviour: str) -> Implementation:
    return Implementation("fake", "", "graph", behaviour, "")


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_doctests() -> None:
    result = doctest.testmod(cluster_rows)
    assert result.attempted and not result.failed


def test_free_ports_are_different_and_free() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        with socket.socket() as each:
            each.bind(("127.0.0.1", port))


def test_a_cluster_starts_all_roles_and_ends_them(role: tuple[str, ...]) -> None:
    with Cluster(implementation("good"), 2, 3, 1, role) as started:
        assert (len(started.ps), len(started.workers), started.version) == (2, 3, "1.0")
        pids = [task.pid for task in started.tasks]
        assert all(task.alive for task in started.tasks) and len(set(pids)) == 5
        spec = ask_all(started.tasks, serve=1)
        assert len(spec) == 5
        replies = ask_all(started.workers, run=2)
        assert [reply["seconds"] for reply in replies] == [[0.001] * 2] * 3
    assert all(is_gone(pid) for pid in pids)
    assert started.tasks == []


def test_every_role_is_told_the_same_cluster_and_its_own_place(role: tuple[str, ...]) -> None:
    seen: list[dict[str, Any]] = []
    send = TaskProcess.send

    def watched(self: TaskProcess, **request: Any) -> None:
        seen.append(request)
        send(self, **request)

    patch = pytest.MonkeyPatch()
    patch.setattr(TaskProcess, "send", watched)
    try:
        Cluster(implementation("good"), 1, 2, 1, role).close()
    finally:
        patch.undo()
    places = [(request["job"], request["index"]) for request in seen]
    assert places == [("ps", 0), ("worker", 0), ("worker", 1)]
    spec = seen[0]["serve"]
    assert all(request["serve"] == spec for request in seen)
    addresses = spec["ps"] + spec["worker"]
    assert len(set(addresses)) == 3 and all(a.startswith("127.0.0.1:") for a in addresses)


@pytest.mark.parametrize("behaviour, message", [("dies", "ended with 3"), ("fails", "in use")])
def test_what_does_not_start_leaves_nothing(
    behaviour: str, message: str, role: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = []
    start = TaskProcess.__init__

    def watched(self: TaskProcess, *arguments: Any) -> None:
        start(self, *arguments)
        pids.append(self.pid)

    monkeypatch.setattr(TaskProcess, "__init__", watched)
    with pytest.raises(WorkerError, match=message):
        Cluster(implementation(behaviour), 2, 1, 1, role)
    assert len(pids) == 3 * cluster_processes.ATTEMPTS
    assert all(is_gone(pid) for pid in pids)


def test_a_process_that_does_not_end_is_killed(
    role: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_processes, "END_SECONDS", 0.3)
    started = Cluster(implementation("stubborn"), 1, 1, 1, role)
    pids = [task.pid for task in started.tasks]
    clock = Clock()
    started.close()
    assert clock.seconds() < 10
    assert all(is_gone(pid) for pid in pids)


@pytest.mark.long
def test_no_answer_in_time_is_an_error(role: tuple[str, ...]) -> None:
    with Cluster(implementation("good"), 1, 1, 1, role) as started:
        started.workers[0].send(sleep=True)
        with pytest.raises(WorkerError, match="fake:worker:0: no answer within 0 s"):
            started.workers[0].reply(0.2)


def test_no_interpreter_is_an_error() -> None:
    missing = Implementation("fake", ".venv-none/bin/python", "graph", "x", "")
    with pytest.raises(WorkerError, match="no .venv-none/bin/python"):
        Cluster(missing, 1, 1, 1)


def test_the_role_exits_when_its_stdin_ends(tmp_path: Path) -> None:
    module = tmp_path / "some_api.py"
    module.write_text("__version__ = '7'\n")
    command = [sys.executable, "-m", "benchmarks.cluster_role", "--module", "some_api"]
    patch = pytest.MonkeyPatch()
    patch.setattr(cluster_processes, "RESULTS", tmp_path)
    patch.setenv("PYTHONPATH", str(tmp_path))
    try:
        task = TaskProcess("x:ps:0", command, 1)
    finally:
        patch.undo()
    with pytest.raises(WorkerError, match="AttributeError: .*ConfigProto"):
        task.ask(serve={}, job="ps", index=0, threads=1)
    with pytest.raises(WorkerError, match="no case is prepared"):
        task.ask(run=1)
    with pytest.raises(WorkerError, match="no such request"):
        task.ask(dance=1)
    assert task.alive
    task.close()
    assert is_gone(task.pid)


class FakeCluster:
    """Answers for all its tasks, and writes down who ran."""

    history: list[str] = []
    closed: list[str] = []

    def __init__(self, chosen: Implementation, ps: int, workers: int, threads: int) -> None:
        self.name = chosen.name
        if self.name == "broken":
            raise WorkerError("broken: ImportError: no such")
        self.version = "1"
        self.ps = [FakeTask(self)] * ps
        self.workers = [FakeTask(self) for _ in range(workers)]
        self.steps = 0
        self.cpu = 0.0  # what each of its processes has used

    def close(self) -> None:
        self.closed.append(self.name)


class FakeTask:
    def __init__(self, owner: FakeCluster) -> None:
        self.owner = owner
        self.request: dict[str, Any] = {}

    def send(self, **request: Any) -> None:
        self.request = request

    def reply(self, seconds: float = 0.0) -> dict[str, Any]:
        request, owner = self.request, self.owner
        if "run" in request:
            if self is owner.workers[0]:
                owner.history.append(owner.name)
                owner.steps += request["run"]
            slow = {"a": 0.1, "b": 0.2, "miscounts": 0.1}[owner.name]
            owner.cpu += 0.3 * request["run"]
            values = [2.0 - 0.1 * step for step in range(request["run"])]
            return {"seconds": [slow] * request["run"], "values": values}
        if "cpu" in request:
            return {"cpu": owner.cpu}
        if "check" in request:
            return {"value": owner.steps - (owner.name == "miscounts"), "counts": True}
        return {}

    def ask(self, **request: Any) -> dict[str, Any]:
        self.send(**request)
        return self.reply()


def run(names: str, row: Row | None = None) -> cluster.Outcome:
    FakeCluster.history, FakeCluster.closed = [], []
    row = row or Row("null_scalar", 2, 2)
    chosen = [Implementation(name, "", "graph", name, "") for name in names.split()]
    driver = Driver(chosen, 2, 0.2, lambda _: None, FakeCluster)  # type: ignore[arg-type]
    return driver.run([Layout(row.ps, row.workers, 1, (row,))])


def test_implementations_take_turns_and_all_are_closed() -> None:
    outcome = run("a b")
    # A turn is two steps of "a" or one of "b", after as many that do not count; synchronous
    # workers are asked for one at a time. Before them: two, two and twelve steps.
    before = ["a"] * 16 + ["b"] * 16
    assert FakeCluster.history == before + ["a"] * 4 + ["b"] * 2 + ["b"] * 2 + ["a"] * 4
    assert outcome.results == {"null_scalar_2ps_2w": {"a": 0.1, "b": 0.2}}
    assert outcome.failures == {} and FakeCluster.closed == ["a", "b"]
    assert {"others", "steal"} <= set(outcome.details["null_scalar_2ps_2w"]["machine"])
    assert set(outcome.details["machine"]) == {"before", "busy", "whole_run"}


def test_rows_of_single_steps_count_the_cpu_of_every_process() -> None:
    outcome = run("a b")
    assert outcome.steps["null_scalar_2ps_2w_p50"] == {"a": 0.1, "b": 0.2}
    assert outcome.steps["null_scalar_2ps_2w_p95"] == {"a": 0.1, "b": 0.2}
    # Each of four processes uses 0.3 s while either of two workers does a step.
    cpu = outcome.steps["null_scalar_2ps_2w_cpu"]
    assert cpu == {"a": pytest.approx(4 * 0.3), "b": pytest.approx(4 * 0.3)}


def test_the_losses_of_a_job_are_looked_at() -> None:
    assert run("a b", Row("job_mlp", 1, 1)).failures == {}
    assert run("a b", Row("job_mlp", 2, 2)).failures == {}
    falling, other = [2.0 - 0.1 * step for step in range(10)], [2.1] * 10
    one, two = Row("job_mlp", 1, 1), Row("job_mlp", 2, 2)
    values = {"penstock": other, "tensorflow": falling}
    assert cluster.differences(one, values) == [
        "penstock: step 1 gives 2.1, tensorflow gives 2",
        "penstock: step 10 gives 2.1, tensorflow gives 1.1",
    ]
    assert cluster.differences(two, values) == [
        "penstock: the loss on the first batch goes from 2.1 to 2.1"
    ]
    # The ninth step has the first batch again.
    assert len(data.softmax().batches) == len(data.mlp().batches) == 8


def test_a_job_has_the_threads_it_has_by_default(
    role: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, str]] = []
    start = cluster_processes.subprocess.Popen

    def watched(*arguments: Any, **options: Any) -> Any:
        given.append(options["env"])
        return start(*arguments, **options)

    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cluster_processes.subprocess, "Popen", watched)
    Cluster(implementation("good"), 1, 1, None, role).close()
    assert len(given) == 2 and not any("OMP_NUM_THREADS" in each for each in given)
    Cluster(implementation("good"), 1, 1, 1, role).close()
    assert all(each["OMP_NUM_THREADS"] == each["MKL_NUM_THREADS"] == "1" for each in given[2:])


class FakeApi:
    """The API that a role uses when it serves."""

    __version__ = "1"

    class train:
        @staticmethod
        def ClusterSpec(spec: Any) -> Any:
            return spec

        @staticmethod
        def Server(spec: Any, job_name: str, task_index: int, config: Any) -> Any:
            return config

    @staticmethod
    def ConfigProto(**options: Any) -> Any:
        return options


@pytest.mark.parametrize(
    "threads, config",
    [
        (None, None),
        (1, {"intra_op_parallelism_threads": 1, "inter_op_parallelism_threads": 2}),
    ],
)
def test_a_server_is_configured_where_threads_are_given_only(threads: Any, config: Any) -> None:
    role = cluster_role.Role("json")
    role.tf = FakeApi
    request = {"serve": {}, "job": "ps", "index": 0, "threads": threads}
    assert role.answer(request) == {"ready": "1"}
    assert role._server == config


def test_one_that_does_not_start_is_told_of_and_the_others_go_on() -> None:
    outcome = run("broken a")
    assert outcome.results == {"null_scalar_2ps_2w": {"a": 0.1}}
    failures = outcome.failures["null_scalar_2ps_2w"]
    assert failures == ["broken: broken: ImportError: no such"]


def test_a_state_that_counted_other_steps_is_a_failure() -> None:
    outcome = run("a miscounts")
    (problem,) = outcome.failures["null_scalar_2ps_2w"]
    assert problem.startswith("miscounts: ") and "steps were run, the state says" in problem


def test_the_first_worker_prepares_before_the_others() -> None:
    order: list[int] = []

    class Task(FakeTask):
        def send(self, **request: Any) -> None:
            order.append(fake.workers.index(self))
            super().send(**request)

    fake = FakeCluster(Implementation("a", "", "graph", "a", ""), 1, 0, 1)
    fake.workers = [Task(fake) for _ in range(3)]
    Prepared(fake, Row("null_scalar", 1, 3), 1)  # type: ignore[arg-type]
    assert order == [0, 1, 2]


def test_every_row_has_a_case_and_every_requirement_a_row() -> None:
    layouts = cluster_rows.layouts([1, 4], [1, 2])
    rows = [row for layout in layouts for row in layout.rows]
    assert {row.case for row in rows} <= set(cluster_role.CASES)
    assert len({row.name for row in rows}) == len(rows) == 6 + 2 + 3 + 2 * 3 * 2
    names = {row.name for row in rows}
    names |= {f"{name}_{figure}" for name in names for figure in ("p50", "p95", "cpu")}
    for requirement in cluster_rows.REQUIREMENTS + cluster_rows.BUSY_REQUIREMENTS:
        assert {requirement.case, requirement.of or requirement.case} <= names
    # Jobs are measured with the threads that users get.
    assert [layout.threads for layout in layouts] == [2, None, None, 1, 1]


def test_tails_and_cpu_of_jobs_are_required() -> None:
    for table in (cluster_rows.REQUIREMENTS, cluster_rows.BUSY_REQUIREMENTS):
        for row in ("job_2_softmax", "job_2_mlp", "job_4_softmax", "job_4_mlp"):
            for figure in ("p95", "cpu"):
                assert Requirement(f"{row}_{figure}", "tensorflow", 1.0) in table


def test_the_command_prints_and_writes_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: dict[str, Any] = {}

    class Measured:
        def __init__(self, found: Any, rounds: int, seconds: float, say: Any, busy: int) -> None:
            asked.update(names=[each.name for each in found], busy=busy)

        def run(self, chosen: list[Layout]) -> cluster.Outcome:
            asked["cases"] = [row.case for layout in chosen for row in layout.rows]
            outcome = cluster.Outcome()
            state = cluster.machine.state(tmp_path)
            outcome.details["machine"] = {"before": state, "busy": 1, "whole_run": {}}
            outcome.results["read_1mb"] = {"penstock": 1e-3, "tensorflow": 2e-3}
            outcome.steps["read_1mb_p50"] = {"penstock": 1e-3, "tensorflow": 2e-3}
            outcome.steps["read_1mb_p95"] = {"penstock": 3e-3, "tensorflow": 2e-3}
            return outcome

    monkeypatch.setattr(cluster, "Driver", Measured)
    monkeypatch.setattr(cluster, "RESULTS", tmp_path)
    monkeypatch.setattr(cluster, "interpreter_of", lambda each: tmp_path)
    assert cluster.main(["--busy", "1"]) == 0
    assert asked["names"] == ["penstock", "tensorflow"] and asked["busy"] == 1
    assert set(asked["cases"]) == {*cluster_rows.REMOTE, *cluster_rows.JOB}
    printed = capsys.readouterr().out.splitlines()
    assert "BUSY=1: so many processes kept a core busy each" in printed
    assert "read_1mb: at most 1 of tensorflow: 0.5, met" in printed
    assert "read_1mb_p95: at most 2 of penstock's read_1mb_p50: 3, NOT MET" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["cluster-busy1.json"]
    with pytest.raises(SystemExit):
        cluster.main(["--cases", "read_1gb"])
    assert "no such case: read_1gb" in capsys.readouterr().err
