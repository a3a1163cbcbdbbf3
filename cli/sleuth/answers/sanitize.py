"""Makes untrusted text safe: page text for prompts, and a model's Markdown for any viewer."""

import re
from collections.abc import Callable, Mapping
from functools import partial

from sleuth.answers.citations import MARK, find
from sleuth.answers.prose import LABEL
from sleuth.base import markdown
from sleuth.base.text import clean, markdown_target
from sleuth.base.urls import ascii_host, ascii_url, clean_url, domain

FENCE_TAG = re.compile(r"<(?=\s*+(?:/\s*+)?untrusted)", re.IGNORECASE)
FENCE_HEADING = re.compile(r"[\[【［](?=\s*search\s+results)", re.IGNORECASE)
# A bare URL ends at the punctuation of the sentence, also a Chinese one, and at a parenthesis that it did not open.
URL_CHAR = r"[^\s<>`|()\"\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
BARE_URL = rf"{markdown.URL_START}(?:(?:{URL_CHAR}|\({URL_CHAR}*+\))*(?<![.,;:!?'*_~\]]))?"
# The text of a link may contain brackets, as in [[1]](…), and its target parentheses.
MARKUP = re.compile(
    r"(?P<code>(?<!`)`++[^`]++`++)"
    r"|!?\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]\n]{0,50}\]){0,300}+)\]\(\s{0,9}+"
    r"<?(?P<target>[^\s<>()]{0,4000}+(?:\([^\s<>()]{0,4000}+\)[^\s<>()]{0,4000}+){0,9}+)>?[^()\n]{0,300}\)"
    rf"|<(?P<autolink>{BARE_URL})>|(?P<url>{BARE_URL})|<(?=[A-Za-z/!?])"
)
URL_OR_SIGN = re.compile(rf"(?P<url>{BARE_URL})|[\\*_\[\]<>!&~|]")
DEFINITION = re.compile(rf"^([ \t>]*(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+)*)\[(?={LABEL}\]:)", re.MULTILINE)
CITATION = re.compile(r"\[(\d{1,3})[+?]{0,2}\]")
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
# In a paragraph: where something may start that `safe_markdown` changes, or another block. A citation is not changed.
# The beginning of a URL may be the end of a piece.
MARKUP_START = re.compile(r"(?i)\[(?!\d{1,3}\][^(\[:])|[<!`&\\\n]|(?:https?|ftp):/|www\.|[hfw][tpsw]{0,4}:?\Z")
RECENT_BLOCKS = 5  # with which a block is checked again; neighbours can merge
PARAGRAPH_START = re.compile(r"[^\W\d_]")


def fenced(text: str, provider: str, code: str) -> str:
    """Return text between two tags with a random code that pages cannot guess."""
    heading = f"[search results — from {without_fences(clean(provider, 200)) or 'the web'}]"
    return f"{heading}\n<untrusted-{code}>\n{text}\n</untrusted-{code}>"


def without_fences(text: str) -> str:
    """Return text without anything that looks like a fence, its heading or a token of a chat template."""
    text = CHAT_TOKEN.sub(lambda found: {"[": "(", "]": ")"}.get(found[0], "‹"), text)
    return FENCE_HEADING.sub("(", FENCE_TAG.sub("‹", text))


def without_citations(text: str) -> str:
    """Return page text without fences or anything that looks like a citation.

    Citations get round brackets. In code and links the number is indented by two spaces: `argv[1]` becomes
    `argv[  1]`, which means the same and is not a citation.
    """
    cited = {place for mark in find(text) for place in range(mark.start, mark.end)}

    def replace(found: re.Match[str]) -> str:
        inside = found[0][1:-1]
        if found.start() in cited:
            return f"({inside})"
        return f"{found['opening']}  {inside.lstrip()}{found['closing']}"

    return without_fences(MARK.sub(replace, text))


def safe_markdown(text: str, targets: Mapping[int, str]) -> str:
    """Return a model's Markdown without images, HTML or links to other places than the sources.

    `targets` maps citations to the only URLs they may link to. Blocks in which a Markdown parser finds nothing else
    stay as they are. In others, links become text; what is still not safe then is escaped completely.
    """
    parts = markdown.split_blocks(text)
    safe = "".join(_safe_block(part, targets) for part in parts)
    return safe if len(parts) < 2 or _is_safe(safe, targets) else _escape(text)


def _safe_block(block: str, targets: Mapping[int, str]) -> str:
    defines_link = DEFINITION.search(block) and markdown.prose_lines(block)  # for a [1] in any other block
    if not defines_link and _is_safe(block, targets):
        return block
    safe = MARKUP.sub(partial(_safe_markup, targets), DEFINITION.sub(r"\1\\[", block))
    return safe if _is_safe(safe, targets) else _escape(block)


def _escape(text: str) -> str:
    """Return text that is no markup at all. URLs become code: viewers find them behind any escapes.

    Backticks become quotes: GitHub's parser may join an escaped one with those around a URL.
    """
    text = text.replace("`", "'")
    return URL_OR_SIGN.sub(lambda found: f"`{found[0]}`" if found["url"] else f"\\{found[0]}", text)


def _is_safe(text: str, targets: Mapping[int, str]) -> bool:
    known = {number: markdown.normalise_target(target) for number, target in targets.items()}
    links = markdown.links(text)
    return links is not None and all(_is_known(label, target, known) for label, target in links)


def _is_known(label: str, target: str, targets: Mapping[int, str]) -> bool:
    cited = CITATION.fullmatch(label)
    known = [targets.get(int(cited[1]))] if cited else [*targets.values()]
    return target in known and "](" not in label  # marked removes the backslashes in [!\[x\](…)](…)


def _safe_markup(targets: Mapping[int, str], found: re.Match[str]) -> str:
    """Return a link to a source; of any other link or image its text and host, and any other URL as code."""
    if found["code"] or found[0] == "<":
        return found["code"] or "\\<"
    bare = found["autolink"] or found["url"]
    url = ascii_url(clean_url(bare or found["target"]))
    is_known = found[0][0] != "!" and _is_known(found["label"] or "", url.replace("&amp;", "&"), targets)
    if bare:
        return f"<{url}>" if is_known else f"`{bare}`"
    label = MARKUP.sub(partial(_safe_markup, targets), found["label"])
    if is_known and label == found["label"]:
        return f"[{label}]({markdown_target(url)})"
    site = domain(url)
    return f"{label} ({site})" if site and site != ascii_host(label.strip("`")) else label


def as_plain(text: str) -> str:
    """Return safe Markdown with `<` as it was written; definitions stay escaped, or pictures would work in a viewer."""
    return re.sub(r"((?<!`)`++[^`]++`++)|\\(?=<[A-Za-z/!?])", r"\1", text)


class SafeStream:
    """Passes on a model's Markdown while it is written: paragraphs as they come, anything else block by block."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write, self._pending, self._is_start = write, "", True
        self._recent = [""]  # blocks that were passed on; the last one may still grow
        self._next_split = 0  # length of what is pending at which it is split into blocks again

    def add(self, text: str) -> None:
        """Take the next piece."""
        self._pending += text
        if "\n" in text and len(self._pending) >= self._next_split:
            lead = self._lead()
            *finished, rest = markdown.split_blocks(lead + self._pending)
            for block in finished:
                self._finish(safe_markdown(block, {})[len(lead) :])
                lead, self._is_start = "", True
            self._pending = rest[len(lead) :]
            # A long block is not parsed again for each of its lines, which would take quadratic time.
            self._next_split = len(self._pending) + len(self._pending) ** 2 // 10_000
        if not self._is_start or PARAGRAPH_START.match(self._pending):  # only there a line cannot turn into code
            found = MARKUP_START.search(self._pending)
            end = found.start() if found else len(self._pending.rstrip())
            if end:
                self._pass_on(self._pending[:end])
                self._pending, self._is_start = self._pending[end:], False

    def close(self) -> None:
        """Pass on what is left."""
        lead = self._lead()
        self._finish(safe_markdown(lead + self._pending, {})[len(lead) :])
        self._pending = ""

    def _lead(self) -> str:
        """Return a word in place of those of the paragraph that were passed on: ``` after words is no fence."""
        return "" if self._is_start else "x "

    def _finish(self, block: str) -> None:
        if "<" in block and "`" not in block and markdown.prose_lines(block):  # a tag may be closed by a later block
            block = re.sub(r"(?<!\\)<(?=[A-Za-z/!?])", r"\\<", block)
        is_safe = _is_safe("".join(self._recent) + block, {})  # blocks can mean more together than alone
        self._pass_on(block if is_safe else _escape(block))
        self._recent = [*self._recent[1 - RECENT_BLOCKS :], ""]

    def _pass_on(self, text: str) -> None:
        if text:
            self._recent[-1] += text
            self._write(text)
