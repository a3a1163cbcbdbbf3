# PowerShell completion for sleuth: asks `sleuth --complete`.

Register-ArgumentCompleter -Native -CommandName sleuth -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words up to the cursor. PowerShell splits a word at a comma; adjacent parts belong together.
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
    if ($end -lt $cursorPosition) { $words.Add('') }
    $current = $words[$words.Count - 1]
    $kept = $current.Length - $wordToComplete.Length # the part of the word that PowerShell does not replace
    $rest = @($words | Select-Object -Skip 1)
    if ($PSVersionTable.PSVersion -lt [version]'7.3') { # older versions drop empty arguments
        $rest = @($rest | ForEach-Object { if ($_ -eq '') { '""' } else { $_ } })
    }
    foreach ($line in @(& sleuth --complete powershell '--' @rest 2>$null)) {
        $text, $help = $line -split "`t", 2
        if ($text -in '@file', '@folder') { return } # PowerShell completes paths where nothing else is offered
        $kind = if ($text.StartsWith('-')) { 'ParameterName' } else { 'ParameterValue' }
        $value = if ($kept -gt 0 -and $text.Length -ge $kept) { $text.Substring($kept) } else { $text }
        [System.Management.Automation.CompletionResult]::new($value, $text, $kind, $(if ($help) { $help } else { $text }))
    }
}
