"""Long tests by turns: which of five turns a test belongs to.

A run of CI has no time for all long tests; it takes one turn of them, and the next run the next.
Tests that share what is slow to make (a module's fixture, such as a program of TensorFlow's that
computed what all are compared with, or the answer of a cached function) stay together; any other
goes for itself. What goes together goes to the turn that a hash of its name says, so that a new
test moves no other, but for what ``PLACED`` names: what takes longest, spread by hand.
"""

from __future__ import annotations

import re
import zlib

import pytest

# In so many turns `.ci/run` runs every long test.
TURNS = 5


def _one_a_turn(test: str, *parameters: object, first: int = 1) -> dict[str, int]:
    """Turns of a test's parameters: one after the other, beginning with the first's."""
    return {
        f"{test}[{parameter}]": (first - 1 + number) % TURNS + 1
        for number, parameter in enumerate(parameters)
    }


_CRASHES = "tests/training/monitored/test_crashes.py::test_"
_STRESS = "tests/training/data/test_queue_stress.py::test_"
_FAULTS = "tests/cluster/distributed/test_faults.py::test_"
_SEED_PROGRAMS = "tests/cluster/distributed/test_seed_programs.py::test_"
_WORD_VECTORS = "tests/models/test_word2vec.py::test_pythons_reference_is_learned"
# The turns of what takes longest, by the names that ``goes_with`` gives.
PLACED: dict[str, int] = {
    **_one_a_turn(f"{_CRASHES}killed_at_random_often", *range(20)),
    **_one_a_turn(f"{_STRESS}a_million_elements_in_all", *range(20)),
    **_one_a_turn(
        "tests/compiler/partition/test_programs.py::test_many_random_programs_with_random_placements",
        *range(100, 500, 80),
    ),
    **_one_a_turn(
        "tests/engine/runtime/test_dataflow_agrees.py::test_many_random_programs",
        *range(5),
        first=3,
    ),
    **_one_a_turn(
        _WORD_VECTORS, "cbow-nce", "skip-gram-nce", "cbow-sampled-softmax",
        "skip-gram-sampled-softmax",
    ),
    "tests/foundation/formats/test_killed.py::test_a_hundred_kills[same]": 3,
    "tests/foundation/formats/test_killed.py::test_a_hundred_kills[new]": 1,
    f"{_FAULTS}a_worker_is_killed[0]": 1,
    f"{_FAULTS}a_parameter_server_is_killed[0]": 2,
    f"{_FAULTS}the_chief_is_killed[0]": 3,
    f"{_FAULTS}a_worker_is_stopped_for_a_while[0]": 4,
    f"{_FAULTS}everything_is_killed_at_once[0]": 5,
    # Three minutes of faults, whatever the machine is.
    "tests/cluster/distributed/test_chaos.py::test_nothing_is_lost_among_faults": 2,
    f"{_SEED_PROGRAMS}async_word_vectors_reach_the_loss_of_one_process": 5,
    f"{_SEED_PROGRAMS}sync_replicas_with_a_backup_worker_reach_the_loss_of_one_process[0.2]": 2,
    f"{_SEED_PROGRAMS}towers_of_a_client_without_a_server_follow_one_process_step_by_step": 3,
    "tests/cluster/distributed/test_cut_links.py": 3,
    "tests/library/image/test_conformance.py": 5,
}  # fmt: skip


def parse(text: str) -> tuple[int, int]:
    """The turn and the number of turns that ``--turn`` names.

    Raises:
      ValueError: it is not of the form "2/5", or there is no such turn.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"{text!r} is no turn; the third of five is '3/5'")
    return int(found[1]), int(found[2])


def goes_with(item: pytest.Item) -> str:
    """The file or room in which what a test shares with others is made; else the test itself.

    Where a module keeps what a function of it returned, the tests of one function share that.
    """
    known = getattr(item, "_fixtureinfo", None)
    used = known.name2fixturedefs.values() if known else ()
    # The last definition of a name is the one that is used; those of pytest have no place.
    homes = [d[-1].baseid for d in used if d[-1].scope != "function" and d[-1].baseid]
    alone = item.nodeid.partition("[")[0] if _keeps_answers(item) else item.nodeid
    return min(homes, key=len, default=alone)


def _keeps_answers(item: pytest.Item) -> bool:
    """Whether the module of a test has a function of its own that computes once."""
    module = getattr(item, "module", None)
    members = vars(module).values() if module else ()
    return any(
        hasattr(each, "cache_info") and each.__module__ == module.__name__ for each in members
    )


def turn_of(name: str, turns: int = TURNS) -> int:
    """The turn, from 1, of what ``goes_with`` named."""
    if turns == TURNS and name in PLACED:
        return PLACED[name]
    return zlib.crc32(name.encode()) % turns + 1
