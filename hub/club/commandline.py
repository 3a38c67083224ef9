"""The command line's manners: a slip is told in one line, help names what there is, an answer that is lost is said."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NoReturn

import click

_EXTRAS = {"numpy": "vision", "cv2": "vision", "amqtt": "demo", "pymunk": "demo"}


def fail(text: str, status: int) -> NoReturn:
    """End with a line about what is wrong; see the module of the commands for the statuses."""
    click.echo(f"crokinole: {text}", err=True)
    sys.exit(status)


def missing(error: ModuleNotFoundError) -> NoReturn:
    """Say which package is missing and how to get it."""
    name = (error.name or "").partition(".")[0]
    extra = f"'.[{_EXTRAS[name]}]'" if name in _EXTRAS else "."
    apt = "apt install python3-opencv, or " if _EXTRAS.get(name) == "vision" else ""
    fail(f"the package {name!r} is missing: {apt}in the project's folder pip install -c requirements.lock {extra}", 3)


def one_line(text: str) -> str:
    """A text from a file, with whatever a terminal could not print or would obey written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class SlipError(click.ClickException):
    """A slip in the command, told in one line."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """See :meth:`click.ClickException.show`."""
        click.echo(self.message, file=file, err=file is None)


@contextlib.contextmanager
def _slips_in_one_line() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        what = error.format_message().rstrip(".")
        if error.ctx is None or "\n" in what:  # the whole help, for a command without a word
            raise
        path = error.ctx.command_path
        raise SlipError(f"{path}: {what[:1].lower()}{what[1:]}; '{path} --help' tells more") from None


class CommandLine(click.Group):
    """Says in one line what is wrong: a slip in the command, or an answer that cannot be written."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """See :meth:`click.Command.make_context`."""
        with _slips_in_one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """See :meth:`click.Group.invoke`."""
        with _slips_in_one_line():
            return super().invoke(ctx)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """See :meth:`click.Group.main`."""
        try:
            try:
                return super().main(*args, **kwargs)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except OSError as error:
            if error.filename is not None or error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still in the buffer has nowhere to go
            click.echo(f"crokinole: the answer cannot be written: {error.strerror}", err=True)
            sys.exit(3)


class FiniteRange(click.FloatRange):
    """A range of numbers, in which "nan" is none: it is neither below nor above any."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See :meth:`click.ParamType.convert`."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number in the range {self._describe_range()}.", param, ctx)
        return number


class NamingOption(click.Option):
    """An option whose help names what can be chosen.

    Args:
        args: as of :class:`click.Option`.
        names: gives the names; asked only when help is shown.
        kwargs: as of :class:`click.Option`.
    """

    def __init__(self, *args: Any, names: Callable[[], Iterable[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names = names

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """See :meth:`click.Option.get_help_record`."""
        record = super().get_help_record(ctx)
        return None if record is None else (record[0], f"{record[1]}  [there are: {', '.join(self._names())}]")
