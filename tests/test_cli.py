"""The command line as people meet it: one clear line and the right exit status for what is wrong."""

from __future__ import annotations

import fcntl
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT

FULL = Path("/dev/full")
ROUND = {
    "id": "R1/classic",
    "title": "one twenty against nothing",
    "rules": "classic",
    "given": {"scores": {"A": 0, "B": 0}, "points": {"A": 0, "B": 0}, "twenties": {"A": 1, "B": 0}},
    "expect": {"added": {"A": 15, "B": 0}},
}


def crokinole(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "crokinole", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, cwd=cwd, check=False)


def assert_one_line(done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
    assert done.returncode == status, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert all(word in lines[0] for word in words), lines[0]


@pytest.mark.parametrize("daemon", ["beam", "camera", "hub", "dashboard"])
def test_every_daemon_checks_its_configuration(daemon: str, tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text("[beam]\npinn = 4\n")
    assert_one_line(crokinole(daemon, "--config", str(path), "--check-config"), 2, "board.toml", "'pinn'", "'pin'")
    path.write_text('[board]\npreset = "../hobby"\n')
    assert_one_line(crokinole(daemon, "--config", str(path), "--check-config"), 2, "board.toml", "preset", "hobby")
    path.write_text("[beam]\npin = 4\n")
    assert crokinole(daemon, "--config", str(path), "--check-config").returncode == 0


def test_the_hub_looks_beforehand_for_its_rules_and_whether_its_database_can_be_one(tmp_path: Path) -> None:
    path = tmp_path / "hub.toml"
    for text, words in (
        ("standing_rules = 'clasic'", ("[hub] standing_rules", "'classic'")),
        ("standing_rules = 'nowhere.toml'", ("[hub] standing_rules", "nowhere.toml")),
        ("database = 'sqlite:///hub.sqlite3?mode=ro'", ("[hub] database", "%3F")),
    ):
        path.write_text(f"[hub]\n{text}\n")
        assert_one_line(crokinole("hub", "--config", str(path), "--check-config"), 2, *words)


SECRETS = [
    *[(daemon, "[mqtt]\npassword_file = 'secret'\n") for daemon in ("beam", "camera", "hub", "dashboard")],
    ("hub", "[hub]\npin_file = 'secret'\n"),
    ("hub", "[hub]\ntoken_file = 'secret'\n"),
    ("camera", "[board]\npages = 'http://hub.local'\ntoken_file = 'secret'\n"),
    ("dashboard", "[dashboard]\nsecret_file = 'secret'\n"),
]


@pytest.mark.parametrize(("daemon", "settings"), SECRETS)
def test_a_secret_that_others_may_read_is_told_beforehand(daemon: str, settings: str, tmp_path: Path) -> None:
    secret, path = tmp_path / "secret", tmp_path / "club.toml"
    path.write_text(settings.replace("'secret'", f"'{secret}'"))
    secret.write_text("")
    secret.chmod(0o644)
    asked = (daemon, "--config", str(path), "--check-config")
    assert_one_line(crokinole(*asked), 2, str(secret), "0644", "chmod 600")
    secret.chmod(0o600)
    assert crokinole(*asked).returncode == 0
    secret.unlink()
    if daemon == "dashboard" and "secret_file" in settings:
        assert crokinole(*asked).returncode == 0, "a key for cookies is made when it is missing"
    else:
        assert_one_line(crokinole(*asked), 2, str(secret), "cannot be read")


@pytest.mark.parametrize("daemon", ["beam", "camera", "hub", "dashboard"])
def test_every_daemon_shows_its_configuration(daemon: str) -> None:
    done = crokinole(daemon, "--show-config")
    assert done.returncode == 0
    assert "[mqtt]" in done.stdout


def test_a_daemon_shows_where_its_database_is_and_not_how_to_get_in(tmp_path: Path) -> None:
    path = tmp_path / "hub.toml"
    path.write_text("[hub]\ndatabase = 'postgresql://club:s3cret@db.local/crokinole'\n")
    done = crokinole("hub", "--config", str(path), "--show-config")
    assert (done.returncode, "club:***@db.local/crokinole" in done.stdout) == (0, True)
    assert "s3cret" not in done.stdout + done.stderr


def test_a_missing_configuration_is_named() -> None:
    assert_one_line(crokinole("hub", "--config", "nowhere.toml"), 2, "nowhere.toml", "No such file")


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("cv2", "'.[vision]'", ("photo", "board.jpg")),
        ("cv2", "'.[vision]'", ("watch", "board.mp4")),
        ("cv2", "'.[vision]'", ("calibrate",)),
        ("cv2", "'.[vision]'", ("camera",)),
        ("numpy", "'.[vision]'", ("bench", "vision")),
        ("amqtt", "'.[demo]'", ("broker",)),
        ("amqtt", "'.[demo]'", ("demo",)),
        ("pymunk", "'.[demo]'", ("twin", "--socket", "s", "--memory", "m", "--truth", "t")),
        ("sqlalchemy", "requirements.lock .", ("hub",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_a_missing_package_is_named_with_what_brings_it(
    package: str, extra: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    stand_in = f"raise ModuleNotFoundError('not here', name={package!r})"
    (tmp_path / f"{package}.py").write_text(stand_in)  # the working folder comes first on the path
    assert_one_line(crokinole(*arguments, cwd=tmp_path), 3, repr(package), extra)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bogus",), ("crokinole:", "bogus", "'crokinole --help'")),
        (("demo", "--boards", "0"), ("crokinole demo:", "--boards", "1<=x<=60")),
        (("demo", "--bords", "2"), ("crokinole demo:", "--bords", "--boards")),
        (("photo",), ("crokinole photo:", "FILES")),
        (("broker", "--port", "80x"), ("crokinole broker:", "--port", "80x")),
        (("bench", "kitchen"), ("crokinole bench:", "kitchen", "rules")),
    ],
    ids=" ".join,
)
def test_a_slip_in_the_command_is_one_line(arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    assert_one_line(crokinole(*arguments), 2, *words)


def test_a_broker_names_a_port_that_is_taken_and_an_address_that_is_not_here() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert_one_line(crokinole("broker", "--port", port), 3, f"127.0.0.1:{port} is taken", "--port")
    assert_one_line(crokinole("broker", "--host", "192.0.2.77"), 3, "192.0.2.77", "--host")


def test_the_demo_names_a_host_that_is_not_here() -> None:
    assert_one_line(crokinole("demo", "--host", "192.0.2.77"), 2, "--host 192.0.2.77")


def test_the_demo_wants_the_broker_that_it_was_given() -> None:
    assert_one_line(crokinole("demo", "--broker", "mqtt://127.0.0.1:1"), 3, "127.0.0.1:1", "nobody listens")


def test_the_demo_refuses_an_address_that_is_no_broker() -> None:
    assert_one_line(crokinole("demo", "--broker", "http://x"), 2, "mqtt://")


@pytest.mark.parametrize("url", ["mqtt://[", "mqtt://h:99999", "mqtt://"])
def test_the_demo_refuses_half_an_address(url: str) -> None:
    assert_one_line(crokinole("demo", "--broker", url), 2, "--broker", "expected" if "9" not in url else "port")


def test_the_demo_wants_a_speed_that_is_a_number() -> None:
    assert_one_line(crokinole("demo", "--speed", "nan"), 2, "--speed", "nan")


def test_the_demo_names_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    inside = tmp_path / "file" / "club"
    assert_one_line(crokinole("demo", "--dir", str(inside)), 2, str(inside), "cannot be used")


def test_the_demo_names_a_folder_whose_path_is_too_long_for_sockets(tmp_path: Path) -> None:
    assert_one_line(crokinole("demo", "--dir", str(tmp_path / ("x" * 100))), 2, "too long")


def test_two_demos_do_not_play_in_one_folder(tmp_path: Path) -> None:
    with (tmp_path / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert_one_line(crokinole("demo", "--dir", str(tmp_path)), 3, str(tmp_path), "another demo")


def test_the_demo_names_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert_one_line(crokinole("demo", "--port", port), 3, port, "taken")


def test_the_demo_refuses_rules_that_do_not_exist() -> None:
    assert_one_line(crokinole("demo", "--rules", "clasic"), 2, "clasic", "classic")


def test_verify_counts_what_fails(tmp_path: Path) -> None:
    path = tmp_path / "rounds.json"
    path.write_text(json.dumps([ROUND]))
    done = crokinole("verify", str(path))
    assert done.returncode == 1
    assert "R1/classic" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "is not JSON"),
        (b"a text", "is not JSON"),
        (b"\xff\xd8\xff\xe0", "is not UTF-8 text"),
        (b"[1]", "case 1: expected an object"),
        (b'{"a": 1}', "expected a list of cases"),
        (b"[{}]", "'id'"),
    ],
)
def test_verify_refuses_a_file_that_holds_no_cases(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_bytes(content)
    assert_one_line(crokinole("verify", str(path)), 2, "cases.json", says)


def test_verify_names_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    done = crokinole("verify", str(tmp_path / "nosuch.json"))
    assert_one_line(done, 2, "nosuch.json: no such file")
    assert "Errno" not in done.stderr
    assert_one_line(crokinole("verify", str(tmp_path)), 2, f"{tmp_path}: cannot be read: Is a directory")


def test_every_case_of_the_page_on_cases_passes(tmp_path: Path) -> None:
    page = (PROJECT / "docs" / "cases.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 4
    paths = [tmp_path / f"{number}.json" for number in range(len(blocks))]
    for path, block in zip(paths, blocks, strict=True):
        path.write_text(block)
    done = crokinole("verify", *map(str, paths))
    assert (done.returncode, done.stdout) == (0, f"{len(blocks)} passed, 0 failed\n")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("photo", ("classic", "match-play", "nca", "wcc", "family", "tournament", "hobby")),
        ("demo", ("classic", "match-play", "nca", "wcc")),
        ("watch", ("tournament", "hobby")),
        ("replay", ("classic", "match-play", "nca", "wcc")),
    ],
)
def test_help_names_the_rules_and_boards_that_there_are(command: str, names: tuple[str, ...]) -> None:
    told = crokinole(command, "--help")
    assert told.returncode == 0
    assert all(name in told.stdout for name in names), told.stdout


@pytest.mark.parametrize("name", ["a\\nb", "\\ud800", "\\u001b[31m"])
def test_verify_prints_a_line_for_a_case_however_it_is_called(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(f'[{{"id": "{name}", "given": {{}}, "expect": {{}}}}]')
    done = crokinole("verify", str(path))
    assert (done.returncode, done.stderr) == (1, "")
    line, total = done.stdout.splitlines()
    assert line.isprintable()
    assert total == "0 passed, 1 failed"


def test_verify_passes_every_worked_case(shared: Path) -> None:
    files = [str(shared / "cases" / f"{kind}.json") for kind in ("shots", "rounds", "games", "beam")]
    done = crokinole("verify", *files)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].endswith("passed, 0 failed")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("hub", "--show-config"),
        ("beam", "--check-config"),
        ("verify", "rounds.json"),
        ("photo", "--json", "nowhere.jpg"),
        ("bench", "rules", "--json"),
    ],
    ids=" ".join,
)
def test_an_answer_that_cannot_be_written_is_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "rounds.json").write_text(json.dumps([ROUND]))
    argv = [sys.executable, "-m", "crokinole", *arguments]
    with FULL.open("w") as full:
        done = subprocess.run(
            argv, stdout=full, stderr=subprocess.PIPE, text=True, timeout=200, cwd=tmp_path, check=False
        )
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines()[-1] == "crokinole: the answer cannot be written: No space left on device"
    assert "Traceback" not in done.stderr


def garbage() -> dict[str, bytes]:
    """Files that are no pictures and no videos, though some begin like one."""
    starts = {
        "png": b"\x89PNG\r\n\x1a\n",
        "jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00",
        "webp": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
        "tif": b"II*\x00\x08\x00\x00\x00\x01\x00",
        "bmp": b"BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00",
        "avi": b"RIFF\x24\x00\x00\x00AVI LIST",
        "mp4": b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom",
        "mkv": b"\x1a\x45\xdf\xa3",
        "none": b"",
    }
    return {f"{name}.{name}": start + bytes(range(256)) * (8 if start else 0) for name, start in starts.items()}


@pytest.mark.parametrize("name", garbage())
def test_files_that_are_no_media_are_told_of_in_our_own_line_alone(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(garbage()[name])
    assert_one_line(crokinole("photo", str(path)), 2, str(path))
    assert_one_line(crokinole("watch", str(path)), 2, str(path))


def test_a_folder_is_no_video(tmp_path: Path) -> None:
    assert_one_line(crokinole("watch", str(tmp_path)), 2, str(tmp_path), "is a folder")


def test_a_video_camera_without_a_video_is_told_plainly(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text('[camera]\nsource = "video"\n')
    assert_one_line(crokinole("camera", "--config", str(path)), 2, "board.toml", "names no video file")
