"""The completion script of PowerShell, 5.1 and later. Where it offers nothing, PowerShell offers files by itself."""

from collections.abc import Iterable

from tools.command_tree import Argument, Command, Option, Tree, Values
from tools.completion import GENERATED, opposite, options_of

TEMPLATE = r"""# PowerShell completion for sleuth
# @generated@

Register-ArgumentCompleter -Native -CommandName sleuth -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    Set-StrictMode -Off # whatever the user's own is: below, what is absent is $null

    $commands = @{
@commands@
    }
    $options = @{
@options@
    }
    $arguments = @{
@arguments@
    }
    $settings = @{
@settings@
    }
    $keys = [ordered]@{
@keys@
    }

    # The ids in the user's table; those that come with sleuth when it does not answer in time.
    function Get-Provider {
        $ids = @()
        try {
            $program = @(Get-Command sleuth -CommandType Application -ErrorAction Stop)[0].Source
            $start = [System.Diagnostics.ProcessStartInfo]::new($program, 'providers list --ids')
            $start.UseShellExecute = $false
            $start.CreateNoWindow = $true
            $start.RedirectStandardOutput = $true
            $start.RedirectStandardError = $true
            $process = [System.Diagnostics.Process]::Start($start)
            $reading = $process.StandardOutput.ReadToEndAsync()
            if ($reading.Wait(2000)) {
                $ids = @($reading.Result -split '\r?\n' | Where-Object { $_ -match '^[\w.-]+$' })
            } else {
                $process.Kill()
            }
        } catch {
            $ids = @()
        }
        if ($ids.Count -gt 0) { $ids } else { @providers@ }
    }

    # The words up to the cursor, whole again where PowerShell cut them.
    $words = [System.Collections.Generic.List[string]]::new()
    $end = -1
    foreach ($element in $commandAst.CommandElements) {
        $start = $element.Extent.StartOffset
        if ($start -ge $cursorPosition) { break }
        $text = $element.Extent.Text
        $text = $text.Substring(0, [Math]::Min($text.Length, $cursorPosition - $start))
        if ($start -eq $end) { $words[$words.Count - 1] += $text } else { $words.Add($text) }
        $end = $element.Extent.EndOffset
    }
    $current = ''
    if ($end -ge $cursorPosition -and $words.Count -gt 1) {
        $current = $words[$words.Count - 1]
        $words.RemoveAt($words.Count - 1)
    }
    $kept = '' # what PowerShell does not replace: it takes what follows a comma for a word of its own
    if ($current.EndsWith($wordToComplete)) {
        $kept = $current.Substring(0, $current.Length - $wordToComplete.Length)
    }

    # The command they name, the arguments after it, and the option that waits for its value.
    $command = 'sleuth'
    $given = @()
    $option = $null
    $ended = $false
    foreach ($word in @($words | Select-Object -Skip 1)) {
        if ($option) {
            $option = $null
        } elseif (-not $ended -and $word -eq '--') {
            $ended = $true
        } elseif (-not $ended -and $word.Length -gt 1 -and $word.StartsWith('-')) {
            $option = $options[$command] | Where-Object { $_.Takes -and $_.Flags -ccontains $word }
        } elseif ($given.Count -eq 0 -and $commands[$command] -and $commands[$command].Contains($word)) {
            $command = "$command $word"
        } else {
            $given += $word
        }
    }

    # What may stand under the cursor: text and description.
    $lead = ''
    $takes = $null
    $found = [System.Collections.Specialized.OrderedDictionary]::new([StringComparer]::Ordinal)
    if ($option) {
        $takes = $option.Takes
    } elseif (-not $ended -and $current -match '^(--[^=]+)=') {
        $lead = $Matches[0]
        $flag = $Matches[1]
        $takes = ($options[$command] | Where-Object { $_.Flags -ccontains $flag }).Takes
    } elseif (-not $ended -and $current.StartsWith('-')) {
        foreach ($each in $options[$command]) {
            foreach ($flag in $each.Flags) { $found[$flag] = $each.Help }
        }
    } elseif ($commands[$command]) {
        if ($given.Count -eq 0) { $found = $commands[$command] }
    } else {
        $places = @($arguments[$command])
        $takes = $places[[Math]::Min($given.Count, $places.Count - 1)]
        if ($given.Count -ge $places.Count -and -not $takes.Repeats) { $takes = $null }
    }
    if ($takes.Source -eq 'setting') { $takes = $settings[[string]$given[-1]] }
    if ($takes.Source -eq 'keys') { $found = $keys }
    foreach ($word in $takes.Words) { $found[$word] = $word }
    if ($takes.Source -eq 'providers') {
        foreach ($id in Get-Provider) { $found[$id] = $id }
    }
    $value = $current.Substring($lead.Length)
    $chosen = @()
    if ($takes.Comma) {
        $lead += $value.Substring(0, $value.LastIndexOf(',') + 1)
        $chosen = @($value -split ',' | Select-Object -SkipLast 1)
        $value = $current.Substring($lead.Length)
    }
    foreach ($entry in $found.GetEnumerator()) {
        $text = $lead + $entry.Key
        if ($chosen -ccontains $entry.Key) { continue } # a list names nobody twice
        if (-not $entry.Key.StartsWith($value, [StringComparison]::OrdinalIgnoreCase)) { continue }
        if ($text.StartsWith($kept)) { $text = $text.Substring($kept.Length) }
        $kind = if ($entry.Key.StartsWith('-')) { 'ParameterName' } else { 'ParameterValue' }
        [System.Management.Automation.CompletionResult]::new($text, $entry.Key, $kind, $entry.Value)
    }
}
"""


def script(tree: Tree) -> str:
    """Return the script."""
    commands = list(tree.root.walk())
    parts = {
        "generated": GENERATED,
        "commands": "\n".join(_commands(command) for command in commands if command.commands),
        "options": "\n".join(_options(command, tree) for command in commands),
        "arguments": "\n".join(_arguments(command) for command in commands if command.arguments),
        "settings": "\n".join(
            f"        {_quote(k.name)} = {_takes(k.completes)}" for k in tree.keys if any(k.completes)
        ),
        "keys": "\n".join(f"        {_quote(key.name)} = {_quote(key.meaning)}" for key in tree.keys),
        "providers": _list(tree.providers),
    }
    text = TEMPLATE
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _commands(command: Command) -> str:
    lines = [f"            {_quote(each.name)} = {_quote(each.short)}" for each in command.commands]
    return "\n".join([f"        {_quote(command.path)} = [ordered]@{{", *lines, "        }"])


def _options(command: Command, tree: Tree) -> str:
    lines = [f"            {line}" for option in options_of(command, tree) for line in _option(option)]
    return "\n".join([f"        {_quote(command.path)} = @(", *lines, "        )"])


def _option(option: Option) -> list[str]:
    takes = "" if option.is_flag else f"; Takes = {_takes(option.completes)}"
    lines = [f"@{{ Flags = {_list(option.flags)}; Help = {_quote(option.help or option.name)}{takes} }}"]
    if option.negative:
        lines.append(f"@{{ Flags = {_list(option.negative)}; Help = {_quote(opposite(option))} }}")
    return lines


def _arguments(command: Command) -> str:
    places = [f"            {_argument(argument)}" for argument in command.arguments]
    return "\n".join([f"        {_quote(command.path)} = @(", *places, "        )"])


def _argument(argument: Argument) -> str:
    repeats = "; Repeats = $true" if argument.repeatable else ""
    return _takes(argument.completes)[:-2] + repeats + " }"


def _takes(values: Values) -> str:
    """Write what may be offered for a value. Files PowerShell offers by itself, where nothing else is."""
    comma = "; Comma = $true" if values.comma else ""
    return f"@{{ Words = {_list(values.words)}; Source = {_quote(values.source)}{comma} }}"


def _list(words: Iterable[str]) -> str:
    return f"@({', '.join(map(_quote, words))})"


def _quote(text: str) -> str:
    # Windows PowerShell reads a file without a mark as ANSI, and takes curly marks for quotes: ASCII is safe.
    for mark, plain in {"…": "...", "–": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "·": "-"}.items():
        text = text.replace(mark, plain)
    return "'" + text.replace("'", "''") + "'"
