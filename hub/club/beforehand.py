"""The files and names that a daemon will use when it starts, looked at beforehand for ``--check-config``."""

from __future__ import annotations

from pathlib import Path

from hub.link.config import Config, ConfigError, read_secret


def check_beforehand(config: Config, daemon: str) -> None:
    """Read the files that a daemon will read, as the user who asks, and look its names up; nothing is connected to.

    The dashboard's key is made when it is missing, so that only one that is there is looked at.

    Args:
        config: as it was read.
        daemon: beam, camera, hub or dashboard.

    Raises:
        ConfigError: a file is missing, may be read by others than its owner, or does not hold what it must; or there
            are no such rules, or no such kind of database.
    """
    named = [config.mqtt.password_file]
    if daemon == "camera" and config.board.pages:
        named.append(config.board.token_file)
    if daemon == "dashboard" and Path(config.dashboard.secret_file).exists():
        named.append(config.dashboard.secret_file)
    for name in filter(None, named):
        read_secret(Path(name))
    if daemon in {"hub", "dashboard"}:
        from hub.store.engine import StoreError, parse_url

        try:
            parse_url(config.hub.database)
        except StoreError as error:
            raise ConfigError(f"[hub] {error}") from None
    if daemon == "hub":
        from hub.people.roles import read_pins, read_tokens  # only the hub needs what these import
        from hub.service import standing_of

        standing_of(config)
        if config.hub.token_file:
            read_tokens(Path(config.hub.token_file))
        if config.hub.pin_file:
            read_pins(Path(config.hub.pin_file))
