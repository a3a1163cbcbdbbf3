"""A line of a model's Markdown without images, HTML or foreign links; its code and formulas stay."""

import re
from collections.abc import Mapping

from sleuth.answers.blocks import DISPLAY_TEX, FORMULA, P, code_spans
from sleuth.answers.citations import link_target
from sleuth.base.text import markdown_target, without_markup
from sleuth.base.urls import ascii_host, domain

# Characters that stand for code, formulas and other finished text, while the rest of the line is made safe.
FIRST_PLACEHOLDER, MAX_PLACEHOLDERS = 0xF0000, 0xFFFD
PLACEHOLDER, PLACEHOLDERS = re.compile(f"[{P}]"), re.compile(rf"(?<!\\)(?P<slashes>\\*+)(?P<run>[{P}]++)")
# A bare URL ends at the punctuation of the sentence, also a Chinese one, and at a parenthesis that it did not open.
URL_CHAR = rf"[^\s<>`|()\"\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65{P}]"
# What markdown-it 14 takes for a URL although it has no scheme, with a path or query, which could carry data.
NAME = (
    r"(?i:(?:(?<![a-z\d.:/@-])(?<![^\W_]_)[a-z\d-]++|(?<![a-z\d\s.:/@,;!?()\[\]{}\"'*#%&\\_-]))"
    r"(?:\.[a-z\d-]++(?=\.))*+\.(?:com|net|org|edu|gov|biz|info|name|pro|web|shop|xxx|aero|asia|coop|museum"
    r"|\u0440\u0444|xn--[a-z\d-]++|(?!js|ts|cs|go|kt|rb|db)[a-z]{2})(?::\d{1,5})?[/?])"
)
URL_START = (
    r"(?:(?i:(?:https?|ftp):/|(?<![a-z\d_+.-])[a-z][a-z\d+.-]{1,20}://|www\.(?![ \t\n]|\Z)"
    rf"|(?<![a-z\d])//(?=localhost|[^\s/.&{P}]{{1,63}}\.))|{NAME}(?![.,;:!?'\")\]*_~\u2018-\u201f]*+(?:\s|\Z)))"
)
BARE_URL = rf"{URL_START}(?:(?:{URL_CHAR}|\({URL_CHAR}*+\))*(?<![.,;:!?'*_~\]]))?"
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
ENVIRONMENT = re.compile(r"\\(begin|end)\b\s*+(?:\{([^{}]*+)\})?")
# What begins a formula for some viewer.
DELIMITER = re.compile(r"(?P<slashes>\\++)(?P<next>[(\[$]|(?=(?:begin|ce|pu)\s*+\{))?|\$++")
ALONE = re.compile(rf"[\s\d.)*+-]*+\$\${DISPLAY_TEX}\$\$\s*+")
# MathJax makes links of these, loads images for them, or writes their text as HTML or CSS.
TEX_NAMES = (
    r"(?:href|url|style|class|cssId|data|mmlToken|require|unicode|includegraphics|bbox|csname|let|html\w*)(?![A-Za-z])"
)
TEX_CALL = re.compile(rf"(?<![\w:.])\\(?={TEX_NAMES})|\\(?={TEX_NAMES}[ \t]*+[{{\[#])")  # not `C:\data`, `.\data`
BRACKET = re.compile(rf"\\?\[|(?<!\\)\]|[{P}]")
# What would not be harmless as prose.
RISKY = re.compile(rf"\]:|\]\(\s*+[^)\s:/.&\\%]*+[:/.&\\%]|<[A-Za-z/!?]|&[#\w]|[:/]\\*+/|www|{NAME}|\\(?={TEX_NAMES})")
# Some viewers remove escapes first. `\:` is a space in formulas.
HIDDEN_URL = re.compile(
    r"(?i)(?<=http)\\++(?=:)|(?<=https)\\++(?=:)|(?<=ftp)\\++(?=:)|(?<=www)\\++(?=\.)|(?<=[:/])\\++(?=/)|(?<!\\)\\++(?=//)"
)
UNSAFE_TARGET = re.compile(r"(?i)script:|data:|&[#\w]")  # anything else that is no URL may be a formula: [f](\omega)


class Paragraph:
    """State carried from line to line within a paragraph."""

    def __init__(self) -> None:
        self.in_table = False
        self.has_dollars = False  # around a formula, so that some viewers may find another one up to the next dollar
        self.has_bracket = False  # open, so that code or the next line may end the text of a link for some viewers
        self.is_shifted = False  # code may have been part of a formula or link, so that some viewers see other code


class ProseLine:
    """Makes one line of prose safe. Placeholders stand for code, formulas and other finished text until the end."""

    def __init__(self, targets: Mapping[int, str], paragraph: Paragraph) -> None:
        self._targets, self._paragraph = targets, paragraph
        self._finished: list[str] = []

    def safe(self, line: str, *, is_start: bool) -> str:
        """Return the line, or the rest of one, without images, HTML or links to other places than the sources."""
        text = re.sub(BARE_URL, lambda found: found[0].replace("$", "%24"), self._take_code(line))
        text = self._take_formulas(text, is_start)
        text = LINK.sub(self._readable_link, self._expose_code(text))
        text = TEX_CALL.sub(r"\\ ", text)
        text = DEFINITION.sub(r"\1\\:", text) if is_start else text
        text = DEFINITION_REST.sub(r"\1\\:", text) if self._paragraph.has_bracket else text
        text = HIDDEN_URL.sub("", text)
        return PLACEHOLDERS.sub(self._put_back, MARKUP.sub(self._safe_markup, text))

    def _keep(self, text: str) -> str:
        """Store finished text and return its placeholder."""
        if not text or len(self._finished) == MAX_PLACEHOLDERS:
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
        """Replace code spans, and backticks that open none, with placeholders."""
        line, done, pieces = PLACEHOLDER.sub("", line), 0, []
        for start, end, is_code in code_spans(line):
            kept = self._code(line[start:end]) if is_code else self._keep("&#96;" * line.count("`", start, end))
            pieces += [line[done:start], kept]
            done = end
        return "".join([*pieces, line[done:]])

    def _code(self, code: str) -> str:
        if not self._paragraph.in_table:
            return self._keep(code)
        # Viewers disagree whether a bar behind two backslashes ends the cell.
        return self._exposed(code) if r"\\|" in code else self._keep(DIVIDER.sub(r"\|", code))

    def _exposed(self, code: str) -> str:
        """Return code as text in quotes, whose markup is still to be made safe."""
        text = code.strip("`").replace("\\", r"\\").replace("`", "'")
        text = re.sub(rf"{BARE_URL}|[*_~]", lambda found: "\\" * (len(found[0]) == 1) + found[0], text)
        return "'" + text.replace("$", self._keep(r"\$")) + "'"

    def _expose_code(self, text: str) -> str:
        """Replace code with text if its markup would work for viewers that end a formula or a link in code."""
        paragraph, depth = self._paragraph, int(self._paragraph.has_bracket)

        def replace(found: re.Match[str]) -> str:
            nonlocal depth
            if found[0] == "]":
                depth = max(0, depth - 1)
            elif found[0][-1] == "[":
                depth += 1
            elif (kept := self._kept(found[0]))[0] == "`":
                paragraph.is_shifted |= (depth > 0 and "]" in kept) or (paragraph.has_dollars and "$" in kept)
                return self._exposed(kept) if paragraph.is_shifted and RISKY.search(kept) else found[0]
            else:
                paragraph.has_dollars |= kept[0] == kept[-1] == "$"
                depth += max(0, kept.count("[") - kept.count("]"))
            return found[0]

        text = BRACKET.sub(replace, text)
        paragraph.has_bracket |= depth > 0
        return text

    def _take_formulas(self, text: str, is_start: bool) -> str:
        """Replace formulas with placeholders, and escape what would begin one for some viewer only."""
        is_alone = is_start and not self._paragraph.in_table and ALONE.fullmatch(text)

        def replace(found: re.Match[str]) -> str:
            whole = found["whole"]
            inside = safe_tex(whole or found["display"] or found["inline"] or found["glued"])
            dollars = "" if whole else "$$" if is_alone else "$"
            if not inside or ("$" in inside and not (whole or is_alone)):
                return found[0]
            # Front ends that replace these delimiters must not join them with others.
            gap = " " if whole and text[found.end() : found.end() + 1] in ("(", "[", ":", "\\", "$") else ""
            return self._keep(f"{dollars}{inside.strip()}{dollars}{gap}")

        text = DELIMITER.sub(self._escaped_delimiter, FORMULA.sub(replace, text))
        return text.rstrip() if is_alone else text

    def _escaped_delimiter(self, found: re.Match[str]) -> str:
        slashes, following = found["slashes"] or "", found["next"]
        if following in ("(", "["):
            return following
        is_escape = len(slashes) % 2 == 1
        if following == "" and is_escape:  # a command
            return slashes[1:] + self._keep("&#92;")
        dollars = found[0].count("$")
        return slashes + self._keep(r"\$" * dollars) if dollars and not is_escape else found[0]

    def _inert(self, url: str) -> str:
        """Return a URL or host that viewers must not link: as code, or as words where they may see no code."""
        return self._keep(_as_words(url) if self._paragraph.is_shifted else f"`{without_markup(url)}`")

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
        return f"{label} ({self._inert(site)})" if site and site != ascii_host(shown) else label

    def _safe_markup(self, found: re.Match[str]) -> str:
        """Return markup that is safe as it is; else the same text, escaped, and URLs as code."""
        if found["html"]:
            return "&lt;"  # some viewers take a backslash for the end of a URL before it
        if found["paren"]:
            return " ("
        if found["sign"]:
            following = PLACEHOLDER.match(found.string, found.end())
            if found["sign"][:3] in ("~", "~~") and following and self._kept(following[0])[0] != "`":
                return found[0]
            return "".join(f"\\{one}" for one in found["sign"])
        if bare := found["autolink"] or found["url"]:
            url = link_target(bare)
            link = self._keep(f"<{url}>") if url in self._targets.values() else self._inert(bare)
            return ("\\\\" if found[0][0] == "\\" else "") + link
        if not found["target"] or (found[0][0] != "!" and self._is_known(found["label"], found["target"].strip("<>"))):
            return found[0]
        label, _, target = (MARKUP.sub(self._safe_markup, part) for part in found[0].partition("]("))
        return f"{label}] ({target}"

    def _is_known(self, label: str, url: str) -> bool:
        """Tell whether a link may stay: to the source of a citation, or to any source from words that name no URL."""
        cited, url = CITATION.fullmatch(label), url.replace("&amp;", "&")
        is_plain = re.fullmatch(PLAIN_LABEL, label) and (label == url or not re.search(URL_START, label))
        return bool(is_plain) and url in ([self._targets.get(int(cited[1]))] if cited else self._targets.values())


def _as_words(url: str) -> str:
    """Return a URL as text that is neither a link nor markup in any viewer, where code is not possible."""
    url = re.sub(r"[!$'()*\[\\\]^{|}]", lambda sign: f"%{ord(sign[0]):X}", url)
    return re.sub(r"(?<=[:&])|(?=\.)|(?<=/)(?=/)", " ", url)


def safe_tex(inside: str) -> str:
    """Return the text of a formula so that it is harmless as prose too; empty if that cannot be."""
    names: list[str] = []
    for found in ENVIRONMENT.finditer(inside):
        if found[1] == "begin":
            names.append(found[2])
        elif not names or names.pop() != found[2]:
            return ""
    if names or not inside.strip() or re.search(URL_START, inside):
        return ""
    inside = re.sub(r"(?i)u\\*+r\\*+l(?=\()|\\(?=\d)", r"\g<0> ", inside)  # MathJax writes colors as CSS
    inside = re.sub(rf"\\(?={TEX_NAMES})", r"\\ ", re.sub(r"<(?=[A-Za-z/!?])", "< ", inside))
    return re.sub(r"\](?=[(\[:])", "] ", inside)
