"""Who may ask what: roles, PINs, invitations, and the files that hold tokens and PINs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hub.link import topics
from hub.link.config import Config, ConfigError
from hub.link.messages import Ask, encode
from hub.people.roles import DeniedError, Grant, People, digest, hash_pin, read_pins, read_tokens, right_pin
from hub.service import open_people
from hub.store.journal import Journal
from tests.hub.harness import TOKEN, WALL_MS, Club

DAY_MS = 24 * 3_600_000


@pytest.fixture
def club(quick_path: Path) -> Iterator[Club]:
    club = Club(quick_path, ("b1", "b2"))
    yield club
    club.close()


@pytest.mark.parametrize(
    ("grant", "board", "request_", "code"),
    [
        (None, "b1", "start", "no_token"),
        (Grant("table", "b1", 500), "b1", "start", "no_token"),
        (Grant("table", "b2"), "b1", "start", "other_board"),
        (Grant("viewer", "b1"), "b1", "start", "not_allowed"),
        (Grant("table", "b1"), "hub", "start", "not_here"),
        (Grant("table", "b1", 2000), "b1", "start", ""),
        (Grant("organiser", ""), "b1", "start", ""),
        (Grant("organiser", ""), "hub", "invite", ""),
        (Grant("organiser", ""), "b1", "invite", "not_here"),
        (Grant("table", "b1"), "hub", "invite", "other_board"),
        (Grant("referee", ""), "hub", "invite", "not_allowed"),
        (Grant("referee", "b1"), "b1", "correct", ""),
    ],
)
def test_who_may_do_what(grant: Grant | None, board: str, request_: str, code: str) -> None:
    people = People({digest("t"): grant} if grant is not None else {})
    if code:
        with pytest.raises(DeniedError) as denied:
            people.allow("t", board, request_, 1000)
        assert denied.value.code == code
    else:
        assert people.allow("t", board, request_, 1000) is grant


def test_a_pin_is_limited_to_a_few_wrong_tries() -> None:
    people = People()
    for _ in range(5):
        people.may_try("b1", 1000)
        people.tried("b1", 1000, right=False)
    with pytest.raises(DeniedError, match="try again in 60 s"):
        people.may_try("b1", 1000)
    people.may_try("b2", 1000)
    people.may_try("b1", 61_001)
    people.tried("b1", 61_001, right=False)
    with pytest.raises(DeniedError, match="try again in 120 s"):
        people.may_try("b1", 61_001)
    people.tried("b1", 200_000, right=True)
    people.may_try("b1", 200_001)


@pytest.mark.parametrize("known", ["4711", None])
def test_a_pin_may_be_stored_plain_or_hashed(known: str | None) -> None:
    stored = known if known is not None else hash_pin("4711")
    assert right_pin(stored, "4711")
    assert not right_pin(stored, "4712")
    assert not right_pin(None, "4711")
    assert not right_pin("$argon2id$broken", "4711")


def test_login_gives_a_token_that_works_and_survives_a_restart(club: Club) -> None:
    assert club.hub is not None
    club.hub._people.pins = {"b1": "4711", "hub": "secret words"}
    answer = login(club, "b1", "4711")
    assert (answer.body["role"], answer.body["board"]) == ("table", "b1")
    assert club.ask("start", {}, token=answer.body["token"]).ok
    assert login(club, "b1", "4712").error.startswith("wrong_pin:")
    assert login(club, "hub", "secret words").body["role"] == "organiser"
    assert kept(club, answer.body["token"]) == Grant("table", "b1", WALL_MS + DAY_MS)


def test_an_organiser_s_invitation_lets_people_in_at_one_table_for_a_day(club: Club) -> None:
    assert club.hub is not None
    people = club.hub._people
    club.ask("start", {}, "b1")
    answer = club.ask("invite", {"board": "b1"}, "hub", token=f"{TOKEN}-organiser")
    assert (answer.ok, answer.body["role"], answer.body["board"]) == (True, "table", "b1")
    token = answer.body["token"]
    assert club.ask("correct", {"side": "A", "twenties": 1}, token=token).ok
    assert club.ask("start", {}, "b2", token=token).error.startswith("other_board:")
    assert club.ask("invite", {"board": "b1"}, "hub", token=token).error.startswith("other_board:")
    assert people.allow(token, "b1", "correct", WALL_MS + DAY_MS - 1)
    with pytest.raises(DeniedError, match="no_token"):
        people.allow(token, "b1", "correct", WALL_MS + DAY_MS)
    assert kept(club, token) == Grant("table", "b1", WALL_MS + DAY_MS)


def test_an_invitation_asked_for_again_as_after_a_lost_answer_is_the_same_one(club: Club) -> None:
    assert club.hub is not None
    grants = len(club.hub._people.grants)
    first, again = (
        club.ask("invite", {"board": "b1"}, "hub", id="same", token=f"{TOKEN}-organiser").body for _ in range(2)
    )
    assert first["token"] == again["token"]
    assert len(club.hub._people.grants) == grants + 1


def test_nobody_is_invited_to_a_board_that_is_not_there(club: Club) -> None:
    answer = club.ask("invite", {"board": "b9"}, "hub", token=f"{TOKEN}-organiser")
    assert answer.error == "no_board: there is no board 'b9' here"


def kept(club: Club, token: str) -> Grant | None:
    """What a token is good for once the hub has started anew."""
    club.close()
    journal = Journal(club.url)
    people = open_people(Config(), journal)
    journal.close()
    return people.grants.get(digest(token))


def login(club: Club, board: str, pin: str) -> Any:
    """Checking a PIN takes another thread, so the answer comes with a later turn."""
    assert club.hub is not None
    ask_id = f"login-{board}-{pin.replace(' ', '-')}"
    ask = Ask(ask_id, "phone", "", 0, b"")
    body = msgspec.Raw(msgspec.json.encode({"board": board, "pin": pin}))
    club.bus.publish(topics.ask("hub", "login"), encode(Ask(ask.id, ask.client, "", 0, body)))
    club.turn()
    club.hub._pins.submit(lambda: None).result(10)
    club.turn()
    return club.answers[ask_id]


def test_token_and_pin_files_are_read(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch(mode=0o600)
    tokens.write_text('{"token": "0123456789abcdef", "role": "table", "board": "b1"}\n\n')
    assert read_tokens(tokens) == {digest("0123456789abcdef"): Grant("table", "b1")}
    pins = tmp_path / "pins"
    pins.touch(mode=0o600)
    pins.write_text("b1 4711\nhub two words\n")
    assert read_pins(pins) == {"b1": "4711", "hub": "two words"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"token": "0123456789abcdef", "role": "king"}', "line 1"),
        ('{"token": "short", "role": "table"}', "16 characters"),
        ("hello", "line 1"),
        ("\n\nhello", "line 3"),
        ('{"token": "0123456789abcdef", "role": "table"}\n' * 2, "line 2: this token stands there twice"),
        ('{"token": "0123456789abcdef", "role": "table", "board": "B 1"}', "board id"),
    ],
)
def test_a_bad_line_of_a_token_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch(mode=0o600)
    tokens.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_tokens(tokens)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("b1", "line 1: expected"),
        ("b1 1111\n\nB1 2222", "line 3: expected"),
        ("b1 1111\nb2 2222\n\n b1  3333\n", "line 4: board 'b1' has a PIN already"),
        ("b1 1111\nb1 1111", "line 2: board 'b1'"),
        ("hub one\nhub two", "line 2: board 'hub'"),
    ],
)
def test_a_bad_line_of_a_pin_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    pins = tmp_path / "pins"
    pins.touch(mode=0o600)
    pins.write_text(text)
    with pytest.raises(ConfigError, match=f"{pins}: {said}"):
        read_pins(pins)


def test_a_secret_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("")
    tokens.chmod(0o644)
    with pytest.raises(ConfigError, match="0600"):
        read_tokens(tokens)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_pins(tmp_path / "none")
