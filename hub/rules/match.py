"""A match of several games, and the shoot-out that breaks a level standing (NCA 2c, WCC)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from hub.rules.errors import RulesError
from hub.rules.scoring import GameScore
from hub.rules.seats import sides_of


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """How long a match is.

    Attributes:
        players: as in the rule set.
        best_of: games of a match that ends when a side has won more than half of them; 0 for a fixed number.
        games: games of a match of a fixed number, all of them played.
    """

    players: str = "singles"
    best_of: int = 0
    games: int = 1

    def __post_init__(self) -> None:
        sides_of(self.players)
        if self.best_of < 0 or self.games < 1 or (self.best_of and self.best_of % 2 == 0):
            raise RulesError(
                "bad_value", f"a match of best of {self.best_of} or {self.games} games: best of 3, 5, ... or 1, 2, ..."
            )


@dataclass(frozen=True, slots=True)
class MatchScore:
    """How a match stands.

    Attributes:
        setup: how long it is.
        games: final points of the games played.
        wins: games won by each side; a drawn game is nobody's.
        over: whether it is over.
        winner: who won it; ``None`` while undecided and for a drawn match.
    """

    setup: MatchSetup
    games: tuple[Mapping[str, int], ...] = ()
    wins: Mapping[str, int] = field(default_factory=dict)
    over: bool = False
    winner: str | None = None

    @property
    def game_number(self) -> int:
        """Number of the running game, or of the last one of a finished match."""
        return len(self.games) + (0 if self.over else 1)


def new_match(setup: MatchSetup) -> MatchScore:
    """A match before its first game."""
    return MatchScore(setup, wins=dict.fromkeys(sides_of(setup.players), 0))


def play_game(match: MatchScore, game: GameScore) -> MatchScore:
    """The match after one more finished game.

    A best-of match goes on after a drawn game. Of a fixed number of games the side with most wins wins; level on
    wins it is drawn, the event's own tie-breaks follow.

    Raises:
        RulesError: ``match_over`` or ``game_not_over``.
    """
    if match.over:
        raise RulesError("match_over", "the match is over, no game follows")
    if not game.over:
        raise RulesError("game_not_over", "the game is not over yet")
    wins = dict(match.wins)
    if game.winner is not None:
        wins[game.winner] += 1
    games = (*match.games, dict(game.scores))
    best = max(wins.values())
    leaders = [side for side, won in wins.items() if won == best]
    setup = match.setup
    over = best > setup.best_of // 2 if setup.best_of else len(games) >= setup.games
    winner = leaders[0] if over and len(leaders) == 1 else None
    return replace(match, games=games, wins=wins, over=over, winner=winner)


SHOOT_OUT_SHOTS: Final = 12
"""Open shots of each side in a shoot-out (WCC: level on points and 20s)."""


@dataclass(frozen=True, slots=True)
class ShootOut:
    """A shoot-out: the sides shoot open shots in turn, 20s alone count.

    Attributes:
        sides: the sides in order of shooting.
        made: whether each shot was a 20, in order of shooting.
        shots: shots of each side before a level shoot-out goes on one by one (our choice).
    """

    sides: tuple[str, ...]
    made: tuple[bool, ...] = ()
    shots: int = SHOOT_OUT_SHOTS

    @property
    def twenties(self) -> dict[str, int]:
        """20s of each side so far."""
        return {side: sum(self.made[k :: len(self.sides)]) for k, side in enumerate(self.sides)}

    @property
    def winner(self) -> str | None:
        """The side with most 20s once all have shot as often, from the agreed number of shots on."""
        taken, rest = divmod(len(self.made), len(self.sides))
        twenties = self.twenties
        best = [side for side, count in twenties.items() if count == max(twenties.values())]
        return best[0] if not rest and taken >= self.shots and len(best) == 1 else None

    @property
    def turn(self) -> str | None:
        """Who shoots now; ``None`` when it is decided."""
        return None if self.winner else self.sides[len(self.made) % len(self.sides)]


def shoot(shoot_out: ShootOut, *, made: bool) -> ShootOut:
    """The shoot-out after one more shot.

    Raises:
        RulesError: ``shoot_out_over``.
    """
    if shoot_out.turn is None:
        raise RulesError("shoot_out_over", f"the shoot-out is over, {shoot_out.winner} has won it")
    return replace(shoot_out, made=(*shoot_out.made, made))
