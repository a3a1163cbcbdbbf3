"""`sleuth providers`: the provider table."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sleuth.base.errors import EXITS, Exit, RequestError
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.base.text import mask, strip_controls
from sleuth.base.urls import mask_login
from sleuth.commands.terminal.typer_app import make_app, seconds
from sleuth.runtime import Runtime, built_in
from sleuth.store.provider_table import CLEARABLE, ProviderRow

if TYPE_CHECKING:
    from sleuth.engine.selector import Candidate, ProviderSelector

app = make_app("The provider table: list, show, set, test, use, add, remove, reset.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The provider.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
Key = Annotated[
    str | None, typer.Option("--api-key", metavar="KEY", help="A key, env:NAME, cmd:COMMAND, keyring: or -.")
]
Host = Annotated[str | None, typer.Option("--api-host", metavar="URL", help="Its address; with %s for a local one.")]
Engines = Annotated[str | None, typer.Option(metavar="a,b", help="Engines to use.")]
Browser = Annotated[bool | None, typer.Option("--using-browser/--no-using-browser", help="Read pages in a browser.")]
User = Annotated[str | None, typer.Option(metavar="NAME", help="For HTTP Basic authentication.")]
Password = Annotated[str | None, typer.Option(metavar="PASSWORD", help="Its password, or - to be asked.")]
Name = Annotated[str | None, typer.Option(metavar="TEXT", help="The name shown.")]
Option = Annotated[
    list[str] | None, typer.Option("--option", metavar="k=v", help="What this adapter alone understands.")
]


@app.command("list", epilog="Example: sleuth providers list --json | jq '.items[] | select(.usable) | .id'")
def list_(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 1000,
    offset: Annotated[int, typer.Option(min=0, help="Leave out so many first.")] = 0,
    ids: Annotated[bool, typer.Option("--ids", help="Ids alone, one a line.")] = False,
    as_json: Json = False,
) -> None:
    """List every provider: ready, in need of a key, or of an address."""
    runtime: Runtime = ctx.obj
    if not ids:  # completions want ids at once
        for problem in runtime.selector.discover():
            runtime.warn(problem)
    rows = (runtime.table if ids else runtime.selector.table).all()
    shown = rows[offset : offset + limit]
    if ids:
        print("\n".join(row.id for row in shown), file=runtime.stdout)
        return
    items = [
        _facts(runtime.selector, runtime.selector.candidate(row.id)) for row in shown if _known(runtime.selector, row)
    ]
    if as_json:
        document = {"items": items, "total": len(rows), "limit": limit, "offset": offset}
        write_json(document, runtime.stdout)
        return
    from sleuth.render.providers import render_list

    render_list(items, runtime.stdout, runtime.color)


@app.command(epilog="Example: sleuth providers show tavily")
def show(ctx: typer.Context, id: Id, as_json: Json = False) -> None:
    """Show all that is known of one provider; keys stay masked."""
    runtime: Runtime = ctx.obj
    facts = _facts(runtime.selector, runtime.selector.candidate(id), full=True)
    if as_json:
        write_json(facts, runtime.stdout)
        return
    from sleuth.render.providers import render_one

    render_one(facts, runtime.stdout, runtime.color)


@app.command("set", epilog="Example: sleuth providers set tavily --api-key -")
def set_(
    ctx: typer.Context,
    id: Id,
    api_key: Key = None,
    api_host: Host = None,
    engines: Engines = None,
    using_browser: Browser = None,
    basic_auth_username: User = None,
    basic_auth_password: Password = None,
    name: Name = None,
    type: Annotated[Literal["api", "local"] | None, typer.Option(help="What kind it is.")] = None,
    option: Option = None,
    enable: Annotated[bool | None, typer.Option("--enable/--disable", help="Turn it on or off.")] = None,
    unset: Annotated[list[str] | None, typer.Option(metavar="FIELD", help="Clear: " + ", ".join(CLEARABLE))] = None,
) -> None:
    """Change just the named fields of a provider."""
    runtime: Runtime = ctx.obj
    runtime.table.get(id)
    secrets = {"api_key": api_key, "basic_auth_password": basic_auth_password}
    changes: dict[str, Any] = {
        "api_host": api_host,
        "engines": _split(engines) if engines is not None else None,
        "using_browser": using_browser,
        "basic_auth_username": basic_auth_username,
        "name": name,
        "type": type,
        "enabled": enable,
    }
    changes = {field: value for field, value in changes.items() if value is not None}
    cleared = {field.replace("-", "_"): None for field in unset or ()}
    if not changes and not cleared and not option and not any(secrets.values()):
        raise RequestError("nothing was said to change", "see: sleuth providers set --help")
    changes |= {
        field: _secret(runtime, field, value) for field, value in secrets.items() if value is not None
    } | cleared
    runtime.table.update(id, changes, _pairs(option))
    runtime.health.forget(id)
    fields = [*changes, *_pairs(option)]
    print(tr("{id}: changed {fields}", id=id, fields=strip_controls(", ".join(fields))), file=runtime.stderr)


@app.command(epilog="Example: sleuth providers use searxng")
def use(ctx: typer.Context, id: Annotated[str, typer.Argument(metavar="ID", help="The provider, or auto.")]) -> None:
    """Make a provider the default; auto goes back to the fallback list."""
    runtime: Runtime = ctx.obj
    runtime.table.use(None if id == "auto" else id)
    print(tr("{id} is the default now", id=id), file=runtime.stderr)


@app.command(
    epilog="Example: sleuth providers add --id work-searxng --adapter searxng --api-host https://search.example.org"
)
def add(
    ctx: typer.Context,
    id: Annotated[str, typer.Option(metavar="ID", help="Its id.")],
    adapter: Annotated[str | None, typer.Option(metavar="ID", help="A built-in adapter to use once more.")] = None,
    name: Name = None,
    api_host: Host = None,
    api_key: Key = None,
    engines: Engines = None,
    using_browser: Browser = None,
    basic_auth_username: User = None,
    basic_auth_password: Password = None,
    option: Option = None,
) -> None:
    """Add a provider of your own: a results page as a URL with %s, or a second instance of a built-in adapter."""
    runtime: Runtime = ctx.obj
    if adapter is None and not api_host:
        raise RequestError("a provider of your own needs an address", "--api-host 'https://host/search?q=%s'")
    kind = "local"
    if adapter is not None:
        kind = runtime.selector.candidate(adapter).adapter.type
    changes = {
        "api_host": api_host,
        "engines": _split(engines) if engines is not None else None,
        "using_browser": using_browser,
        "basic_auth_username": basic_auth_username,
        "api_key": _secret(runtime, "api_key", api_key),
        "basic_auth_password": _secret(runtime, "basic_auth_password", basic_auth_password),
        "options": _pairs(option) if option else None,
    }
    given = {field: value for field, value in changes.items() if value is not None}
    runtime.table.add(id, name or id, kind, adapter or "local", given)
    print(tr("{id} was added; try it: sleuth providers test {id}", id=id), file=runtime.stderr)


@app.command(epilog="Example: sleuth providers remove work-searxng")
def remove(ctx: typer.Context, id: Id) -> None:
    """Remove a provider of your own."""
    runtime: Runtime = ctx.obj
    runtime.table.remove(id)
    print(tr("{id} was removed", id=id), file=runtime.stderr)


@app.command(epilog="Example: sleuth providers reset brave")
def reset(ctx: typer.Context, id: Id) -> None:
    """Give a built-in provider back the values it came with; its key is forgotten."""
    runtime: Runtime = ctx.obj
    row = runtime.table.get(id)
    seeds = {seed.id: seed for seed in built_in()}
    if row.id not in seeds:
        raise RequestError("{id!r} is your own, there is nothing to go back to", "sleuth providers set …", id=id)
    runtime.table.reset(id, seeds[id])
    runtime.health.forget(id)
    print(tr("{id} is as it came", id=id), file=runtime.stderr)


@app.command(epilog="Example: sleuth providers test --all")
def test(
    ctx: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]…", help="Whom to test.", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="Everyone who is ready.")] = False,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, max=600, metavar="S", help="Seconds to wait.", callback=seconds)
    ] = None,
    as_json: Json = False,
) -> int:
    """Make one real request to each provider, all at once, and tell how it went."""
    from sleuth.engine.trial import test_providers

    runtime: Runtime = ctx.obj
    if not ids and not every:
        ids = [candidate.id for candidate in runtime.selector.chain()]
    candidates = runtime.selector.named(("all",) if every else tuple(ids or ()))
    verdicts = test_providers(runtime.selector, candidates, timeout)
    if as_json:
        done = sorted(verdicts, key=lambda verdict: verdict.id)
        documents = [verdict.as_json() for verdict in done]
        write_json(documents, runtime.stdout)
    else:
        from sleuth.render.providers import render_tests

        done = render_tests([c.id for c in candidates], verdicts, runtime.stdout, runtime.color)
    failed = [verdict for verdict in done if not verdict.success]
    if not failed:
        return Exit.DONE
    return EXITS.get(failed[0].code, Exit.FAILED) if len(done) == 1 else Exit.FAILED


def _known(selector: "ProviderSelector", row: ProviderRow) -> bool:
    try:
        selector.candidate(row.id)
    except RequestError:
        return False
    return True


def _facts(selector: "ProviderSelector", candidate: "Candidate", *, full: bool = False) -> dict[str, Any]:
    """Return a provider as users and programs may see it."""
    from sleuth.engine.selector import describe
    from sleuth.store import keys

    row, adapter = candidate
    obstacle = selector.obstacle(candidate)
    passed = selector.passed_over(candidate)
    facts: dict[str, Any] = {
        "id": row.id,
        "name": row.name,
        "type": row.type,
        "usable": passed is None,
        "why": passed.message if passed else None,
        "hint": describe(obstacle, row.name, row.id)[1] if obstacle else None,
        "needs": "key" if obstacle and adapter.needs_key else "host" if obstacle else None,
        "keySource": keys.origin(row, adapter, selector.environ),
        "keyPage": adapter.key_page or None,
        "isDefault": row.is_default,
        "enabled": row.enabled,
    }
    if full:
        facts |= {
            "adapter": row.adapter,
            "apiKey": _masked_key(row),
            "apiHost": mask_login(selector.host(candidate)) or None,
            "engines": list(row.engines) or None,
            "usingBrowser": row.using_browser,
            "basicAuthUsername": row.basic_auth_username,
            "basicAuthPassword": mask(row.basic_auth_password),
            "options": row.options,
            "understands": dict(adapter.options),
            "supports": sorted(adapter.supports),
            "categories": list(adapter.categories),
            "maxResults": adapter.max_results,
            "maxQuery": adapter.max_query,
            "perMinute": adapter.per_minute or None,
            "perDay": adapter.per_day or None,
            "price": adapter.price or None,
            "homepage": adapter.homepage or None,
            "environment": [*adapter.env, *adapter.host_env, *adapter.option_env.values()],
            "notes": adapter.notes or None,
            "createdAt": row.created_at,
            "updatedAt": row.updated_at,
        }
    return facts


def _masked_key(row: ProviderRow) -> str | None:
    """Return a stored key masked; env: and keyring: name no secret and are shown, a command may contain one."""
    stored = row.api_key or ""
    if stored.startswith(("env:", "keyring:")):
        return stored
    if stored.startswith("cmd:"):
        return "cmd:…"
    return ", ".join(mask(key.strip()) or "" for key in stored.split(",")) or None


def _secret(runtime: Runtime, field: str, value: str | None) -> str | None:
    if value == "-":
        from sleuth.commands.terminal.secrets import read_secret

        return read_secret(runtime, field)
    if value and not value.startswith(("env:", "cmd:", "keyring:")):
        runtime.warn(tr("a secret on the command line stays in the shell's history; use - instead"))
    return value


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _pairs(options: list[str] | None) -> dict[str, str]:
    pairs = {}
    for text in options or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise RequestError("{text!r} is not name=value", "write it like --option weight=2", text=text)
        pairs[name.strip()] = value.strip()
    return pairs
