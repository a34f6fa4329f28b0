import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.contracts.source_diff import LineKind
from p2p.service.progress.word_diff import diff_by_words

OLD = 'weights = {"forward": 1.0, "effort": 0.1}\ntotal = 0.0\n'


def test_a_changed_number_is_the_only_thing_marked_in_its_lines() -> None:
    diff = diff_by_words(OLD, OLD.replace("1.0", "2.5"))
    changed = [(line.kind, part.text) for line in diff.lines for part in line.parts if part.changed]
    assert changed == [(LineKind.OLD, "1"), (LineKind.OLD, "0"), (LineKind.NEW, "2"), (LineKind.NEW, "5")]
    assert (diff.added, diff.removed) == (1, 1)


def test_a_line_that_has_nothing_in_common_with_the_one_before_is_another_line() -> None:
    diff = diff_by_words("total = 0.0\n", "def height(body): return body\n")
    assert [[part.changed for part in line.parts] for line in diff.lines] == [[True], [True]]


def test_equal_sources_have_no_difference() -> None:
    assert diff_by_words(OLD, OLD).lines == ()


def test_what_both_have_far_from_a_change_is_left_out() -> None:
    lines = [f"line {i}" for i in range(40)]
    diff = diff_by_words("\n".join(lines), "\n".join([*lines[:20], "another", *lines[21:]]))
    kinds = [line.kind for line in diff.lines]
    assert kinds[0] == kinds[-1] == LineKind.SKIPPED
    assert [line.old_number for line in diff.lines if line.kind is LineKind.SAME] == [18, 19, 20, 22, 23, 24]


@given(st.lists(st.sampled_from(["a = 1", "a = 2", "b = a + 1", "", "return b"]), max_size=12), st.data())
def test_the_lines_of_a_difference_are_those_of_the_sources(old: list[str], data: st.DataObject) -> None:
    new = data.draw(st.permutations(old))
    for line in diff_by_words("\n".join(old), "\n".join(new)).lines:
        text = "".join(part.text for part in line.parts)
        if line.old_number is not None:
            assert text == old[line.old_number - 1]
        if line.new_number is not None:
            assert text == new[line.new_number - 1]
        assert (line.kind is LineKind.SKIPPED) == (line.old_number is None and line.new_number is None)


@pytest.mark.parametrize("old", ["", "a\n"])
def test_a_source_can_come_out_of_nothing(old: str) -> None:
    diff = diff_by_words(old, "a\nb\n")
    assert diff.added == 2 - len(old.split())
