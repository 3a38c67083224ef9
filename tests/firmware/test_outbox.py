"""The outbox never loses a fact, whatever happens to process and medium."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.errors import StateError
from firmware_py.outbox import Outbox, Stored


def put(outbox: Outbox, count: int = 1) -> list[Stored]:
    return [
        outbox.put(machine_boot="m", mono_ns=n, wall_ms=2, synced=True, kind="hand", body=b'{"at_ns":1,"present":true}')
        for n in range(count)
    ]


def given_out(path: Path) -> dict[str, int]:
    database = sqlite3.connect(path)
    try:
        return dict(database.execute("SELECT boot, last_seq FROM given"))
    finally:
        database.close()


COLUMNS = ("boot", "seq", "machine_boot", "mono_ns", "wall_ms", "synced", "kind", "body")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "beam-outbox.sqlite3"


def test_numbers_count_from_one_without_holes(path: Path) -> None:
    outbox = Outbox(path)
    assert [stored.seq for stored in put(outbox, 5)] == [1, 2, 3, 4, 5]
    outbox.close()
    outbox = Outbox(path)
    assert [stored.seq for stored in put(outbox, 2)] == [1, 2]
    outbox.close()


def test_an_acknowledgement_settles_all_up_to_it(path: Path) -> None:
    outbox = Outbox(path)
    put(outbox, 5)
    assert outbox.acknowledge(outbox.boot, 3) == 3
    assert outbox.first(outbox.boot) == 4
    assert outbox.acknowledge(outbox.boot, 3) == 0
    assert outbox.acknowledge(outbox.boot, 5) == 2
    assert outbox.first(outbox.boot) == 6
    assert len(outbox) == 0
    outbox.close()


def test_an_acknowledgement_of_what_was_never_given_out_settles_nothing(path: Path) -> None:
    outbox = Outbox(path)
    put(outbox, 2)
    with pytest.raises(ValueError, match="gave out 1 to 2"):
        outbox.acknowledge(outbox.boot, 3)
    assert outbox.acknowledge("somebody else's", 7) == 0
    assert len(outbox) == 2
    outbox.close()


def test_facts_of_earlier_boots_come_first_under_their_own_identity(path: Path) -> None:
    boots = []
    for _ in range(3):
        outbox = Outbox(path)
        boots.append(outbox.boot)
        put(outbox, 3)
        outbox.acknowledge(outbox.boot, 1)
        outbox.close()
    outbox = Outbox(path)
    put(outbox)
    assert [(s.boot, s.seq) for s in outbox] == [(b, n) for b in boots for n in (2, 3)] + [(outbox.boot, 1)]
    assert [outbox.first(boot) for boot in boots] == [2, 2, 2]
    assert outbox.acknowledge(boots[1], 3) == 2
    assert given_out(path) == dict.fromkeys(boots, 3) | {outbox.boot: 1}
    outbox.close()


def test_after_goes_on_behind_the_last_one_sent_even_when_that_is_settled(path: Path) -> None:
    early = Outbox(path)
    old = put(early, 3)
    early.close()
    outbox = Outbox(path)
    new = put(outbox, 3)
    assert list(outbox.after(None)) == old + new
    assert list(outbox.after(old[1])) == [old[2], *new]
    assert list(outbox.after(new[0])) == new[1:]
    outbox.acknowledge(early.boot, 3)
    outbox.acknowledge(outbox.boot, 1)
    assert list(outbox.after(new[0])) == new[1:]
    assert list(outbox.after(old[2])) == new[1:]
    outbox.acknowledge(outbox.boot, 3)
    assert list(outbox.after(new[0])) == []
    outbox.close()


def test_a_fact_is_on_disk_when_put_returns_even_if_the_process_is_killed(path: Path) -> None:
    program = (
        "import os, sys, signal; from pathlib import Path; from firmware_py.outbox import Outbox\n"
        "outbox = Outbox(Path(sys.argv[1]))\n"
        "for n in range(40):\n"
        "    outbox.put(machine_boot='m', mono_ns=n, wall_ms=0, synced=False, kind='hand', body=b'{}')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False, cwd=Path(__file__).parents[2], timeout=60)
    outbox = Outbox(path)
    assert [stored.seq for stored in outbox] == list(range(1, 41))
    assert list(given_out(path).values()) == [40]
    outbox.close()


def test_the_disk_is_synced_before_anybody_sends(path: Path) -> None:
    outbox = Outbox(path)
    database = outbox._database
    assert database is not None
    assert database.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    outbox.close()


def test_deletions_wait_for_company(path: Path) -> None:
    now_s = [0.0]
    outbox = Outbox(path, real_s=lambda: now_s[0])
    put(outbox, 3)

    def rows() -> int:
        database = sqlite3.connect(path)
        (count,) = database.execute("SELECT count(*) FROM fact").fetchone()
        database.close()
        return int(count)

    outbox.acknowledge(outbox.boot, 1)
    outbox.acknowledge(outbox.boot, 2)
    outbox.tidy()
    assert rows() == 3
    now_s[0] += 1.0
    outbox.tidy()
    assert rows() == 1
    outbox.acknowledge(outbox.boot, 3)
    put(outbox)
    assert rows() == 1, "a new fact takes the deletions along"
    outbox.acknowledge(outbox.boot, 4)
    outbox.close()
    assert rows() == 0


class TestMediumInTrouble:
    def test_a_full_disk_keeps_facts_in_memory_and_writes_them_later(self, path: Path) -> None:
        now_s = [0.0]
        outbox = Outbox(path, real_s=lambda: now_s[0])
        put(outbox, 2)
        assert outbox._database is not None
        (pages,) = outbox._database.execute("PRAGMA page_count").fetchone()
        outbox._database.execute(f"PRAGMA max_page_count = {pages}")
        big = [
            outbox.put(
                machine_boot="m", mono_ns=1, wall_ms=1, synced=True, kind="shot", body=b'"' + b"x" * 20_000 + b'"'
            )
            for _ in range(5)
        ]
        assert [stored.seq for stored in big] == [3, 4, 5, 6, 7]
        assert "full" in outbox.trouble
        outbox.acknowledge(outbox.boot, 3)
        assert len(outbox) == 4
        outbox._database.execute("PRAGMA max_page_count = 100000")
        outbox.tidy()
        assert outbox.trouble, "tried again too soon"
        now_s[0] += 6.0
        outbox.tidy()
        assert outbox.trouble == ""
        boot = outbox.boot
        outbox.close()
        again = Outbox(path)
        assert [stored.seq for stored in again] == [4, 5, 6, 7]
        assert given_out(path)[boot] == 7
        again.close()

    def test_a_read_only_medium_is_trouble_but_its_facts_are_still_sent(self, path: Path) -> None:
        outbox = Outbox(path)
        put(outbox, 3)
        outbox.close()
        database = sqlite3.connect(path)
        database.execute("PRAGMA journal_mode = DELETE")
        database.close()
        real_connect = sqlite3.connect

        def connect_read_only(name: Path, **settings: object) -> sqlite3.Connection:
            return real_connect(f"file:{name}?mode=ro", uri=True, **settings)  # type: ignore[call-overload,no-any-return]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sqlite3, "connect", connect_read_only)
            outbox = Outbox(path)
            put(outbox, 2)
        assert "readonly" in outbox.trouble
        assert len(outbox) == 5
        outbox.close()

    @pytest.mark.parametrize("rubbish", [b"\0" * 8192, b"this is no database at all" * 100, os.urandom(4096)])
    def test_a_broken_file_is_moved_aside(self, path: Path, rubbish: bytes) -> None:
        path.write_bytes(rubbish)
        outbox = Outbox(path)
        put(outbox, 2)
        assert outbox.trouble == ""
        assert given_out(path) == {outbox.boot: 2}
        outbox.close()
        (kept,) = path.parent.glob("*.broken-*")
        assert kept.read_bytes() == rubbish

    def test_a_file_that_breaks_later_is_replaced_by_what_is_outstanding(self, path: Path) -> None:
        outbox = Outbox(path)
        put(outbox, 3)
        boot = outbox.boot
        outbox.close()
        database = sqlite3.connect(path)
        (index_page,) = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'fact' AND type = 'index'"
        )
        database.close()
        content = bytearray(path.read_bytes())
        start = (index_page[0] - 1) * 4096
        content[start : start + 4096] = b"\xff" * 4096
        path.write_bytes(content)
        outbox = Outbox(path)
        put(outbox, 2)
        assert outbox.trouble == ""
        assert len(list(path.parent.glob("*.broken-*"))) == 1
        wanted = [(boot, 1), (boot, 2), (boot, 3), (outbox.boot, 1), (outbox.boot, 2)]
        assert [(stored.boot, stored.seq) for stored in outbox] == wanted
        outbox.close()
        again = Outbox(path)
        assert [(stored.boot, stored.seq) for stored in again] == wanted
        again.close()

    @pytest.mark.parametrize(
        "damage",
        [
            *(
                f"{column} = {value}"
                for column in COLUMNS
                for value in ("'téxt'", "x'00ff'", "1.5", "CAST(x'ff' AS TEXT)")
            ),
            *(f"{column} = 7" for column in ("body", "kind", "boot", "machine_boot")),
            "body = x''",
            "body = CAST(body AS TEXT)",
            "body = x'7b'",
            "seq = 0",
            "seq = -3",
            "kind = ''",
            "boot = ''",
        ],
    )
    def test_a_row_of_nonsense_is_left_out_and_all_others_are_sent(
        self, path: Path, damage: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        outbox = Outbox(path)
        put(outbox, 4)
        boot = outbox.boot
        outbox.close()
        database = sqlite3.connect(path)
        database.execute(f"UPDATE fact SET {damage} WHERE seq = 2")
        database.commit()
        database.close()
        outbox = Outbox(path)
        assert outbox.trouble == ""
        put(outbox)
        sent = [(stored.boot, stored.seq) for stored in outbox]
        assert [seq for of, seq in sent if of == boot if seq != 2] == [1, 3, 4]
        assert ("is broken and cannot be sent" in caplog.text) == (len(sent) == 4)
        assert (outbox.boot, 1) in sent
        outbox.acknowledge(boot, 1)
        outbox.close()
        caplog.clear()
        again = Outbox(path)
        assert [(stored.boot, stored.seq) for stored in again if stored.boot == boot] == [
            pair for pair in sent if pair[0] == boot and pair[1] != 1
        ]
        assert caplog.text == "", "a broken row is told of once"
        again.close()

    def test_a_number_of_nonsense_in_what_was_given_out_is_passed_over(self, path: Path) -> None:
        outbox = Outbox(path)
        put(outbox, 2)
        boot = outbox.boot
        outbox.close()
        database = sqlite3.connect(path)
        database.execute("UPDATE given SET last_seq = 'many'")
        database.commit()
        database.close()
        outbox = Outbox(path)
        assert outbox.given(boot) == 0
        outbox.close()

    def test_a_folder_that_is_missing_is_said_at_start(self, tmp_path: Path) -> None:
        with pytest.raises(StateError, match="state_dir"):
            Outbox(tmp_path / "nowhere" / "x.sqlite3")

    def test_a_folder_in_place_of_the_file_is_said_at_start(self, tmp_path: Path) -> None:
        with pytest.raises(StateError, match="expected a file"):
            Outbox(tmp_path)


@given(
    actions=st.lists(
        st.one_of(st.just("put"), st.just("restart"), st.tuples(st.integers(0, 3), st.integers(0, 9))), max_size=25
    )
)
@settings(max_examples=30, deadline=None)
def test_what_was_put_and_not_acknowledged_is_there_in_order(
    tmp_path_factory: pytest.TempPathFactory, actions: list[str | tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("outbox") / "x.sqlite3"
    outbox = Outbox(path)
    boots, model = [outbox.boot], list[tuple[str, int]]()
    for action in actions:
        if action == "put":
            (stored,) = put(outbox)
            model.append((stored.boot, stored.seq))
        elif action == "restart":
            outbox.close()
            outbox = Outbox(path)
            boots.append(outbox.boot)
        elif isinstance(action, tuple):
            boot, seq = boots[-1 - action[0] % len(boots)], action[1]
            if boot != outbox.boot or seq <= outbox.last_seq:
                outbox.acknowledge(boot, seq)
                model = [m for m in model if m[0] != boot or m[1] > seq]
        assert [(s.boot, s.seq) for s in outbox] == model
    outbox.close()
