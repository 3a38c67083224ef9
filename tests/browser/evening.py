"""Takes pictures of wall and table for the README: ``python -m tests.browser.evening [SEED]``.

A whole evening at real speed for some minutes; nothing in the pictures is made up.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM_ARGS, WALL
from tests.browser.pictures import FOLDER, QUALITY

PHONE = {"width": 390, "height": 844}
LONGEST_S = 900
LOOKS_EACH_S = 4


def main(seed: str = "5") -> None:
    """Start a simulated club, wait for what is worth a picture, photograph it."""
    argv = [sys.executable, "-m", "crokinole", "demo", "--boards", "2", "--seed", seed]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as club:
        try:
            assert club.stderr is not None
            pages: dict[str, list[str]] = {}
            for line in club.stderr:
                word, _, rest = line.partition(" ")
                pages.setdefault(word, []).append(rest.strip())
                if word == "Ctrl-C":
                    break
            photograph(pages["wall"][0], pages["table"][0])
        finally:
            club.send_signal(signal.SIGINT)


def photograph(wall: str, table: str) -> None:
    """The wall in a second round with discs on both boards; a table where a foul's disc must be taken off."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS)
        page = browser.new_page(viewport=WALL)
        page.goto(wall)
        when(page, wall, lambda boards: all(busy(board) for board in boards), FOLDER / "wall.jpg")
        page = browser.new_page(viewport=PHONE, device_scale_factor=1.5)
        page.goto(table)
        when(
            page,
            wall,
            lambda boards: any(r["why"] != "twenty" for r in boards[0]["table"]["remove"]),
            FOLDER / "table.jpg",
        )
        browser.close()


def busy(board: dict[str, Any]) -> bool:
    """Whether a second round is well under way, and no sensor lags behind on a machine that has other work."""
    table = board["table"]
    lying = [disc for disc in table["discs"] if disc["state"] == "flat"]
    return board["state"]["code"] == "live" and len(table["rounds"]) >= 1 and len(lying) >= 4


def when(page: Page, wall: str, worth_it: Callable[[list[dict[str, Any]]], bool], path: Path) -> None:
    """Photograph the page as soon as the boards are worth it."""
    pause = threading.Event()
    for _ in range(LONGEST_S * LOOKS_EACH_S):
        with urlopen(f"{wall}api/1/boards", timeout=10) as answer:
            boards = json.load(answer)["boards"]
        flashing = page.locator("[data-flash]").count()
        if not flashing and all(board["table"] for board in boards) and worth_it(boards):
            page.screenshot(path=path, quality=QUALITY)
            return
        pause.wait(1 / LOOKS_EACH_S)
    sys.exit(f"nothing worth a picture for {path.name} within {LONGEST_S} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
