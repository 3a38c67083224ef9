"""What the hub asks of a camera when something is in doubt, and how a ruling on a doubt stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hub.link.bus import Message
from hub.link.messages import Do, Doubt, Layout, LayoutDisc, MessageError, Place, Shot, decode
from hub.link.pictures import Evidence, FrameAt, Wanted, check_case, pack, unpack, wanted_of
from tests.hub.harness import TOKEN, Club, S
from tests.hub.test_evening import proven

REFEREE = f"{TOKEN}-referee"
JPEG = b"\xff\xd8\xff\xe0 picture"


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path, ("b1",))
    club.wanted = []  # type: ignore[attr-defined]
    club.bus.subscribe("crokinole/1/+/do/picture", lambda message: took(club, message))
    assert club.ask("start", {"rules": "match-play", "level": "judge"}).ok
    yield club
    proven(club)


def took(club: Any, message: Message) -> None:
    do = decode(message.payload, Do)
    club.wanted.append((do.boot, wanted_of(do.body)))


def lying(club: Club, at_s: int, *discs: LayoutDisc) -> None:
    club.fact("camera", Layout(at_s * S, discs), at_s * S)


def shoots(club: Club, at_s: int, disc: LayoutDisc, events: Any = (), doubts: tuple[Doubt, ...] = ()) -> None:
    r_mm = (disc.x_mm**2 + disc.y_mm**2) ** 0.5
    rest = {disc.id: Place(r_mm, 0.0)}
    placed = Place(304.8, 0.0 if disc.colour == "light" else 180.0)
    shot = Shot(disc.id, disc.colour, placed, events, rest, (at_s - 2) * S, at_s * S, doubts=doubts)
    club.fact("camera", shot, at_s * S)


LIGHT = LayoutDisc("d1", "light", 60.0, 20.0, 0.4)
DARK = LayoutDisc("d2", "dark", -150.0, 40.0, 0.4)


def contact_in_doubt(club: Club) -> None:
    lying(club, 100)
    shoots(club, 103, LIGHT)
    lying(club, 104, LIGHT)
    touched, missed = (("hit", "d2", "d1"),), ()
    shoots(club, 113, DARK, touched, (Doubt("contact", ("d2", "d1"), (touched, missed)),))
    lying(club, 114, LIGHT, DARK)


def test_a_new_question_asks_the_camera_for_its_picture_once(club: Club) -> None:
    contact_in_doubt(club)
    (question,) = club.table().questions
    [(boot, wanted)] = club.wanted  # type: ignore[attr-defined]
    assert boot == "boot-1"
    assert (wanted.case, wanted.at_ns) == (f"{club.table().match_id}.{question.id}", 113 * S)
    assert wanted.text == question.text
    assert {disc.id for disc in wanted.discs} <= {"d1", "d2"}
    assert all(disc.limit_mm == 0 for disc in wanted.discs)
    readings = {choice.key: choice.reading for choice in question.choices}
    assert "the shot dark disc touched the light disc" in readings["yes"]
    assert readings["no"].startswith("not so: the shot dark disc touched")


def test_a_call_of_the_referee_asks_for_the_last_shot_without_any_doubt(club: Club) -> None:
    lying(club, 100)
    shoots(club, 103, LIGHT)
    lying(club, 104, LIGHT)
    assert club.ask("referee", {}).ok
    [(_, wanted)] = club.wanted  # type: ignore[attr-defined]
    assert wanted == Wanted(club.table().case, "the referee was called", 103 * S)
    assert club.table().case.startswith(f"{club.table().match_id}.call-")
    assert club.ask("referee_done", {}, token=REFEREE).ok
    assert club.table().case == ""


def test_a_board_without_a_camera_is_asked_for_nothing(quick_path: Path) -> None:
    club: Any = Club(quick_path, ("b1",))
    club.wanted = []
    club.bus.subscribe("crokinole/1/+/do/picture", lambda message: took(club, message))
    club.bus.publish("crokinole/1/b1/status/camera", b"offline", retain=True)
    club.turn()
    assert club.ask("start", {}).ok
    assert club.ask("referee", {}).ok
    assert club.wanted == []
    proven(club)


def line_in_doubt(club: Club) -> str:
    """The last disc of a round lies at the line and decides it."""
    at = LayoutDisc("d24", "dark", 84.7, 0.0, 0.4)
    discs: list[LayoutDisc] = []
    club.ask("abandon", {})
    assert club.ask("start", {"rules": {"base": "match-play", "discs": "8/6"}, "level": "judge"}).ok
    lying(club, 100)
    for number in range(15):
        colour = "dark" if number % 2 else "light"
        disc = LayoutDisc(f"d{number}", colour, 40.0 * (number % 4) - 60, 220.0 - 40 * (number // 4), 0.4)
        events = (("hit", disc.id, discs[-1].id),) if discs else ()
        shoots(club, 110 + 10 * number, disc, events)
        discs.append(disc)
        lying(club, 111 + 10 * number, *discs)
    shoots(club, 300, at, (("hit", "d24", discs[0].id),))
    lying(club, 301, *discs, at)
    return next((q.id for q in club.table().questions if q.kind == "line"), "")


def test_a_ruling_on_a_question_needs_its_reason_and_stands_over_the_table(club: Club) -> None:
    contact_in_doubt(club)
    (question,) = club.table().questions
    body = {"question": question.id, "choice": "no", "reason": " seen in  the clip "}
    assert club.ask("rule", body).error.startswith("not_allowed:")
    assert club.ask("rule", {**body, "reason": " "}, token=REFEREE).error.startswith("no_reason:")
    assert club.ask("rule", {**body, "choice": "maybe"}, token=REFEREE).error.startswith("no_choice:")
    assert club.ask("rule", {**body, "shot": 2, "valid": True}, token=REFEREE).error.startswith("bad_ruling:")
    assert club.ask("rule", {**body, "question": "q"}, token=REFEREE).error.startswith("no_question:")
    assert club.ask("rule", body, token=REFEREE).ok
    table = club.table()
    assert table.questions == ()
    assert table.verdict is not None
    assert (table.verdict.valid, table.verdict.ruled) == (False, "seen in the clip")
    assert (
        club.ask("correct", {"shot": 2, "valid": True}).error
        == "ruled: the referee has ruled on this: seen in the clip"
    )
    club.restart()
    assert club.ask("undo", {}).ok
    assert [q.id for q in club.table().questions] == [question.id]
    assert club.ask("redo", {}).ok
    assert club.table().verdict == table.verdict


def test_the_referees_word_on_a_disc_at_a_line_is_nobody_elses_to_correct(club: Club) -> None:
    question = line_in_doubt(club)
    assert question
    wanted = club.wanted[-1][1]  # type: ignore[attr-defined]
    assert (wanted.discs[0].id, wanted.discs[0].limit_mm) == ("d24", 84.8)
    assert club.ask("rule", {"question": question, "choice": "15", "reason": "clean wood"}, token=REFEREE).ok
    refused = club.ask("correct", {"disc": "d24", "value": 10})
    assert refused.error == "ruled: the referee has ruled on this: clean wood"
    assert club.ask("confirm", {"round": 1}).ok
    assert club.table().rounds[0].ruled == ("a disc at the line is worth 15: clean wood",)


FRAMES = (FrameAt(-40.0, len(JPEG)), FrameAt(0.0, len(JPEG)))
EVIDENCE = Evidence("b1-7.g1-r1-s2-valid", "Did it touch?", len(JPEG), 0, FRAMES, 0.3, 0.4)


def test_an_upload_is_read_as_it_was_written() -> None:
    evidence, pictures = unpack(pack(EVIDENCE, (JPEG, JPEG, JPEG)))
    assert evidence == EVIDENCE
    assert pictures == (JPEG, b"", JPEG, JPEG)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00\x00",
        b"\xff\xff\xff\xff{}",
        b"\x00\x00\x00\x02{}",
        pack(EVIDENCE, (JPEG, JPEG)),
        pack(EVIDENCE, (JPEG, JPEG, JPEG)) + b"x",
        pack(EVIDENCE, (JPEG, JPEG, b"GIF89a" + JPEG[6:])),
        pack(msgspec.structs.replace(EVIDENCE, case="../../etc"), (JPEG, JPEG, JPEG)),
        pack(msgspec.structs.replace(EVIDENCE, frames=FRAMES * 200), (JPEG,) * 401),
    ],
)
def test_what_is_no_upload_is_refused_whole(body: bytes) -> None:
    with pytest.raises(MessageError):
        unpack(body)


@pytest.mark.parametrize("case", ["", ".hidden", "a/b", "a..b", "a b", "x" * 121, "ä"])
def test_a_case_is_a_name_that_is_safe_in_every_folder(case: str) -> None:
    with pytest.raises(MessageError):
        check_case(case)
