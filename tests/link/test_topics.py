"""The topics of the contract: made and taken apart in one place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.link import topics

BOARDS = st.from_regex(r"[a-z0-9-]{1,32}", fullmatch=True).filter(lambda b: b not in topics.RESERVED)


@given(BOARDS)
def test_a_topic_and_its_parts_round_trip(board: str) -> None:
    assert topics.parse(topics.fact(board, "beam")) == (board, "fact", "beam")
    assert topics.parse(topics.table(board)) == (board, "table", "")


@pytest.mark.parametrize("board", ["", "hub", "answer", "Board", "a" * 33, "a/b", "a+", "böard"])
def test_a_bad_board_id_is_refused(board: str) -> None:
    with pytest.raises(topics.TopicError):
        topics.check_board(board)


@pytest.mark.parametrize(
    "topic", ["", "crokinole", "crokinole/2/b/table", "other/1/b/table", "crokinole/1/B/table/x/y"]
)
def test_what_is_not_of_the_contract_is_no_topic(topic: str) -> None:
    assert topics.parse(topic) is None


@pytest.mark.parametrize(
    ("topic_filter", "topic", "expected"),
    [
        ("a/+/c", "a/b/c", True),
        ("a/+/c", "a/b/d", False),
        ("a/#", "a/b/c", True),
        ("a/+", "a/b/c", False),
        ("a/b/c", "a/b", False),
        (topics.ALL_FACTS, topics.fact("b", "camera"), True),
        (topics.ALL_FACTS, topics.ack("b", "camera"), False),
    ],
)
def test_filters_match_as_a_broker_matches(topic_filter: str, topic: str, expected: bool) -> None:
    assert topics.matches(topic_filter, topic) is expected
