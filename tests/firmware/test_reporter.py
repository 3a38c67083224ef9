"""The reporter: in order, never lost, never obeying the past; over a bus in memory with real time in our hand."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_py.health import Vitals
from firmware_py.outbox import Outbox
from firmware_py.reporter import RESEND_S, WINDOW, Reporter
from hub.link import topics
from hub.link.clock import ManualClock
from hub.link.memory import MemoryBroker, MemoryBus
from hub.link.messages import (
    MAX_BYTES,
    BeamWarning,
    Doubt,
    MessageError,
    Shot,
    decode,
    encode,
)
from hub.link.messages import Health as HealthMessage
from tests.firmware.fakehub import FakeHub

STATUS, HEALTH = topics.status("b1", "beam"), topics.health("b1", "beam")


class Board:
    """One source on a broker in memory, which can lose its power."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "beam-outbox.sqlite3"
        self.broker = MemoryBroker()
        self.real_s = 1000.0
        self.clock = ManualClock()
        self.power_up()

    def power_up(self) -> None:
        self.outbox = Outbox(self.path, real_s=lambda: self.real_s)
        self.vitals = Vitals(
            version="1",
            source="beam",
            capabilities=("twenties",),
            boot=self.outbox.boot,
            temperature_c=lambda: None,
        )
        self.bus: MemoryBus = self.broker.bus()
        self.reporter = Reporter(
            board="b1",
            source="beam",
            bus=self.bus,
            outbox=self.outbox,
            clock=self.clock,
            vitals=self.vitals,
            real_s=lambda: self.real_s,
        )
        self.reporter.start()
        self.reporter.pump()

    def power_cut(self) -> None:
        self.bus.vanish()
        self.outbox.close()
        self.reporter._inbox.close()

    def report(self, count: int = 1) -> None:
        for _ in range(count):
            self.clock.at_ns += 1
            self.reporter.report(BeamWarning("stuck", self.clock.at_ns))

    def hub(self, *, acks: bool = True) -> FakeHub:
        hub = FakeHub(self.broker.bus(), acks=acks).start()
        self.reporter.pump()
        return hub

    def tell(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        other = self.broker.bus()
        other.start()
        other.publish(topic, payload, retain=retain)
        other.close()


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    board = Board(tmp_path)
    yield board
    board.outbox.close()


def dates(hub: FakeHub) -> list[int]:
    return [fact.at_ns for fact in hub.facts() if isinstance(fact, BeamWarning)]


def test_facts_reach_the_hub_and_leave_the_outbox(board: Board) -> None:
    hub = board.hub()
    board.report(3)
    board.reporter.pump()
    assert dates(hub) == [1, 2, 3]
    assert [(e.seq, e.first) for e in hub.arrivals] == [(1, 1), (2, 1), (3, 1)]
    assert board.reporter.outstanding == 0
    assert board.reporter.wait_acknowledged(0.0)


def test_an_envelope_says_when_and_where(board: Board) -> None:
    hub = board.hub()
    board.clock.at_ns = 50
    board.reporter.report(BeamWarning("stuck", 40), known_ns=45)
    (envelope,) = hub.arrivals
    assert (envelope.board, envelope.source, envelope.kind) == ("b1", "beam", "beam_warning")
    assert (envelope.mono_ns, envelope.sent_ns) == (45, 50)
    assert envelope.boot == board.reporter.boot
    assert len(envelope.machine_boot) == 36


def test_facts_wait_while_the_broker_is_away_and_go_in_order_when_it_is_back(board: Board) -> None:
    hub = board.hub()
    board.broker.stop(forget=True)
    board.report(5)
    board.reporter.pump()
    assert dates(hub) == []
    board.broker.start()
    board.reporter.pump()
    assert dates(hub) == [1, 2, 3, 4, 5]
    board.reporter.pump()
    assert board.reporter.outstanding == 0


def test_forty_facts_survive_a_power_cut_while_the_broker_is_away(board: Board) -> None:
    """F14: broker away, 40 events, power cycle in between: all exactly once, in order."""
    board.broker.stop()
    board.report(25)
    board.power_cut()
    board.power_up()
    board.report(15)
    hub = board.hub()
    board.broker.start()
    for _ in range(3):
        board.reporter.pump()
    assert dates(hub) == list(range(1, 41))
    assert len(hub.arrivals) == 40
    assert board.reporter.outstanding == 0


def test_a_hub_that_comes_back_gets_what_it_has_not_acknowledged(board: Board) -> None:
    deaf = board.hub(acks=False)
    board.report(3)
    deaf.stop()
    hub = board.hub()
    board.reporter.pump()
    assert dates(hub) == [1, 2, 3]


def test_without_an_acknowledgement_facts_are_sent_again_after_five_seconds(board: Board) -> None:
    hub = board.hub(acks=False)
    board.report(2)
    board.real_s += RESEND_S - 0.1
    board.reporter.pump()
    assert len(hub.arrivals) == 2
    board.real_s += 0.2
    board.reporter.pump()
    assert [e.seq for e in hub.arrivals] == [1, 2, 1, 2]
    board.reporter.pump()
    assert len(hub.arrivals) == 4


def test_an_acknowledgement_is_progress_that_delays_resending(board: Board) -> None:
    hub = board.hub(acks=False)
    board.report(3)
    board.real_s += 4.0
    hub.acknowledge("b1", "beam", board.reporter.boot, 1)
    board.reporter.pump()
    board.real_s += 4.0
    board.reporter.pump()
    assert [e.seq for e in hub.arrivals] == [1, 2, 3]
    board.real_s += 1.1
    board.reporter.pump()
    assert [(e.seq, e.first) for e in hub.arrivals[3:]] == [(2, 2), (3, 2)]


def test_only_so_many_facts_are_in_flight(board: Board) -> None:
    hub = board.hub(acks=False)
    board.report(WINDOW + 30)
    board.reporter.pump()
    assert len(hub.arrivals) == WINDOW
    hub.acknowledge("b1", "beam", board.reporter.boot, 10)
    board.reporter.pump()
    assert [e.seq for e in hub.arrivals] == list(range(1, WINDOW + 11))


def test_three_hundred_waiting_facts_all_arrive_in_order(board: Board) -> None:
    board.report(300)
    hub = board.hub()
    while board.reporter.outstanding:
        board.reporter.pump()
    assert dates(hub) == list(range(1, 301))
    order = [e.seq for e in hub.arrivals]
    assert [seq for seq in order if order.index(seq) == seq - 1] == list(range(1, 301))


def test_status_and_health_are_told_on_every_connection(board: Board) -> None:
    """F13: a broker that restarts without persistence has lost what was retained."""
    assert board.broker.retained[STATUS] == b"online"
    board.broker.stop(forget=True)
    board.broker.start()
    board.reporter.pump()
    assert board.broker.retained[STATUS] == b"online"
    health = decode(board.broker.retained[HEALTH], HealthMessage)
    assert health.boot == board.reporter.boot
    assert health.capabilities == ("twenties",)


def test_a_goodbye_says_offline(board: Board) -> None:
    board.reporter.close()
    assert board.broker.retained[STATUS] == b"offline"


@pytest.mark.parametrize("payload", [b"offline", b"", b"{", b"\xff"])
def test_nothing_that_others_say_of_this_source_stands(board: Board, payload: bytes) -> None:
    """Above all not the last will of an earlier life, which may come late."""
    board.tell(STATUS, payload, retain=True)
    board.reporter.pump()
    assert board.broker.retained[STATUS] == b"online"


def test_a_fault_is_in_health_at_once_and_in_the_log_once(board: Board, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    for _ in range(5):
        board.reporter.fault("chatter", "21 edges a second")
        board.reporter.pump()
    assert decode(board.broker.retained[HEALTH], HealthMessage).faults == ("chatter",)
    for _ in range(2):
        board.reporter.well("chatter")
        board.reporter.pump()
    assert decode(board.broker.retained[HEALTH], HealthMessage).faults == ()
    assert [record.message for record in caplog.records if "chatter" in record.message] == [
        "beam: fault chatter: 21 edges a second",
        "beam: fault chatter is over",
    ]


def test_health_is_not_told_more_than_once_a_second(board: Board) -> None:
    before = sum(m.topic == HEALTH for m in board.broker.log)
    for _ in range(50):
        board.report()
        board.reporter.pump()
    assert sum(m.topic == HEALTH for m in board.broker.log) == before
    board.real_s += 1.1
    board.reporter.pump()
    assert sum(m.topic == HEALTH for m in board.broker.log) == before + 1


def test_health_says_since_when_a_source_can_tell_what_it_can(board: Board) -> None:
    first = decode(board.broker.retained[HEALTH], HealthMessage)
    board.bus.lose()
    board.clock.at_ns += 7_000_000_000
    board.vitals.capabilities = ()
    board.reporter.pump()
    board.clock.at_ns += 50_000_000_000
    board.bus.join()
    board.real_s += 60
    board.reporter.pump()
    health = decode(board.broker.retained[HEALTH], HealthMessage)
    assert health.capabilities == ()
    assert health.able_since_ns == first.able_since_ns + 7_000_000_000, "when it changed, not when it could be told"
    assert health.machine_boot == first.machine_boot != ""


def test_requests_reach_the_boot_they_name(board: Board) -> None:
    hub = board.hub()
    hub.request("b1", "self-test", board.reporter.boot)
    hub.request("b1", "self-test", "another boot")
    hub.request("another-board", "self-test", board.reporter.boot)
    board.reporter.pump()
    assert [name for name, _ in board.reporter.requests()] == ["self-test"]
    assert board.reporter.requests() == []


def test_a_retained_request_is_never_obeyed(tmp_path: Path) -> None:
    """F11: a retained command would be obeyed at each start."""
    board = Board(tmp_path)
    board.tell(topics.do("b1", "self-test"), b'{"boot":"%s"}' % board.reporter.boot.encode(), retain=True)
    board.broker.stop()
    board.broker.start()
    board.reporter.pump()
    board.reporter.requests()
    board.broker.stop()
    board.broker.start()
    board.reporter.pump()
    assert board.reporter.requests() == []
    assert board.vitals.bad_messages == 2
    board.outbox.close()


@pytest.mark.parametrize(
    "payload",
    [
        b'{"seq":',
        b"\xff\xfe",
        b"[]",
        b'{"boot":1,"seq":1}',
        b'{"boot":null,"seq":"1"}',
        b"",
        b"[" * 50_000,
        b"x" * 10**6,
    ],
)
def test_rubbish_is_counted_and_the_next_acknowledgement_is_heard(board: Board, payload: bytes) -> None:
    """F15: bad JSON, a megabyte, no UTF-8, a number as text."""
    hub = board.hub(acks=False)
    board.report(2)
    board.tell(topics.ack("b1", "beam"), payload)
    board.tell(topics.do("b1", "self-test"), payload)
    board.reporter.pump()
    assert board.vitals.bad_messages == 2
    hub.acknowledge("b1", "beam", board.reporter.boot, 2)
    board.reporter.pump()
    assert board.reporter.outstanding == 0


def test_rubbish_is_logged_once(board: Board, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(10):
        board.tell(topics.ack("b1", "beam"), b"rubbish")
    board.reporter.pump()
    assert len([r for r in caplog.records if "skipped" in r.message]) == 1
    assert board.vitals.bad_messages == 10


def test_a_retained_acknowledgement_is_no_acknowledgement(board: Board) -> None:
    board.report(2)
    ack = b'{"boot":"%s","seq":2}' % board.reporter.boot.encode()
    board.tell(topics.ack("b1", "beam"), ack, retain=True)
    board.broker.stop()
    board.reporter.pump()
    assert board.reporter.outstanding == 0, "heard as it was sent"
    board.report(1)
    board.broker.start()
    board.reporter.pump()
    assert board.reporter.outstanding == 1


def test_an_acknowledgement_of_facts_never_given_out_is_counted_as_bad(board: Board) -> None:
    hub = board.hub(acks=False)
    board.report(2)
    hub.acknowledge("b1", "beam", board.reporter.boot, 99)
    board.reporter.pump()
    assert board.reporter.outstanding == 2
    assert board.vitals.bad_messages == 1


def test_repeated_acknowledgements_do_no_harm(board: Board) -> None:
    hub = board.hub(acks=False)
    board.report(3)
    for _ in range(3):
        hub.acknowledge("b1", "beam", board.reporter.boot, 2)
    board.reporter.pump()
    assert board.reporter.outstanding == 1


def test_a_fact_too_long_for_a_message_gets_no_number(board: Board) -> None:
    crop = b"x" * MAX_BYTES
    shot = Shot("d1", "light", None, (), {"d1": "ditch"}, 0, 1, 1.0, (Doubt("contact", ("d1",), (), crop),))
    with pytest.raises(MessageError, match="at most"):
        board.reporter.report(shot)
    assert board.reporter.last_seq == 0
    assert board.reporter.outstanding == 0


def test_the_largest_fact_fits_with_its_envelope(board: Board) -> None:
    hub = board.hub()
    crop = b"x" * 47_000
    shot = Shot("d1", "light", None, (), {"d1": "ditch"}, 0, 1, 1.0, (Doubt("contact", ("d1",), (), crop),))
    assert len(encode(shot)) > MAX_BYTES - 3000
    board.reporter.report(shot)
    assert hub.facts() == [shot]


def test_a_medium_in_trouble_is_a_fault_until_it_is_mended(board: Board) -> None:
    assert board.outbox._database is not None
    board.outbox._database.execute("PRAGMA query_only = ON")
    board.report(2)
    assert "outbox" in board.vitals.faults
    hub = board.hub()
    board.reporter.pump()
    assert dates(hub) == [1, 2], "reported all the same"
    board.outbox._database.execute("PRAGMA query_only = OFF")
    board.real_s += 6.0
    board.reporter.pump()
    assert board.vitals.faults == ()


def test_a_second_board_of_the_same_id_is_suspected_when_the_connection_flaps(board: Board) -> None:
    def flap(count: int, pause_s: float) -> None:
        for _ in range(count):
            board.broker.stop()
            board.broker.start()
            board.reporter.pump()
            board.real_s += pause_s

    flap(3, 1.0)
    assert board.vitals.faults == ()
    board.real_s += 61.0
    board.reporter.pump()
    flap(5, 30.0)
    assert board.vitals.faults == (), "a bad network is none"
    flap(4, 1.0)
    assert board.vitals.faults == ("broker",)
    board.real_s += 61.0
    board.reporter.pump()
    assert board.vitals.faults == ()


def test_facts_of_a_neighbour_are_heard_and_rubbish_of_it_is_counted(board: Board) -> None:
    other, bus = Outbox(board.path.with_name("camera-outbox.sqlite3")), board.broker.bus()
    vitals = Vitals(version="1", source="camera", capabilities=(), boot=other.boot, temperature_c=lambda: None)
    camera = Reporter(
        board="b1", source="camera", bus=bus, outbox=other, clock=board.clock, vitals=vitals, hears=("beam",)
    )
    camera.start()
    board.reporter.report(BeamWarning("stuck", 7))
    speaker = board.broker.bus()
    speaker.start()
    speaker.publish(topics.fact("b1", "beam"), b"{")
    speaker.publish(topics.fact("b2", "beam"), b"{")
    camera.pump()
    assert [(envelope.source, fact) for envelope, fact in camera.heard()] == [("beam", BeamWarning("stuck", 7))]
    assert camera.heard() == []
    assert vitals.bad_messages == 1
    assert board.reporter.heard() == []
    camera.close()
