"""Makes untrusted text safe for prompts: no fences of ours, no tokens of chat templates, no citations."""

import re

from sleuth.answers.citations import MARK, find
from sleuth.base.text import clean

FENCE_START = re.compile(r"<(?=\s*+(?:/\s*+)?untrusted)|[\[【［](?=\s*search\s+results)", re.IGNORECASE)
# Special tokens of chat templates: ChatML, Llama, Mistral, Gemma, DeepSeek, Cohere, GLM, Phi, EXAONE, Seed, MiniMax,
# Nemotron, Baichuan, Ling. If a server passes them on to the tokenizer, the text after them counts as a message of
# the system or the user. `<|b|` alone is left: in mathematics it compares absolute values.
CHAT_TOKEN = re.compile(
    r"<(?=/?[|｜][^|｜<>\n]{1,40}[|｜]>|/?[|｜]\w{1,40}>|/?｜[^|｜<>\s]{1,40}｜|/?\w{1,40}[|｜]>)|\[(?=\|[a-z]{4,12}\|\])"
    r"|<(?=<?/?SYS>)|<(?=/?(?:s|(?:seed:)?[be]os|[se]op|unk|pad|(?:extra_id_|SPECIAL_|reserved_|unused)\d{1,4})>)"
    r"|<(?=/?(?:start_of_turn|end_of_turn|start_of_image|role|think|tools|(?:\w{1,20}:)?invoke(?: [^<>\n]{1,80})?)>)"
    r"|<(?=/?(?:\w{1,20}:)?(?:start_|end_)?(?:tool|function)_(?:calls?|response|declaration)>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|IMG|gMASK|sMASK|MASK)\])"
    r"|\](?=~b\]|~!b\[)|\[(?=e~\[)",
    re.IGNORECASE,
)


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
