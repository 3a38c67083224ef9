"""Which colour each disc has, learned from the discs themselves: two teams, any two colours.

Colours are median Lab of a disc's face. Of the two teams the one with the larger L is ``light``. Nothing is known
beforehand: maple and walnut, red and black, black and wood on blue all come out as two clouds of points. Each cloud
has its own width, since light falls unevenly: pale discs in the shade of the rail vary in L, black ones hardly.

The discs can be cut into two teams in more than one way, with a lamp's glare or a hard shadow on some of them. The
likeliest way counts, and where another is nearly as likely, the discs that it gives to the other team are doubtful.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firmware_py.camera.picture.lab import Array

#: Two clouds closer than this many of their joint standard deviations are one colour cut in two: cutting an even
#: spread in the middle gives 2.4, real teams 4 and more. Far apart in Lab (L halved) they are two all the same.
LEAST_APART = 2.9
FAR_APART = 9.0
#: Standard deviations (L, a, b) that a cloud has until its discs say otherwise, and as how many discs they count.
USUAL_WIDTH = (7.0, 3.5, 4.5)
USUAL_WEIGHT = 2.0
#: Discs of one colour only are light or dark by their lightness L; nearer to the middle than this they may be either.
MIDDLE_L, EITHER_L = 50.0, 15.0
#: Lightness counts half when the clouds are first told apart.
FIRST_SCALE = (0.5, 1.0, 1.0)
#: A way of cutting whose cost (minus twice the log likelihood) is higher by this leaves no doubt of the cheapest one.
CLEARLY_WORSE = 30.0
#: By so much the light on the board must explain the colours better than the discs alone, for wood differs by itself.
LIGHT_EXPLAINS = 20.0

Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class TeamColours:
    """The colours of the discs on a board.

    Attributes:
        light: mean Lab of the lighter team.
        dark: mean Lab of the darker team; None while discs of one colour only have been seen.
        light_width: standard deviations of the lighter team in L, a, b.
        dark_width: those of the darker one.
    """

    light: Triple
    dark: Triple | None
    light_width: Triple = USUAL_WIDTH
    dark_width: Triple = USUAL_WIDTH

    @property
    def means(self) -> Array:
        """The known means, light first, ``(1 or 2, 3)``."""
        return np.array([self.light] if self.dark is None else [self.light, self.dark])

    @property
    def widths(self) -> Array:
        """Their standard deviations, ``(1 or 2, 3)``."""
        return np.array([self.light_width] if self.dark is None else [self.light_width, self.dark_width])


@dataclass(frozen=True, slots=True)
class Sides:
    """Who owns each disc.

    Attributes:
        teams: the colours of both teams.
        team: 0 = light, 1 = dark, for each disc.
        clearness: 0 = either team is as likely, 1 = no doubt, for each disc.
    """

    teams: TeamColours
    team: Array
    clearness: Array


def learn(colours: Array, weights: Array | None = None) -> TeamColours | None:
    """Learn the team colours from the faces of discs.

    Args:
        colours: Lab of each disc, ``(n, 3)``.
        weights: trust in each disc.

    Returns:
        The colours, or None without any disc.
    """
    if len(colours) == 0:
        return None
    weights = np.ones(len(colours)) if weights is None else weights
    return _described(colours, weights, _cuts(colours, weights)[0][1])


def tell_sides(colours: Array, weights: Array, in_usual_light: Array) -> Sides:
    """Learn the team colours and say who owns each disc, with the doubts that other ways of cutting raise.

    Args:
        colours: Lab of each disc as seen, ``(n, 3)``, n at least 1.
        weights: trust in each disc.
        in_usual_light: the same colours with the differences of light on the board taken out.
    """
    cuts = [
        (cost + least, member, seen)
        for seen, least in ((colours, 0.0), (in_usual_light, LIGHT_EXPLAINS))
        for cost, member in _cuts(seen, weights)
    ]
    cost, member, seen = min(cuts, key=lambda c: c[0])
    judged = _described(seen, weights, member)
    team, clearness = assign(seen, judged)
    for other_cost, other_member, other_seen in cuts:
        other = _described(other_seen, weights, other_member)
        if other.dark is None or judged.dark is None:
            continue
        differs = assign(other_seen, other)[0] != team
        clearness[differs] = np.minimum(clearness[differs], (other_cost - cost) / CLEARLY_WORSE)
    if judged.dark is None:
        # Without the other team to compare with, brown discs may be either.
        clearness = np.full(len(colours), float(abs(judged.light[0] - MIDDLE_L) >= EITHER_L))
    teams = _described(colours, weights, 1 - team) if judged.dark is not None else judged
    return Sides(teams=teams, team=team, clearness=clearness)


def _cuts(colours: Array, weights: Array) -> list[tuple[float, Array]]:
    """The different ways of cutting the discs in two with the cost of each, cheapest first."""
    starts = _distinct(_starts(colours, weights))
    settled = _distinct(_settled(colours, weights, starts))
    costs = _total_costs(colours, weights, settled)
    return [(float(costs[k]), settled[k]) for k in np.argsort(costs, kind="stable")]


def _distinct(members: Array) -> Array:
    """Each cut once, whichever part is called the first."""
    return np.stack(list({bytes((member != member[0]).tobytes()): member for member in members}.values()))


def _described(colours: Array, weights: Array, member: Array) -> TeamColours:
    """The two clouds of a cut as teams, or the one cloud that they are."""
    means, widths = (both[0] for both in _clouds(colours, weights, member[None]))
    gap = float(np.linalg.norm((means[0] - means[1]) / np.hypot(widths[0], widths[1])))
    far = float(np.linalg.norm((means[0] - means[1]) * np.array(FIRST_SCALE))) >= FAR_APART
    if len(np.unique(member)) < 2 or not (far or gap >= LEAST_APART):
        means, widths = _clouds(colours, weights, np.zeros((1, len(colours)), dtype=np.intp))
        return TeamColours(light=_triple(means[0, 0]), dark=None, light_width=_triple(widths[0, 0]))
    light, dark = (0, 1) if means[0, 0] >= means[1, 0] else (1, 0)
    return TeamColours(
        light=_triple(means[light]),
        dark=_triple(means[dark]),
        light_width=_triple(widths[light]),
        dark_width=_triple(widths[dark]),
    )


def _starts(colours: Array, weights: Array) -> Array:
    """First guesses of who belongs together: two means, and cuts at the widest gap along L, a, b and the long axis."""
    scaled = colours * np.array(FIRST_SCALE)
    first = _two_means(scaled, weights)[None]
    if len(colours) < 2:
        return first
    centred = scaled - scaled.mean(axis=0)
    long_axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    along = np.concatenate([centred.T, (centred @ long_axis)[None]])
    order = np.sort(along, axis=1)
    widest = np.diff(order, axis=1).argmax(axis=1)[:, None]
    limit = (np.take_along_axis(order, widest, axis=1) + np.take_along_axis(order, widest + 1, axis=1)) / 2
    return np.concatenate([first, (along > limit).astype(np.intp)])


def _two_means(scaled: Array, weights: Array) -> Array:
    pair = np.linalg.norm(scaled[:, None] - scaled[None], axis=-1)
    means = scaled[list(np.unravel_index(int(pair.argmax()), pair.shape))].astype(np.float64)
    member = np.zeros(len(scaled), dtype=np.intp)
    for turn in range(8):
        nearest = np.linalg.norm(scaled[:, None] - means[None], axis=-1).argmin(axis=1)
        if turn and (nearest == member).all():
            break
        member = nearest
        share = np.stack([member == 0, member == 1]) * weights
        total = share.sum(axis=1, keepdims=True)
        means = np.where(total > 0, share @ scaled / np.maximum(total, 1e-12), means)
    return member


def _settled(colours: Array, weights: Array, members: Array) -> Array:
    """Cuts ``(k, n)`` in each of which every disc joined the likelier cloud until none moved."""
    for _ in range(6):
        new = _costs(colours, *_clouds(colours, weights, members)).argmin(axis=2)
        one = (new == new[:, :1]).all(axis=1)
        new[one] = members[one]
        if (new == members).all():
            break
        members = new
    return members


def _total_costs(colours: Array, weights: Array, members: Array) -> Array:
    """Minus twice the log likelihood of all discs under each cut, ``(k,)``."""
    means, widths = _clouds(colours, weights, members)
    mean, width = (np.take_along_axis(both, members[..., None], axis=1) for both in (means, widths))
    z = (colours - mean) / width
    return np.asarray((weights * ((z * z).sum(axis=2) + 2.0 * np.log(width).sum(axis=2))).sum(axis=1))


def _clouds(colours: Array, weights: Array, members: Array) -> tuple[Array, Array]:
    """Means and widths of the two clouds of each cut, ``(k, 2, 3)`` both; an empty one keeps the mean of all."""
    share = np.stack([members == 0, members == 1], axis=1) * weights
    share[~share.any(axis=2)] = weights
    total = share.sum(axis=2, keepdims=True)
    means = share @ colours / total
    off = colours - means[:, :, None]
    square = np.einsum("ktn,ktnc->ktc", share, off * off)
    widths = np.sqrt((square + USUAL_WEIGHT * np.array(USUAL_WIDTH) ** 2) / (total + USUAL_WEIGHT))
    return means, widths


def _costs(colours: Array, means: Array, widths: Array) -> Array:
    """Minus twice the log likelihood of each colour under each of two clouds, ``(k, n, 2)`` for k pairs of clouds.

    Only the way from one cloud to the other tells them apart: a colour off that way is strange for either. Beyond a
    cloud's middle nothing is less of it than there, so a wide light cloud does not take the darkest disc of all from
    a narrow dark one.
    """
    between = means[:, 1] - means[:, 0]
    axis = between / (widths**2).mean(axis=1)
    length = (between * axis).sum(axis=1)
    apart = np.maximum(length, 1e-6)[:, None]
    along = np.clip(((colours - means[:, :1]) @ axis[..., None])[..., 0] / apart, 0.0, 1.0)
    spread = np.sqrt((axis[:, None] ** 2 * widths**2).sum(axis=2)) / apart
    z = (along[..., None] - np.array([0.0, 1.0])) / np.maximum(spread, 1e-12)[:, None]
    costs = z * z + 2.0 * np.log(np.maximum(spread, 1e-12))[:, None]
    return np.where((length < 1e-6)[:, None, None], 0.0, costs)


def assign(colours: Array, teams: TeamColours) -> tuple[Array, Array]:
    """The team of each disc and how clearly it is meant.

    Returns:
        ``(team, clearness)``: team 0 = light, 1 = dark, ``(n,)``; clearness 0 = either team is as likely, 1 = no
        doubt. With one colour known everything is team 0 if that is light, 1 if dark (L below 50).
    """
    if teams.dark is None:
        only = 0 if teams.light[0] >= MIDDLE_L else 1
        return np.full(len(colours), only), np.ones(len(colours))
    costs = _costs(colours, teams.means[None], teams.widths[None])[0]
    return costs.argmin(axis=1), np.tanh(np.abs(costs[:, 0] - costs[:, 1]) / 8.0)


def strangeness(colours: Array, teams: TeamColours) -> Array:
    """Distance of colours from the nearest team in its standard deviations, ``(n,)``; 1.7 is usual."""
    z = (colours[:, None] - teams.means[None]) / teams.widths[None]
    return np.asarray(np.sqrt((z * z).sum(axis=-1)).min(axis=1))


def _triple(colour: Array) -> Triple:
    return (float(colour[0]), float(colour[1]), float(colour[2]))
