"""A SearXNG settings.yml and the files beside it: checked before anything is deployed, mended where that is safe."""

import os
from collections.abc import Iterator

from sleuth.base.errors import RequestError, SettingsError
from sleuth.base.files import write_atomic
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.access import check_defaults, check_formats, check_limiter, check_public, check_secret
from sleuth.doctor.files.compose import Compose, check_compose, find_compose, read_compose
from sleuth.doctor.files.compose_access import check_access
from sleuth.doctor.files.deployment import Deployment
from sleuth.doctor.files.edits import apply
from sleuth.doctor.files.engines import check_engines
from sleuth.doctor.files.environment import Variables, check_variables, read_environment
from sleuth.doctor.files.limiter import read_limiter
from sleuth.doctor.files.network import check_address, check_base_url, check_proxies, check_valkey
from sleuth.doctor.files.values import check_keys, check_values
from sleuth.doctor.files.yaml_source import MAX_BYTES, NotYamlError, YamlSource, hide, read_yaml, stray_tab
from sleuth.doctor.finding import Finding
from sleuth.doctor.issue import Issue, fine, issue
from sleuth.doctor.verdict import RESTART, Remedy, shell

CHECKS = (
    check_keys,  # first: a misspelt name explains what the others miss
    check_defaults,
    check_formats,
    check_secret,
    check_limiter,
    check_public,
    check_valkey,
    check_address,
    check_base_url,
    check_proxies,
    check_engines,
    check_values,
)
MAX_ROUNDS = 10  # two or three are enough; a mend may bring the next trouble to light
TAB_WIDTHS = (2, 4, 8)
YAML_LINK = "searxng.md#searxng-exits-invalid-settingsyml-yaml-error"
RIGHTS_LINK = "searxng.md#searxng-container-permission-denied-not-a-valid-file"


def check_settings(path: str) -> list[Finding]:
    """Check a settings file, and docker-compose.yml, .env and limiter.toml where they stand beside it."""
    name = os.path.basename(path)
    compose, variables, around = _look_around(path)
    try:
        text = _read(path)
        source = _parse(name, text)
    except SettingsError as problem:
        return [_unreadable(path, problem), *around]
    except NotYamlError as problem:
        return [_not_yaml(name, problem), *around]
    if source.root.kind not in ("map", "null"):
        return [_no_mapping(source), *around]
    deployment, limiter = _deploy(path, source, compose, variables)
    return [
        fine("settings.yaml", source.at(1, tr("{count} lines", count=text.count("\n") + 1))).finding,
        *(found.finding for found in _check(deployment)),
        *around,
        *limiter,
    ]


def fix_settings(path: str) -> str | None:
    """Return the file's text with everything mended that can be; None when nothing can or need be."""
    try:
        text = _read(path)
    except NotYamlError:
        return None
    mended = _repaired(text)
    if mended is None:
        return None
    compose, variables, _ = _look_around(path)
    for _ in range(MAX_ROUNDS):
        source = YamlSource(os.path.basename(path), mended, read_yaml(mended))
        if source.root.kind not in ("map", "null"):
            break
        deployment, _ = _deploy(path, source, compose, variables)
        better = _mend(mended, list(_check(deployment)))
        if better == mended:
            break
        mended = better
    return mended if mended != text else None


def write_fix(path: str, text: str | None = None) -> str:
    """Write the mended text beside the original and return where; `text` is one that `fix_settings` gave."""
    mended = fix_settings(path) if text is None else text
    if mended is None:
        raise RequestError(
            "there is nothing in {path} that sleuth can mend", "see: sleuth doctor --settings {path}", path=path
        )
    stem, extension = os.path.splitext(path)
    target = f"{stem}.fixed{extension or '.yml'}"
    write_atomic(target, mended.encode())
    return target


def replace_settings(path: str, fixed: str) -> tuple[str, ...]:
    """Return the commands that put a mended file to use; cp keeps the owner, who is the container's user by now."""
    return (f"cp {shell(fixed)} {shell(path)}", RESTART)


def diff(old: str, new: str, name: str) -> str:
    """Return the changes as a unified diff, fit to be shown: secrets are hidden, control characters gone."""
    from difflib import unified_diff

    lines = unified_diff(old.splitlines(), new.splitlines(), name, f"{name} (mended)", lineterm="")
    return "".join(f"{''.join(c if c.isprintable() else ' ' for c in hide(line))}\n" for line in lines)


def _read(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return stream.read(MAX_BYTES + 1).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise NotYamlError(tr("it is not UTF-8")) from problem
    except OSError as problem:
        raise SettingsError(
            "cannot read {path} ({reason})", "check the name", path=path, reason=problem.strerror or problem
        ) from problem


def _parse(name: str, text: str) -> YamlSource:
    root = read_yaml(text)
    if place := stray_tab(text, root):
        raise NotYamlError(tr("a tab stands where only spaces may"), *place)
    return YamlSource(name, text, root)


def _look_around(path: str) -> tuple[Compose | None, Variables, list[Finding]]:
    """Read what tells how the server is run; without a compose file .env alone."""
    folder = os.path.dirname(os.path.abspath(path))
    found = find_compose(folder)
    compose, findings = read_compose(found) if found else (None, [])
    if compose:
        variables: Variables = compose.variables
        findings = [*check_compose(compose), *check_access(compose, os.path.abspath(path)), *findings]
    else:
        env = os.path.join(folder, ".env")
        variables, more = read_environment(env) if os.path.isfile(env) else ({}, [])
        findings += more
    return compose, variables, [*findings, *check_variables(variables)]


def _deploy(
    path: str, source: YamlSource, compose: Compose | None, variables: Variables
) -> tuple[Deployment, list[Finding]]:
    deployment = Deployment(source, variables, True if compose else None)
    if compose:
        deployment = deployment._replace(host_network=compose.host_network, valkey=compose.valkey)
    active = deployment.switch("SEARXNG_LIMITER", "server", "limiter")
    limiter, findings = read_limiter(os.path.dirname(os.path.abspath(path)), active)
    return deployment._replace(limiter=limiter), findings


def _check(deployment: Deployment) -> Iterator[Issue]:
    for check in CHECKS:
        yield from check(deployment)


def _mend(text: str, issues: list[Issue]) -> str:
    """Return the text with one round of edits made; what would break the file is left out."""
    groups = [found.edits for found in issues if found.first and found.edits] or [found.edits for found in issues]
    better = apply(text, [edit for group in groups for edit in group])
    if _parses(better):
        return better
    for group in groups:  # one of them did harm: make the others one by one
        attempt = apply(text, group)
        if attempt != text and _parses(attempt):
            return attempt
    return text


def _parses(text: str) -> bool:
    try:
        return stray_tab(text, read_yaml(text)) is None
    except NotYamlError:
        return False


def _repaired(text: str) -> str | None:
    """Return text that parses: as it is, or with its tabs made blanks; None when that does not help."""
    if _parses(text):
        return text
    for width in TAB_WIDTHS:
        attempt = "".join(_without_tabs(line, width) for line in text.splitlines(keepends=True))
        if attempt != text and _parses(attempt) and read_yaml(attempt).kind == "map":
            return attempt
    return None


def _without_tabs(line: str, width: int) -> str:
    body = line.lstrip(" \t")
    indent = line[: len(line) - len(body)].replace("\t", " " * width)
    return indent + body.replace("\t", " ")


def _unreadable(path: str, problem: SettingsError) -> Finding:
    name = os.path.basename(path)
    if os.path.isdir(path) and name.endswith((".yml", ".yaml")):
        cause = tr("it is a folder: Docker made it because the file was missing when it was mounted")
        fix = (f"rmdir {shell(path)}", tr("# write the file, mount the folder around it, then:"), RESTART)
        return issue("settings.file", "fail", f"{name}: {tr('a folder')}", Remedy(cause, fix, RIGHTS_LINK)).finding
    remedy = Remedy(tr("sleuth cannot read it"), (f"ls -l {shell(path)}",), RIGHTS_LINK)
    reason = clean(problem.values.get("reason", ""), 200)
    return issue("settings.file", "fail", f"{name}: {reason}", remedy).finding


def _not_yaml(name: str, problem: NotYamlError) -> Finding:
    cause = tr("the server exits when settings.yml is not YAML")
    if "tab" in problem.reason:
        cause = tr("YAML is indented with spaces; the server exits at a tab")
    evidence = f"{name}:{problem.line}:{problem.column}: {problem.reason}"
    fix = (tr("# correct line {line}, then:", line=problem.line), RESTART)
    return issue("settings.yaml", "fail", evidence, Remedy(cause, fix, YAML_LINK)).finding


def _no_mapping(source: YamlSource) -> Finding:
    cause = tr("the file must hold names with values, such as use_default_settings: true; the server exits otherwise")
    remedy = Remedy(cause, ("use_default_settings: true", RESTART), YAML_LINK)
    return issue("settings.yaml", "fail", source.at(source.root), remedy).finding
