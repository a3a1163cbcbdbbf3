"""`sleuth providers`: the provider table."""

from typing import Annotated, Any, Literal

import typer

from sleuth.base.errors import EXITS, Exit, RequestError
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.base.text import strip_controls
from sleuth.base.urls import is_in_clear, mask_login
from sleuth.commands.config import note_override
from sleuth.commands.provider_comparison import COMPARE_EPILOG, compare
from sleuth.commands.provider_facts import places, provider_as_json
from sleuth.commands.terminal.options import REQUEST_TIMEOUT
from sleuth.commands.terminal.questions import take_secret
from sleuth.commands.terminal.typer_app import Json, make_app, parameters_of
from sleuth.runtime import Runtime
from sleuth.store.provider_fields import CLEARABLE, FIELDS, NUMBER_OPTIONS, check_numbers
from sleuth.store.setting_types import FLAGS, NAMES
from sleuth.store.settings import DEFAULT_PROVIDER, change
from sleuth_providers import registry
from sleuth_providers.base import ON_OFF, Provider

app = make_app("Manage providers: list, show, set, test, use, add, remove, reset, compare.")
SECRETS = {"api_key": "API key of {id}", "basic_auth_password": "password for {id}"}  # field → what a prompt asks for

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the provider.", show_default=False)]


def fields_of_row(
    api_key: Annotated[
        str | None,
        typer.Option("--api-key", metavar="KEY", help="API key, env:NAME, cmd:COMMAND, keyring:, or - for a prompt."),
    ] = None,
    api_host: Annotated[
        str | None,
        typer.Option(
            "--api-host", "--url", metavar="URL", help="Base URL; for local providers the results page with %s."
        ),
    ] = None,
    engines: Annotated[str | None, typer.Option(metavar="a,b", help="Engines to use.")] = None,
    using_browser: Annotated[
        bool | None,
        typer.Option("--using-browser/--no-using-browser", help="Load results pages in a headless browser."),
    ] = None,
    basic_auth_username: Annotated[
        str | None, typer.Option(metavar="NAME", help="User name for HTTP Basic authentication.")
    ] = None,
    basic_auth_password: Annotated[
        str | None, typer.Option(metavar="PASSWORD", help="Password for HTTP Basic authentication, or - for a prompt.")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Display name.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="k=v", help="Set an option of the provider; repeatable.")
    ] = None,
) -> None:
    """Declare what `set` and `add` have in common."""


FIELD_OPTIONS = parameters_of(fields_of_row)


@app.command("list", epilog="Example: sleuth providers list --json | jq '.items[] | select(.usable) | .id'")
def list_(
    runtime: Runtime,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Show at most N providers.", metavar="N")] = 1000,
    offset: Annotated[int, typer.Option(min=0, help="Skip the first N.", metavar="N")] = 0,
    ids: Annotated[bool, typer.Option("--ids", help="Print only the ids known so far, one per line.")] = False,
    as_json: Json = False,
) -> None:
    """List all providers, and what the unusable ones need."""
    if not ids:  # completion must be fast, and looking for new plug-ins is not
        for problem in runtime.selector.discover():
            runtime.warn(problem)
    rows = runtime.selector.table.all()
    shown = rows[offset : offset + limit]
    if ids:
        print("\n".join(row.id for row in shown), file=runtime.stdout)
        return
    chain = places(runtime.selector)
    items = [provider_as_json(runtime.selector, one, chain) for one in runtime.selector.loadable(shown)]
    if as_json:
        write_json({"items": items, "total": len(rows), "limit": limit, "offset": offset}, runtime.stdout)
        return
    from sleuth.render.providers import render_list

    render_list(items, runtime.stdout, runtime.color)


@app.command(epilog="Example: sleuth providers show tavily")
def show(runtime: Runtime, id: Id, as_json: Json = False) -> None:
    """Show one provider in full, with masked keys."""
    selector = runtime.selector
    facts = provider_as_json(selector, selector.candidate(id), places(selector), full=True)
    if as_json:
        write_json(facts, runtime.stdout)
        return
    from sleuth.render.providers import render_one

    render_one(facts, runtime.stdout, runtime.color)


@app.command("set", FIELD_OPTIONS, epilog="Example: sleuth providers set tavily --api-key -")
def set_(
    runtime: Runtime,
    id: Id,
    type: Annotated[Literal["api", "local"] | None, typer.Option(help="Type of the provider.")] = None,
    enable: Annotated[bool | None, typer.Option("--enable/--disable", help="Enable or disable the provider.")] = None,
    unset: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Clear a field: " + ", ".join(CLEARABLE) + ".")
    ] = None,
    *,
    option: list[str] | None,
    **fields: Any,
) -> None:
    """Change the API key, host, engines or other fields of a provider."""
    id = runtime.table.get(id).id
    options = _parse_options(option, runtime.selector.candidate(id).adapter) if option else {}
    changes = _fields(runtime, id, fields | {"type": type, "enabled": enable})
    changes |= dict.fromkeys(field.replace("-", "_") for field in unset or ())
    if not changes and not options:
        raise RequestError("nothing to change: give at least one option", "see: sleuth providers set --help")
    runtime.table.update(id, changes, options)
    runtime.health.forget(id)
    changed = strip_controls(", ".join([*changes, *options]))
    print(tr("{id}: changed {fields}; test it: sleuth providers test {id}", id=id, fields=changed), file=runtime.stderr)
    _warn_if_unencrypted(runtime, id)


@app.command(epilog="Example: sleuth providers use searxng")
def use(
    runtime: Runtime, id: Annotated[str, typer.Argument(metavar="ID", help="The id of the provider, or auto.")]
) -> None:
    """Make a provider the default; auto restores the fallback chain."""
    id = "auto" if id.lower() == "auto" else id
    if id != "auto":
        candidate = runtime.selector.candidate(id)
        id = candidate.id
        if skipped := runtime.selector.skipped(candidate):
            runtime.warn(skipped.message)
            runtime.hint(skipped.hint)
    change(runtime.paths.config_file, DEFAULT_PROVIDER.key, id)
    if not note_override(runtime, DEFAULT_PROVIDER):
        print(tr("{id} is now the default", id=id), file=runtime.stderr)


ADD_EPILOG = """Examples:\n
\b
  sleuth providers add wiki --url 'https://wiki.example.org/search?q=%s'
  sleuth providers add work --adapter searxng --url https://search.example.org
"""


@app.command(epilog=ADD_EPILOG, options=FIELD_OPTIONS)
def add(
    runtime: Runtime,
    new_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Id of the new provider.", show_default=False)
    ] = None,
    id: Annotated[str | None, typer.Option("--id", metavar="ID", help="The same as the argument ID.")] = None,
    adapter: Annotated[str | None, typer.Option(metavar="ID", help="Built-in adapter to use.")] = None,
    *,
    name: str | None,
    option: list[str] | None,
    **fields: Any,
) -> None:
    """Add a provider: a results page as a URL with %s, or another instance of a built-in adapter."""
    if len({new_id, id} - {None}) != 1 or not (new_id or id):
        hint = "for example: sleuth providers add ID --url 'https://host/search?q=%s'"
        raise RequestError("give one id for the new provider", hint)
    id = str(new_id or id)
    if adapter is None and not fields["api_host"]:
        raise RequestError("a custom provider needs a URL", "add --url 'https://host/search?q=%s'")
    provider = registry.load("local") if adapter is None else runtime.selector.candidate(adapter).adapter
    given = _fields(runtime, id, fields | {"options": _parse_options(option, provider) or None})
    runtime.table.add(id, name or id, provider.type, provider.id, given)
    print(tr("{id} was added; test it: sleuth providers test {id}", id=id), file=runtime.stderr)
    _warn_if_unencrypted(runtime, id)


@app.command(epilog="Example: sleuth providers remove work")
def remove(runtime: Runtime, id: Id) -> None:
    """Remove a provider that you added."""
    id = runtime.table.get(id).id
    if id == runtime.selector.default():
        raise RequestError("{id} is the default provider", "choose another one first: sleuth providers use auto", id=id)
    runtime.table.remove(id)
    print(tr("{id} was removed", id=id), file=runtime.stderr)


@app.command(epilog="Example: sleuth providers reset brave")
def reset(runtime: Runtime, id: Id) -> None:
    """Reset a built-in provider to its defaults; this deletes its key."""
    id = runtime.table.get(id).id
    runtime.table.reset(id, runtime.selector.candidate(id).adapter)
    runtime.health.forget(id)
    print(tr("{id} was reset to its defaults", id=id), file=runtime.stderr)


@app.command(epilog="Example: sleuth providers test --all", options=(REQUEST_TIMEOUT,))
def test(
    runtime: Runtime,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]…", help="Providers to test; the fallback chain by default.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Test all usable providers.")] = False,
    as_json: Json = False,
    *,
    timeout: float | None,
) -> int:
    """Test providers with one real request each, in parallel."""
    from sleuth.engine.trial import run_trials, trial_as_json

    if not ids and not every:
        ids = [candidate.id for candidate in runtime.selector.chain()]
    results = run_trials(runtime.selector, runtime.selector.named(("all",) if every else tuple(ids or ())), timeout)
    if as_json:
        done = sorted(results, key=lambda result: result.id)
        write_json([trial_as_json(result) for result in done], runtime.stdout)
    else:
        from sleuth.render.providers import render_tests

        done = render_tests(results, runtime.stdout, runtime.color)
    failed = [result for result in done if not result.success]
    if not failed:
        return Exit.DONE
    return EXITS.get(failed[0].code, Exit.FAILED) if len(done) == 1 else Exit.FAILED


app.command("compare", ("providers", REQUEST_TIMEOUT), epilog=COMPARE_EPILOG)(compare)


def _warn_if_unencrypted(runtime: Runtime, id: str) -> None:
    from sleuth.store import keys

    selector = runtime.selector
    row, adapter = candidate = selector.candidate(id)
    has_secret = row.basic_auth_password or keys.origin(row, adapter, selector.environ)
    for host in selector.host(candidate).split(","):
        if has_secret and is_in_clear(host):
            place = mask_login(host.strip())
            runtime.warn(tr("the key or password of {id} is sent unencrypted to {place}", id=id, place=place))


def _fields(runtime: Runtime, id: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the table that were given; secrets are read from a prompt or stdin where the value is -."""
    given = {field: values[field] for field in FIELDS if values.get(field) is not None}
    if "engines" in given:
        given["engines"] = _parse_engines(given["engines"])
    secrets = [field for field in SECRETS if field in given]
    return given | {field: take_secret(runtime, tr(SECRETS[field], id=id), given[field]) for field in secrets}


def _parse_engines(text: str) -> Any:
    try:
        return NAMES.parse(text)  # the table refuses what is not a list of names
    except ValueError:
        hint = "separate the names with commas, or give a JSON array"
        raise RequestError("invalid value {value!r} for {name}", hint, name="engines", value=text) from None


def _parse_options(options: list[str] | None, adapter: Provider) -> dict[str, str]:
    pairs = {}
    known = [*adapter.options, *NUMBER_OPTIONS]
    for text in options or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise RequestError("invalid option {text!r}: use k=v", "for example: --option weight=2", text=text)
        if name.strip() not in known:
            raise RequestError("unknown option {name!r}", "use one of: {names}", name=name, names=", ".join(known))
        pairs[name.strip()] = _checked_option(name.strip(), value.strip(), adapter)
    check_numbers(pairs, adapter.number_options)
    return pairs


def _checked_option(name: str, value: str, adapter: Provider) -> str:
    choices = adapter.option_choices.get(name, (value,))
    if choices == ON_OFF and value.lower() in FLAGS:
        return "on" if FLAGS[value.lower()] else "off"
    if value and value not in choices:
        message = "invalid value {value!r} for the option {name}"
        raise RequestError(message, "use one of: {names}", name=name, value=value, names=", ".join(choices))
    return value
