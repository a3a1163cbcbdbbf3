"""A line of a model's Markdown without images, HTML or foreign links; its code and formulas stay."""

import re
from collections.abc import Mapping

from sleuth.answers.blocks import code_spans
from sleuth.answers.citations import link_target
from sleuth.base.text import markdown_target
from sleuth.base.urls import ascii_host, domain

# Characters that stand for code and other text that is finished, while the rest of its line is made safe.
FIRST_PLACEHOLDER, MAX_PLACEHOLDERS = 0xF0000, 0xFFFD
P = "\U000f0000-\U000ffffd"
PLACEHOLDER, PLACEHOLDERS = re.compile(f"[{P}]"), re.compile(rf"(?<!\\)(?P<slashes>\\*+)(?P<run>[{P}]++)")
# A bare URL ends at the punctuation of the sentence, also a Chinese one, and at a parenthesis that it did not open.
URL_CHAR = rf"[^\s<>`|()\"\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65{P}]"
URL_START = (
    r"(?i:(?:https?|ftp):/|(?<![\w+.-])[a-z][a-z\d+.-]{1,20}://|www\.(?=\S)"
    rf"|(?<![^\W_:/])//(?=localhost|[^\s/.{P}]{{1,63}}\.))"
)
BARE_URL = rf"{URL_START}(?:(?:{URL_CHAR}|\({URL_CHAR}*+\))*(?<![.,;:!?'*_~\]]))?"
IPV6_HOST = re.compile(r"[\w+.-]*+://\[[\da-fA-F:.]*+\]")
CITATION = re.compile(r"\[(\d{1,3})[+?]{0,2}\]")
# Up to the end of the label of a link definition, and of one that began in a line above.
DEFINITION = re.compile(r"\A((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t]|\[[ xX]\][ \t])*+\[(?:[^\[\]\\]|\\.)*+\]):")
DEFINITION_REST = re.compile(r"\A((?:[^\[\]\\]|\\.)*+\]):")
DIVIDER = re.compile(r"(?<!\\)\|")  # of the cells of a table
# The text of a link may contain brackets, as in [[1]](…), and its target parentheses.
LINK = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|!?\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,50}\]){0,300}+)\]\(\s{0,9}+"
    r"(?P<rest><?(?P<target>[^\s<>()]{0,4000}+(?:\([^\s<>()]{0,4000}+\)[^\s<>()]{0,4000}+){0,9}+)>?[^()]{0,300}\))"
)
PLAIN_LABEL = rf"\[\d{{1,3}}[+?]{{0,2}}\]|[^\[\]\\`<>|&${P}]{{1,300}}+"
# Where viewers may find a link, an image or HTML; escapes are matched so that they stay whole.
MARKUP = re.compile(
    rf"!?\[(?P<label>{PLAIN_LABEL})\]\((?P<target><[^\s<>|`\\]{{1,4000}}+>|[^\s<>|`\\()]{{1,4000}}+)\)"
    rf"|<(?P<autolink>{BARE_URL})>|\\?(?P<url>{BARE_URL})|(?P<html>\\?<(?=[A-Za-z/!?]))|\\[!-/:-@\[-_{{-~]"
    rf"|(?P<paren>(?<=\])\()|(?P<sign>~{{3,}}|:{{3,}}|~+(?=[<{P}]|{URL_START})"
    r"|&(?!(?:amp|lt|gt|quot|nbsp|apos|#39|#91|#92|#96);)(?=#?\w{1,40};))"
)
BRACKETS = re.compile(r"\[[^\[\]]*+\]")
BRACKET = re.compile(rf"\\.|[\[\]{P}]")
# Formulas that end in their line, with neither code nor another dollar in them, or else what would begin one.
FORMULA = re.compile(
    r"(?P<formula>"
    rf"\$\$[^${P}]{{1,1000}}+\$\$(?!\$)|(?<![\w$\\])\$(?![\s$])[^${P}]{{1,1000}}+(?<![\s\\])\$(?![\w$])"
    rf"|\\\((?:[^\\{P}]|\\[^){P}]){{0,500}}+\\\)|\\\[(?:[^\\{P}]|\\[^\]{P}]){{0,500}}+\\\]"
    rf"|\\(?:ce|pu)\{{[^{{}}{P}]{{0,500}}+\}}|\\begin\{{(?:[^\\{P}]|\\(?!end)[^{P}]){{0,500}}+\\end\{{)"
    r"|(?P<slashes>\\++)(?P<next>[(\[$]|(?=(?:begin|ce|pu)\{))?|\$++"
)
LONE_DOLLAR = re.compile(r"[\s\d.)*+>-]*+\$\s*+")
# MathJax makes links of these, loads images for them, or writes their text as HTML or CSS.
TEX_NAMES = (
    r"(?:href|url|style|class|cssId|data|mmlToken|require|unicode|includegraphics|bbox|csname|let|html\w*)(?![A-Za-z])"
)
TEX_COMMAND = re.compile(rf"\\(?={TEX_NAMES})")
TEX_CALL = re.compile(rf"(?<![\w:])\\(?={TEX_NAMES})|\\(?={TEX_NAMES}[ \t]*+[{{\[#])")  # not `C:\data`
FORMULA_SIGN, BRACKET_END = re.compile(rf"\$|{TEX_COMMAND.pattern}"), re.compile(r"\]")
TEX = re.compile(r"\$|\\[(\[]|\\begin\b")
TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
# Some viewers remove escapes first. `\:` is a space in formulas.
HIDDEN_URL = re.compile(
    r"(?i)(?<=http)\\++(?=:)|(?<=https)\\++(?=:)|(?<=ftp)\\++(?=:)|(?<=www)\\++(?=\.)|(?<=[:/])\\++(?=/)|(?<!\\)\\++(?=//)"
)
UNSAFE_TARGET = re.compile(r"(?i)script:|data:|&[#\w]")  # anything else that is no URL may be a formula: [f](\omega)


class Paragraph:
    """What the lines of a paragraph so far mean for the next ones."""

    def __init__(self) -> None:
        self.in_table = self.has_formula = False
        self.has_bracket = False  # open, so that the next line may end the label of a link definition


class ProseLine:
    """Makes a line safe that is no code; until the end, placeholders stand for code and what else is finished."""

    def __init__(self, targets: Mapping[int, str], paragraph: Paragraph, goes_on: bool) -> None:
        self._targets, self._paragraph, self._goes_on = targets, paragraph, goes_on
        self._finished: list[str] = []

    def safe(self, line: str, *, is_start: bool, in_formula: bool) -> str:
        """Return the line, or the rest of one, without images, HTML or links to other places than the sources."""
        text = LINK.sub(self._readable_link, self._take_code(line))
        self._paragraph.has_formula |= in_formula or bool(TEX.search(text))
        text = (TEX_COMMAND if self._paragraph.has_formula else TEX_CALL).sub(r"\\ ", text)
        text = TAG_START.sub("< ", text) if in_formula else self._close_brackets(self._close_formulas(text, is_start))
        text = DEFINITION.sub(r"\1\\:", text) if is_start else text
        text = DEFINITION_REST.sub(r"\1\\:", text) if self._paragraph.has_bracket else text
        text = HIDDEN_URL.sub("", text)
        self._paragraph.has_bracket |= has_open_bracket(text)
        return PLACEHOLDERS.sub(self._put_back, MARKUP.sub(self._safe_markup, text))

    def _keep(self, text: str) -> str:
        """Return a placeholder for text that is not to be changed any more."""
        if len(self._finished) == MAX_PLACEHOLDERS:
            return ""
        self._finished.append(text)
        return chr(FIRST_PLACEHOLDER + len(self._finished) - 1)

    def _kept(self, placeholder: str) -> str:
        return self._finished[ord(placeholder) - FIRST_PLACEHOLDER]

    def _put_back(self, found: re.Match[str]) -> str:
        """Return code in place of its placeholders, with spaces where it would merge with the code beside it."""
        first, *others = map(self._kept, found["run"])
        for text in others:
            first += (" " if first[-1] == text[0] == "`" else "") + text
        return found["slashes"] + "\\" * (len(found["slashes"]) % 2 and first[0] == "`") + first

    def _take_code(self, line: str) -> str:
        """Replace code, and backticks that begin none, by placeholders."""
        line, done, pieces = PLACEHOLDER.sub("", line), 0, []
        for start, end, is_code in code_spans(line):
            pieces += [line[done:start], self._code(line[start:end]) if is_code else ""]
            done = end
            if not is_code:
                pieces.append(self._keep("&#96;" * line.count("`", start, end)))
        return "".join([*pieces, line[done:]])

    def _code(self, code: str) -> str:
        in_table = self._paragraph.in_table
        # Viewers disagree whether such a bar ends the cell, or have found the beginning of a link in a formula above.
        if (in_table and r"\\|" in code) or (self._paragraph.has_bracket and "]" in code):
            return "'" + re.sub(r"[\\*_~]", r"\\\g<0>", code.strip("`")).replace("`", "'") + "'"
        return self._keep(DIVIDER.sub(r"\|", code) if in_table else code)

    def _last_code(self, text: str, sign: re.Pattern[str]) -> int:
        """Return the place of the last code that contains a sign; -1 if there is none."""
        places = (found.start() for found in PLACEHOLDER.finditer(text) if sign.search(self._kept(found[0])))
        return max(places, default=-1)

    def _close_formulas(self, text: str, is_start: bool) -> str:
        """Escape what would begin a formula that ends in code or further down."""
        last = len(text) if self._goes_on or self._paragraph.in_table else self._last_code(text, FORMULA_SIGN)
        is_alone = is_start and LONE_DOLLAR.fullmatch(text)  # which begins a formula for some viewers

        def replace(found: re.Match[str]) -> str:
            if found["formula"]:
                return TAG_START.sub("< ", found[0])
            slashes, following = found["slashes"] or "", found["next"]
            if following in ("(", "["):
                return following
            is_escape = len(slashes) % 2 == 1
            if following == "":  # the name of an environment
                return slashes[1:] + self._keep("&#92;") if is_escape else slashes
            if is_escape or found[0][-1] != "$":
                return found[0]
            dollars = found[0][len(slashes) :]
            is_open = len(dollars) > 1 or found.start() < last or is_alone
            return slashes + self._keep(r"\$" * len(dollars)) if is_open else found[0]

        return FORMULA.sub(replace, text)

    def _close_brackets(self, text: str) -> str:
        """Escape brackets that end in code or further down: some viewers find the end of a link there."""
        opened: list[int] = []
        unsafe: set[int] = set()
        end = len(text) if self._goes_on else self._last_code(text, BRACKET_END) + 1
        for found in BRACKET.finditer(text, 0, end):
            if found[0] == "[":
                opened.append(found.start())
            elif found[0] == "]":
                del opened[-1:]
            elif found[0][0] != "\\" and "]" in self._kept(found[0]):
                unsafe |= set(opened)
                opened.clear()
        unsafe |= set(opened) if self._goes_on else set()
        signs = (self._keep("&#91;") if place in unsafe else sign for place, sign in enumerate(text))
        return "".join(signs) if unsafe else text

    def _readable_link(self, found: re.Match[str]) -> str:
        """Return a link to a source; of any other link or image its text and host."""
        if found["escaped"]:
            return found[0]
        url, label = link_target(HIDDEN_URL.sub("", found["target"])), LINK.sub(self._readable_link, found["label"])
        if found[0][0] != "!" and self._is_known(label, url):
            return f"[{label}]({markdown_target(url)})"
        site = domain(url)
        if not site and found[0][0] != "!" and not UNSAFE_TARGET.search(found["target"]):
            return f"[{label}] ({LINK.sub(self._readable_link, found['rest'])}"
        shown = PLACEHOLDER.sub(lambda code: self._kept(code[0]).strip("`"), label)
        return f"{label} ({site})" if site and site != ascii_host(shown) else label

    def _safe_markup(self, found: re.Match[str]) -> str:
        """Return markup that is safe as it is; else the same text, escaped, and URLs as code."""
        if found["html"]:
            return "&lt;"  # some viewers take a backslash for the end of a URL before it
        if found["paren"]:
            return " ("
        if found["sign"]:
            return "".join(f"\\{one}" for one in found["sign"])
        if bare := found["autolink"] or found["url"]:
            url = link_target(bare)
            link = f"<{url}>" if url in self._targets.values() else f"`{_without_signs(bare)}`"
            return ("\\\\" if found[0][0] == "\\" else "") + self._keep(link)
        if not found["target"] or (found[0][0] != "!" and self._is_known(found["label"], found["target"].strip("<>"))):
            return found[0]
        label, _, target = (MARKUP.sub(self._safe_markup, part) for part in found[0].partition("]("))
        return f"{label}] ({target}"

    def _is_known(self, label: str, url: str) -> bool:
        """Tell whether a link may stay: to the source of a citation, or to any source from words that name no URL."""
        cited, url = CITATION.fullmatch(label), url.replace("&amp;", "&")
        is_plain = re.fullmatch(PLAIN_LABEL, label) and (label == url or not re.search(URL_START, label))
        return bool(is_plain) and url in ([self._targets.get(int(cited[1]))] if cited else self._targets.values())


def _without_signs(url: str) -> str:
    """Return a URL whose code ends neither a formula nor the text of a link."""
    host = IPV6_HOST.match(url)
    place = host.end() if host else 0
    return url[:place] + url[place:].translate({ord("$"): "%24", ord("["): "%5B", ord("]"): "%5D"})


def has_open(line: str) -> bool:
    """Tell whether a line may begin a formula or the text of a link that goes on in the next line."""
    return "$" in line or has_open_bracket(line)


def has_open_bracket(text: str) -> bool:
    """Tell whether a bracket is open at the end of a text for some viewer."""
    versions = (text, re.sub(r"\\.", "", text))
    return "[" in text and any("[" in BRACKETS.sub("", BRACKETS.sub("", version)) for version in versions)
