"""`sleuth search -i`: a prompt with the grammar ddgr users know."""

import re
import shutil
import subprocess
from base64 import b64encode

from sleuth.base.errors import Exit, SleuthError
from sleuth.base.i18n import tr
from sleuth.commands.terminal import display
from sleuth.commands.terminal.lines import Lines
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import SearchRequest, search_error
from sleuth.render import View
from sleuth.runtime import Runtime

HELP = """\
  1  2 5  3-6    open these results in the browser
  n, p, f         next, previous, first page
  c N             copy the address of result N
  x               show whole addresses, or domains again
  s N             summarise result N
  d WORDS         search for WORDS, also when they look like a command
  WORDS           search for WORDS
  ?               this help
  q               quit (also Ctrl-D)"""
CLIPBOARDS = (("wl-copy",), ("xclip", "-selection", "clipboard"), ("xsel", "-b", "-i"), ("pbcopy",), ("clip.exe",))
NUMBER = re.compile(r"\d{1,9}")
NUMBERS = re.compile(r"\d{1,9}(-\d{1,9})?([\s,]+\d{1,9}(-\d{1,9})?)*")


class Prompt:
    """One session at the prompt: the request that is shown, its outcome, and how it is viewed."""

    def __init__(self, runtime: Runtime, request: SearchRequest, view: View) -> None:
        self.runtime, self.request, self.view = runtime, request, view
        self.outcome: Outcome | None = None
        self.lines = Lines(runtime, "prompt")

    def run(self) -> int:
        """Search, show, and do as told until the user has enough."""
        if self.request.questions:
            self._search(self.request)
        while (line := self._ask()) is not None:
            if line in ("q", "quit", "exit"):
                break
            try:
                self._obey(line)
            except SleuthError as error:
                self.runtime.show_error(error)
        self.lines.close()
        return Exit.DONE

    def _ask(self) -> str | None:
        try:
            return self.lines.ask("sleuth (? for help) ")
        except KeyboardInterrupt:
            print(file=self.runtime.stderr)
            return None

    def _obey(self, line: str) -> None:
        command, _, rest = line.partition(" ")
        if not line:
            return
        if line == "?":
            print(tr(HELP), file=self.runtime.stdout)
        elif line in ("n", "p", "f"):
            self._turn(line)
        elif line == "x":
            self.view = self.view._replace(full_urls=not self.view.full_urls)
            self._show()
        elif NUMBERS.fullmatch(line):
            for number in _numbers(line):
                display.open_result(self._shown(), number)
        elif command in ("c", "s") and NUMBER.fullmatch(rest.strip()):
            (self._copy if command == "c" else self._summarise)(int(rest))
        else:
            words = rest if command == "d" and rest else line
            self._search(self.request._replace(questions=(words,), query=self.request.query._replace(page=1)))

    def _turn(self, where: str) -> None:
        page = self.request.query.page
        wanted = {"n": page + 1, "p": max(1, page - 1), "f": 1}[where]
        if not self.request.questions:
            raise SleuthError("nothing has been searched for yet", "type some words")
        self._search(self.request._replace(query=self.request.query._replace(page=wanted)))

    def _search(self, request: SearchRequest) -> None:
        try:
            outcome = self.runtime.searcher.search(request)
        except SleuthError as error:
            self.runtime.show_error(error)
            return
        finally:
            self.runtime.searcher.finish()
        if outcome.outcome == "failed":
            self.runtime.show_error(search_error(outcome))
            return
        self.request, self.outcome = request, outcome
        self._show()

    def _show(self) -> None:
        format = "rich" if display.is_terminal(self.runtime) else "plain"
        outcome = self._shown()
        display.write(self.runtime, outcome, format, self.view)
        display.say_the_rest(self.runtime, outcome, format)

    def _shown(self) -> Outcome:
        if self.outcome is None:
            raise SleuthError("nothing has been searched for yet", "type some words")
        return self.outcome

    def _url(self, number: int) -> str:
        results = self._shown().results
        if not 1 <= number <= len(results):
            raise SleuthError("there is no result {number}", "there are {count}", number=number, count=len(results))
        return results[number - 1].url

    def _copy(self, number: int) -> None:
        url = self._url(number)
        program = next((command for command in CLIPBOARDS if shutil.which(command[0])), None)
        if program:
            subprocess.run(program, input=url.encode(), check=False)  # noqa: S603 - a program of the list above
        elif self.runtime.stdout.isatty():  # the terminal itself can do it, also over ssh
            self.runtime.stdout.write(f"\x1b]52;c;{b64encode(url.encode()).decode()}\x07")
            self.runtime.stdout.flush()
        else:
            raise SleuthError("nothing here can copy", "install wl-copy, xclip or xsel; the address: {url}", url=url)
        self.runtime.note(tr("copied {url}", url=url))

    def _summarise(self, number: int) -> None:
        from sleuth.commands.summarize import show_summary

        show_summary(self.runtime, [self._url(number)], query=self.request.questions[0])


def _numbers(line: str) -> list[int]:
    found: list[int] = []
    for part in re.split(r"[\s,]+", line):
        first, _, last = part.partition("-")
        found += range(int(first), min(int(last or first), int(first) + 50) + 1)
    return found
