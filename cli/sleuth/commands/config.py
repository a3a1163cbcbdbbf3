"""`sleuth config`: show and change the settings."""

import os
from typing import Annotated, Any

import typer

from sleuth.base.errors import Exit, RequestError, SettingsError, UnknownProviderError, describe
from sleuth.base.i18n import tr
from sleuth.base.json_output import json_text, write_json
from sleuth.base.text import mask, strip_controls
from sleuth.base.urls import is_in_clear, mask_login
from sleuth.commands.terminal.questions import take_secret
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.runtime import Runtime
from sleuth.store.setting_types import to_toml
from sleuth.store.settings import TABLE, Setting, Settings, SettingValue, change, find_setting
from sleuth.store.toml_file import read_toml

Key = Annotated[str, typer.Argument(metavar="KEY", help="The key of the setting.", show_default=False)]

app = make_app("Manage settings: show, get, set, unset, edit, path, validate.")


@app.command(epilog="Example: sleuth config show --origin")
def show(
    runtime: Runtime,
    section: Annotated[str, typer.Argument(metavar="SECTION", help="Show only keys that start with this.")] = "",
    origin: Annotated[bool, typer.Option("--origin", help="Show where each value comes from.")] = False,
    as_json: Json = False,
) -> None:
    """Show every setting and its value."""
    values = {key: _shown(runtime.settings, TABLE[key]) for key in TABLE if key.startswith(section)}
    if not values:
        raise RequestError("no setting starts with {section!r}", "list all: sleuth config show", section=section)
    if as_json:
        document = {k: {"value": v.value, "origin": v.origin} if origin else v.value for k, v in values.items()}
        write_json(document, runtime.stdout)
        return
    width = max(map(len, values))
    for key, value in values.items():
        source = f"  # {value.origin}" if origin else ""
        print(strip_controls(f"{key:<{width}} = {to_toml(value.value)}{source}"), file=runtime.stdout)


@app.command(epilog="Example: sleuth config get websearch.max_results")
def get(runtime: Runtime, key: Key, as_json: Json = False) -> None:
    """Print the value of one setting."""
    value = _shown(runtime.settings, find_setting(key)).value
    plain = value if isinstance(value, str) and value.isprintable() else to_toml(value)
    print(json_text(value) if as_json else strip_controls(plain), file=runtime.stdout)


@app.command("set", epilog="Example: sleuth config set websearch.max_results 10")
def set_(
    runtime: Runtime,
    key: Key,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="Lists as a,b or TOML; - reads a secret from stdin or a prompt.")
    ],
) -> None:
    """Change one setting in the file; comments and order are kept."""
    setting = find_setting(key)
    if setting.secret or (setting.kind.address and (value == "-" or mask_login(value) != value)):
        value = take_secret(runtime, key, value)
    for _, id in Settings("", {setting.variable: value}).named_providers():
        runtime.selector.candidate(id)  # raises UnknownProviderError
    change(runtime.paths.config_file, key, value)
    place = mask_login(value) if setting.kind.address else value
    if place != value and is_in_clear(place.partition(",")[0]):  # the first node of a cluster
        runtime.warn(tr("the key or password of {id} is sent unencrypted to {place}", id=key, place=place))
    note_override(runtime, setting)


@app.command(epilog="Example: sleuth config unset websearch.max_results")
def unset(runtime: Runtime, key: Key) -> None:
    """Remove one setting from the file, which restores its default."""
    change(runtime.paths.config_file, key, None)
    note_override(runtime, find_setting(key))


@app.command(epilog="Example: EDITOR=nano sleuth config edit")
def edit(runtime: Runtime) -> int:
    """Open the file in $VISUAL or $EDITOR, then check it."""
    import shlex
    import subprocess

    from sleuth.base.files import private_folder, write_atomic

    path = runtime.paths.config_file
    private_folder(os.path.dirname(path))
    if not os.path.exists(path):
        write_atomic(path, _starter().encode())
    editor = runtime.environ.get("VISUAL") or runtime.environ.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), path], check=True)  # noqa: S603 - the user's own editor
    except (OSError, ValueError, subprocess.CalledProcessError) as problem:
        hint = "use another one: EDITOR=nano sleuth config edit"
        raise SettingsError("the editor {editor!r} failed", hint, editor=editor) from problem
    return validate(runtime)


@app.command(epilog="Example: cat $(sleuth config path)")
def path(runtime: Runtime) -> None:
    """Print the path of the file."""
    print(runtime.paths.config_file, file=runtime.stdout)


@app.command(epilog="Example: sleuth config validate && echo ok")
def validate(runtime: Runtime) -> int:
    """Check the file: exit 0 when all values are valid, 2 otherwise."""
    read_toml(runtime.paths.config_file)
    settings = Settings(runtime.paths.config_file, runtime.environ)
    problems = list(settings.problems())
    for setting, id in settings.named_providers():
        try:
            runtime.selector.candidate(id)
        except (UnknownProviderError, RequestError) as error:
            problems.append(tr("{key}: {problem}", key=setting.key, problem=describe(error)[0]))
    for problem in problems:
        runtime.warn(problem)
    if not problems:
        path = runtime.paths.config_file
        message = "{path} is valid" if os.path.exists(path) else "there is no file {path}; the defaults apply"
        print(tr(message, path=path), file=runtime.stdout)
    return Exit.INVALID if problems else Exit.DONE


def _shown(settings: Settings, setting: Setting[Any]) -> SettingValue:
    value = settings.look_up(setting)
    if setting.secret:
        return value._replace(value=mask(value.value) or "")
    return value._replace(value=mask_login(value.value)) if setting.kind.address else value


def note_override(runtime: Runtime, setting: Setting[Any]) -> bool:
    """Print a note, and return True, if a change of a setting in the file has no effect."""
    if setting.variable in runtime.environ:
        runtime.note(tr("{variable} is set and overrides the file", variable=setting.variable))
    return setting.variable in runtime.environ


def _starter() -> str:
    sections: dict[str, list[str]] = {}
    for key, setting in TABLE.items():
        section, _, name = key.rpartition(".")
        sections.setdefault(section, []).append(f"# {name} = {to_toml(setting.default)}  # {setting.meaning}\n")
    blocks = (f"\n[{section}]\n{''.join(lines)}" for section, lines in sections.items())
    return "# Settings of sleuth. Every line shows a default; uncomment it to change it.\n" + "".join(blocks)
