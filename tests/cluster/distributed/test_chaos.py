"""A cluster among faults of every kind, and that its history's judge sees what is wrong in one."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.cluster.distributed import chaos, chaos_growth
from tests.cluster.distributed.chaos_growth import Used
from tests.cluster.distributed.chaos_history import Loss, Seen, judge, read
from tests.cluster.distributed.chaos_witness import Witness
from tests.cluster.distributed.jobs import PROGRAMS, Process
from tests.suite.clock import wait_until


def step(begin: float, end: float, number: int, *versions: int, task: str = "worker 0") -> Seen:
    return Seen("step", task, begin, end, number, versions)


def session(begin: float, number: int) -> Seen:
    return Seen("session", "chief 0", begin, begin + 0.1, number)


def saved(begin: float, number: int) -> Seen:
    return Seen("saved", "chief 0", begin, begin + 0.1, number)


GOOD = [session(0, 0), step(1, 2, 1, 1, 1), step(1, 3, 2, 2, 3), step(2.5, 4, 2, 3, 2)]


def test_a_history_in_which_nothing_is_wrong() -> None:
    found = judge(GOOD, [])
    assert (found.wrong, found.judged, found.longest) == ([], 3, 1)


def test_steps_go_back_to_a_checkpoint_after_a_loss() -> None:
    seen = [*GOOD, saved(4, 2), step(5, 6, 3, 4, 4), session(9, 2), step(10, 11, 3, 4, 4)]
    found = judge(seen, [Loss(7, 8)])
    assert found.wrong == [] and len(found.eras) == 2
    # The same without a loss.
    (twice, *others) = judge(seen, []).wrong
    assert "version 0 was seen twice: [4]" in twice and others


def test_what_overlaps_a_loss_is_not_judged() -> None:
    seen = [*GOOD, step(6, 9.5, 9, 9, 9), session(9, 2), step(10, 11, 3, 4, 4)]
    found = judge(seen, [Loss(7, 8)])
    assert found.wrong == [] and found.judged == 4


def test_a_session_below_the_checkpoint_is_wrong() -> None:
    seen = [*GOOD, saved(4, 2), session(9, 1)]
    (wrong,) = judge(seen, [Loss(7, 8)]).wrong
    assert "began at step 1" in wrong and "checkpoint of 2" in wrong


def test_an_update_that_was_lost_is_wrong() -> None:
    wrong = judge([step(1, 2, 1, 5), step(3, 4, 2, 5)], []).wrong
    assert "version 0 was seen twice: [5]" in wrong[0]
    (wrong,) = judge([step(1, 2, 1, 5), step(3, 4, 2, 4)], []).wrong
    assert "saw version 0 4" in wrong and "saw 5" in wrong


def test_a_global_step_that_goes_back_is_wrong() -> None:
    (wrong,) = judge([step(1, 2, 7, 5), step(3, 4, 6, 6)], []).wrong
    assert "saw global step 6" in wrong
    # They may see each other's or not while both run.
    assert not judge([step(1, 4, 7, 5), step(3, 5, 6, 6)], []).wrong


def test_a_line_that_is_cut_off_is_left_out(tmp_path: Path) -> None:
    whole = '{"what": "step", "task": "w", "begin": 1, "end": 2, "step": 3, "versions": [4]}\n'
    (tmp_path / "history-w-1.jsonl").write_text(whole + whole[:20])
    assert read(tmp_path) == [Seen("step", "w", 1, 2, 3, (4,))]


def test_a_busy_machine_is_no_hang() -> None:
    witness = Witness()
    witness.saw(0.0, 0.005, 0.005)
    witness.saw(10.0, 10.005, 0.005)
    assert witness.given(0.005, 10.005) == pytest.approx(10.0)
    # A tenth of a core, for a hundred seconds.
    witness.saw(110.0, 110.05, 0.005)
    assert witness.given(10.005, 110.05) == pytest.approx(10.0, abs=0.01)
    assert witness.given(5.0, 60.0275) == pytest.approx(10.0, abs=0.02)
    # What nobody has seen counts whole.
    assert witness.given(110.05, 180.05) == pytest.approx(70.0)
    assert Witness().given(3.0, 63.0) == 60.0
    seen = [step(9, 10.005, 1, 1), step(110, 110.05, 2, 2)]
    found = judge(seen, [], witness.given)
    assert found.longest > 100 and found.given == pytest.approx(10.0, abs=0.01)
    assert judge(seen, []).given > 100


def test_the_witness_sees_a_quiet_second_whole() -> None:
    with Witness() as witness:
        wait_until(lambda: len(witness._ends) > 3)
        given = witness.given(witness._ends[0], witness._ends[3])
    assert 0 < given <= witness._ends[3] - witness._ends[0]


def record(early: dict[str, int], late: dict[str, int], kb: int = 0) -> list[Used]:
    """Of a process whose server is up at 10, and that ends at 310."""
    one = links(1)
    halves = (10, one, 0), (40, early, 1000), (70, one, 0), (280, late, 1000 + kb)
    return [Used(at + 3.0 * i, k, Counter(names)) for at, names, k in halves for i in range(10)]


def links(count: int) -> dict[str, int]:
    return dict.fromkeys(chaos_growth.LINK_THREADS, count)


@pytest.mark.parametrize(
    ("early", "late", "kb", "wrong"),
    [
        ({"part": 4}, {"part": 12}, 60_000, ""),
        ({"part": 4}, {"part": 13}, 0, "grew from 4 to 13 threads (part 4 to 13)"),
        ({"part": 4}, {"part": 4}, 70_000, "grew from 1000 to 71000 kB"),
        # The others have come back.
        (links(1), links(6), 0, ""),
        ({"rpc": 1, **links(0)}, {"rpc": 9, **links(6)}, 0, ""),
        # There are six of them.
        (links(6), links(11), 0, "grew from 0 to 10 threads"),
        (links(1), links(11), 0, "grew from 0 to 10 threads"),
    ],
)
def test_what_a_process_grows_by(
    early: dict[str, int], late: dict[str, int], kb: int, wrong: str
) -> None:
    found = chaos_growth.judge(record(early, late, kb), 0.0, 310.0, 6)
    assert wrong in found.wrong and bool(wrong) == bool(found.wrong)
    assert found.kb == kb


def test_a_process_counts_from_its_first_link_on() -> None:
    alone = [Used(10.0 + 3 * i, 0, Counter(serve=9)) for i in range(30)]
    linked = [Used(100.0 + 3 * i, 0, Counter(serve=19, **links(1))) for i in range(80)]
    grown = [Used(340.0 + 3 * i, 0, Counter(serve=28, **links(1))) for i in range(20)]
    assert not chaos_growth.judge(alone + linked, 0.0, 337.0, 6).wrong
    assert "from 19 to 28" in chaos_growth.judge(alone + linked + grown, 0.0, 397.0, 6).wrong
    # Nobody ever came.
    more = [Used(100.0 + 3 * i, 0, Counter(serve=18)) for i in range(100)]
    assert "from 9 to 18" in chaos_growth.judge(alone + more, 0.0, 397.0, 6).wrong


def test_a_process_that_writes_nothing_down(tmp_path: Path) -> None:
    used = record({}, {})
    silent = "wrote nothing down"
    assert silent in chaos_growth.judge([], 0.0, 310.0, 6).wrong
    assert silent in chaos_growth.judge(used, 0.0, 500.0, 6).wrong
    assert silent in chaos_growth.judge(used[:1] + used[20:], 0.0, 310.0, 6).wrong
    # It was killed before it could be judged.
    assert chaos_growth.judge([], 0.0, 100.0, 6) == chaos_growth.Growth()
    assert chaos_growth.judge(used, 0.0, 120.0, 6) == chaos_growth.Growth()
    file = tmp_path / "used"
    file.write_text('{"at": 1, "kb": 2, "threads": {"a": 3}}\n{"at": 3')
    assert chaos_growth.read(file) == [Used(1, 2, Counter(a=3))]
    assert chaos_growth.read(tmp_path / "none") == []


@pytest.mark.long
def test_a_program_tells_what_it_uses(tmp_path: Path) -> None:
    cluster = {"ps": ["localhost:0"]}
    command = [
        sys.executable, str(PROGRAMS / "chaos_train.py"), "--cluster", json.dumps(cluster),
        "--job", "ps", "--task", "0", "--records", str(tmp_path), "--checkpoints", str(tmp_path),
    ]  # fmt: skip
    with Process(command) as process:
        file = tmp_path / f"used-ps-0-{process.pid}.jsonl"
        wait_until(lambda: len(chaos_growth.read(file)) > 1)
        used = chaos_growth.read(file)[-1]
        threads = len(os.listdir(f"/proc/{process.pid}/task"))
    assert abs(used.threads.total() - threads) <= 1 and used.kb > 10_000
    assert used.threads["MainThread"] == used.threads["tell-used"] == 1


@pytest.mark.parametrize(
    ("code", "said", "explained"),
    [
        (1, "OSError: [Errno 24] Too many open files", True),
        (-6, "pollset_global_init: UNKNOWN:eventfd: Too many open files (24)", True),
        (-11, "Too many open files", False),
        (1, "DeadlineExceededError: nobody answers", False),
        (1, "No space left on device", False),
    ],
)
def test_what_a_fault_explains(code: int, said: str, explained: bool, tmp_path: Path) -> None:
    run = chaos.Chaos(tmp_path, 0)
    run.done["no files"] += 1
    program = f"import os; print({said!r}, flush=True); os._exit({code}) if {code} > 0 else 0"
    command = [sys.executable, "-c", program + f"; os.kill(os.getpid(), -({code}))"]
    task = chaos.Task("worker-0", command, {})
    task.start()
    task.process.wait()
    assert task.code == code and run._explains(task) is explained


@pytest.mark.long
def test_nothing_is_lost_among_faults(tmp_path: Path) -> None:
    said: list[str] = []
    seed = int(os.environ.get("PENSTOCK_CHAOS_SEED", "0"))
    found = chaos.run(3.0, seed, tmp_path, said.append)
    assert not found.wrong, "\n".join([*said, *found.wrong])
    assert found.judged > 100, "\n".join(said)
