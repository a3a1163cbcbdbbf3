"""`sleuth chat`: a conversation of questions and answers, with slash commands."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from difflib import get_close_matches
from typing import Any

from sleuth.answers import presentation
from sleuth.answers.answer import Answer, Question
from sleuth.answers.citations import address, by_number, references
from sleuth.answers.conversation import Conversation, Switch, switch_for
from sleuth.base.errors import RequestError, SleuthError
from sleuth.base.files import write_atomic
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.commands.terminal import display
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.answer import AnswerOptions, answer, with_options
from sleuth.commands.terminal.lines import Lines
from sleuth.commands.terminal.screen import Screen
from sleuth.commands.terminal.typer_app import make_app
from sleuth.engine.options import provider_ids
from sleuth.engine.search_options import SearchOptions
from sleuth.runtime import Runtime
from sleuth.store.cache.memory import MemoryCache
from sleuth.store.settings import ASK_PAGES, ASK_ROUNDS

app = make_app()

PROMPT = "chat (/help) "
MAX_PASSAGE_CHARS = 1200
HELP = """\
  WORDS                 ask a question; it can refer to earlier ones
  /search on|off|auto   search for every question, for none, or let the model decide
  /mode chat|agent      chat: you decide whether to search; agent: the model decides
  /provider ID          set the providers to search; auto for the default
  /sources [N]          list the sources of the last answer, or show what source N says
  /settings             show the current settings
  /save FILE            save the conversation as Markdown; /save! FILE overwrites
  /clear                start a new conversation
  /help                 show this help
  /quit                 quit (also Ctrl-D)"""
EPILOG = """Examples:\n
\b
  sleuth chat
  sleuth chat --search on -p searxng,wikipedia
  printf 'what is tokio\\n/sources\\n' | sleuth chat
"""


@app.command(epilog=EPILOG, options=o.ANSWER)
def chat(
    runtime: Runtime,
    search: o.SearchSwitch = "auto",
    rounds: o.Rounds = None,
    pages: o.Pages = None,
    extractive: o.Extractive = False,
    **options: Any,
) -> None:
    """Ask questions in a conversation; each can refer to earlier ones.

    Lines that begin with a slash are commands; /help lists them. Ctrl-C stops an answer,
    Ctrl-D quits.
    """
    runtime.cache = MemoryCache(runtime.cache)
    question = Question("", search, rounds=rounds or 0, pages=pages or 0, extractive=extractive)
    question = with_options(runtime, question, SearchOptions(**options))
    Chat(runtime, question, switch_for(search)).run()


class Chat:
    """A chat session."""

    def __init__(self, runtime: Runtime, question: Question, switch: Switch) -> None:
        self.runtime, self.question, self.switch = runtime, question, switch
        self.conversation = Conversation()
        self.lines = Lines(runtime, "chat")
        self.is_interactive = runtime.stdin.isatty()
        self.options = AnswerOptions("rich" if self.is_interactive and display.is_terminal(runtime) else "plain")
        self.commands: dict[str, Callable[[str], None]] = {
            "search": lambda state: self._set_switch(self.switch.set(state) if state else self.switch),
            "mode": lambda mode: self._set_switch(self.switch.enter(mode) if mode else self.switch),
            "provider": self._set_provider,
            "sources": self._show_sources,
            "settings": self._show_settings,
            "save": self._save,
            "save!": self._overwrite,
            "clear": self._clear,
            "help": lambda _: print(tr(HELP), file=runtime.stdout),
        }

    def run(self) -> None:
        """Answer questions and run commands until the user quits."""
        if self.is_interactive:
            self._print(tr("ask a question; /help lists the commands, Ctrl-D quits"))
        with closing(self.lines):
            while (line := self._next()) is not None and line not in ("/quit", "/exit", "/q"):
                self._run(line)

    def _next(self) -> str | None:
        while True:
            try:
                return self.lines.ask(PROMPT)
            except KeyboardInterrupt:
                if not self.is_interactive:
                    raise
                self._print("")  # Ctrl-C discards the line

    def _run(self, line: str) -> None:
        name, _, rest = line.removeprefix("/").partition(" ")
        try:
            if not line.startswith("/") or "/" in name:  # a path is not a command
                self._ask(line)
            elif name in self.commands:
                self.commands[name](rest.strip())
            else:
                raise _unknown(name, [*self.commands, "quit"])
        except SleuthError as error:
            self.runtime.show_error(error)
        except KeyboardInterrupt:
            if not self.is_interactive:
                raise
            self._print("\n" + tr("stopped"))

    def _ask(self, text: str) -> None:
        if not text:
            return
        self.runtime.warnings.clear()  # each answer has its own
        question = self.question._replace(text=text, search=self.switch.search, history=self.conversation.history)
        question = question._replace(search_off="/mode chat, /search off" if self.switch.is_disabled else "/search off")
        if self.runtime.models is None and self.conversation.answers and question.search != "off":
            question = question._replace(extractive=True)  # the first answer has said that there is no model
        self.conversation = self.conversation.add(answer(self.runtime, question, self.options))
        print(file=self.runtime.stdout, flush=True)

    def _set_switch(self, switch: Switch) -> None:
        self.switch = switch
        self._print(tr("mode: {mode}; search: {state}", mode=switch.mode, state=switch.state))

    def _set_provider(self, ids: str) -> None:
        chosen = provider_ids(ids.split()) if ids else self.question.providers
        if chosen and chosen != ("auto",):
            self.runtime.selector.named(chosen)  # raises for unknown ids
        self.question = self.question._replace(providers=chosen)
        self._print(tr("provider: {ids}", ids=", ".join(chosen) or "auto"))

    def _last(self) -> Answer:
        if not self.conversation.answers:
            raise RequestError("there is no answer yet", "ask a question first")
        return self.conversation.answers[-1]

    def _show_sources(self, number: str) -> None:
        known = by_number(self._last().sources)
        if not known:
            how = "/mode chat, /search on" if self.switch.is_disabled else "/search on"
            raise RequestError("the last answer has no sources", "to always search: {how}", how=how)
        if not number and self.options.format == "rich":
            Screen(self.runtime).list(self._last().sources, ())
        elif not number:
            self._write(references(self._last().sources, list(known), "plain"))
        elif number.isdecimal() and int(number) in known:
            source = known[int(number)]
            passages = presentation.passages(self._last(), source, MAX_PASSAGE_CHARS)
            self._write([clean(source.title), address(source), "", *passages])
        else:
            shown = clean(number, 20, entities=False)
            raise RequestError("there is no source {number}", "to list the sources: /sources", number=shown)

    def _show_settings(self, _: str) -> None:
        settings, models, ids = self.runtime.settings, self.runtime.models, ", ".join(self.question.providers)
        rows = (
            (tr("Mode"), self.switch.mode, "/mode chat|agent"),
            (tr("Search"), self.switch.state, "/search on|off|auto"),
            (tr("Provider"), ids or "auto", "/provider ID"),
            (tr("Model"), models.writer.name if models else tr("none; answers quote the pages"), "llm.model"),
            (tr("Rounds"), self.question.rounds or settings[ASK_ROUNDS], "ask.max_iterations"),
            (tr("Pages"), self.question.pages or settings[ASK_PAGES], "ask.pages"),
            (tr("Turns"), len(self.conversation.answers), "/clear"),
        )
        self._write([f"{name}{tr(': ')}{clean(value)}  ({how})" for name, value, how in rows])

    def _write(self, lines: Sequence[str]) -> None:
        if self.options.format == "rich":
            Screen(self.runtime).print(lines)
        else:
            print(*lines, sep="\n", file=self.runtime.stdout)

    def _save(self, path: str) -> None:
        if path and os.path.lexists(os.path.expanduser(path)):
            raise RequestError("{path} exists already", "to overwrite it: /save! {path}", path=path)
        self._overwrite(path)

    def _overwrite(self, path: str) -> None:
        self._last()
        if not path:
            raise RequestError("the file name is missing", "for example: /save notes.md")
        write_atomic(os.path.expanduser(path), self.conversation.as_markdown().encode("utf-8", "replace"))
        self._print(tr("saved to {path}", path=path))

    def _clear(self, _: str) -> None:
        self.conversation = Conversation()
        self._print(tr("started a new conversation"))

    def _print(self, text: str) -> None:
        print(text, file=self.runtime.stderr, flush=True)


def _unknown(name: str, names: list[str]) -> RequestError:
    near = get_close_matches(name.lower(), names, 1)
    hint = "did you mean /{near}? For all commands: /help" if near else "for all commands: /help"
    return RequestError("unknown command /{name}", hint, name=clean(name, 50, entities=False), near=(near or [""])[0])
