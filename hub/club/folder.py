"""The folder of a simulated evening: its lock, its tokens, and the configurations that its processes start with."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import msgspec

from hub.link.config import (
    BeamSection,
    BoardSection,
    CameraSection,
    Config,
    DashboardSection,
    HubSection,
    MqttSection,
    config_toml,
)

_LONGEST_SOCKET_PATH = 107  # bytes, of sockaddr_un on Linux


class DemoError(Exception):
    """The demo cannot start; ``status`` is the exit status."""

    def __init__(self, text: str, status: int = 3) -> None:
        super().__init__(text)
        self.status = status


class EveningFolder:
    """The folder of one evening, made if missing, with a lock on it that the kernel drops with the process.

    Args:
        path: of the folder.

    Raises:
        DemoError: it cannot be used, or another demo plays there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if len(os.fsencode(self.socket("board-00"))) > _LONGEST_SOCKET_PATH:
            raise DemoError(f"--dir {path}: the path is too long for the sockets in it; name a shorter one", 2)
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = (path / "demo.lock").open("w", encoding="utf-8")
        except OSError as error:
            raise DemoError(f"--dir {path}: cannot be used: {error.strerror}; name another folder", 2) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise DemoError(f"--dir {path}: another demo is playing there; name another folder") from None

    def close(self) -> None:
        """Let others have the folder."""
        self._lock.close()

    def board(self, board: str) -> Path:
        """The folder of one board's daemons and twin."""
        return self.path / board

    def socket(self, board: str) -> Path:
        """The socket at which a board's twin listens."""
        return self.board(board) / "twin.sock"

    def truth(self, board: str) -> Path:
        """The file of what truly happened at a board."""
        return self.board(board) / "truth.jsonl"

    def log(self, process: str) -> Path:
        """The file of what a process said."""
        return self.path / f"{process.replace(' ', '-')}.log"

    def write_hub(self, url: str, tables: Mapping[str, str], organiser: str) -> tuple[Path, Config]:
        """Hand out the tokens and write the hub's configuration.

        Args:
            url: of the broker.
            tables: the token of every table, by its board.
            organiser: the organiser's token.
        """
        token_path = self.path / "tokens.jsonl"
        token_path.touch(mode=0o600)
        rows = [{"token": token, "role": "table", "board": board} for board, token in tables.items()]
        rows += [{"token": self._own_token(board), "role": "board", "board": board} for board in tables]
        rows.append({"token": organiser, "role": "organiser", "board": ""})
        token_path.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows) + b"\n")
        database = f"sqlite:///{quote(str(self.path / 'hub.sqlite3'))}"
        config = Config(mqtt=MqttSection(url=url), hub=HubSection(database=database, token_file=str(token_path)))
        return self._written("hub.toml", config), config

    def write_dashboard(self, hub: Config, host: str, port: int) -> Path:
        """Write the configuration of the pages, which read the hub's database."""
        section = DashboardSection(
            host=host,
            port=port,
            secret_file=str(self.path / "dashboard.secret"),
            cases_dir=str(self.path / "cases"),
        )
        return self._written("dashboard.toml", Config(mqtt=hub.mqtt, hub=hub.hub, dashboard=section))

    def write_board(self, board: str, url: str, pages: str) -> Path:
        """Write the configuration of a board's daemons.

        Args:
            board: its id.
            url: of the broker.
            pages: address to which pictures of doubts are sent, empty if there are no pages.
        """
        folder = self.board(board)
        folder.mkdir(exist_ok=True)
        self.socket(board).unlink(missing_ok=True)  # of an evening that was killed
        section = BoardSection(
            id=board,
            state_dir=str(folder),
            twin=str(self.socket(board)),
            pages=pages,
            token_file=str(self._token_path(board)) if pages else "",
        )
        config = Config(
            board=section,
            mqtt=MqttSection(url=url),
            beam=BeamSection(source="twin"),
            camera=CameraSection(source="twin", height_mm=1010.0),  # as a club measures it with a rule
        )
        return self._written(f"{board}/board.toml", config)

    def _own_token(self, board: str) -> str:
        """A token with which a board sends its pictures, left where the board finds it."""
        path = self._token_path(board)
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o600)
        token = secrets.token_urlsafe(24)
        path.write_text(f"{token}\n", encoding="utf-8")
        return token

    def _token_path(self, board: str) -> Path:
        return self.board(board) / "board.token"

    def _written(self, name: str, config: Config) -> Path:
        path = self.path / name
        path.write_text(config_toml(config), encoding="utf-8")
        return path
