"""What the command line takes for a number, and for a backup."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from crokinole import main


@pytest.mark.parametrize(
    ("arguments", "option"),
    [(("backup", "--every"), "--every"), (("demo", "--speed"), "--speed")],
    ids=["backup", "demo"],
)
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "0", "-1", "x", "", "NaN"])
def test_a_number_that_is_none_is_one_line(arguments: tuple[str, ...], option: str, number: str) -> None:
    told = CliRunner().invoke(main, [*arguments, number, "copy.sqlite3"])
    assert told.exit_code == 2
    assert option in told.output
    assert told.output.count("\n") == 1


@pytest.mark.parametrize("content", [None, b"", b"a text, no backup", bytes(range(256)) * 40])
def test_what_is_no_backup_is_bad_input(tmp_path: Path, content: bytes | None) -> None:
    backup, config = tmp_path / "backup.sqlite3", tmp_path / "hub.toml"
    config.write_text(f'[hub]\ndatabase = "sqlite:///{tmp_path / "club.sqlite3"}"\n')
    if content is not None:
        backup.write_bytes(content)
    told = CliRunner().invoke(main, ["restore", str(backup), "--config", str(config)])
    assert told.exit_code == 2
    assert str(backup) in told.output
    assert told.output.count("\n") == 1
    assert not (tmp_path / "club.sqlite3").exists()
