"""The end of a process that has servers: their threads are awaited, whatever they are at."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from penstock.cluster.distributed import ending


def test_a_thread_that_is_about_to_begin_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is listed from the call of ``start`` on, and cannot be joined before it runs."""
    # What begins a thread has another name from Python 3.13 on, and takes keywords.
    new = hasattr(threading, "_start_joinable_thread")
    name = "_start_joinable_thread" if new else "_start_new_thread"
    begin = getattr(threading, name)
    reached = threading.Event()

    def slow_begin(*args: Any, **more: Any) -> Any:
        if threading.current_thread() is starter:
            reached.set()
            time.sleep(0.3)
        return begin(*args, **more)

    done: list[str] = []
    late = threading.Thread(
        target=lambda: done.append("late"), name=f"{ending.THREADS}late", daemon=True
    )
    starter = threading.Thread(target=late.start)
    monkeypatch.setattr(threading, name, slow_begin)
    starter.start()
    assert reached.wait(10.0)
    assert f"{ending.THREADS}late" in ending.wait_for_threads(0.0)
    left = ending.wait_for_threads(20.0)
    starter.join()
    assert done == ["late"] and f"{ending.THREADS}late" not in left
