"""The broker of docs/club.md, as it stands there: who can say what, and who hears it."""

from __future__ import annotations

import getpass
import queue
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.link import topics
from hub.link.bus import Message
from hub.link.config import parse_config
from hub.link.mqtt import MqttBus
from tests.conftest import PROJECT, BrokerProcess, free_port, require

WAIT_S = 60.0
DOCS = PROJECT / "docs"
USERS = ("hub", "Dashboard", "board-1", "board-2")


def said_by(board: str) -> set[str]:
    return {
        topics.fact(board, "beam"),
        topics.fact(board, "button"),
        topics.status(board, "camera"),
        topics.health(board, "camera"),
        topics.picture(board, "p1"),
    }


def told_to(board: str) -> set[str]:
    return {topics.ack(board, "beam"), topics.do(board, "self-test"), topics.call(board)}


def heard_by_the_camera(board: str) -> set[str]:
    return {topics.fact(board, "beam"), topics.status(board, "camera")}


def asked(board: str) -> set[str]:
    return {topics.ask(board, "start"), topics.ask(board, "login")}


BOARDS = ("board-1", "board-2", "Dashboard")
EVERYTHING = (
    {topic for board in BOARDS for topic in (*said_by(board), *told_to(board), *asked(board), topics.table(board))}
    | asked("hub")
    | {topics.HUB_STATUS, topics.answer("client-1"), "elsewhere/fact/beam", "crokinole/2/board-1/fact/beam"}
)
CONTRACT = {topic for topic in EVERYTHING if topic.startswith(topics.ROOT)}
MAY_SAY = {
    "hub": CONTRACT,
    "board-1": said_by("board-1"),
    "board-2": said_by("board-2"),
    "Dashboard": {t for t in CONTRACT if "/ask/" in t} | said_by("Dashboard"),
}
MAY_HEAR = {
    "hub": CONTRACT,
    "board-1": told_to("board-1") | heard_by_the_camera("board-1") | {topics.HUB_STATUS},
    "board-2": told_to("board-2") | heard_by_the_camera("board-2") | {topics.HUB_STATUS},
    "Dashboard": {t for t in CONTRACT if not any(part in t for part in ("/ask/", "/fact/", "/ack/", "/do/"))}
    | told_to("Dashboard")
    | {topics.fact("Dashboard", "beam")},
}


class Person:
    """A client of the broker that listens to all there is."""

    def __init__(self, url: str, user: str) -> None:
        self.user = user
        self.heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.bus = MqttBus(url.replace("//", f"//{user}@"), f"test-{user}", password=f"secret of {user}")
        connected: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.bus.on_connection(connected.put)
        for topic in sorted(EVERYTHING):
            self.bus.subscribe(topic, self.heard.put)
        self.bus.start()
        assert connected.get(timeout=WAIT_S)

    def until(self, payload: bytes, count: int = 1) -> set[tuple[str, bytes]]:
        """What has come up to so many messages of a payload."""
        got: list[Message] = []
        while sum(message.payload == payload for message in got) < count:
            got.append(self.heard.get(timeout=WAIT_S))
        return {(message.topic, message.payload) for message in got}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    """The configuration of the documentation, included as Debian's own includes it."""
    passwords, rules = tmp_path / "passwd", tmp_path / "acl"
    passwords.touch(mode=0o600)
    for user in USERS:
        subprocess.run(
            [require("mosquitto_passwd"), "-b", passwords, user, f"secret of {user}"], check=True, timeout=20
        )
    rules.write_text((DOCS / "crokinole.acl").read_text(encoding="utf-8"))
    rules.chmod(0o600)
    port = free_port()
    ours = (DOCS / "mosquitto.conf").read_text(encoding="utf-8")
    for there, here in (
        ("listener 1883", f"listener {port} 127.0.0.1"),
        ("/etc/mosquitto/crokinole.passwd", str(passwords)),
        ("/etc/mosquitto/crokinole.acl", str(rules)),
    ):
        assert ours.count(f"{there}\n") == 1
        ours = ours.replace(there, here)
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (folder / "crokinole.conf").write_text(ours)
    main = tmp_path / "mosquitto.conf"
    main.write_text(
        f"user {getpass.getuser()}\npersistence true\npersistence_location {tmp_path}/\ninclude_dir {folder}\n"
    )
    broker = BrokerProcess([require("mosquitto"), "-c", str(main)], port)
    broker.start()
    yield broker
    broker.stop()


def test_everybody_can_say_and_hear_just_what_is_theirs(broker: BrokerProcess) -> None:
    people = [Person(broker.url, user) for user in USERS]
    hub = people[0]
    try:
        for person in people[1:]:
            for topic in sorted(EVERYTHING):
                person.bus.publish(topic, person.user.encode())
            # The last word comes after all others, on a topic that is the person's own.
            person.bus.publish(min(MAY_SAY[person.user]), b"done")
        said = hub.until(b"done", count=len(people) - 1)
        for user in USERS[1:]:
            assert {topic for topic, payload in said if payload == user.encode()} == MAY_SAY[user], user
        for topic in sorted(EVERYTHING - {topics.HUB_STATUS}):
            hub.bus.publish(topic, b"hub")
        hub.bus.publish(topics.HUB_STATUS, b"hub")
        hub.bus.publish(topics.HUB_STATUS, b"end")
        for person in people:
            heard = {topic for topic, payload in person.until(b"end") if payload == b"hub"}
            assert heard == MAY_HEAR[person.user], person.user
    finally:
        for person in people:
            person.bus.close()


@pytest.mark.parametrize(
    "login",
    [(), (b"board-1", b"guessed"), (b"nobody", b"secret of hub"), (b"board-1",)],
    ids=["nobody", "wrong password", "unknown user", "no password"],
)
def test_nobody_gets_in_without_a_password(broker: BrokerProcess, login: tuple[bytes, ...]) -> None:
    fields = [b"client", *login]
    flags = (0x02, 0x82, 0xC2)[len(login)]
    packet = b"\x00\x04MQTT\x04" + bytes([flags]) + b"\x00\x3c"
    packet += b"".join(len(field).to_bytes(2, "big") + field for field in fields)
    with socket.create_connection(("127.0.0.1", broker.port), 10) as line:
        line.sendall(b"\x10" + bytes([len(packet)]) + packet)
        connack = line.recv(4)
    assert connack[:3] == b"\x20\x02\x00"
    assert connack[3] in {4, 5}, "bad user name or password, or not authorised"


def test_the_configurations_of_the_page_are_good() -> None:
    page = (DOCS / "club.md").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in page.split("```toml\n")[1:]]
    users = [parse_config(block, "club.md").mqtt.url.split("//")[1].split("@")[0] for block in blocks]
    assert users == ["hub", "Dashboard", "board-1"]
