"""`sleuth search -i`: a prompt with the commands that ddgr users know."""

import re
import shutil
import subprocess
from base64 import b64encode

from sleuth.base.errors import Exit, RequestError, SleuthError
from sleuth.base.i18n import tr
from sleuth.commands.terminal import display
from sleuth.commands.terminal.lines import Lines
from sleuth.commands.terminal.progress import WaitingLine
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import SearchRequest, page_start, search_error
from sleuth.engine.search_options import SearchOptions
from sleuth.relevance.hit import Hit
from sleuth.render import View
from sleuth.runtime import Runtime

HELP = """\
  1  2 5  3-6     open in the browser (also: o 2)
  n, p, f         next, previous, first page
  c N             copy the URL of result N
  x               toggle full URLs
  r N             read result N here
  s N             summarise result N
  +N              search for suggestion N
  d WORDS         search for WORDS that look like a command
  WORDS           search for WORDS
  ?, h, help      this help
  q               quit (also Ctrl-D)"""
# Each with the variable without which it cannot work.
CLIPBOARD_COMMANDS = {
    "wl-copy": "WAYLAND_DISPLAY",
    "xclip -selection clipboard": "DISPLAY",
    "xsel -b -i": "DISPLAY",
    "pbcopy": "",
    "clip.exe": "",
    "tmux load-buffer -w -": "TMUX",
}
NUMBER = re.compile(r"\d{1,9}")
SUGGESTION = re.compile(r"\+\d{1,2}")
NUMBERS = re.compile(r"-?\d{1,9}(-\d{1,19})?([\s,]+-?\d{1,9}(-\d{1,19})?)*")
MAX_OPENED = 50  # results of one range


class SearchPrompt:
    """A session: the current request, its outcome and how to show it."""

    def __init__(self, runtime: Runtime, request: SearchRequest, view: View, options: SearchOptions) -> None:
        self.runtime, self.request, self.view, self.options = runtime, request, view, options
        self.first_page = request._replace(query=request.query._replace(page=1))  # of every new search
        runtime.pager = False  # the prompt is below the results
        self.outcome: Outcome | None = None
        self.hits: dict[int, Hit] = {}  # by number, of all pages of the current search
        self.lines = Lines(runtime, "prompt")

    def run(self) -> int:
        """Search, then run commands until the user quits. An error ends its command, not the session."""
        line: str | None = None
        while line not in ("q", "quit", "exit"):
            try:
                if line is None and self.request.questions:
                    self._search(self.request)
                elif line:
                    self._execute(line)
            except SleuthError as error:
                self.runtime.show_error(error)
            except KeyboardInterrupt:
                if line is None:  # the first search
                    raise
                self.runtime.note(tr("stopped"))
            line = self._read()
            if line is None:
                break
        self.lines.close()
        return Exit.DONE

    def _read(self) -> str | None:
        """Return the next line; Ctrl-C discards a line that was begun, and quits otherwise."""
        try:
            return self.lines.ask(tr("sleuth (? for help) "))
        except KeyboardInterrupt:
            print(file=self.runtime.stderr)
            return "" if self.lines.unfinished() else None

    def _execute(self, line: str) -> None:
        command, _, rest = line.partition(" ")
        if line in ("?", "h", "help"):
            print(tr(HELP), file=self.runtime.stdout)
        elif line in ("n", "p", "f"):
            self._go_to_page(line)
        elif line == "x":
            self.view = self.view._replace(full_urls=not self.view.full_urls)
            self._show()
        elif NUMBERS.fullmatch(numbers := rest if command == "o" else line):
            for number in _numbers(numbers):
                display.open_url(display.result_url(self.hits.values(), number))
        elif line in ("c", "r", "s") or (command in ("c", "r", "s") and NUMBER.fullmatch(rest.strip())):
            if not rest:
                raise RequestError("give the number of a result", "for example: {command} 1", command=command)
            url = display.result_url(self.hits.values(), int(rest))
            {"c": self._copy, "r": self._read_page, "s": self._summarise}[command](url)
        else:
            words = self._suggestion(line) if SUGGESTION.fullmatch(line) else rest if command == "d" and rest else line
            self._search(self.first_page._replace(questions=(words,)))

    def _suggestion(self, line: str) -> str:
        known = display.suggestions(self._current())
        if not 1 <= int(line) <= len(known):
            raise RequestError("there is no suggestion {number}", "suggestions are listed below results", number=line)
        return known[int(line) - 1]

    def _go_to_page(self, command: str) -> None:
        more, page = self._current().status.more, self.request.query.page
        if (command == "n" and not more) or (command == "p" and page == 1):
            self.runtime.note(tr("there are no more results") if command == "n" else tr("this is the first page"))
            return
        wanted = {"n": page + 1, "p": page - 1, "f": 1}[command]
        # Pages are cut from the same list, which must not be requested again.
        query, cache = self.request.query._replace(page=wanted), self.request.cache.replace("refresh", "use")
        start = page_start(max(self.hits, default=0), wanted, query.count)
        self._search(self.request._replace(query=query, cache=cache, continued=True, start=start))

    def _search(self, request: SearchRequest) -> None:
        with WaitingLine(self.runtime, "auto"):
            outcome = self.runtime.searcher.search(request)
        self.runtime.searcher.finish()  # not after an interrupt, which must not wait for cache writes
        if outcome.outcome == "failed":
            raise search_error(outcome)
        self.request, self.outcome = request, outcome
        shown_before = self.hits if request.query.page > 1 else {}
        self.hits = shown_before | {hit.citation: hit for hit in outcome.results}
        self._show()
        display.save_results(self.runtime, outcome, self.options)

    def _show(self) -> None:
        format = "rich" if display.is_terminal(self.runtime) else "plain"
        outcome = self._current()
        display.write(self.runtime, outcome, format, self.view)
        display.show_messages(self.runtime, outcome, format, numbered=True)

    def _current(self) -> Outcome:
        if self.outcome is None:
            raise SleuthError("no search yet", "type some words to search for")
        return self.outcome

    def _copy(self, url: str) -> None:
        environ = self.runtime.environ
        usable = [line.split() for line, name in CLIPBOARD_COMMANDS.items() if not name or environ.get(name)]
        program = next((command for command in usable if shutil.which(command[0])), None)
        copied = program and not subprocess.run(program, input=url.encode(), check=False).returncode  # noqa: S603 - one of CLIPBOARD_COMMANDS
        if not copied and not self.runtime.stdout.isatty():
            raise SleuthError("no clipboard program found", "install wl-copy, xclip or xsel; the URL is {url}", url=url)
        if not copied:  # OSC 52: the terminal copies, even over ssh
            self.runtime.stdout.write(f"\x1b]52;c;{b64encode(url.encode()).decode()}\x07")
            self.runtime.stdout.flush()
        self.runtime.note(tr("copied {url}", url=url))

    def _read_page(self, url: str) -> None:
        from sleuth.commands.read import show_pages

        show_pages(self.runtime, [url], self._page_options())

    def _summarise(self, url: str) -> None:
        from sleuth.commands.summarize import show_summary

        show_summary(self.runtime, [url], self.request.questions[0], "short", self._page_options())

    def _page_options(self) -> SearchOptions:
        return SearchOptions(offline=self.request.offline, timeout=self.request.timeout)


def _numbers(line: str) -> list[int]:
    numbers: list[int] = []
    for first, last in re.findall(r"(-?\d+)(?:-(\d+))?", line):
        low, high = sorted((int(first), int(last or first)))
        numbers += range(low, min(high + 1, low + MAX_OPENED))
    return numbers
