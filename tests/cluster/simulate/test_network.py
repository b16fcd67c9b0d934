"""Messages over interfaces: known times, and bytes that neither vanish nor appear."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.cluster.simulate.events import EventQueue
from penstock.cluster.simulate.network import FairNetwork, FifoNetwork, Loopback
from penstock.cluster.simulate.profile import Profile
from penstock.cluster.simulate.servers import SharingServer

# 100 bytes a second, half a second of latency.
SLOW = Profile("slow", latency=0.5, bandwidth=100.0)


class Log:
    def __init__(self) -> None:
        self.times: dict[Any, float] = {}

    def __call__(self, at: float, name: Any) -> None:
        self.times[name] = at


@pytest.mark.parametrize("kind", [FifoNetwork, FairNetwork])
def test_alone_a_message_takes_latency_and_size_by_bandwidth(kind: Any) -> None:
    queue, log = EventQueue(), Log()
    network = kind(queue, SLOW, 2)
    network.send(0.0, 0, 1, 200.0, log, "a")
    queue.run()
    assert log.times == pytest.approx({"a": 2.5})
    assert network.sent == network.received == 200.0
    assert network.busiest(range(2)) == pytest.approx(2.0)


@pytest.mark.parametrize("kind", [FifoNetwork, FairNetwork])
def test_a_link_may_be_slower_than_the_interfaces(kind: Any) -> None:
    queue, log = EventQueue(), Log()
    network = kind(queue, Profile("x", latency=0.5, bandwidth=100.0, link_bandwidth=50.0), 2)
    network.send(0.0, 0, 1, 200.0, log, "a")
    queue.run()
    assert log.times == pytest.approx({"a": 4.5})


def test_fifo_sends_one_after_another_and_fair_side_by_side() -> None:
    found = {}
    for kind in (FifoNetwork, FairNetwork):
        queue, log = EventQueue(), Log()
        network: Any = kind(queue, SLOW, 3)
        network.send(0.0, 0, 1, 100.0, log, "a")
        network.send(0.0, 0, 2, 100.0, log, "b")
        queue.run()
        found[kind] = log.times
    assert found[FifoNetwork] == pytest.approx({"a": 1.5, "b": 2.5})
    assert found[FairNetwork] == pytest.approx({"a": 2.5, "b": 2.5})


@pytest.mark.parametrize("kind", [FifoNetwork, FairNetwork])
def test_many_senders_share_the_receivers_way_in(kind: Any) -> None:
    queue, log = EventQueue(), Log()
    network = kind(queue, SLOW, 5)
    for source in range(4):
        network.send(0.0, source, 4, 100.0, log, source)
    queue.run()
    assert max(log.times.values()) == pytest.approx(4.5)


def test_fifo_puts_expected_messages_in_the_order_of_their_arrival() -> None:
    queue, log = EventQueue(), Log()
    network = FifoNetwork(queue, SLOW, 3)
    network.expect(2, 2)
    network.send(10.0, 0, 2, 100.0, log, "late")  # known first, since its sender knew it first
    assert log.times == {}
    network.send(0.0, 1, 2, 100.0, log, "early")
    assert log.times == pytest.approx({"early": 1.5, "late": 11.5})


def test_both_ways_of_an_interface_work_at_once() -> None:
    queue, log = EventQueue(), Log()
    network = FifoNetwork(queue, SLOW, 2)
    network.send(0.0, 0, 1, 100.0, log, "there")
    network.send(0.0, 1, 0, 100.0, log, "back")
    queue.run()
    assert log.times == pytest.approx({"there": 1.5, "back": 1.5})


def test_loopback_takes_the_cores_at_both_ends() -> None:
    profile = Profile("one", latency=0.0, host_cores=2, send_byte_cpu=0.01, recv_byte_cpu=0.03)
    queue, log = EventQueue(), Log()
    cores = SharingServer(queue, 2.0)
    network = Loopback(queue, profile, cores)
    network.send(0.0, 0, 1, 100.0, log, "a")  # 1 s and 3 s, each on a core
    queue.run()
    assert log.times == pytest.approx({"a": 3.0})
    start = queue.now
    for name in "bc":  # 8 s of work on 2 cores: both receivers still have 2 s when senders end
        network.send(start, 0, 1, 100.0, log, name)
    queue.run()
    assert max(log.times.values()) - start == pytest.approx(4.0)
    assert network.sent == network.received == 300.0
