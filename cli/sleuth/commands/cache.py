"""`sleuth cache`: what is kept, and throwing it away."""

import json
from typing import Annotated

import typer

from sleuth.commands.making import make_app
from sleuth.language import say
from sleuth.runtime import Runtime

app = make_app("Kept answers: stats, clear.")


@app.command(epilog="Example: sleuth cache stats --json")
def stats(ctx: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Show how many answers and pages are kept."""
    runtime: Runtime = ctx.obj
    answers, pages = runtime.kept_answers.stats(), runtime.kept_pages.stats()
    if as_json:
        print(json.dumps(answers | {"pages": pages}, ensure_ascii=False), file=runtime.stdout)
        return
    print(say("{entries} answers, {bytes} bytes", **answers), file=runtime.stdout)
    print(say("{entries} pages, {bytes} bytes", **pages), file=runtime.stdout)


@app.command(epilog="Example: sleuth cache clear")
def clear(ctx: typer.Context) -> None:
    """Throw every kept answer and page away."""
    runtime: Runtime = ctx.obj
    answers, pages = runtime.kept_answers.clear(), runtime.kept_pages.clear()
    print(say("{answers} answers and {pages} pages thrown away", answers=answers, pages=pages), file=runtime.stdout)
