# PowerShell completion for sleuth
# Generated from the commands by `python -m tools.generate`: change those, not this.

Register-ArgumentCompleter -Native -CommandName sleuth -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    Set-StrictMode -Off # whatever the user's own is: below, what is absent is $null

    $commands = @{
        'sleuth' = [ordered]@{
            'search' = 'Search; ranked results with numbered citations.'
            'summarize' = 'Read pages and summarise each and all of them, with citations.'
            'ask' = 'Answer a question: search in rounds, read, reflect, write with citations.'
            'chat' = 'Ask in a conversation: each question knows what was said before.'
            'cite' = 'Turn [n] in any text into links and append the reference list.'
            'providers' = 'The provider table: list, show, set, test, use, add, remove, reset.'
            'config' = 'Settings: show, get, set, unset, edit, path, validate.'
            'library' = 'The embedded offline index: add, search, list, remove, stats.'
            'doctor' = 'Diagnose this installation and a SearXNG deployment.'
            'searxng' = 'Write a working SearXNG deployment: init.'
            'serve' = 'Serve search, providers and answers as JSON over HTTP, on this machine.'
            'mcp' = 'Serve web_search and its sisters to an agent, over MCP on standard input and output.'
            'usage' = 'Show requests, success, cache hits, times and estimated cost, with a chart.'
            'history' = 'List past queries, the newest first; --clear forgets them.'
            'cache' = 'Kept answers: stats, clear.'
            'tool-schema' = 'Print the definition of web_search or another tool for agents, or the schema of JSON answers.'
            'completions' = 'Print the completion script of a shell.'
        }
        'sleuth providers' = [ordered]@{
            'list' = 'List every provider: ready, in need of a key, or of an address.'
            'show' = 'Show all that is known of one provider; keys stay masked.'
            'set' = 'Change just the named fields of a provider.'
            'use' = 'Make a provider the default; auto goes back to the fallback list.'
            'add' = 'Add a provider of your own: a results page as a URL with %s, or a second instance of a built-in adapter.'
            'remove' = 'Remove a provider of your own.'
            'reset' = 'Give a built-in provider back the values it came with; its key is forgotten.'
            'test' = 'Make one real request to each provider, all at once, and tell how it went.'
        }
        'sleuth config' = [ordered]@{
            'show' = 'Show every setting and its value.'
            'get' = 'Print one setting''s value.'
            'set' = 'Set one setting in the file; comments and order stay.'
            'unset' = 'Remove one setting from the file: its default holds again.'
            'edit' = 'Open the file in $VISUAL or $EDITOR, then check it.'
            'path' = 'Print where the file is.'
            'validate' = 'Check the file: exit 0 when every value fits, 2 otherwise.'
        }
        'sleuth library' = [ordered]@{
            'add' = 'Add files, folders and web pages: Markdown, text, HTML, PDF, browser bookmarks.'
            'search' = 'Search the library alone; the same as `sleuth search -p library`.'
            'list' = 'List what is in the library, by address, and when it was added or, web pages, read.'
            'remove' = 'Take pages out: by address, by file, or all below a folder.'
            'stats' = 'Show how much is in the library.'
        }
        'sleuth searxng' = [ordered]@{
            'init' = 'Write a compose file and settings for a private SearXNG: JSON enabled, a fresh secret, a port on loopback only.'
        }
        'sleuth cache' = [ordered]@{
            'stats' = 'Show how many answers and pages are kept.'
            'clear' = 'Throw every kept answer and page away, those in a shared cache too.'
        }
    }
    $options = @{
        'sleuth' = @(
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
            @{ Flags = @('--version'); Help = 'Show the version and exit.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
        )
        'sleuth search' = @(
            @{ Flags = @('-q', '--question'); Help = 'A question; several are asked at once and merged.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-p', '--provider'); Help = 'Whom to ask: ids, comma-separated; auto; all.'; Takes = @{ Words = @('auto', 'all'); Source = 'providers'; Comma = $true } }
            @{ Flags = @('-n', '--count'); Help = 'Results to show.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--page'); Help = 'Page of results.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--lang'); Help = 'Language of results: de, zh-CN.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--region'); Help = 'Country of results: CH.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--freshness'); Help = 'How new results must be.'; Takes = @{ Words = @('day', 'week', 'month', 'year'); Source = '' } }
            @{ Flags = @('--safe'); Help = 'Adult content filter.'; Takes = @{ Words = @('off', 'moderate', 'strict'); Source = '' } }
            @{ Flags = @('--category'); Help = 'Kind of results.'; Takes = @{ Words = @('general', 'news', 'images', 'videos', 'science', 'it'); Source = '' } }
            @{ Flags = @('--engine'); Help = 'Engines to use (SearXNG, SerpAPI).'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--site'); Help = 'Only from this domain.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--exclude'); Help = 'Nothing from this domain.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-f', '--format'); Help = 'Output; rich on a terminal, else plain.'; Takes = @{ Words = @('rich', 'plain', 'json', 'ndjson', 'markdown', 'csv', 'urls'); Source = '' } }
            @{ Flags = @('--json'); Help = 'Short for --format json.' }
            @{ Flags = @('--template'); Help = 'A line a result: ''{rank} {url}''.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--fields'); Help = 'Only these fields: citation, rank, title, url, snippet, content, siteName, domain, published, score, providers, engines, thumbnail, author, length, image'; Takes = @{ Words = @('citation', 'rank', 'title', 'url', 'snippet', 'content', 'siteName', 'domain', 'published', 'score', 'providers', 'engines', 'thumbnail', 'author', 'length', 'image'); Source = ''; Comma = $true } }
            @{ Flags = @('-o', '--output'); Help = 'Write there, atomically.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--rerank'); Help = 'Order by relevance to the words, not by rank alone.' }
            @{ Flags = @('--recent'); Help = 'Weigh newer pages up.' }
            @{ Flags = @('--rules'); Help = 'Domain rules in Goggles syntax.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--explain'); Help = 'Show what put each result in its place.' }
            @{ Flags = @('--record'); Help = 'Keep the raw answers, keys removed.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--replay'); Help = 'Answer from a recording, ask nobody.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--batch'); Help = 'One query a line, from a file or - for standard input.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--ordered'); Help = 'With --batch: answers in the order of the queries.' }
            @{ Flags = @('--resume'); Help = 'With --batch and -o: go on where the file ends.' }
            @{ Flags = @('--jobs'); Help = 'With --batch: queries at a time.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-i', '--interactive'); Help = 'A prompt: open, page, copy, search again.' }
            @{ Flags = @('--content'); Help = 'Read the pages: their text comes as content.' }
            @{ Flags = @('--compress'); Help = 'Squeeze page text: cut it off, or keep what answers (implies --content).'; Takes = @{ Words = @('none', 'cutoff', 'rag'); Source = '' } }
            @{ Flags = @('--limit'); Help = 'Room for all page text together.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--unit'); Help = 'What --limit counts.'; Takes = @{ Words = @('char', 'token'); Source = '' } }
            @{ Flags = @('--max-tokens'); Help = 'A hard budget of tokens for all page text.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--progress'); Help = 'Progress on stderr: a line on a terminal, JSON lines.'; Takes = @{ Words = @('auto', 'json', 'none'); Source = '' } }
            @{ Flags = @('--cache'); Help = 'Use and keep cached answers.' }
            @{ Flags = @('--no-cache'); Help = 'The opposite of --cache.' }
            @{ Flags = @('--refresh'); Help = 'Ask anew and keep the answer.' }
            @{ Flags = @('--offline'); Help = 'No network: the cache and the library only.' }
            @{ Flags = @('--timeout'); Help = 'Seconds to wait.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--fallback'); Help = 'Ask others when the one named fails.' }
            @{ Flags = @('--no-fallback'); Help = 'The opposite of --fallback.' }
            @{ Flags = @('--with-time'); Help = 'Tell the date to providers that read language.' }
            @{ Flags = @('--no-time'); Help = 'The opposite of --with-time.' }
            @{ Flags = @('--open'); Help = 'Open result N.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-j'); Help = 'Open the first result.' }
            @{ Flags = @('--exit-status'); Help = 'Exit with 7 when there are no results.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth summarize' = @(
            @{ Flags = @('--query'); Help = 'What you want to know from them.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--length'); Help = 'How much, or how many characters.'; Takes = @{ Words = @('short', 'medium', 'long'); Source = '' } }
            @{ Flags = @('--extractive'); Help = 'Sentences of the pages, word for word; no model is asked.' }
            @{ Flags = @('-f', '--format'); Help = 'Output; rich on a terminal, else plain.'; Takes = @{ Words = @('rich', 'plain', 'markdown', 'json'); Source = '' } }
            @{ Flags = @('--json'); Help = 'Short for --format json.' }
            @{ Flags = @('-o', '--output'); Help = 'Write there, atomically.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--progress'); Help = 'Progress on stderr: a line on a terminal, JSON lines.'; Takes = @{ Words = @('auto', 'json', 'none'); Source = '' } }
            @{ Flags = @('--timeout'); Help = 'Seconds to wait.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--refresh'); Help = 'Ask anew and keep the answer.' }
            @{ Flags = @('--offline'); Help = 'No network: the cache and the library only.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth ask' = @(
            @{ Flags = @('--search'); Help = 'Search the web: auto lets the model decide, on and off do as they say.'; Takes = @{ Words = @('auto', 'on', 'off'); Source = '' } }
            @{ Flags = @('-p', '--provider'); Help = 'Whom to ask: ids, comma-separated; auto; all.'; Takes = @{ Words = @('auto', 'all'); Source = 'providers'; Comma = $true } }
            @{ Flags = @('--rounds'); Help = 'Rounds of searching at the most.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--pages'); Help = 'Pages to read in a round.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--lang'); Help = 'Language of results: de, zh-CN.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--region'); Help = 'Country of results: CH.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--extractive'); Help = 'Sentences of the pages, word for word; no model is asked.' }
            @{ Flags = @('-f', '--format'); Help = 'Output; rich on a terminal, else plain.'; Takes = @{ Words = @('rich', 'plain', 'markdown', 'json'); Source = '' } }
            @{ Flags = @('--json'); Help = 'Short for --format json.' }
            @{ Flags = @('-o', '--output'); Help = 'Write there, atomically.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--progress'); Help = 'Progress on stderr: a line on a terminal, JSON lines.'; Takes = @{ Words = @('auto', 'json', 'none'); Source = '' } }
            @{ Flags = @('--cache'); Help = 'Use and keep cached answers.' }
            @{ Flags = @('--no-cache'); Help = 'The opposite of --cache.' }
            @{ Flags = @('--refresh'); Help = 'Ask anew and keep the answer.' }
            @{ Flags = @('--offline'); Help = 'No network: the cache and the library only.' }
            @{ Flags = @('--timeout'); Help = 'Seconds to wait.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--exit-status'); Help = 'Exit with 7 when there are no results.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth chat' = @(
            @{ Flags = @('--search'); Help = 'Search the web: auto lets the model decide, on and off do as they say.'; Takes = @{ Words = @('auto', 'on', 'off'); Source = '' } }
            @{ Flags = @('-p', '--provider'); Help = 'Whom to ask: ids, comma-separated; auto; all.'; Takes = @{ Words = @('auto', 'all'); Source = 'providers'; Comma = $true } }
            @{ Flags = @('--rounds'); Help = 'Rounds of searching at the most.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--pages'); Help = 'Pages to read in a round.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--lang'); Help = 'Language of results: de, zh-CN.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--region'); Help = 'Country of results: CH.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--extractive'); Help = 'Sentences of the pages, word for word; no model is asked.' }
            @{ Flags = @('--cache'); Help = 'Use and keep cached answers.' }
            @{ Flags = @('--no-cache'); Help = 'The opposite of --cache.' }
            @{ Flags = @('--refresh'); Help = 'Ask anew and keep the answer.' }
            @{ Flags = @('--offline'); Help = 'No network: the cache and the library only.' }
            @{ Flags = @('--timeout'); Help = 'Seconds to wait.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth cite' = @(
            @{ Flags = @('--sources'); Help = 'JSON of search or summarize, or a list of url and title; - is stdin.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--check'); Help = 'Mark what the sources do not bear out: [3?] weak, [3??] not found.' }
            @{ Flags = @('--style'); Help = 'Kind of links; terminal on a terminal, else markdown.'; Takes = @{ Words = @('markdown', 'terminal', 'plain', 'json'); Source = '' } }
            @{ Flags = @('--json'); Help = 'Short for --style json.' }
            @{ Flags = @('--references'); Help = 'List the sources below.' }
            @{ Flags = @('--no-references'); Help = 'The opposite of --references.' }
            @{ Flags = @('-o', '--output'); Help = 'Write there, atomically.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers list' = @(
            @{ Flags = @('--limit'); Help = 'At most so many.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--offset'); Help = 'Leave out so many first.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--ids'); Help = 'Ids alone, one a line.' }
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers show' = @(
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers set' = @(
            @{ Flags = @('--api-key'); Help = 'A key, env:NAME, cmd:COMMAND, keyring: or -.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--api-host'); Help = 'Its address; with %s for a local one.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--engines'); Help = 'Engines to use.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--using-browser'); Help = 'Read pages in a browser.' }
            @{ Flags = @('--no-using-browser'); Help = 'The opposite of --using-browser.' }
            @{ Flags = @('--basic-auth-username'); Help = 'For HTTP Basic authentication.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--basic-auth-password'); Help = 'Its password, or - to be asked.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--name'); Help = 'The name shown.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--type'); Help = 'What kind it is.'; Takes = @{ Words = @('api', 'local'); Source = '' } }
            @{ Flags = @('--option'); Help = 'What this adapter alone understands.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--enable'); Help = 'Turn it on or off.' }
            @{ Flags = @('--disable'); Help = 'The opposite of --enable.' }
            @{ Flags = @('--unset'); Help = 'Clear: api_key, api_host, engines, basic_auth_username, basic_auth_password, options'; Takes = @{ Words = @('api_key', 'api_host', 'engines', 'basic_auth_username', 'basic_auth_password', 'options'); Source = '' } }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers use' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers add' = @(
            @{ Flags = @('--id'); Help = 'Its id.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--adapter'); Help = 'A built-in adapter to use once more.'; Takes = @{ Words = @('bocha', 'brave', 'deepseek-search', 'duckduckgo', 'exa', 'firecrawl', 'google', 'jina', 'kagi', 'library', 'linkup', 'local-baidu', 'local-bing', 'local-google', 'marginalia', 'metaso', 'mojeek', 'perplexity', 'searxng', 'serpapi', 'serper', 'tavily', 'wikipedia', 'you', 'zhipu'); Source = '' } }
            @{ Flags = @('--name'); Help = 'The name shown.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--api-host'); Help = 'Its address; with %s for a local one.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--api-key'); Help = 'A key, env:NAME, cmd:COMMAND, keyring: or -.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--engines'); Help = 'Engines to use.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--using-browser'); Help = 'Read pages in a browser.' }
            @{ Flags = @('--no-using-browser'); Help = 'The opposite of --using-browser.' }
            @{ Flags = @('--basic-auth-username'); Help = 'For HTTP Basic authentication.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--basic-auth-password'); Help = 'Its password, or - to be asked.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--option'); Help = 'What this adapter alone understands.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers remove' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers reset' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth providers test' = @(
            @{ Flags = @('--all'); Help = 'Everyone who is ready.' }
            @{ Flags = @('--timeout'); Help = 'Seconds to wait.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth config' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth config show' = @(
            @{ Flags = @('--origin'); Help = 'Say where each value comes from.' }
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth config get' = @(
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth config set' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth config unset' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth config edit' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth config path' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth config validate' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth library' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth library add' = @(
            @{ Flags = @('--fetch'); Help = 'Read the pages that bookmarks lead to.' }
            @{ Flags = @('--refresh'); Help = 'Read pages anew, cached or bookmarked ones too.' }
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth library search' = @(
            @{ Flags = @('-n', '--count'); Help = 'Results to show.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--page'); Help = 'Page of results.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--site'); Help = 'Only from this domain.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--exclude'); Help = 'Nothing from this domain.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-f', '--format'); Help = 'Output; rich on a terminal, else plain.'; Takes = @{ Words = @('rich', 'plain', 'json', 'ndjson', 'markdown', 'csv', 'urls'); Source = '' } }
            @{ Flags = @('--json'); Help = 'Short for --format json.' }
            @{ Flags = @('--template'); Help = 'A line a result: ''{rank} {url}''.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--fields'); Help = 'Only these fields: citation, rank, title, url, snippet, content, siteName, domain, published, score, providers, engines, thumbnail, author, length, image'; Takes = @{ Words = @('citation', 'rank', 'title', 'url', 'snippet', 'content', 'siteName', 'domain', 'published', 'score', 'providers', 'engines', 'thumbnail', 'author', 'length', 'image'); Source = ''; Comma = $true } }
            @{ Flags = @('-o', '--output'); Help = 'Write there, atomically.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--exit-status'); Help = 'Exit with 7 when there are no results.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth library list' = @(
            @{ Flags = @('--limit'); Help = 'How many.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--offset'); Help = 'After how many.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--source'); Help = 'Only what came from there.'; Takes = @{ Words = @('handbook', 'file', 'page', 'bookmark'); Source = '' } }
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth library remove' = @(
            @{ Flags = @('--all'); Help = 'Everything but the handbook.' }
            @{ Flags = @('-y', '--yes'); Help = 'Do not ask.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth library stats' = @(
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth doctor' = @(
            @{ Flags = @('-p', '--provider'); Help = 'Examine this provider alone.'; Takes = @{ Words = @(); Source = 'providers' } }
            @{ Flags = @('--only'); Help = 'Only checks that begin so: searxng, searxng.json, install ...'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-v', '--verbose'); Help = 'Show what was seen everywhere, and times.' }
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('--timeout'); Help = 'Seconds a search may take.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--settings'); Help = 'Check a settings.yml of SearXNG instead; asks nobody.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--fix'); Help = 'With --settings: write a corrected file beside it.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth searxng' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth searxng init' = @(
            @{ Flags = @('--port'); Help = 'The port on this machine.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--force'); Help = 'Replace files that are there already.' }
            @{ Flags = @('--limiter'); Help = 'With the limiter, valkey, and a list of addresses that pass.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth serve' = @(
            @{ Flags = @('--host'); Help = 'The address to listen on.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--port'); Help = 'The port; 0 takes a free one.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--token-file'); Help = 'Where the token is; made when missing.'; Takes = @{ Words = @(); Source = 'file' } }
            @{ Flags = @('--print-token'); Help = 'Print the token and exit.' }
            @{ Flags = @('--allow-host'); Help = 'Another name of this server, as behind a proxy.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--allow-origin'); Help = 'A site whose pages may call it from a browser.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--allow-remote'); Help = 'Listen on an address that other machines can reach.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth mcp' = @(
            @{ Flags = @('-p', '--provider'); Help = 'Whom to ask: ids, comma-separated; auto; all.'; Takes = @{ Words = @('auto', 'all'); Source = 'providers'; Comma = $true } }
            @{ Flags = @('-n', '--count'); Help = 'Results, where the agent names no number.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--timeout'); Help = 'Seconds to wait.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth usage' = @(
            @{ Flags = @('--days'); Help = 'How many days, with today.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('-p', '--provider'); Help = 'One provider alone.'; Takes = @{ Words = @('auto', 'all'); Source = 'providers'; Comma = $true } }
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth history' = @(
            @{ Flags = @('-n', '--count'); Help = 'How many at the most.'; Takes = @{ Words = @(); Source = '' } }
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('--clear'); Help = 'Forget them: all, or those with the words.' }
            @{ Flags = @('-y', '--yes'); Help = 'With --clear: do not ask.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth cache' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth cache stats' = @(
            @{ Flags = @('--json'); Help = 'As JSON.' }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth cache clear' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth tool-schema' = @(
            @{ Flags = @('--style'); Help = 'Whose form of the tool; json-schema is the schema of its answer.'; Takes = @{ Words = @('mcp', 'openai', 'anthropic', 'json-schema'); Source = '' } }
            @{ Flags = @('--tool'); Help = 'Which tool.'; Takes = @{ Words = @('web_search', 'fetch_page', 'summarize', 'library_search', 'ask'); Source = '' } }
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
        'sleuth completions' = @(
            @{ Flags = @('-h', '--help'); Help = 'Show this message and exit.' }
            @{ Flags = @('--color'); Help = 'Colours: when the output is a terminal, or as said.'; Takes = @{ Words = @('auto', 'always', 'never'); Source = '' } }
            @{ Flags = @('--debug'); Help = 'Tell what happens on stderr; tracebacks in full.' }
        )
    }
    $arguments = @{
        'sleuth search' = @(
            @{ Words = @(); Source = ''; Repeats = $true }
        )
        'sleuth summarize' = @(
            @{ Words = @(); Source = ''; Repeats = $true }
        )
        'sleuth ask' = @(
            @{ Words = @(); Source = ''; Repeats = $true }
        )
        'sleuth cite' = @(
            @{ Words = @(); Source = 'file' }
        )
        'sleuth providers show' = @(
            @{ Words = @(); Source = 'providers' }
        )
        'sleuth providers set' = @(
            @{ Words = @(); Source = 'providers' }
        )
        'sleuth providers use' = @(
            @{ Words = @('auto'); Source = 'providers' }
        )
        'sleuth providers remove' = @(
            @{ Words = @(); Source = 'providers' }
        )
        'sleuth providers reset' = @(
            @{ Words = @(); Source = 'providers' }
        )
        'sleuth providers test' = @(
            @{ Words = @(); Source = 'providers'; Repeats = $true }
        )
        'sleuth config show' = @(
            @{ Words = @('websearch.', 'searxng.', 'cache.', 'fetch.', 'llm.', 'embedding.', 'rerank.', 'ask.', 'agent.web_search.', 'library.', 'history.', 'ui.'); Source = '' }
        )
        'sleuth config get' = @(
            @{ Words = @(); Source = 'keys' }
        )
        'sleuth config set' = @(
            @{ Words = @(); Source = 'keys' }
            @{ Words = @(); Source = 'setting' }
        )
        'sleuth config unset' = @(
            @{ Words = @(); Source = 'keys' }
        )
        'sleuth library add' = @(
            @{ Words = @(); Source = 'file'; Repeats = $true }
        )
        'sleuth library search' = @(
            @{ Words = @(); Source = ''; Repeats = $true }
        )
        'sleuth library remove' = @(
            @{ Words = @(); Source = 'file'; Repeats = $true }
        )
        'sleuth doctor' = @(
            @{ Words = @(); Source = '' }
        )
        'sleuth searxng init' = @(
            @{ Words = @(); Source = 'folder' }
        )
        'sleuth history' = @(
            @{ Words = @(); Source = ''; Repeats = $true }
        )
        'sleuth completions' = @(
            @{ Words = @('bash', 'zsh', 'fish', 'powershell'); Source = '' }
        )
    }
    $settings = @{
        'websearch.default_provider' = @{ Words = @('auto'); Source = 'providers' }
        'websearch.fallback' = @{ Words = @(); Source = 'providers'; Comma = $true }
        'websearch.search_with_time' = @{ Words = @('true', 'false'); Source = '' }
        'websearch.safe_search' = @{ Words = @('off', 'moderate', 'strict'); Source = '' }
        'fetch.jina' = @{ Words = @('true', 'false'); Source = '' }
        'fetch.archive' = @{ Words = @('true', 'false'); Source = '' }
        'fetch.browser' = @{ Words = @('true', 'false'); Source = '' }
        'fetch.allow_private' = @{ Words = @('true', 'false'); Source = '' }
        'agent.web_search.enabled' = @{ Words = @('true', 'false'); Source = '' }
        'library.remember' = @{ Words = @('true', 'false'); Source = '' }
        'history.enabled' = @{ Words = @('true', 'false'); Source = '' }
        'ui.language' = @{ Words = @('auto', 'en', 'zh-CN'); Source = '' }
        'ui.theme' = @{ Words = @('auto', 'light', 'dark', 'plain'); Source = '' }
    }
    $keys = [ordered]@{
        'websearch.default_provider' = 'an id, or auto: the first usable of fallback'
        'websearch.fallback' = 'asked in this order when the chosen one fails or has no key'
        'websearch.search_with_time' = 'give the date to providers that read language'
        'websearch.max_results' = 'results shown'
        'websearch.exclude_domains' = 'dropped everywhere; example.com covers its subdomains; *.x.y and /regex/ work'
        'websearch.language' = 'language of results, such as de or zh-CN; auto asks for none'
        'websearch.region' = 'country of results, such as CH'
        'websearch.safe_search' = 'adult content filter'
        'websearch.snippet_length' = 'characters of a snippet on screen'
        'websearch.timeout' = 'seconds for a whole request'
        'websearch.connect_timeout' = 'seconds for the connection'
        'websearch.retries' = 'attempts at the most'
        'websearch.max_output_chars' = 'cap of a tool call or prompt'
        'websearch.compression' = 'how page text is squeezed; one table, replaced as a whole'
        'searxng.timeout' = 'seconds for a SearXNG request'
        'cache.ttl_minutes' = 'how long answers are kept; 0 keeps none'
        'cache.max_entries' = 'how many answers are kept'
        'cache.url' = 'redis://... shares cache and limits between machines'
        'fetch.timeout' = 'seconds for a page'
        'fetch.concurrency' = 'pages read side by side'
        'fetch.max_chars' = 'characters kept of a page'
        'fetch.cache_ttl_minutes' = 'how long pages are kept'
        'fetch.jina' = 'may the Jina reader be asked for a page?'
        'fetch.archive' = 'may the Wayback Machine be asked for a page?'
        'fetch.browser' = 'may a real browser read a page?'
        'fetch.allow_private' = 'may pages on private addresses be read?'
        'llm.base_url' = 'any OpenAI-compatible endpoint'
        'llm.model' = 'the model that analyses and writes'
        'llm.reasoner_model' = 'the model that reflects, thinking on'
        'llm.api_key' = 'its key: a value, env:NAME, cmd:COMMAND or keyring:'
        'llm.price_input' = 'US dollars a million tokens read'
        'llm.price_output' = 'the same for tokens written'
        'embedding.base_url' = 'where dense scores come from'
        'embedding.model' = 'the embedding model; local runs one on this machine'
        'embedding.api_key' = 'its key'
        'embedding.dimensions' = 'dimensions; 0 leaves it to the model'
        'rerank.base_url' = 'where a reranker answers'
        'rerank.model' = 'the rerank model'
        'rerank.api_key' = 'its key'
        'ask.max_iterations' = 'rounds of searching for one answer'
        'ask.pages' = 'pages read in a round'
        'agent.web_search.enabled' = 'offer web_search to agents'
        'library.remember' = 'keep the pages that were read'
        'library.max_megabytes' = 'how large the library may grow'
        'history.enabled' = 'remember past queries'
        'ui.language' = 'language of messages'
        'ui.theme' = 'colours on the terminal'
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
        if ($ids.Count -gt 0) { $ids } else { @('bocha', 'brave', 'deepseek-search', 'duckduckgo', 'exa', 'firecrawl', 'google', 'jina', 'kagi', 'library', 'linkup', 'local-baidu', 'local-bing', 'local-google', 'marginalia', 'metaso', 'mojeek', 'perplexity', 'searxng', 'serpapi', 'serper', 'tavily', 'wikipedia', 'you', 'zhipu') }
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
