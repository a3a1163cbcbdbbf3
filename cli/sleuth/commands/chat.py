"""`sleuth chat`: questions and answers as a conversation, with commands in between."""

import os
from collections.abc import Callable
from difflib import get_close_matches

import typer

from sleuth.answers import presentation
from sleuth.answers.answer import Answer, Question
from sleuth.answers.citations import CitedSource, by_number, references
from sleuth.answers.conversation import Conversation, Switch, switch_for
from sleuth.base.errors import Exit, RequestError, SleuthError
from sleuth.base.files import write_atomic
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.commands.terminal import display
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.answer import AnswerOptions, answer, as_question
from sleuth.commands.terminal.lines import Lines
from sleuth.commands.terminal.screen import Screen
from sleuth.commands.terminal.typer_app import make_app
from sleuth.engine.options import split
from sleuth.render.answer import PanelRow
from sleuth.runtime import Runtime
from sleuth.store.cache.memory import MemoryCache
from sleuth.store.settings import ASK_PAGES, ASK_ROUNDS

app = make_app()

PROMPT = "chat (/help) "
PASSAGE = 1200  # characters of a source that are shown
HELP = """\
  WORDS                 ask; what was said before is known
  /search on|off|auto   the switch: search for every question, never, or as the model decides
  /mode chat|agent      who turns the switch: you, or the model
  /provider ID          whom to ask; auto for the usual ones
  /sources [N]          the sources of the last answer; what source N says
  /settings             what is set
  /save FILE            the conversation as Markdown; /save! FILE replaces a file
  /clear                forget what was said
  /help                 this help
  /quit                 leave (also Ctrl-D)"""
EPILOG = """Examples:\n
\b
  sleuth chat
  sleuth chat --search on -p searxng,wikipedia
  printf 'what is tokio\\n/sources\\n' | sleuth chat
"""


@app.command(epilog=EPILOG)
def chat(
    ctx: typer.Context,
    search: o.SearchSwitch = "auto",
    provider: o.Provider = None,
    rounds: o.Rounds = None,
    pages: o.Pages = None,
    lang: o.Lang = None,
    region: o.Region = None,
    extractive: o.Extractive = False,
    cached: o.Cached = True,
    refresh: o.Refresh = False,
    offline: o.Offline = False,
    timeout: o.Timeout = None,
) -> int:
    """Ask in a conversation: each question knows what was said before.

    Lines that begin with a slash are commands; /help lists them. Ctrl-C stops an answer,
    Ctrl-D leaves.
    """
    runtime: Runtime = ctx.obj
    runtime.cache = MemoryCache(runtime.cache)
    question = as_question(runtime, "", ctx.params)
    return Chat(runtime, question, switch_for(search)).run()


class Chat:
    """One session: what was said, and how the next question is asked."""

    def __init__(self, runtime: Runtime, question: Question, switch: Switch) -> None:
        self.runtime, self.question, self.switch = runtime, question, switch
        self.conversation = Conversation()
        self.lines = Lines(runtime, "chat")
        self.is_person = runtime.stdin.isatty()
        self.manner = AnswerOptions("rich" if self.is_person and display.is_terminal(runtime) else "plain")
        self.commands: dict[str, Callable[[str], None]] = {
            "search": self._turn,
            "mode": self._enter,
            "provider": self._choose,
            "sources": self._show_sources,
            "settings": self._show_settings,
            "save": self._save,
            "save!": self._replace,
            "clear": self._clear,
            "help": self._help,
        }

    def run(self) -> int:
        """Answer and obey until the user has enough."""
        if self.is_person:
            self._tell(tr("ask anything; /help lists the commands, Ctrl-D leaves"))
        try:
            while (line := self._next()) is not None and line not in ("/quit", "/exit", "/q"):
                self._obey(line)
        finally:
            self.lines.close()
        return Exit.DONE

    def _next(self) -> str | None:
        while True:
            try:
                return self.lines.ask(PROMPT)
            except KeyboardInterrupt:
                if not self.is_person:
                    raise
                self._tell("")  # the line is gone, the prompt comes anew

    def _obey(self, line: str) -> None:
        name, _, rest = line.removeprefix("/").partition(" ")
        try:
            if not line.startswith("/") or "/" in name:  # a path is no command
                self._ask(line)
            elif name in self.commands:
                self.commands[name](rest.strip())
            else:
                raise _unknown(name, [*self.commands, "quit"])
        except SleuthError as error:
            self.runtime.show_error(error)
        except KeyboardInterrupt:
            if not self.is_person:
                raise
            self._tell("\n" + tr("stopped"))

    def _ask(self, text: str) -> None:
        if not text:
            return
        asked = self.question._replace(text=text, search=self.switch.search, history=self.conversation.history)
        self.conversation = self.conversation.add(answer(self.runtime, asked, self.manner))
        self.manner = self.manner._replace(advises=False)  # once is enough
        print(file=self.runtime.stdout, flush=True)

    def _turn(self, position: str) -> None:
        self.switch = self.switch.turn(position) if position else self.switch
        self._tell_switch()

    def _enter(self, mode: str) -> None:
        self.switch = self.switch.enter(mode) if mode else self.switch
        self._tell_switch()

    def _tell_switch(self) -> None:
        self._tell(tr("mode: {mode}; search: {state}", mode=self.switch.mode, state=self.switch.state))

    def _choose(self, ids: str) -> None:
        chosen = split(ids.split()) or self.question.providers
        if chosen != ("auto",):
            self.runtime.selector.named(chosen)  # an unknown one is refused here and now
        self.question = self.question._replace(providers=chosen)
        self._tell(tr("provider: {ids}", ids=", ".join(chosen)))

    def _last(self) -> Answer:
        if not self.conversation.turns:
            raise RequestError("nothing has been answered yet", "ask something")
        return self.conversation.turns[-1].answer

    def _show_sources(self, number: str) -> None:
        known = by_number(self._last().sources)
        if not known:
            raise RequestError("the last answer has no sources", "turn the switch on: /mode chat, then /search on")
        if not number:
            self._show_list(list(known))
        elif number.isdecimal() and int(number) in known:
            self._show_passage(known[int(number)])
        else:
            raise RequestError(
                "there is no source {number}", "/sources lists them", number=clean(number, 20, entities=False)
            )

    def _show_list(self, numbers: list[int]) -> None:
        answer = self._last()
        if self.manner.format == "rich":
            Screen(self.runtime, self.runtime.stdout).list(answer.sources, numbers, tr("Sources"))
        else:
            print(*references(answer.sources, numbers, "plain"), sep="\n", file=self.runtime.stdout)

    def _show_passage(self, source: CitedSource) -> None:
        """Show what a source says: what its citations were found in, else how it begins."""
        lines = [clean(source.title), clean_url(source.url), "", *presentation.passages(self._last(), source, PASSAGE)]
        if self.manner.format == "rich":
            Screen(self.runtime, self.runtime.stdout).tell(lines)
        else:
            print(*lines, sep="\n", file=self.runtime.stdout)

    def _show_settings(self, _: str) -> None:
        rows = self._settings()
        if self.manner.format == "rich":
            Screen(self.runtime, self.runtime.stdout).panel(tr("Settings"), rows)
        else:
            print(*(f"{row.name}{tr(': ')}{row.value}" for row in rows), sep="\n", file=self.runtime.stdout)

    def _settings(self) -> list[PanelRow]:
        settings, models = self.runtime.settings, self.runtime.models
        return [
            PanelRow(tr("Mode"), self.switch.mode, "/mode chat|agent"),
            PanelRow(tr("Search"), self.switch.state, "/search on|off|auto", self.switch.is_disabled),
            PanelRow(tr("Provider"), ", ".join(self.question.providers), "/provider ID"),
            PanelRow(tr("Model"), models.writer.name if models else tr("none: answers are sentences of the pages")),
            PanelRow(tr("Rounds"), str(self.question.rounds or settings[ASK_ROUNDS]), "ask.max_iterations"),
            PanelRow(tr("Pages"), str(self.question.pages or settings[ASK_PAGES]), "ask.pages"),
            PanelRow(tr("Turns"), str(len(self.conversation.turns)), "/clear"),
        ]

    def _save(self, path: str) -> None:
        forced = path.removeprefix("--force").strip() if path.split(maxsplit=1)[:1] == ["--force"] else ""
        if forced:
            self._replace(forced)
            return
        if path and os.path.lexists(os.path.expanduser(path)):
            raise RequestError("{path} exists", "replace it: /save! {path}", path=path)
        self._replace(path)

    def _replace(self, path: str) -> None:
        self._last()
        if not path:
            raise RequestError("there is no file to save to", "name it: /save FILE")
        write_atomic(os.path.expanduser(path), self.conversation.as_markdown().encode("utf-8", "replace"))
        self._tell(tr("saved to {path}", path=path))

    def _clear(self, _: str) -> None:
        self.conversation = Conversation()
        self._tell(tr("what was said is forgotten"))

    def _help(self, _: str) -> None:
        print(tr(HELP), file=self.runtime.stdout)

    def _tell(self, text: str) -> None:
        print(text, file=self.runtime.stderr, flush=True)


def _unknown(name: str, names: list[str]) -> RequestError:
    near = get_close_matches(name.lower(), names, 1)
    hint = "did you mean /{near}? All of them: /help" if near else "see what there is: /help"
    return RequestError(
        "there is no command /{name}", hint, name=clean(name, 50, entities=False), near=(near or [""])[0]
    )
