"""Finding state by container and name."""

from __future__ import annotations

import threading

from penstock.engine.resources.manager import ResourceManager


def test_one_resource_a_name_and_container() -> None:
    manager = ResourceManager()
    first = manager.lookup_or_create("", "a", object)
    assert manager.lookup_or_create("", "a", object) is first
    assert manager.lookup_or_create("other", "a", object) is not first
    assert manager.lookup("", "a") is first and manager.lookup("", "b") is None


def test_clearing_all_or_some_containers() -> None:
    manager = ResourceManager()
    for container in ("x", "y"):
        manager.lookup_or_create(container, "a", object)
    manager.clear(["x"])
    assert manager.lookup("x", "a") is None and manager.lookup("y", "a") is not None
    manager.clear()
    assert manager.lookup("y", "a") is None


def test_threads_get_the_same_resource() -> None:
    manager, found = ResourceManager(), []
    gate = threading.Barrier(8)

    def work() -> None:
        gate.wait()
        found.append(manager.lookup_or_create("", "a", object))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1
