"""The command line: wires the rooms together and holds no logic; a room is imported only where it is needed."""

from __future__ import annotations

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """A crokinole board that scores itself."""


if __name__ == "__main__":
    main()
