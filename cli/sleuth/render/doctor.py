"""The doctor's report: a line a check as it is made, then what is wrong, why, and what to type."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from rich.padding import Padding
from rich.text import Text

from sleuth.base.i18n import tr
from sleuth.base.text import strip_controls
from sleuth.render.rich import MAX_WIDTH, make_console

if TYPE_CHECKING:
    from sleuth.doctor.finding import Finding

MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red"), "skipped": ("–", "dim")}
ASCII = {"✓": "+", "✗": "x", "–": "-"}  # for terminals whose encoding has no better
TOPICS = {"install": "This installation", "cache": "The shared cache", "searxng": "SearXNG"}
COUNTS = {
    "ok": "{count} good",
    "warn": "{count} to look at",
    "fail": "{count} failed",
    "skipped": "{count} not checked",
}


def render(findings: "Iterable[Finding]", out: TextIO, color: str, *, verbose: bool = False) -> "list[Finding]":
    """Write findings as they come, then explain the troubling ones; returns them all."""
    paper = _Paper(out, color, verbose)
    done: list[Finding] = []
    with paper.sign_of_life():
        for finding in findings:
            done.append(finding)
            paper.note(finding)
        paper.note_skipped()
    for finding in done:
        if finding.state in ("warn", "fail"):
            paper.explain(finding)
    paper.sum_up(done)
    return done


class _Paper:
    """What the report is written on: wrapped and coloured on a terminal, plain lines elsewhere."""

    def __init__(self, out: TextIO, color: str, verbose: bool) -> None:
        self.out, self.verbose = out, verbose
        self.console = make_console(out, color)
        self.topic = ""
        self.skipped: list[Finding] = []  # those with one reason share a line

    def sign_of_life(self) -> AbstractContextManager[Any]:
        """Show that something goes on while a check takes its time."""
        moving = self.console.is_interactive and self.out.isatty()
        return self.console.status(tr("examining…")) if moving else nullcontext()

    def note(self, finding: "Finding") -> None:
        """Write the line of one check, under a heading where the topic changes."""
        topic = finding.id.partition(".")[0]
        if topic != self.topic:
            self.note_skipped()
            self._head(topic)
        if self.skipped and self.skipped[0].evidence != finding.evidence:
            self.note_skipped()
        if finding.state == "skipped":
            self.skipped.append(finding)
            return
        self.note_skipped()
        line = self._headed(finding.state, finding.title)
        if self.verbose:
            line.append(f"  {finding.elapsed_ms} ms", "dim")
        self._write(line)
        if self.verbose and finding.state == "ok" and finding.evidence:
            self._write(Text(strip_controls(finding.evidence), "dim"), 4)

    def _head(self, topic: str) -> None:
        if self.topic:
            self._write(Text())
        self.topic = topic
        if topic in TOPICS:
            self._write(Text(tr(TOPICS[topic]), "bold"))

    def note_skipped(self) -> None:
        """Write one line for the checks that were not made for the same reason."""
        if not self.skipped:
            return
        line = self._headed("skipped", tr(", ").join(finding.title for finding in self.skipped))
        line.append(tr(": ") + strip_controls(self.skipped[0].evidence))
        line.stylize("dim")
        self._write(line)
        self.skipped = []

    def explain(self, finding: "Finding") -> None:
        """Write what was seen, the cause, what to type, and where to read on."""
        self._write(Text())
        heading = self._headed(finding.state, finding.title, "bold")
        heading.append(f"  {finding.id}", "dim")
        self._write(heading)
        for text, style in ((finding.evidence, "dim"), (finding.cause, "")):
            if text:
                self._write(Text(strip_controls(text), style), 2)
        if finding.fix:
            self._write(Text())
        for line in finding.fix:  # never wrapped, so that it can be copied
            style = "dim" if line.lstrip().startswith("#") else "cyan"
            self.console.print(Text(f"    {strip_controls(line)}", style), soft_wrap=True)
        if finding.link:
            self._write(Text())
            self.console.print(Text(tr("  handbook: {link}", link=finding.link), "dim"), soft_wrap=True)

    def sum_up(self, findings: "list[Finding]") -> None:
        """Write how many checks ended how."""
        states = [finding.state for finding in findings]
        parts = [tr(COUNTS[state], count=states.count(state)) for state in MARKS if state in states]
        self._write(Text())
        self._write(Text(tr(", ").join(parts) or tr("nothing was checked")))

    def _headed(self, state: str, title: str, style: str = "") -> Text:
        mark, color = MARKS[state]
        try:
            mark.encode(getattr(self.out, "encoding", None) or "utf-8")
        except UnicodeEncodeError:
            mark = ASCII[mark]
        return Text.assemble((mark, color), " ", (strip_controls(title), style))

    def _write(self, text: Text, indent: int = 0) -> None:
        if self.console.is_terminal:
            width = min(self.console.width, MAX_WIDTH)
            self.console.print(Padding(text, (0, 0, 0, indent), expand=False) if text else "", width=width)
            return
        for line in text.plain.split("\n"):
            self.out.write(f"{' ' * indent}{line}".rstrip() + "\n")
        self.out.flush()
