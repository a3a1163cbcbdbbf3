"""Feeds are split as text, whatever they contain."""

import pytest

from sleuth_providers.adapters._feed import attribute, elements, field, plain_field
from sleuth_providers.json import MAX_ITEMS


def test_elements_are_found_by_their_whole_name() -> None:
    feed = "<items><item>a</item><item-x>b</item-x><item n='1'>c</item><item/><item"
    assert [inner for _, inner in elements(feed, "item")] == ["a", "c", "", ""]


def test_number_of_elements_is_limited() -> None:
    assert len(list(elements("<item>" * (2 * MAX_ITEMS), "item"))) == MAX_ITEMS


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<t>a &amp;lt; b</t>", "a &lt; b"),
        ("<t><![CDATA[a &amp; <b>b</b>]]></t>", "a &amp; <b>b</b>"),
        ("<t lang='en'> a </t><t>b</t>", "a"),
        ("<t>cut short", "cut short"),
        ("<u>a</u>", ""),
    ],
)
def test_field_is_decoded_once(markup: str, text: str) -> None:
    assert field(markup, "t") == text


def test_plain_field_is_one_line_without_tags() -> None:
    assert plain_field("<t>&lt;b&gt;a&lt;/b&gt;\n  b</t>", "t") == "a b"


def test_entities_of_the_document_are_not_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><rss><item><title>&b;</title></item></rss>'
    assert [plain_field(item, "title") for _, item in elements(bomb, "item")] == ["&b;"]


@pytest.mark.parametrize(
    "attributes", [' url="https://a.example/?x=1&amp;y=2"', " id='7' url='https://a.example/?x=1&y=2'"]
)
def test_attribute_is_decoded(attributes: str) -> None:
    assert attribute(attributes, "url") == "https://a.example/?x=1&y=2"
    assert attribute(attributes, "href") == ""
