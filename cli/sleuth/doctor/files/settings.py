"""Checks of a SearXNG settings.yml and the files next to it, and a corrected copy."""

import os

from sleuth.base.files import write_atomic
from sleuth.base.i18n import trn
from sleuth.doctor.files import access, compose, engines, values
from sleuth.doctor.files.deployment import Deployment
from sleuth.doctor.files.edits import apply
from sleuth.doctor.files.environment import VARIABLES, Variables, read_environment, read_text
from sleuth.doctor.files.limiter import read_limiter
from sleuth.doctor.files.yaml_source import NotYamlError, YamlSource, read_yaml, redact, redact_values
from sleuth.doctor.finding import RESTART, Check, Finding, fail, ok, shell

FILE = Check("settings.file", "Settings file is readable", "Settings file cannot be read")
YAML = Check("settings.yaml", "Settings are valid YAML", "Settings are not valid YAML")
CHECKS = (
    # The names come first: an unknown one explains other findings.
    Check("settings.keys", "No unknown or duplicate names", "Unknown or duplicate name", values.check_keys),
    Check("settings.defaults", "Default settings are used", "Default settings are not used", access.check_defaults),
    Check("settings.formats", "JSON output is enabled", "JSON output is disabled", access.check_formats),
    Check("settings.secret_key", "Secret key is set", "Secret key is missing or the default", access.check_secret),
    Check("settings.limiter", "Limiter allows programs", "Limiter blocks programs", access.check_limiter),
    Check("settings.public_instance", "public_instance is off", "public_instance is on", access.check_public_instance),
    Check("settings.valkey", "Valkey URL is right", "Valkey URL has a problem", access.check_valkey),
    Check("settings.address", "Listening address is right", "Listening address has a problem", access.check_address),
    Check("settings.base_url", "Base URL is right", "Base URL has a problem", access.check_base_url),
    Check("settings.proxies", "Engine proxies are right", "Engine proxy has a problem", access.check_proxies),
    Check("settings.engines", "Engines are configured", "Engine configuration has a problem", engines.check_engines),
    Check("settings.values", "All values have the right type", "Value has the wrong type", values.check_values),
)
MAX_ROUNDS = 10  # two or three suffice; one correction may reveal the next problem
TAB_WIDTHS = (2, 4, 8)


class FilesBeside:
    """The files next to a settings file, read once."""

    def __init__(self, path: str) -> None:
        self.folder = os.path.dirname(os.path.abspath(path))
        self.compose, findings = compose.read_compose(self.folder)
        self.variables: Variables = {}
        if self.compose:
            self.variables = self.compose.variables
            findings = [finding for check in compose.CHECKS for finding in check.run(self.compose)] + findings
        elif os.path.isfile(env := os.path.join(self.folder, ".env")):
            self.variables, more = read_environment(env)
            findings += more
        self.findings = [*findings, *VARIABLES.run(self.variables)]

    def check(self, source: YamlSource) -> tuple[list[Finding], list[Finding]]:
        """Return the findings in the settings, read together with these files, and those in limiter.toml."""
        deployment = Deployment(source, self.variables, self.compose)
        exempt, limiter = read_limiter(self.folder, deployment.is_on("SEARXNG_LIMITER", "server", "limiter"))
        deployment = deployment._replace(exempt=exempt)
        return [finding for check in CHECKS for finding in check.run(deployment)], limiter


def check_settings(path: str) -> list[Finding]:
    """Check a settings file, and docker-compose.yml, .env and limiter.toml if they are next to it."""
    beside = FilesBeside(path)
    text = read_text(path)
    if isinstance(text, Finding):
        is_folder = os.path.isdir(path) and path.endswith((".yml", ".yaml"))
        kind = "settings-is-folder" if is_folder else "settings-unreadable"
        return [FILE.label(fail(text.evidence, kind, path=shell(path))), *beside.findings]
    try:
        source = _source(path, text)
    except NotYamlError as problem:
        evidence = problem.at(os.path.basename(path))
        return [YAML.label(fail(evidence, "settings-not-yaml", line=problem.line)), *beside.findings]
    if source.root.kind not in ("map", "null"):
        return [YAML.label(fail(source.at(source.root), "settings-not-mapping")), *beside.findings]
    findings, limiter = beside.check(source)
    lines = trn("{count} line", "{count} lines", source.text.count("\n") + 1)
    checked = [finding._replace(edits=()) for finding in findings]  # edits may contain secrets
    restart = f"docker compose restart {shell(beside.compose.service.name)}" if beside.compose else RESTART
    found = [YAML.label(ok(source.at(1, lines))), *checked, *beside.findings, *limiter]
    return [finding._replace(fix=finding.fix.replace(RESTART, restart)) for finding in found]


def fix_settings(path: str) -> str | None:
    """Return the corrected text of a file; None when nothing can or need be corrected."""
    text = read_text(path)
    if isinstance(text, Finding) or (fixed := _without_tabs(text)) is None:
        return None
    beside = FilesBeside(path)
    for _ in range(MAX_ROUNDS):
        source = _source(path, fixed)
        if source.root.kind not in ("map", "null"):
            break
        better = _apply_edits(fixed, beside.check(source)[0])
        if better == fixed:
            break
        fixed = better
    return fixed if fixed != text else None


def write_fix(path: str, text: str) -> str:
    """Write the corrected text next to the original and return its path."""
    stem, extension = os.path.splitext(path)
    target = f"{stem}.fixed{extension or '.yml'}"
    write_atomic(target, text.encode(), follow=False)  # the folder may be a stranger's, or the container's
    return target


def diff(old: str, new: str, name: str) -> str:
    """Return a unified diff that is safe to print: secrets redacted, control characters removed."""
    from difflib import unified_diff

    before, after = (redact_values(text).splitlines() for text in (old, new))
    lines = unified_diff(before, after, name, f"{name} (fixed)", lineterm="")
    return "".join(f"{''.join(c if c.isprintable() else ' ' for c in redact(line))}\n" for line in lines)


def _source(path: str, text: str) -> YamlSource:
    return YamlSource(os.path.basename(path), text, read_yaml(text))


def _apply_edits(text: str, findings: list[Finding]) -> str:
    """Return the text after one round of edits, without those that would break the file."""
    groups = [found.edits for found in findings if found.edit_first] or [found.edits for found in findings]
    better = apply(text, [edit for group in groups for edit in group])
    if _parses(better):
        return better
    attempts = (apply(text, group) for group in groups)  # one broke the file: apply another one alone
    return next((attempt for attempt in attempts if attempt != text and _parses(attempt)), text)


def _parses(text: str) -> bool:
    try:
        read_yaml(text)
    except NotYamlError:
        return False
    return True


def _without_tabs(text: str) -> str | None:
    """Return text that parses: unchanged, or with tabs replaced by spaces; None when that does not help."""
    if _parses(text):
        return text
    for width in TAB_WIDTHS:
        attempt = "".join(_expand_tabs(line, width) for line in text.splitlines(keepends=True))
        if attempt != text and _parses(attempt) and read_yaml(attempt).kind == "map":
            return attempt
    return None


def _expand_tabs(line: str, width: int) -> str:
    body = line.lstrip(" \t")
    return line[: len(line) - len(body)].replace("\t", " " * width) + body.replace("\t", " ")
