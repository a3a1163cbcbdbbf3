"""The doctor's report: one line per check as it runs, then each problem with its cause and fix."""

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from rich.text import Text

from sleuth.base.i18n import tr, trn
from sleuth.base.text import strip_controls
from sleuth.render.rich import make_console, print_wrapped

if TYPE_CHECKING:
    from sleuth.doctor.finding import Finding

MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red"), "skipped": ("–", "dim")}
ASCII_MARKS = {"✓": "+", "✗": "x", "–": "-"}
TOPICS = {"install": "This installation", "cache": "Shared cache", "searxng": "SearXNG"}
FILES_IN_FIXES = ("settings.yml", "limiter.toml", "docker-compose.yml", ".env", "nginx")
POSITION = re.compile(r"[\w.-]{1,100}\.\w{1,20}:\d+|\.env:\d+")  # settings.yml:4


def render(findings: "Iterable[Finding]", out: TextIO, color: str, *, verbose: bool = False) -> None:
    """Write findings as they come, then explain the problems."""
    writer = _ReportWriter(out, color, verbose)
    done: list[Finding] = []
    with writer.spinner():
        for finding in findings:
            done.append(finding)
            writer.add(finding)
        writer.flush_skipped()
    for finding in done:
        if finding.state in ("warn", "fail"):
            writer.explain(finding)
    writer.summarize(done)


class _ReportWriter:
    """Writes wrapped and coloured text to a terminal, plain lines elsewhere."""

    def __init__(self, out: TextIO, color: str, verbose: bool) -> None:
        self.out, self.verbose = out, verbose
        self.console = make_console(out, color)
        self.topic = ""
        self.skipped: list[Finding] = []  # consecutive ones with the same reason share a line

    def spinner(self) -> AbstractContextManager[Any]:
        """Show progress on a terminal."""
        is_terminal = self.console.is_interactive and self.out.isatty()
        return self.console.status(tr("checking…")) if is_terminal else nullcontext()

    def add(self, finding: "Finding") -> None:
        """Write the line of one check, after a heading where the topic changes."""
        topic = finding.id.partition(".")[0]
        if topic != self.topic:
            self.flush_skipped()
            self._heading(topic)
        if self.skipped and (finding.state != "skipped" or self.skipped[0].evidence != finding.evidence):
            self.flush_skipped()
        if finding.state == "skipped":
            self.skipped.append(finding)
            return
        line = self._marked(finding.state, finding.title)
        if finding.state != "ok" and (position := POSITION.match(finding.evidence)):
            line.append(f"  {position[0]}", "dim")
        if self.verbose:
            line.append(f"  {finding.elapsed_ms} ms", "dim")
        self._write(line)
        if self.verbose and finding.state == "ok" and finding.evidence:
            self._write(Text(strip_controls(finding.evidence), "dim"), 4)

    def _heading(self, topic: str) -> None:
        if self.topic:
            self._write(Text())
        self.topic = topic
        if topic in TOPICS:
            self._write(Text(tr(TOPICS[topic]), "bold"))

    def flush_skipped(self) -> None:
        """Write one line for the checks that were skipped for the same reason."""
        if not self.skipped:
            return
        line = self._marked("skipped", tr(", ").join(finding.title for finding in self.skipped))
        line.append(tr(": ") + strip_controls(self.skipped[0].evidence))
        line.stylize("dim")
        self._write(line)
        self.skipped = []

    def explain(self, finding: "Finding") -> None:
        """Write evidence, cause, fix and handbook section of a problem."""
        self._write(Text())
        heading = self._marked(finding.state, finding.title, "bold")
        heading.append(f"  {finding.id}", "dim")
        self._write(heading)
        for text, style in ((finding.evidence, "dim"), (finding.cause, "")):
            if text:
                self._write(Text(strip_controls(text), style), 2)
        for block in finding.fix.split("\n\n") if finding.fix else ():
            self._write(Text())
            self._fix_block(block.split("\n"))
        if finding.link:
            self._write(Text())
            command = f"sleuth handbook {finding.link.replace('.md', '', 1)}"
            self.console.print(Text(tr("  handbook: {command}", command=command), "dim"), soft_wrap=True)

    def _fix_block(self, lines: list[str]) -> None:
        """Write a block of shell commands, or of lines for a file, never wrapped, so that it can be copied."""
        comments = " ".join(line for line in lines if line.startswith("#"))
        style = "green" if any(name in comments for name in FILES_IN_FIXES) else "cyan"
        for line in lines:
            text = Text(f"    {strip_controls(line)}", "dim" if line.startswith("#") else style)
            self.console.print(text, soft_wrap=True)

    def summarize(self, findings: "list[Finding]") -> None:
        """Write how many checks ended in which state."""
        counts = Counter(finding.state for finding in findings)
        parts = {
            "ok": tr("{count} ok", count=counts["ok"]),
            "warn": trn("{count} warning", "{count} warnings", counts["warn"]),
            "fail": tr("{count} failed", count=counts["fail"]),
            "skipped": tr("{count} skipped", count=counts["skipped"]),
        }
        self._write(Text())
        self._write(Text(tr(", ").join(text for state, text in parts.items() if counts[state]) or tr("no check ran")))

    def _marked(self, state: str, title: str, style: str = "") -> Text:
        mark, color = MARKS[state]
        mark = ASCII_MARKS.get(mark, mark) if self.console.options.ascii_only else mark
        return Text.assemble((mark, color), " ", (strip_controls(title), style))

    def _write(self, text: Text, indent: int = 0) -> None:
        print_wrapped(self.console, text, " " * indent)
        self.out.flush()
