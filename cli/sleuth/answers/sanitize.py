"""Makes untrusted text safe: page text for prompts, and a model's Markdown for any viewer."""

import re
from collections.abc import Callable, Mapping

from sleuth.answers.citations import MARK, find, link_target
from sleuth.base.text import clean, markdown_target
from sleuth.base.urls import ascii_host, domain

FENCE_START = re.compile(r"<(?=\s*+(?:/\s*+)?untrusted)|[\[【［](?=\s*search\s+results)", re.IGNORECASE)
# A bare URL ends at the punctuation of the sentence, also a Chinese one, and at a parenthesis that it did not open.
URL_CHAR = r"[^\s<>`|()\"\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
URL_START = r"(?i:(?:https?|ftp):/|www\.(?=\S)|(?<![^\W_:/])//(?=localhost|[^\s/.]{1,63}\.))"
BARE_URL = rf"{URL_START}(?:(?:{URL_CHAR}|\({URL_CHAR}*+\))*(?<![.,;:!?'*_~\]]))?"
CITATION = re.compile(r"\[(\d{1,3})[+?]{0,2}\]")
ITEM = r"(?:[-*+]|\d{1,9}[.)])[ \t]"
FENCE = re.compile(rf"(?P<prefix>(?:[ \t]|{ITEM})*+)(?P<marks>`{{3,}}+|~{{3,}}+)[ \t]*+(?P<language>[\w+#.-]*+)[^`]*+")
MARKERS = re.compile(r"(?:[ \t]|[-*+]|\d{1,9}[.)])++")  # of a list
DIAGRAM_LANGUAGES = ("mermaid", "vega", "vega-lite", "svg", "plantuml", "geojson")  # viewers may load images for them
# Up to the end of the label of a link definition, and of one that began in a line above.
DEFINITION = re.compile(rf"\A((?:[ \t>]|{ITEM}|\[[ xX]\][ \t])*+\[(?:[^\[\]\\]|\\.)*+\]):")
DEFINITION_REST = re.compile(r"\A((?:[^\[\]\\]|\\.)*+\]):")
DELIMITER_ROW = re.compile(r"[ \t>|:]*+-[ \t>|:-]*+")  # below the head of a table
# The text of a link may contain brackets, as in [[1]](…), and its target parentheses.
LINK = re.compile(
    r"(?P<ticks>`++)(?:(?P<code>[^`]++)(?P=ticks)(?!`))?|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|!?\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,50}\]){0,300}+)\]\(\s{0,9}+"
    r"(?P<rest><?(?P<target>[^\s<>()]{0,4000}+(?:\([^\s<>()]{0,4000}+\)[^\s<>()]{0,4000}+){0,9}+)>?[^()]{0,300}\))"
)
PLAIN_LABEL = r"\[\d{1,3}[+?]{0,2}\]|[^\[\]\\`<>|&$]{1,300}+"
# Where viewers may find code, a link, an image or HTML; escapes are matched so that they stay whole.
MARKUP = re.compile(
    r"(?<!`)`(?!`)(?P<code>[^`]++)`(?!`)"
    rf"|!?\[(?P<label>{PLAIN_LABEL})\]\((?P<target><[^\s<>|`\\]{{1,4000}}+>|[^\s<>|`\\()]{{1,4000}}+)\)"
    rf"|<(?P<autolink>{BARE_URL})>|\\?(?P<url>{BARE_URL})|(?P<html>\\?<(?=[A-Za-z/!?]))|\\[!-/:-@\[-_{{-~]"
    rf"|(?P<sign>`+|~{{3,}}|:{{3,}}|~+(?=[`<]|{URL_START})|(?<=\])\(|&(?!(?:amp|lt|gt|quot|nbsp|apos|#39);)(?=#?\w{{1,40}};))"
)
DIVIDER = re.compile(r"(?<!\\)(?:\\\\)*+\|")  # of the cells of a table
BRACKETS = re.compile(r"\[[^\[\]`]*+\]")
# It may go on in the next paragraph.
BLOCK_FORMULA = re.compile(r"\$\$|\\(?:[(\[]|begin|ce\b|pu\b)|\A[\s\d.)*+>-]*+\$\s*+\Z")
# A formula that ends in its line contains no code; code may contain what looks like a formula.
CODE_OR_FORMULA = re.compile(
    r"(`[^`]*+`)|\$\$(?!\s*+\$)[^$`]++(?<!\\)\$\$|\\\((?:[^\\`]|\\[^()\[\]`])*+\\\)|\\\[(?:[^\\`]|\\[^()\[\]`])*+\\\]"
)
FORMULA_END = re.compile(r"\$|\\[)\]]")
# Where a space keeps code from being a link, or HTML that runs something, if a viewer takes it for prose.
ACTIVE_CODE = re.compile(r"(?i)(?<=\])(?=[(:])|(?<=<)(?=/?(?:script|style|iframe|object|embed|svg|math|base|form)\b)")
TAG = re.compile(r"(?<=<)(?=[A-Za-z])")
# Some viewers remove escapes first. `\:` is a space in formulas, and code keeps all of its signs.
HIDDEN_URL = re.compile(
    r"(?i)(?P<code>`[^`]*+`)|(?<=http)\\++(?=:)|(?<=https)\\++(?=:)|(?<=ftp)\\++(?=:)|(?<=www)\\++(?=\.)"
    r"|(?<=[:/])\\++(?=/)|(?<!\\)\\++(?=//)"
)
UNSAFE_TARGET = re.compile(r"(?i)script:|data:|&[#\w]")  # anything else that is no URL may be a formula: [f](\omega)
# Special tokens of chat templates: ChatML, Llama, Mistral, Gemma, DeepSeek, Cohere, GLM, Phi, EXAONE, Seed, MiniMax,
# Nemotron. A server that passes them on to the tokenizer would take the text after them for words of the system or the
# user. `<|b|` alone is left: in mathematics it compares absolute values.
CHAT_TOKEN = re.compile(
    r"<(?=/?[|｜][^|｜<>\n]{1,40}[|｜]>|/?[|｜]\w{1,40}>|/?｜[^|｜<>\s]{1,40}｜|/?\w{1,40}[|｜]>)|\[(?=\|[a-z]{4,12}\|\])"
    r"|<(?=<?/?SYS>)|<(?=/?(?:s|(?:seed:)?[be]os|[se]op|unk|pad|extra_id_\d{1,2}|SPECIAL_\d{1,3})>)"
    r"|<(?=/?(?:start_of_turn|end_of_turn|start_of_image|(?:\w{1,20}:)?(?:tool|function)_calls?|tool_response|think|tools)>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|IMG|gMASK|sMASK|MASK)\])"
    r"|\](?=~b\]|~!b\[)|\[(?=e~\[)",
    re.IGNORECASE,
)
# What may be the beginning of markup, or of a URL at the end of a piece. A citation is not changed.
MARKUP_START = re.compile(
    r"(?i)\[(?!\d{1,3}\][\s.,;。，；、])|\](?=[:(]|\Z)|[<!`~&$\\]|::|:\Z|(?:https?|ftp)[:\\]|www[.\\]|//|[hfw/][tpsw]{0,4}\Z"
)
MAX_HELD_CHARS = 1000  # what is longer waits for the end of its line, because each piece is searched from its start
MAY_BE_BLOCK = re.compile(r"[\s\d.)*+>#|:-]*+(?:[`~\[]|\Z)")  # fenced code, a definition, or below a table's head


def fenced(text: str, provider: str, code: str) -> str:
    """Return text between two tags with a random code that pages cannot guess."""
    heading = f"[search results — from {without_fences(clean(provider, 200)) or 'the web'}]"
    return f"{heading}\n<untrusted-{code}>\n{text}\n</untrusted-{code}>"


def without_fences(text: str) -> str:
    """Return text without anything that looks like a fence, its heading or a token of a chat template."""
    return FENCE_START.sub("‹", CHAT_TOKEN.sub(lambda found: "›" if found[0] == "]" else "‹", text))


def without_citations(text: str) -> str:
    """Return page text without fences or anything that looks like a citation.

    Citations get round brackets. In code and links the number is indented by two spaces: `argv[1]` becomes
    `argv[  1]`, which means the same and is not a citation.
    """
    cited = {place for mark in find(text) for place in range(mark.start, mark.end)}

    def replace(found: re.Match[str]) -> str:
        inside = found[0][1:-1]
        return f"({inside})" if found.start() in cited else f"{found['opening']}  {inside.lstrip()}{found['closing']}"

    return without_fences(MARK.sub(replace, text))


def safe_markdown(text: str, targets: Mapping[int, str]) -> str:
    """Return a model's Markdown without images, HTML or links to other places than the sources.

    `targets` maps citations to the only URLs they may link to. Links to other places become text.
    """
    lines = SafeLines(targets)
    return "\n".join(map(lines.add, text.replace("\r", " ").split("\n"))) + lines.close()


def _defused(code: str) -> str:
    """Return code with spaces in links, and in HTML if it has attributes or goes on in the next line."""
    has_tag = "=" in code or TAG.search(code.rpartition(">")[2])
    return ACTIVE_CODE.sub(" ", TAG.sub(" ", code) if has_tag else code)


class SafeLines:
    """Makes Markdown safe line by line, so that it does not matter which lines a viewer takes for one block.

    Viewers disagree where lists, tables and indented code end. Therefore code spans end in the line in which they
    begin, other backticks become quotes, and fenced code is indented by at most three spaces, where it is code both
    inside and outside of a list. All other lines are safe even if a viewer takes them for prose, and so is code where
    a formula or a bracket may leave a viewer with one backtick of a pair.
    """

    def __init__(self, targets: Mapping[int, str]) -> None:
        self._targets, self._indent, self._is_first = targets, 0, True
        self.fence = ""  # of the code that the next line belongs to
        self._in_table = self._has_divided_code = self._is_after_text = False
        self._has_bracket = self._has_formula = self._has_tilde = False  # open in this paragraph
        self._has_block_formula = False  # open anywhere

    def add(self, line: str) -> str:
        """Return the next line, given without its end."""
        if self.fence:
            return self._code(line.expandtabs(4) if self._indent else line)
        if found := FENCE.fullmatch(line):
            self.fence, prefix = found["marks"], found["prefix"].expandtabs(4)
            self._indent = len(prefix)
            marker = "\n" * self._is_after_text + (f"{prefix.rstrip()}\n" if prefix.strip() else "")
            language = "" if found["language"].lower() in DIAGRAM_LANGUAGES else found["language"]
            return f"{marker}{self._margin}{self.fence}{language}"
        if self._is_first and line.startswith(("---", "+++")):
            line = f"\\{line}"  # else viewers may take it for front matter
        if DELIMITER_ROW.fullmatch(line):
            if self._has_divided_code:
                return line.replace("-", r"\-", 1)
            self._in_table = True
        if not line.strip(" \t"):
            self._in_table = self._has_bracket = self._has_formula = self._has_tilde = False
        was_after_text = self._is_after_text
        safe = self.add_rest(line, is_start=True)
        self._is_after_text = bool(line.strip()) and (was_after_text or not MARKERS.fullmatch(line))
        return safe

    def add_rest(self, text: str, *, is_start: bool = False) -> str:
        """Return a line, or the rest of one that begins with words."""
        self._is_after_text, self._has_divided_code, self._is_first = True, False, False
        text = LINK.sub(self._readable_link, text)
        text = DEFINITION.sub(r"\1\\:", text) if is_start else text
        text = DEFINITION_REST.sub(r"\1\\:", text) if self._has_bracket else text
        text = HIDDEN_URL.sub(lambda found: found["code"] or "", text)
        for version in (text, re.sub(r"\\.", "", text)):
            unpaired = BRACKETS.sub("", BRACKETS.sub("", version))
            self._has_bracket = self._has_bracket or "[" in unpaired or "]" in unpaired
        prose = re.sub(r"`[^`]*+`", "", text)
        self._has_formula, self._has_tilde = self._has_formula or "$" in prose, self._has_tilde or "~" in prose
        for version in (text, MARKUP.sub(self._safe_markup, text)):  # an escaped parenthesis begins a formula
            opened = BLOCK_FORMULA.search(("" if is_start else "words") + CODE_OR_FORMULA.sub(r"\1", version))
            self._has_block_formula = self._has_block_formula or bool(opened)
        return MARKUP.sub(self._safe_markup, text).replace("``", "` `")  # else code would merge with the code beside it

    def close(self) -> str:
        """Return the end of code that is still open."""
        end = f"\n{self._margin}{self.fence}" if self.fence else ""
        self.fence, self._is_after_text = "", False
        return end

    @property
    def _margin(self) -> str:
        return " " * min(self._indent, 3)

    def _code(self, line: str) -> str:
        marks = line.strip()
        if not marks:
            return ""
        if marks.strip("`~ "):
            line = _defused(line) if self._has_block_formula else line
            self._has_block_formula = self._has_block_formula or bool(BLOCK_FORMULA.search(line))
            return self._margin + line[min(self._indent, len(line) - len(line.lstrip(" "))) :]
        if marks.strip(self.fence[0]) or len(marks) < len(self.fence):
            return f"{self._margin}\\{marks}"  # viewers disagree whether it ends the code
        return self.close()[1:]

    def _readable_link(self, found: re.Match[str]) -> str:
        """Return a link to a source; of any other link or image its text and host."""
        if found["ticks"]:
            return f"`{found['code']}`" if found["code"] else "'" * len(found["ticks"])
        if found["escaped"]:
            return "'" if found["escaped"] == "`" else found[0]
        url, label = link_target(HIDDEN_URL.sub("", found["target"])), LINK.sub(self._readable_link, found["label"])
        if found[0][0] != "!" and self._is_known(label, url):
            return f"[{label}]({markdown_target(url)})"
        site = domain(url)
        if not site and found[0][0] != "!" and not UNSAFE_TARGET.search(found["target"]):
            return f"[{label}] ({LINK.sub(self._readable_link, found['rest'])}"
        return f"{label} ({site})" if site and site != ascii_host(label.strip("`")) else label

    def _safe_markup(self, found: re.Match[str]) -> str:
        """Return markup that is safe as it is; else the same text, escaped, and URLs as code."""
        if code := found["code"]:
            has_divider, has_formula = bool(DIVIDER.search(code)), self._has_formula or self._has_block_formula
            self._has_divided_code = self._has_divided_code or has_divider
            # What a table or formula leaves of code has one backtick, which would pair with the next one.
            if (self._in_table and has_divider) or (has_formula and FORMULA_END.search(code)):
                return MARKUP.sub(self._safe_markup, f"'{HIDDEN_URL.sub('', code)}'")
            # In older versions of marked, what is struck through may end in code.
            self._has_bracket = self._has_bracket or (self._has_tilde and "~" in code)
            return _defused(found[0]) if self._has_bracket or has_formula else found[0]
        if found["html"]:
            return "&lt;"  # some viewers take a backslash for the end of a URL before it
        if sign := found["sign"]:
            return "'" * len(sign) if sign[0] == "`" else "".join(f"\\{one}" for one in sign)
        if bare := found["autolink"] or found["url"]:
            url = link_target(bare)
            code = _defused(bare.replace("$", "%24"))
            link = f"<{url}>" if url in self._targets.values() else f"`{code}`"
            return rf"\\{link}" if found[0][0] == "\\" else link
        if not found["target"] or (found[0][0] != "!" and self._is_known(found["label"], found["target"].strip("<>"))):
            return found[0]
        label, _, target = (MARKUP.sub(self._safe_markup, part) for part in found[0].partition("]("))
        return rf"{label}]\({target}"

    def _is_known(self, label: str, url: str) -> bool:
        """Tell whether a link may stay: to the source of a citation, or to any source from words that name no URL."""
        cited, url = CITATION.fullmatch(label), url.replace("&amp;", "&")
        is_plain = re.fullmatch(PLAIN_LABEL, label) and (label == url or not re.search(URL_START, label))
        return bool(is_plain) and url in ([self._targets.get(int(cited[1]))] if cited else self._targets.values())


def as_plain(text: str) -> str:
    """Return safe Markdown with `<` as it was written; definitions stay escaped, or pictures would work in a viewer."""
    return re.sub(r"((?<!`)`++[^`]++`++)|&lt;", lambda found: found[1] or "<", text)


class SafeStream:
    """Passes on a model's Markdown while it is written: words as they come, anything else line by line."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write, self._lines, self._pending = write, SafeLines({}), ""
        self._is_start = True  # of a line

    def add(self, text: str) -> None:
        """Take the next piece."""
        *lines, self._pending = (self._pending + text.replace("\r", " ")).split("\n")
        for line in lines:
            self._write(self._rest(line) + "\n")
            self._is_start = True
        is_long = len(self._pending) > MAX_HELD_CHARS
        if self._lines.fence or is_long or (self._is_start and MAY_BE_BLOCK.match(self._pending)):
            return
        found = MARKUP_START.search(self._pending)
        # Whether a sign is markup depends on what precedes it, so the whole word is held back.
        end = self._pending.rfind(" ", 0, found.start()) + 1 if found else len(self._pending.rstrip())
        if end:
            self._write(self._pending[:end])
            self._pending, self._is_start = self._pending[end:], False

    def close(self) -> None:
        """Pass on what is left."""
        if rest := self._rest(self._pending) + self._lines.close():
            self._write(rest)

    def _rest(self, line: str) -> str:
        """Return a line, or what follows the words that were passed on."""
        return self._lines.add(line) if self._is_start else self._lines.add_rest(line)
