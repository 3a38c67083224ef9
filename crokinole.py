"""The command line: wires the rooms and holds no logic of its own.

A room is imported only inside the subcommand that needs it, so that a Pi without a camera, or a laptop without pins,
can use the rest. Exit status: 0 done, 1 the answer is no, 2 bad input or usage, 3 a needed thing is missing.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from hub.club.commandline import CommandLine, FiniteRange, NamingOption, fail, missing, one_line

F = TypeVar("F", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path)
_FOLDER = click.Path(path_type=Path, file_okay=False)


def _rules() -> Iterable[str]:
    from hub.rules.presets import PRESETS

    return (name for name, preset in PRESETS.items() if preset.shown)


def _boards() -> Iterable[str]:
    from hardware.board import preset_names

    return preset_names()


@click.group(cls=CommandLine, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="crokinole")
def main() -> None:
    """A crokinole board that scores itself: sensors, hub, pages, and a simulated club to try it all."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname).1s %(name)s: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # OpenCV and FFmpeg would say in lines of their own what we say in one; both look here when they are loaded.
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    os.environ.setdefault(
        "OPENCV_VIDEOIO_PRIORITY_CV_MJPEG", "0"
    )  # a reader that cannot be silenced; FFmpeg has it too
    if "CROKINOLE_SUPERVISOR" in os.environ:
        from hub.club.supervisor import follow_supervisor

        follow_supervisor()


def _daemon(start: F) -> F:
    """Give a daemon's command its three options."""
    for option in (
        click.option("--show-config", is_flag=True, help="Print the effective configuration and end."),
        click.option("--check-config", is_flag=True, help="Check the configuration and its secret files and end."),
        click.option("--config", "config_path", type=_FILE, help="TOML file; without it the defaults hold."),
    ):
        start = option(start)
    return start


def _run_daemon(room: str, config_path: Path | None, *, check_config: bool, show_config: bool) -> NoReturn:
    import importlib

    from hardware.board import BoardError, load_board
    from hub.link import config

    where = config_path or "the default configuration"
    try:
        settings = config.load_config(config_path) if config_path else config.Config()
        load_board(settings.board.preset)
    except config.ConfigError as error:
        fail(str(error), 2)
    except BoardError as error:
        fail(f"{where}: [board] preset: {error}", 2)
    if show_config:
        click.echo(config.show_config(settings))
        sys.exit(0)
    if check_config:
        from hub.club.beforehand import check_beforehand

        try:
            check_beforehand(settings, click.get_current_context().info_name or "")
        except config.ConfigError as error:
            fail(str(error), 2)
        click.echo(f"{where} is good")
        sys.exit(0)
    try:
        daemon = importlib.import_module(room)
    except ModuleNotFoundError as error:
        missing(error)
    sys.exit(daemon.run(settings))


@main.command()
@_daemon
def beam(config_path: Path | None, check_config: bool, show_config: bool) -> None:
    """The daemon that reads the infrared beam across the 20-hole."""
    _run_daemon("firmware_py.beam.daemon", config_path, check_config=check_config, show_config=show_config)


@main.command()
@_daemon
def camera(config_path: Path | None, check_config: bool, show_config: bool) -> None:
    """The daemon that reads the overhead camera."""
    _run_daemon("firmware_py.camera.daemon", config_path, check_config=check_config, show_config=show_config)


@main.command()
@_daemon
def hub(config_path: Path | None, check_config: bool, show_config: bool) -> None:
    """The daemon that applies the rules and keeps the journal."""
    _run_daemon("hub.service", config_path, check_config=check_config, show_config=show_config)


@main.command()
@_daemon
def dashboard(config_path: Path | None, check_config: bool, show_config: bool) -> None:
    """The pages: wall and tables."""
    _run_daemon("dashboard.service", config_path, check_config=check_config, show_config=show_config)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", default=1883, show_default=True, type=click.IntRange(1, 65535), help="TCP port to listen at.")
def broker(host: str, port: int) -> None:
    """An embedded MQTT broker for a home with one board; a club runs mosquitto."""
    try:
        from hub.club import broker as embedded
    except ModuleNotFoundError as error:
        missing(error)
    sys.exit(embedded.run(host, port))


@main.command()
@click.option("--boards", default=2, show_default=True, type=click.IntRange(1, 60), help="How many boards play.")
@click.option("--speed", default=1.0, show_default=True, type=FiniteRange(0.1, 10), help="Simulated s in a real s.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Repeats an evening exactly.")
@click.option("--rounds", default=0, type=click.IntRange(0), help="End after so many rounds.")
@click.option("--games", default=0, type=click.IntRange(0), help="End after so many games.")
@click.option(
    "--rules", cls=NamingOption, names=_rules, default="match-play", show_default=True, help="Name of the rule set."
)
@click.option("--players", default="polite", type=click.Choice(["polite", "hostile"]), hidden=True)
@click.option("--headless", is_flag=True, help="No pages; in lock-step, as fast as the machine can.")
@click.option("--json", "as_json", is_flag=True, help="Print the closing comparison as one JSON object.")
@click.option("--broker", "broker_url", default="", help="Use this broker, mqtt://host:port, not an embedded one.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address of the pages; 0.0.0.0 for phones in the room."
)
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), help="Port of the pages [default: 8080 or a free one]."
)
@click.option("--dir", "run_dir", type=_FOLDER, help="Keep journal, logs and truth in this folder.")
def demo(**choices: Any) -> None:
    """A simulated club on this machine: boards, players, sensors, broker, hub and pages, each its own process."""
    try:
        from hub.club.demo import Demo, Options
        from hub.club.folder import DemoError
    except ModuleNotFoundError as error:
        missing(error)
    if choices["headless"] and not (choices["rounds"] or choices["games"]):
        choices["games"] = 1
    try:
        sys.exit(Demo(Options(**choices)).run())
    except DemoError as error:
        fail(str(error), error.status)


@main.command(hidden=True)
@click.option("--socket", "socket_path", required=True, type=_FILE)
@click.option("--memory", "memory_path", required=True, type=_FILE)
@click.option("--truth", "truth_path", required=True, type=_FILE)
@click.option("--board", default="tournament")
@click.option("--seed", default=1, type=int)
@click.option("--speed", default=1.0, type=float)
@click.option("--rounds", default=0, type=int)
@click.option("--games", default=0, type=int)
@click.option("--rules", default="match-play")
@click.option("--players", default="polite", type=click.Choice(["polite", "hostile"]))
@click.option("--lockstep", is_flag=True)
@click.option("--happening", "happenings", multiple=True)
def twin(**choices: Any) -> None:
    """One simulated board with its players; ``demo`` starts it."""
    try:
        from hardware.twin import process
    except ModuleNotFoundError as error:
        missing(error)
    sys.exit(process.run(**choices))


@main.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each photo.")
@click.option("--overlay", "overlay_dir", type=_FOLDER, help="Write a picture with what was read into this folder.")
@click.option(
    "--rules",
    cls=NamingOption,
    names=_rules,
    default="classic",
    show_default=True,
    help="Name of the rule set that counts.",
)
@click.option(
    "--board",
    "board",
    cls=NamingOption,
    names=_boards,
    default="",
    help="Preset of the board in the photo; without it the rings tell.",
)
@click.option("--twenties", default="", help="LIGHT,DARK: banked twenties, added to discs lying in the hole.")
def photo(files: tuple[Path, ...], **choices: Any) -> None:
    """Score photos of a finished round."""
    try:
        from firmware_py.camera.still import photo as reader
    except ModuleNotFoundError as error:
        missing(error)
    from hub.rules.errors import RulesError
    from hub.rules.presets import load_ruleset

    try:
        scoring = load_ruleset(choices.pop("rules")).scoring
    except RulesError as error:
        fail(str(error), 2)
    sys.exit(reader.run(files, scoring=scoring, **choices))


@main.command()
@click.argument("file", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line: the body of each layout and shot.")
@click.option(
    "--board",
    "board",
    cls=NamingOption,
    names=_boards,
    default="tournament",
    show_default=True,
    help="Preset of the board in the video.",
)
def watch(file: Path, as_json: bool, board: str) -> None:
    """Read a recorded video as the camera would."""
    try:
        from firmware_py.camera.recorded import watch as reader
    except ModuleNotFoundError as error:
        missing(error)
    sys.exit(reader.run(file, as_json=as_json, board=board))


@main.command()
@click.option("--config", "config_path", type=_FILE, help="TOML file; without it the defaults hold.")
@click.option("--image", type=_FILE, help="Calibrate by this picture; kept for the daemon only with --config.")
@click.option("--overlay", type=_FILE, help="Draw what was found into this PNG file.")
@click.option("--json", "as_json", is_flag=True, help="The report as one JSON object.")
def calibrate(config_path: Path | None, image: Path | None, **choices: Any) -> None:
    """Find the board under the camera, say how well, and keep it for the daemon."""
    from hub.link import config

    try:
        settings = config.load_config(config_path) if config_path else config.Config()
        from firmware_py.camera.board import calibrate as command
    except config.ConfigError as error:
        fail(str(error), 2)
    except ModuleNotFoundError as error:
        missing(error)
    sys.exit(command.run(settings, image=image, keep=image is None or config_path is not None, **choices))


@main.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
def verify(files: tuple[Path, ...]) -> None:
    """Run worked cases (shots, rounds, games, beam) and print every mismatch."""
    from firmware_py.beam import cases as beam_cases
    from hub.rules import cases as rule_cases

    passed = failed = 0
    for path in files:
        try:
            cases = rule_cases.load_cases(path)
        except rule_cases.CaseFileError as error:
            fail(str(error), 2)
        for case in cases:
            run = beam_cases.run_beam_case if rule_cases.kind_of(case) == "beam" else rule_cases.run_case
            mismatches = run(case)
            passed, failed = passed + (not mismatches), failed + bool(mismatches)
            for mismatch in mismatches:
                click.echo(one_line(f"{path.name} {case['id']}: {mismatch}"))
    click.echo(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


_BENCHES = {
    "rules": "hub.rules.bench",
    "vision": "firmware_py.camera.bench",
    "memory": "firmware_py.camera.endurance",
    "hub": "hub.bench",
}


@main.command()
@click.argument("room", type=click.Choice(list(_BENCHES)))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def bench(room: str, as_json: bool) -> None:
    r"""Measure a room beside a baseline in the same run; ratios hold where the machine's speed drifts.

    \b
    rules    verdicts a second
    vision   reading, frame by frame and photo by photo
    memory   the camera's daemon over 100,000 frames, some minutes long
    hub      facts to snapshots at 60 boards
    """
    import importlib
    import json

    try:
        figures: dict[str, Any] = importlib.import_module(_BENCHES[room]).bench()
    except ModuleNotFoundError as error:
        missing(error)
    if as_json:
        click.echo(json.dumps(figures))
        return
    for name, value in figures.items():
        click.echo(f"{name:36} {value:.4g}" if isinstance(value, float) else f"{name:36} {value}")


@main.command()
@click.argument("journal")
@click.option(
    "--rules",
    cls=NamingOption,
    names=_rules,
    default="",
    help="Judge the recorded matches by these rules: a name or a TOML file.",
)
@click.option("--board", default="", help="Only this board.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def replay(journal: str, **choices: Any) -> None:
    """Go through a journal again (a URL, or the SQLite file): prove what is stored, or judge by other rules."""
    from hub import replay as replaying

    sys.exit(replaying.run(journal, **choices))


def _database(config_path: Path | None) -> str:
    from hub.link import config

    try:
        return (config.load_config(config_path) if config_path else config.Config()).hub.database
    except config.ConfigError as error:
        fail(str(error), 2)


@main.command()
@click.argument("target", type=_FILE)
@click.option("--config", "config_path", type=_FILE, help="The hub's TOML file; without it the defaults hold.")
@click.option("--every", "every_s", type=FiniteRange(0.1, 86_400), help="Follow the hub: again every so many seconds.")
def backup(target: Path, config_path: Path | None, every_s: float | None) -> None:
    """Copy the hub's database into one file while the hub goes on, once or again and again."""
    from hub.store import backup as copies
    from hub.store import replica
    from hub.store.engine import StoreError

    try:
        if every_s is not None:
            replica.run(_database(config_path), target, every_s)
            return
        lines = copies.backup(_database(config_path), target)
    except StoreError as error:
        fail(str(error), 2 if isinstance(error, copies.BackupError) else 3)
    click.echo(f"{target}: {lines} journal lines, read back and whole")


@main.command()
@click.argument("source", type=_FILE)
@click.option("--config", "config_path", type=_FILE, help="The hub's TOML file; without it the defaults hold.")
def restore(source: Path, config_path: Path | None) -> None:
    """Put a backup in the place of the hub's database; stop the hub first."""
    from hub.store import backup as copies
    from hub.store.engine import StoreError

    try:
        lines, kept = copies.restore(source, _database(config_path))
    except StoreError as error:
        fail(str(error), 2 if isinstance(error, copies.BackupError) else 3)
    click.echo(f"{source}: restored, {lines} journal lines" + (f"; what was there is kept as {kept}" if kept else ""))


if __name__ == "__main__":
    main(prog_name="crokinole")
