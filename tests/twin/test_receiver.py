"""The break-beam's receiver: the emitter's delay, fingers, the lamp, and edges that make sense."""

import itertools

from hardware.twin.receiver import EMITTER_DELAY_NS, Receiver

MS = 1_000_000


def quiet_receiver() -> Receiver:
    """One whose lamp does not flicker in the first second."""
    return next(r for k in range(100) if (r := Receiver(f"q{k}"))._lamp[0] > 1000 * MS)


def run(receiver: Receiver, until_ms: int, inside: range = range(0)) -> list[tuple[int, bool]]:
    for ms in range(1, until_ms + 1):
        receiver.observe(ms * MS, disc_inside=ms in inside)
    return receiver.take(until_ms * MS)


def test_the_receiver_follows_the_emitter_after_a_third_of_a_millisecond() -> None:
    receiver = quiet_receiver()
    receiver.emitter(100 * MS, on=False)
    receiver.emitter(110 * MS, on=True)
    assert run(receiver, 200) == [(100 * MS + EMITTER_DELAY_NS, True), (110 * MS + EMITTER_DELAY_NS, False)]


def test_a_self_test_over_a_disc_makes_no_edge() -> None:
    receiver = quiet_receiver()
    run(receiver, 50, range(1, 1000))
    receiver.emitter(100 * MS, on=False)
    receiver.emitter(110 * MS, on=True)
    for ms in range(51, 201):
        receiver.observe(ms * MS, disc_inside=True)
    assert receiver.take(200 * MS) == []


def test_an_emitter_left_dark_is_lit_again_by_the_next_daemon() -> None:
    receiver = quiet_receiver()
    receiver.emitter(10 * MS, on=False)
    run(receiver, 20)
    assert receiver.blocked
    receiver.relight()
    assert not receiver.blocked


def test_a_disc_blocks_until_it_is_taken_whatever_bounces() -> None:
    for seed in range(30):
        receiver = Receiver(f"d{seed}")
        if receiver._lamp[0] < 600 * MS:
            continue
        edges = run(receiver, 600, range(100, 400))
        assert edges[0] == (100 * MS, True)
        assert edges[-1][1] is False
        assert [blocked for _, blocked in edges] == [k % 2 == 0 for k in range(len(edges))]
        assert all(b > a for (a, _), (b, _) in itertools.pairwise(edges))
        assert all(at_ns < 110 * MS or at_ns >= 400 * MS for at_ns, _ in edges)


def test_fingers_chatter_for_as_long_as_they_fumble() -> None:
    receiver = quiet_receiver()
    receiver.fingers(100 * MS, 200 * MS)
    edges = run(receiver, 500)
    assert len(edges) >= 4
    assert all(100 * MS <= at_ns <= 300 * MS for at_ns, _ in edges)
    assert not receiver.blocked


def test_a_lamp_flickers_now_and_then_and_only_for_moments() -> None:
    receiver = Receiver("lamp")
    edges = run(receiver, 600_000)
    assert 4 <= len(edges) <= 60
    for (dark_ns, dark), (clear_ns, clear) in zip(edges[::2], edges[1::2], strict=True):
        assert dark
        assert not clear
        assert clear_ns - dark_ns <= 31 * MS


def test_a_switching_whose_time_is_over_comes_at_once_and_lights_as_much_later() -> None:
    receiver = quiet_receiver()
    run(receiver, 500)
    receiver.emitter(100 * MS, on=False)
    receiver.emitter(110 * MS, on=True)
    receiver.emitter(700 * MS, on=False)
    receiver.emitter(710 * MS, on=True)
    for ms in range(501, 801):
        receiver.observe(ms * MS, disc_inside=False)
    switched = [(500 * MS + 1, False), (510 * MS + 1, True), (700 * MS, False), (710 * MS, True)]
    assert receiver.take_switchings(800 * MS) == switched
    assert receiver.take(800 * MS) == [(at_ns + EMITTER_DELAY_NS, not on) for at_ns, on in switched]
