"""How a waxed board feels: the figures behind the physics, in one place and with their reasons."""

from __future__ import annotations

from dataclasses import dataclass

GRAVITY_MM_S2 = 9810.0


@dataclass(frozen=True, slots=True)
class Feel:
    """Material figures; the defaults are a waxed maple board with maple discs and rubber-sleeved pegs.

    Attributes:
        slide_friction: disc on the surface; 0.07 lets a flick of 1 m/s run 730 mm, about as on a club board.
        ditch_friction: disc in the ditch, which is felted or unwaxed.
        disc_bounce: restitution between two discs.
        peg_bounce: restitution between a disc and a peg.
        rail_bounce: restitution of the rail around the ditch.
        rim_friction: friction between the rims of two discs in contact; it makes them turn.
        catch_mm: how deep the front of a disc must have dipped over the hole to strike the far wall.
        hop_mm_s: speed above which a disc that has struck the far wall may hop out again.
        lip_mm: how far a disc may have dropped and still ride up the edge when the rail throws it back.
        lean_chance: share of slow discs that enter far off the middle and jam instead of dropping flat.
        climb_chance: share of hard hits on a disc in the hole that leave the second lying on it.
    """

    slide_friction: float = 0.07
    ditch_friction: float = 0.35
    disc_bounce: float = 0.86
    peg_bounce: float = 0.72
    rail_bounce: float = 0.5
    rim_friction: float = 0.12
    catch_mm: float = 1.6
    hop_mm_s: float = 650.0
    lip_mm: float = 3.0
    lean_chance: float = 0.3
    climb_chance: float = 0.01

    def slide_mm_s2(self) -> float:
        """Constant deceleration on the surface."""
        return self.slide_friction * GRAVITY_MM_S2
