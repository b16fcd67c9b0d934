"""Jobs as real processes of this machine: what they are told, restarts, and nothing left behind."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from penstock.cluster.distributed import heartbeat, metrics, status_page
from penstock.cluster.launch import task_process
from penstock.cluster.launch.job import Job, Task
from penstock.cluster.launch.local import Outcome, run_local
from penstock.cluster.launch.logs import Logs
from penstock.cluster.launch.ports import free_ports
from penstock.cluster.launch.supervisor import Policy, State
from tests.cluster.distributed.metrics_page import Page
from tests.cluster.launch.processes import (
    COUNTING,
    alive,
    assert_all_gone,
    clusters,
    pids,
    step,
)
from tests.suite.clock import wait_until

ROOT = Path(__file__).resolve().parents[3]
SERVING = Path(__file__).parent / "programs" / "serving.py"
FAILING_ONCE = Path(__file__).parent / "programs" / "failing_once.py"
COMMAND = [sys.executable, "-m", "penstock"]
POLICY = Policy(restarts=2, backoff=0.05, grace=5.0)


def run(job: Job, policy: Policy = POLICY, log_dir: str | None = None) -> tuple[Outcome, list[str]]:
    lines: list[str] = []
    logs = Logs(lambda task, line: lines.append(f"{task or 'launch'} | {line}"), log_dir)
    try:
        return run_local(job, policy, logs), lines
    finally:
        logs.close()


def counting(directory: Path, *args: str, ps: int = 1, workers: int = 2, **more: bool) -> Job:
    return Job(COUNTING, ("--dir", str(directory), *args), ps=ps, workers=workers, **more)


def launcher(directory: Path, *args: str, grace: str = "5") -> subprocess.Popen[str]:
    """The command with 1 parameter server and 2 workers that run for long, once they do."""
    words = ["launch", "--ps", "1", "--workers", "2", "--grace", grace, COUNTING, "--"]
    words += ["--dir", str(directory), "--steps", "1000000", *args]
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    wait_until(lambda: all(step(directory, f"worker {i}") > 2 for i in (0, 1)))
    return process


def guard_of(launcher: int) -> int:
    """The process that watches over a launcher's tasks: reads from a pipe that it writes to."""
    pipes = {os.readlink(file) for file in Path(f"/proc/{launcher}/fd").iterdir()}
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"watch" in words and os.readlink(process / "fd" / "0") in pipes:
                found.append(int(process.name))
        except OSError:
            pass
    (guard,) = found
    return guard


def test_a_job_runs_and_ends(tmp_path: Path) -> None:
    job = counting(tmp_path, "--steps", "5", ps=2, workers=3, chief=True, evaluator=True)
    outcome, lines = run(job)
    assert outcome.code == 0, lines
    states = {str(task): record.state for task, record in outcome.records.items()}
    assert states == {
        "chief 0": State.DONE, "ps 0": State.STOPPED, "ps 1": State.STOPPED,
        "worker 0": State.DONE, "worker 1": State.DONE, "worker 2": State.DONE,
        "evaluator 0": State.DONE,
    }  # fmt: skip
    assert {line for line in lines if "counted" in line} == {
        f"{name} | {name} counted to 5" for name in ("chief 0", "worker 0", "worker 1", "worker 2")
    }
    seen = clusters(tmp_path)
    assert len(seen) == 7 and len({str(cluster) for _, cluster in seen}) == 1
    cluster = seen[0][1]
    assert {job: len(tasks) for job, tasks in cluster.items()} == {"chief": 1, "ps": 2, "worker": 3}
    assert len({address for tasks in cluster.values() for address in tasks}) == 6
    assert_all_gone(tmp_path)


def test_scripts_that_only_read_the_environment(tmp_path: Path) -> None:
    outcome, lines = run(counting(tmp_path, "--steps", "2", flags=False))
    assert outcome.code == 0, lines


def test_what_fails_starts_again_at_its_address_and_goes_on(tmp_path: Path) -> None:
    outcome, lines = run(counting(tmp_path, "--steps", "8", "--fail", "worker:1:5:2"))
    assert outcome.code == 0, lines
    assert outcome.records[Task("worker", 1)].starts == 3
    assert lines.count("worker 1 | worker 1 starts at 5") == 2
    assert "launch | worker 1 ended with exit status 7; restart 2 of 2" in lines
    assert len({str(cluster) for _, cluster in clusters(tmp_path)}) == 1


def test_one_failure_too_many_ends_the_job(tmp_path: Path) -> None:
    outcome, lines = run(counting(tmp_path, "--steps", "1000000", "--fail", "worker:1:5:99"))
    assert outcome.code == 1
    assert outcome.records[Task("worker", 1)].starts == 3
    assert outcome.records[Task("worker", 1)].state is State.FAILED
    assert outcome.records[Task("worker", 0)].code == -signal.SIGTERM
    assert_all_gone(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("victim", ["ps 0", "worker 0"])
def test_a_killed_task_starts_again(tmp_path: Path, victim: str) -> None:
    process = launcher(tmp_path, "--child")
    os.kill(pids(tmp_path, victim)[0], signal.SIGKILL)
    # Its child went with it, and it started again.
    wait_until(lambda: len(pids(tmp_path, victim)) == 4)
    wait_until(lambda: [alive(pid) for pid in pids(tmp_path, victim)] == [False] * 2 + [True] * 2)
    before = step(tmp_path, "worker 0")
    wait_until(lambda: step(tmp_path, "worker 0") > before + 3)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode == 130
    assert f"{victim} ended with SIGKILL; restart 1 of 3" in said
    assert_all_gone(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_stop_all(tmp_path: Path, number: signal.Signals) -> None:
    process = launcher(tmp_path, "--child")
    process.send_signal(number)
    said, _ = process.communicate()
    assert process.returncode == 128 + number
    assert f"{number.name}: stopping all tasks" in said
    assert not any(map(alive, pids(tmp_path)))
    assert len(pids(tmp_path)) == 6


@pytest.mark.long
def test_the_deaf_are_killed_after_a_grace(tmp_path: Path) -> None:
    process = launcher(tmp_path, "--deaf", "--child", grace="0.5")
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate()
    assert process.returncode == 143
    assert "worker 1 did not stop within 0.5 s: killed" in said
    assert not any(map(alive, pids(tmp_path)))


@pytest.mark.long
def test_a_stopped_task_is_killed_too(tmp_path: Path) -> None:
    process = launcher(tmp_path, grace="0.5")
    os.kill(pids(tmp_path, "worker 1")[0], signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 143
    assert not any(map(alive, pids(tmp_path)))


@pytest.mark.long
def test_a_second_signal_kills_at_once(tmp_path: Path) -> None:
    process = launcher(tmp_path, "--deaf", grace="600")
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    while "stopping all tasks" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode == 130
    assert "SIGINT again: killing all tasks" in said
    assert not any(map(alive, pids(tmp_path)))


@pytest.mark.long
def test_a_killed_launcher_leaves_nothing_behind(tmp_path: Path) -> None:
    process = launcher(tmp_path, "--child", "--deaf")
    started = pids(tmp_path)
    assert len(started) == 6 and all(map(alive, started))
    process.kill()
    process.wait()
    assert_all_gone(tmp_path)


@pytest.mark.long
def test_launcher_and_guard_killed_together_take_the_tasks_with_them(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("the kernel's signal to children of a dead parent is Linux's")
    process = launcher(tmp_path, "--deaf")
    os.kill(guard_of(process.pid), signal.SIGKILL)
    process.kill()
    process.wait()
    assert_all_gone(tmp_path)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_the_guard_goes_with_the_launcher(tmp_path: Path) -> None:
    process = launcher(tmp_path)
    guard = guard_of(process.pid)
    assert alive(guard)
    process.kill()
    process.wait()
    wait_until(lambda: not alive(guard))


@pytest.mark.long
def test_a_reader_that_goes_away_ends_the_job(tmp_path: Path) -> None:
    process = launcher(tmp_path, "--fail", "worker:0:20:2")
    assert process.stdout is not None
    process.stdout.close()
    process.wait()
    assert_all_gone(tmp_path)


def test_output_comes_line_by_line_and_is_kept(tmp_path: Path) -> None:
    script = tmp_path / "talk.py"
    script.write_text(
        "import sys\n"
        "print('out'); print('err', file=sys.stderr)\n"
        "sys.stdout.buffer.write(b'\\xff bad\\r\\n'); sys.stdout.write('no end')\n"
    )
    outcome, lines = run(Job(str(script), ps=0, workers=1), log_dir=str(tmp_path / "logs"))
    assert outcome.code == 0
    said = [line for line in lines if line.startswith("worker 0")]
    assert said == [
        "worker 0 | out", "worker 0 | err", "worker 0 | \ufffd bad", "worker 0 | no end",
    ]  # fmt: skip
    assert (tmp_path / "logs" / "worker-0.log").read_bytes() == b"out\nerr\n\xff bad\r\nno end"


@pytest.mark.long
def test_much_output_is_whole(tmp_path: Path) -> None:
    script = tmp_path / "talk.py"
    script.write_text("for i in range(100_000): print(i)\n")
    outcome, lines = run(Job(str(script), workers=2))
    assert outcome.code == 0
    for name in ("worker 0", "worker 1"):
        said = [line.split()[-1] for line in lines if line.startswith(name)]
        assert said == [str(i) for i in range(100_000)]


def test_a_program_that_cannot_be_started() -> None:
    outcome, lines = run(Job("/nowhere/to/be/found"), Policy(restarts=1, backoff=0.01))
    assert outcome.code == 1
    assert outcome.records[Task("worker", 0)].code == 127
    assert lines.count("worker 0 | /nowhere/to/be/found: No such file or directory") == 2


def test_prefixes_are_coloured_on_a_terminal(tmp_path: Path) -> None:
    script = tmp_path / "talk.py"
    script.write_text("print('hello')\n")
    reader, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [*COMMAND, "launch", str(script)], cwd=ROOT, stdout=terminal, stderr=terminal,
        env=environment,
    )  # fmt: skip
    os.close(terminal)
    said = b""
    try:
        while data := os.read(reader, 65536):
            said += data
    except OSError:
        pass  # how a terminal ends
    os.close(reader)
    assert process.wait() == 0
    (line,) = [line for line in said.decode().splitlines() if line.endswith("hello")]
    assert line.startswith("\x1b[") and "worker 0 |\x1b[0m hello" in line


@pytest.mark.parametrize(
    "words, said",
    [
        (["launch"], "Missing argument"),
        (["launch", "nowhere.py"], "nowhere.py: no such script"),
        (["launch", "no-such-program-here"], "neither a script"),
        (["launch", "--workers", "0", COUNTING], "needs a worker or a chief"),
        (["launch", "--ps", "-1", COUNTING], "--ps"),
    ],
)
def test_wrong_questions(words: list[str], said: str) -> None:
    done = subprocess.run([*COMMAND, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (1, 2) and said in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_scripts_arguments_are_its_own(tmp_path: Path) -> None:
    script = tmp_path / "show.py"
    script.write_text("import sys; print(sys.argv[1:])\n")
    for words in (["--", "--debug", "--ps", "3", "--"], ["--ps", "3"], []):
        done = subprocess.run(
            [*COMMAND, "launch", "--no-flags", str(script), *words], cwd=ROOT,
            capture_output=True, text=True,
        )  # fmt: skip
        wanted = words[1:] if words[:1] == ["--"] else words
        assert done.returncode == 0 and f"worker 0 | {wanted}" in done.stdout, done.stdout


def test_ports_are_free_and_not_those_of_outgoing_connections() -> None:
    ports = free_ports(50)
    assert len(set(ports)) == 50
    outgoing = Path("/proc/sys/net/ipv4/ip_local_port_range")
    if outgoing.exists():
        lowest = int(outgoing.read_text().split()[0])
        assert lowest <= 15_000 or max(ports) < lowest
    for port in ports[:5]:
        with socket.create_server(("127.0.0.1", port)):
            pass


def test_launching_needs_none_of_the_rest(tmp_path: Path) -> None:
    script = tmp_path / "nothing.py"
    script.write_text("")
    code = (
        "import sys\n"
        "from penstock.cli.main import app\n"
        "try: app()\n"
        "except SystemExit as e: assert not e.code, e\n"
        "names = 'torch', 'ray', 'grpc', 'yaml', 'penstock.foundation.graph', 'penstock.ops'\n"
        "for name in names:\n"
        "    assert name not in sys.modules, name\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "launch", str(script)], cwd=ROOT, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_host_of_addresses_can_be_chosen(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "launch", "--host", "127.0.0.2", COUNTING, "--", "--dir", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert clusters(tmp_path)[0][1]["worker"][0].startswith("127.0.0.2:")


@pytest.mark.long
@pytest.mark.parametrize(("how", "most_starts"), [("app", 1), ("sys.exit", 2)])
def test_a_server_is_there_for_a_worker_that_starts_again(
    tmp_path: Path, how: str, most_starts: int
) -> None:
    """After a bad status of ``tf.app.run`` it goes on; Python's own exit looks like a good end."""
    job = Job(str(FAILING_ONCE), (str(tmp_path), how), ps=1, workers=1, flags=False)
    outcome, lines = run(job, Policy(restarts=2, backoff=1.0, grace=5.0))
    assert outcome.code == 0, lines
    assert outcome.records[Task("worker", 0)].starts == 2
    assert outcome.records[Task("ps", 0)].starts <= most_starts, lines
    assert_all_gone(tmp_path)


@pytest.mark.long
def test_a_task_that_is_stuck_is_killed_and_starts_again(tmp_path: Path) -> None:
    job = Job(str(SERVING), (str(tmp_path),), ps=1, workers=1)
    # On a busy machine a task may be starved for some seconds, of which nothing is heard then.
    policy = Policy(restarts=2, backoff=0.05, grace=5.0, stuck_after=12.0)

    def stop_the_server() -> None:
        wait_until(lambda: len(pids(tmp_path)) >= 2)
        os.kill(pids(tmp_path, "ps 0")[0], signal.SIGSTOP)

    stopper = threading.Thread(target=stop_the_server)
    stopper.start()
    outcome, lines = run(job, policy)
    stopper.join()
    assert outcome.code == 0, lines
    assert "launch | ps 0 was not heard of for 12 s: killed" in lines
    assert outcome.records[Task("ps", 0)].starts == 2
    # The worker, of which something was heard all the time, ran on.
    assert outcome.records[Task("worker", 0)].starts == 1
    assert_all_gone(tmp_path)


def test_a_number_that_is_no_longer_the_heartbeats_is_left_alone() -> None:
    reading, writing = os.pipe()
    told = f"{writing}:{os.fstat(writing).st_ino + 1}"
    program = "from penstock.cluster.distributed import heartbeat as h; h.begin(); print(h._begun)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True,
        pass_fds=[writing], env={**os.environ, heartbeat.VARIABLE: told},
    )  # fmt: skip
    os.close(writing)
    assert (done.stdout, done.stderr, os.read(reading, 9)) == ("False\n", "", b"")
    os.close(reading)
    assert task_process.HEARTBEAT == heartbeat.VARIABLE


@pytest.mark.long
def test_metrics_of_each_task_are_where_they_were_asked_for(tmp_path: Path) -> None:
    assert task_process.METRICS == status_page.VARIABLE
    assert task_process.RESTARTS == metrics.RESTARTS
    first = _two_free_ports()
    ps, worker = Page(f"127.0.0.1:{first}"), Page(f"127.0.0.1:{first + 1}")
    restarts: list[float] = []

    def look() -> None:
        wait_until(lambda: _is_ready(ps) and _is_ready(worker))
        restarts.append(worker.value("penstock_task_restarts"))
        os.kill(pids(tmp_path, "worker 0")[0], signal.SIGKILL)
        wait_until(lambda: len(pids(tmp_path, "worker 0")) == 2 and _is_ready(worker))
        restarts.append(worker.value("penstock_task_restarts", task="/job:worker/replica:0/task:0"))
        restarts.append(ps.value("penstock_task_restarts"))
        os.kill(pids(tmp_path, "ps 0")[0], signal.SIGKILL)  # then the job is done

    watcher = threading.Thread(target=look)
    watcher.start()
    lines: list[str] = []
    logs = Logs(lambda task, line: lines.append(f"{task or 'launch'} | {line}"), None)
    job = Job(str(SERVING), (str(tmp_path),), ps=1, workers=1)
    outcome = run_local(job, POLICY, logs, metrics_port=first)
    watcher.join()
    logs.close()
    assert outcome.code == 0, lines
    assert restarts == [0, 1, 0]
    assert any(line.endswith(f", metrics at 127.0.0.1:{first}") for line in lines)
    with pytest.raises(OSError):
        ps.get("/healthz")


def _two_free_ports() -> int:
    while True:
        (port,) = free_ports(1)
        try:
            with socket.create_server(("127.0.0.1", port + 1)):
                return port
        except OSError:
            continue


def _is_ready(page: Page) -> bool:
    try:
        return page.get("/readyz")[0] == 200
    except OSError:
        return False
