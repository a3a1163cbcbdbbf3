"""Copies of a page are distinguished from other pages about the same subject."""

from sleuth.relevance.duplicates import find_duplicates

STORY = " ".join(f"The council met for the {n}th time and spoke about bridge number {n * 7}." for n in range(60))
OTHER = " ".join(f"In the {n}th session, members of the council debated bridge {n * 11}." for n in range(60))


def test_a_copy_with_other_surroundings_is_found() -> None:
    copy = f"Syndicated from the Gazette. {STORY.replace('  ', ' ').upper()} Subscribe to our newsletter!"
    assert find_duplicates([OTHER, STORY, copy]) == {2: 1}


def test_pages_about_the_same_subject_stay_apart() -> None:
    assert find_duplicates([STORY, OTHER, STORY[:1000], "", "short", "short"]) == {}


def test_chinese_copies_are_found() -> None:
    text = "".join(f"第{n}次会议讨论了第{n * 7}号桥梁的预算和工期安排。" for n in range(60))
    assert find_duplicates([text, f"转载：{text}"]) == {1: 0}


def test_pages_made_from_one_template_stay_apart() -> None:
    template = "The runtime called {name} schedules async tasks on threads, and sentence {n} says so at some length."
    names = ("tokio", "smol", "glommio")
    assert find_duplicates([" ".join(template.format(name=name, n=n) for n in range(40)) for name in names]) == {}
