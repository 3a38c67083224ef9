"""What is kept of a name that somebody typed."""

from __future__ import annotations

import pytest

from hub.people.names import NAME_CHARS, trimmed


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Ann", "Ann"),
        ("  Ann \n Lee\t", "Ann Lee"),
        ("<b>Ann</b>", "<b>Ann</b>"),
        ("Ann\u202eeeL", "Ann eeL"),
        ("A\x00nn", "A nn"),
        ("سی\u200cس", "سی\u200cس"),
        ("क्\u200dष", "क्\u200dष"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("\u200d", ""),
        ("Ann \u200c\u200d Lee", "Ann Lee"),
        ("\u200b\ufeff \u2066", ""),
        ("x" * 90, "x" * NAME_CHARS),
    ],
)
def test_a_name_is_kept_as_it_can_be_shown(typed: str, kept: str) -> None:
    assert trimmed(typed) == kept
    assert trimmed(kept) == kept
