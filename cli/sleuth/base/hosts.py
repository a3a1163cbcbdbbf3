"""Host names as they are shown: in Punycode where their letters could be mistaken for others.

The rules are those of browsers, somewhat stricter: a label is shown as written if all its letters belong to one script
that looks like nothing else here. So neither `pаypal` with a Cyrillic а nor `google.comノsearch` can pose as a name in
ASCII.
"""

import re
import unicodedata

from sleuth_providers.net.urls import to_idna

ASIAN = (  # scripts that one label may combine, by the first word of the names of their characters
    {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    {"CJK", "HANGUL"},
    {"CJK", "BOPOMOFO"},
)
# Signs and strokes; a label of nothing else looks like punctuation.
LOOK_ALIKES = frozenset("〇ノンソゾんへヘ丶丿丨一二三ㅣㅡーエト卜工口十")


def shown_host(host: str) -> str:
    """Return a host with each label as written or in Punycode; raise ValueError for an invalid one."""
    if host.isascii():
        return host
    labels = re.split("[.。．｡]", host)
    return ".".join(label if _is_clear(label, labels[-1]) else _punycode(label) for label in labels)


def _is_clear(label: str, last: str) -> bool:
    """Tell whether a label cannot be mistaken for another; scripts like Cyrillic only below a name in the same."""
    if label.isascii():
        return True
    letters = [letter for letter in label if not (letter.isascii() and (letter.isdigit() or letter == "-"))]
    if all(("ß" <= one <= "ÿ" and one.isalpha()) or (one.isascii() and one.isalpha()) for one in letters):
        return True
    scripts = _scripts(letters)
    if any(scripts <= combined for combined in ASIAN):
        return not all(letter in LOOK_ALIKES for letter in letters)
    return len(scripts) == 1 and "LATIN" not in scripts and scripts == _scripts([*last])


def _scripts(letters: list[str]) -> set[str]:
    """Return the scripts of letters; anything that is not a letter or a mark counts as a separate script."""
    names = (unicodedata.name(one, "") if unicodedata.category(one)[0] in "LM" else one for one in letters)
    return {name.partition(" ")[0] for name in names}


def _punycode(label: str) -> str:
    known = to_idna(label).lower()
    if not re.fullmatch(r"[\w.-]+", known, re.ASCII):  # IDNA turns some characters into spaces and slashes
        raise ValueError(label)
    return known
