"""proxy.guards.stop_sequences: a stop sequence ends the answer before itself, wherever the text is cut."""

from hypothesis import given
from hypothesis import strategies as st

from proxy.guards.stop_sequences import StopSequences


def feed_pieces(pieces: list[str], sequences: tuple[str, ...]) -> str:
    stops = StopSequences(sequences)
    return "".join(stops.feed(piece).text for piece in pieces) + stops.finish().text


def test_without_sequences_text_goes_straight_through() -> None:
    assert StopSequences(()).feed("as it came").text == "as it came"


def test_nothing_leaves_from_a_stop_sequence_on() -> None:
    stops = StopSequences(("END",))
    assert stops.feed("one E").text == "one "
    cut = stops.feed("ND two")
    assert (cut.text, cut.is_stopped) == ("", True)
    assert stops.feed("three").text == "" == stops.finish().text


def test_what_only_looked_like_a_beginning_is_given_back() -> None:
    assert feed_pieces(["an E", "N"], ("END",)) == "an EN"


@given(st.text("abE", max_size=40), st.lists(st.text("abE", min_size=1, max_size=4), min_size=1, max_size=3))
def test_the_result_does_not_depend_on_the_pieces(text: str, sequences: list[str]) -> None:
    hits = [(at + len(s), at) for s in sequences if (at := text.find(s)) >= 0]
    whole = min(hits)[1] if hits else len(text)
    assert feed_pieces(list(text), tuple(sequences)) == text[:whole] == feed_pieces([text], tuple(sequences))


def test_of_two_sequences_the_one_complete_first_ends_the_answer() -> None:
    assert feed_pieces(["EbE"], ("b", "EbE")) == "E" == feed_pieces(list("EbE"), ("b", "EbE"))
