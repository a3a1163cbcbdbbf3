"""Markup is cut where parsing it would cost too much, and nowhere else."""

import pytest

from sleuth_providers.html.limits import MAX_ATTRIBUTES, MAX_TAG_ATTRIBUTES, MAX_TAGS, limit_markup

DIFFERENT = " ".join(f"a{number}" for number in range(MAX_TAG_ATTRIBUTES + 1))


@pytest.mark.parametrize(
    "page",
    [
        "",
        "no markup",
        "<p>text</p>" * 1000,
        "<a href=\"https://a.test/x?y=1&z\" class='b c' hidden>x</a>" * 1000,
        f'<path d="{"M1 2 " * 50_000}">',
        f"<p title='{'>' * 5000}'>",
        "<script>" + "for(i=0;i<n;i++){f(a<b)}" * 5000 + "</script>",
        "<" * 100_000,
        "< p " * 50_000,
    ],
)
def test_normal_page_is_unchanged(page: str) -> None:
    assert limit_markup(page) == page


@pytest.mark.parametrize(
    "attributes",
    [
        DIFFERENT,
        DIFFERENT.replace(" ", "/"),
        DIFFERENT.replace(" ", "='>' "),
        DIFFERENT.replace(" ", '=">"'),
        DIFFERENT.replace(" ", "\n=\tx "),
        DIFFERENT.replace(" ", '" '),
        "=" + DIFFERENT,
    ],
    ids=["blanks", "slashes", "quoted", "no blanks", "unquoted", "quotes in names", "equals sign"],
)
def test_page_is_cut_at_a_tag_with_too_many_attributes(attributes: str) -> None:
    assert limit_markup(f"<p>good</p><p {attributes}>bad</p>") == "<p>good</p>"


def test_page_is_cut_at_the_maximum_of_tags() -> None:
    assert limit_markup("<p>" * (MAX_TAGS + 5)) == "<p>" * MAX_TAGS


def test_page_is_cut_at_the_maximum_of_attributes() -> None:
    whole = "<p a b c d>" * (MAX_ATTRIBUTES // 4)
    assert limit_markup(whole) == whole
    assert limit_markup(whole + "<p e>") == whole


@pytest.mark.cpu_limit(20)
@pytest.mark.parametrize(
    "piece", ["<a", '<p x="', "<p x='", "<p ", "<p/", "<p a= ", "<p =", "<p a\n", "<!-- <p", "<svg><script><p "]
)
def test_hostile_page_is_scanned_in_linear_time(piece: str) -> None:
    limit_markup(piece * (2_000_000 // len(piece)))
