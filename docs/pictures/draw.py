"""Draws the pictures in the README: runs real commands and exports their output as SVG.

    python docs/pictures/draw.py

`search.json` was recorded from a SearXNG server with `sleuth search --record`, and `search-zh.json` from sample results
in Chinese; everything else runs offline.
"""

import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI, TerminalTheme
from rich.text import Text

HERE = Path(__file__).parent
NORMAL = "000000 aa1e1e 147832 966400 1e50b4 8c288c 007882 5a5a5a"
BRIGHT = "3c3c3c c82828 1e8c3c b47800 2864d2 aa3caa 008c96 000000"


def shades(text: str) -> list[tuple[int, int, int]]:
    """Parse colours in hexadecimal."""
    return [(int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16)) for code in text.split()]


LIGHT = TerminalTheme((255, 255, 255), (40, 40, 40), shades(NORMAL), shades(BRIGHT))
QUERY = ("rust", "async", "runtimes")
REPLAY = ("--replay", str(HERE / "search.json"))
CHINESE_QUERY = ("大语言模型", "评测")
CHINESE_REPLAY = ("--replay", str(HERE / "search-zh.json"))
TEXT = re.compile(r'(<text [^>]*?x=")([\d.]+)("[^>]*?textLength=")([\d.]+)("[^>]*>)([^<]*)</text>')
WIDTH = 80
PICTURES = {
    "search": (DIMMED_MONOKAI, ["search", "-p", "searxng", *QUERY], REPLAY),
    "search-zh": (LIGHT, ["search", "-p", "searxng", *CHINESE_QUERY], CHINESE_REPLAY),
    "explain": (LIGHT, ["search", "-p", "searxng", "-n", "2", "--explain", *QUERY], REPLAY),
    "offline": (DIMMED_MONOKAI, ["search", "--offline", "-n", "3", "searxng", "403"], ("--timeout", "60")),
    "providers": (LIGHT, ["providers", "list"], ()),
    "cite": (DIMMED_MONOKAI, ["cite", "--check", "--sources", "results.json", "answer.md"], ()),
}


def main() -> None:
    """Run each command in a fresh home and write its picture."""
    for name, (theme, words, hidden) in PICTURES.items():
        output = run([*words[:1], *hidden, *words[1:]], "zh-CN" if name.endswith("-zh") else "en")
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
        console.print(Text("$ sleuth " + " ".join(words), "bold"))
        console.print(Text.from_ansi(output))
        svg = console.export_svg(title="sleuth", theme=theme, unique_id=f"sleuth-{name}")
        (HERE / f"{name}.svg").write_text(TEXT.sub(split_runs, svg))


def split_runs(match: re.Match[str]) -> str:
    """Split text at changes between narrow and wide characters: rich counts each as one column."""
    before, x, between, length, after, content = match.groups()
    text, start, elements = html.unescape(content), float(x), []
    column = float(length) / max(len(text), 1)
    for run in re.findall(r"[\u1100-\uffff]+|[^\u1100-\uffff]+", text.replace("\xa0", " ")):
        width = column * cell_len(run)
        shown = html.escape(run, quote=False).replace(" ", "&#160;")
        size = "22" if cell_len(run) > len(run) else "20"  # a wide character fills two columns
        elements.append(f"{before}{start:g}{between}{width:g}{after[:-1]} style='font-size:{size}px'>{shown}</text>")
        start += width
    return "".join(elements)


def run(words: list[str], language: str) -> str:
    """Return the output of a command on a terminal, without the folders of this machine."""
    with tempfile.TemporaryDirectory() as home:
        keep = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environ = keep | {"SLEUTH_HOME": home, "COLUMNS": str(WIDTH), "BRAVE_API_KEY": "shown-as-set"}
        environ |= {"SLEUTH_UI_LANGUAGE": language}
        start = [sys.executable, "-m", "sleuth"]
        found = [*start, "search", *REPLAY, "-p", "searxng", "-o", f"{home}/results.json", "--json", *QUERY]
        subprocess.run(found, env=environ, check=True)
        subprocess.run([*start, "library", "stats"], env=environ, check=True, capture_output=True)  # builds the index
        shutil.copy(HERE / "answer.md", home)
        done = subprocess.run(
            [*start, *words, "--color", "always"],
            env=environ,
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    if done.returncode or "error: " in done.stdout:
        raise SystemExit(done.stdout)
    return done.stdout.replace(f"{home}/", "").replace(str(HERE.parent), "/opt/sleuth/docs").rstrip()


if __name__ == "__main__":
    main()
