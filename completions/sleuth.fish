# fish completion for sleuth
# Generated from the commands by `python -m tools.generate`: change those, not this.

# Read the words before the cursor: the command they name, and the arguments after it.
function __sleuth_read
    set -l words (commandline -opc)
    test "$words" = "$__sleuth_words"; and return
    set -g __sleuth_words $words
    set -g __sleuth_command sleuth
    set -g __sleuth_arguments
    set -l ended
    set -l value
    for word in $words[2..]
        if set -q value[1]
            set -e value[1]
        else if not set -q ended[1]; and test "$word" = --
            set ended 1
        else if not set -q ended[1]; and string match -q -- '-?*' $word
            __sleuth_takes_value "$__sleuth_command $word"; and set value 1
        else if not set -q __sleuth_arguments[1]; and contains -- $word (__sleuth_commands)
            set __sleuth_command "$__sleuth_command $word"
        else
            set -a __sleuth_arguments $word
        end
    end
end

# Is the cursor after this command, and so many arguments?
function __sleuth_at
    __sleuth_read
    test "$__sleuth_command" = "$argv[1]"; or return
    set -q argv[2]; or return 0
    test (count $__sleuth_arguments) -eq $argv[2]
end

function __sleuth_commands
    switch $__sleuth_command
        case 'sleuth'
            printf '%s\n' search summarize ask chat cite providers config library doctor searxng serve mcp usage history cache tool-schema completions
        case 'sleuth providers'
            printf '%s\n' list show set use add remove reset test
        case 'sleuth config'
            printf '%s\n' show get set unset edit path validate
        case 'sleuth library'
            printf '%s\n' add search list remove stats
        case 'sleuth searxng'
            printf '%s\n' init
        case 'sleuth cache'
            printf '%s\n' stats clear
    end
end

function __sleuth_takes_value
    switch $argv[1]
        case '* --color'
            return 0
        case 'sleuth search -q' 'sleuth search --question' 'sleuth search -p' 'sleuth search --provider' 'sleuth search -n' 'sleuth search --count' 'sleuth search --page' 'sleuth search --lang' 'sleuth search --region' 'sleuth search --freshness' 'sleuth search --safe' 'sleuth search --category' 'sleuth search --engine' 'sleuth search --site' 'sleuth search --exclude' 'sleuth search -f' 'sleuth search --format' 'sleuth search --template' 'sleuth search --fields' 'sleuth search -o' 'sleuth search --output' 'sleuth search --rules' 'sleuth search --record' 'sleuth search --replay' 'sleuth search --batch' 'sleuth search --jobs' 'sleuth search --compress' 'sleuth search --limit' 'sleuth search --unit' 'sleuth search --max-tokens' 'sleuth search --progress' 'sleuth search --timeout' 'sleuth search --open'
            return 0
        case 'sleuth summarize --query' 'sleuth summarize --length' 'sleuth summarize -f' 'sleuth summarize --format' 'sleuth summarize -o' 'sleuth summarize --output' 'sleuth summarize --progress' 'sleuth summarize --timeout'
            return 0
        case 'sleuth ask --search' 'sleuth ask -p' 'sleuth ask --provider' 'sleuth ask --rounds' 'sleuth ask --pages' 'sleuth ask --lang' 'sleuth ask --region' 'sleuth ask -f' 'sleuth ask --format' 'sleuth ask -o' 'sleuth ask --output' 'sleuth ask --progress' 'sleuth ask --timeout'
            return 0
        case 'sleuth chat --search' 'sleuth chat -p' 'sleuth chat --provider' 'sleuth chat --rounds' 'sleuth chat --pages' 'sleuth chat --lang' 'sleuth chat --region' 'sleuth chat --timeout'
            return 0
        case 'sleuth cite --sources' 'sleuth cite --style' 'sleuth cite -o' 'sleuth cite --output'
            return 0
        case 'sleuth providers list --limit' 'sleuth providers list --offset'
            return 0
        case 'sleuth providers set --api-key' 'sleuth providers set --api-host' 'sleuth providers set --engines' 'sleuth providers set --basic-auth-username' 'sleuth providers set --basic-auth-password' 'sleuth providers set --name' 'sleuth providers set --type' 'sleuth providers set --option' 'sleuth providers set --unset'
            return 0
        case 'sleuth providers add --id' 'sleuth providers add --adapter' 'sleuth providers add --name' 'sleuth providers add --api-host' 'sleuth providers add --api-key' 'sleuth providers add --engines' 'sleuth providers add --basic-auth-username' 'sleuth providers add --basic-auth-password' 'sleuth providers add --option'
            return 0
        case 'sleuth providers test --timeout'
            return 0
        case 'sleuth library search -n' 'sleuth library search --count' 'sleuth library search --page' 'sleuth library search --site' 'sleuth library search --exclude' 'sleuth library search -f' 'sleuth library search --format' 'sleuth library search --template' 'sleuth library search --fields' 'sleuth library search -o' 'sleuth library search --output'
            return 0
        case 'sleuth library list --limit' 'sleuth library list --offset' 'sleuth library list --source'
            return 0
        case 'sleuth doctor -p' 'sleuth doctor --provider' 'sleuth doctor --only' 'sleuth doctor --timeout' 'sleuth doctor --settings'
            return 0
        case 'sleuth searxng init --port'
            return 0
        case 'sleuth serve --host' 'sleuth serve --port' 'sleuth serve --token-file' 'sleuth serve --allow-host' 'sleuth serve --allow-origin'
            return 0
        case 'sleuth mcp -p' 'sleuth mcp --provider' 'sleuth mcp -n' 'sleuth mcp --count' 'sleuth mcp --timeout'
            return 0
        case 'sleuth usage --days' 'sleuth usage -p' 'sleuth usage --provider'
            return 0
        case 'sleuth history -n' 'sleuth history --count'
            return 0
        case 'sleuth tool-schema --style' 'sleuth tool-schema --tool'
            return 0
        case '*'
            return 1
    end
end

# The ids in the user's table; those that come with sleuth when it does not answer in time.
function __sleuth_providers
    set -l ids
    if command -q timeout
        set ids (timeout 2 sleuth providers list --ids 2>/dev/null </dev/null)
    else
        set ids (command sleuth providers list --ids 2>/dev/null </dev/null)
    end
    set -q ids[1]; or set ids bocha brave deepseek-search duckduckgo exa firecrawl google jina kagi library linkup local-baidu local-bing local-google marginalia metaso mojeek perplexity searxng serpapi serper tavily wikipedia you zhipu
    printf '%s\n' $argv $ids
end

# Complete the last of a list with commas from the words given; a list names nobody twice.
function __sleuth_list
    set -l typed (commandline -ct | string replace -r -- '^(--[^=]*=|-[A-Za-z])' '')
    set -l chosen (string split -- , $typed)[1..-2]
    for word in $argv
        contains -- $word $chosen; or string join -- , $chosen $word
    end
end

function __sleuth_folders
    __fish_complete_directories (commandline -ct | string replace -r -- '^--[^=]*=' '') ''
end

function __sleuth_keys
    printf '%s\t%s\n' 'websearch.default_provider' 'an id, or auto: the first usable of fallback' \
        'websearch.fallback' 'asked in this order when the chosen one fails or has no key' \
        'websearch.search_with_time' 'give the date to providers that read language' \
        'websearch.max_results' 'results shown' \
        'websearch.exclude_domains' 'dropped everywhere; example.com covers its subdomains; *.x.y and /regex/ work' \
        'websearch.language' 'language of results, such as de or zh-CN; auto asks for none' \
        'websearch.region' 'country of results, such as CH' \
        'websearch.safe_search' 'adult content filter' \
        'websearch.snippet_length' 'characters of a snippet on screen' \
        'websearch.timeout' 'seconds for a whole request' \
        'websearch.connect_timeout' 'seconds for the connection' \
        'websearch.retries' 'attempts at the most' \
        'websearch.max_output_chars' 'cap of a tool call or prompt' \
        'websearch.compression' 'how page text is squeezed; one table, replaced as a whole' \
        'searxng.timeout' 'seconds for a SearXNG request' \
        'cache.ttl_minutes' 'how long answers are kept; 0 keeps none' \
        'cache.max_entries' 'how many answers are kept' \
        'cache.url' 'redis://… shares cache and limits between machines' \
        'fetch.timeout' 'seconds for a page' \
        'fetch.concurrency' 'pages read side by side' \
        'fetch.max_chars' 'characters kept of a page' \
        'fetch.cache_ttl_minutes' 'how long pages are kept' \
        'fetch.jina' 'may the Jina reader be asked for a page?' \
        'fetch.archive' 'may the Wayback Machine be asked for a page?' \
        'fetch.browser' 'may a real browser read a page?' \
        'fetch.allow_private' 'may pages on private addresses be read?' \
        'llm.base_url' 'any OpenAI-compatible endpoint' \
        'llm.model' 'the model that analyses and writes' \
        'llm.reasoner_model' 'the model that reflects, thinking on' \
        'llm.api_key' 'its key: a value, env:NAME, cmd:COMMAND or keyring:' \
        'llm.price_input' 'US dollars a million tokens read' \
        'llm.price_output' 'the same for tokens written' \
        'embedding.base_url' 'where dense scores come from' \
        'embedding.model' 'the embedding model; local runs one on this machine' \
        'embedding.api_key' 'its key' \
        'embedding.dimensions' 'dimensions; 0 leaves it to the model' \
        'rerank.base_url' 'where a reranker answers' \
        'rerank.model' 'the rerank model' \
        'rerank.api_key' 'its key' \
        'ask.max_iterations' 'rounds of searching for one answer' \
        'ask.pages' 'pages read in a round' \
        'agent.web_search.enabled' 'offer web_search to agents' \
        'library.remember' 'keep the pages that were read' \
        'library.max_megabytes' 'how large the library may grow' \
        'history.enabled' 'remember past queries' \
        'ui.language' 'language of messages' \
        'ui.theme' 'colours on the terminal'
end

# What the setting before the cursor takes.
function __sleuth_setting
    switch "$__sleuth_arguments[1]"
        case websearch.default_provider
            __sleuth_providers auto
        case websearch.fallback
            __sleuth_list (__sleuth_providers)
        case websearch.search_with_time
            printf '%s\n' true false
        case websearch.safe_search
            printf '%s\n' off moderate strict
        case fetch.jina
            printf '%s\n' true false
        case fetch.archive
            printf '%s\n' true false
        case fetch.browser
            printf '%s\n' true false
        case fetch.allow_private
            printf '%s\n' true false
        case agent.web_search.enabled
            printf '%s\n' true false
        case library.remember
            printf '%s\n' true false
        case history.enabled
            printf '%s\n' true false
        case ui.language
            printf '%s\n' auto en zh-CN
        case ui.theme
            printf '%s\n' auto light dark plain
    end
end

complete -c sleuth -f
complete -c sleuth -l color -x -a 'auto always never' -d 'Colours: when the output is a terminal, or as said.'
complete -c sleuth -l debug -d 'Tell what happens on stderr; tracebacks in full.'
complete -c sleuth -s h -l help -d 'Show this message and exit.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a search -d 'Search; ranked results with numbered citations.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a summarize -d 'Read pages and summarise each and all of them, with citations.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a ask -d 'Answer a question: search in rounds, read, reflect, write with citations.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a chat -d 'Ask in a conversation: each question knows what was said before.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a cite -d 'Turn [n] in any text into links and append the reference list.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a providers -d 'The provider table: list, show, set, test, use, add, remove, reset.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a config -d 'Settings: show, get, set, unset, edit, path, validate.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a library -d 'The embedded offline index: add, search, list, remove, stats.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a doctor -d 'Diagnose this installation and a SearXNG deployment.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a searxng -d 'Write a working SearXNG deployment: init.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a serve -d 'Serve search, providers and answers as JSON over HTTP, on this machine.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a mcp -d 'Serve web_search and its sisters to an agent, over MCP on standard input and output.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a usage -d 'Show requests, success, cache hits, times and estimated cost, with a chart.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a history -d 'List past queries, the newest first; --clear forgets them.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a cache -d 'Kept answers: stats, clear.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a tool-schema -d 'Print the definition of web_search or another tool for agents, or the schema of JSON answers.'
complete -c sleuth -n '__sleuth_at "sleuth" 0' -a completions -d 'Print the completion script of a shell.'
complete -c sleuth -n '__sleuth_at "sleuth"' -l version -d 'Show the version and exit.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -s q -l question -x -d 'A question; several are asked at once and merged.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -s p -l provider -x -a '(__sleuth_list (__sleuth_providers auto all))' -d 'Whom to ask: ids, comma-separated; auto; all.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -s n -l count -x -d 'Results to show.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l page -x -d 'Page of results.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l lang -x -d 'Language of results: de, zh-CN.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l region -x -d 'Country of results: CH.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l freshness -x -a 'day week month year' -d 'How new results must be.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l safe -x -a 'off moderate strict' -d 'Adult content filter.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l category -x -a 'general news images videos science it' -d 'Kind of results.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l engine -x -d 'Engines to use (SearXNG, SerpAPI).'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l site -x -d 'Only from this domain.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l exclude -x -d 'Nothing from this domain.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -s f -l format -x -a 'rich plain json ndjson markdown csv urls' -d 'Output; rich on a terminal, else plain.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l json -d 'Short for --format json.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l template -x -d 'A line a result: \'{rank} {url}\'.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l fields -x -a '(__sleuth_list citation rank title url snippet content siteName domain published score providers engines thumbnail author length image)' -d 'Only these fields: citation, rank, title, url, snippet, content, siteName, domain, published, score, providers, engines, thumbnail, author, length, image'
complete -c sleuth -n '__sleuth_at "sleuth search"' -s o -l output -r -F -d 'Write there, atomically.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l rerank -d 'Order by relevance to the words, not by rank alone.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l recent -d 'Weigh newer pages up.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l rules -r -F -d 'Domain rules in Goggles syntax.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l explain -d 'Show what put each result in its place.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l record -r -F -d 'Keep the raw answers, keys removed.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l replay -r -F -d 'Answer from a recording, ask nobody.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l batch -r -F -d 'One query a line, from a file or - for standard input.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l ordered -d 'With --batch: answers in the order of the queries.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l resume -d 'With --batch and -o: go on where the file ends.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l jobs -x -d 'With --batch: queries at a time.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -s i -l interactive -d 'A prompt: open, page, copy, search again.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l content -d 'Read the pages: their text comes as content.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l compress -x -a 'none cutoff rag' -d 'Squeeze page text: cut it off, or keep what answers (implies --content).'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l limit -x -d 'Room for all page text together.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l unit -x -a 'char token' -d 'What --limit counts.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l max-tokens -x -d 'A hard budget of tokens for all page text.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l progress -x -a 'auto json none' -d 'Progress on stderr: a line on a terminal, JSON lines.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l cache -d 'Use and keep cached answers.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l no-cache -d 'The opposite of --cache.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l refresh -d 'Ask anew and keep the answer.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l offline -d 'No network: the cache and the library only.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l timeout -x -d 'Seconds to wait.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l fallback -d 'Ask others when the one named fails.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l no-fallback -d 'The opposite of --fallback.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l with-time -d 'Tell the date to providers that read language.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l no-time -d 'The opposite of --with-time.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l open -x -d 'Open result N.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -s j -d 'Open the first result.'
complete -c sleuth -n '__sleuth_at "sleuth search"' -l exit-status -d 'Exit with 7 when there are no results.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -l query -x -d 'What you want to know from them.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -l length -x -a 'short medium long' -d 'How much, or how many characters.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -l extractive -d 'Sentences of the pages, word for word; no model is asked.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -s f -l format -x -a 'rich plain markdown json' -d 'Output; rich on a terminal, else plain.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -l json -d 'Short for --format json.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -s o -l output -r -F -d 'Write there, atomically.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -l progress -x -a 'auto json none' -d 'Progress on stderr: a line on a terminal, JSON lines.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -l timeout -x -d 'Seconds to wait.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -l refresh -d 'Ask anew and keep the answer.'
complete -c sleuth -n '__sleuth_at "sleuth summarize"' -l offline -d 'No network: the cache and the library only.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l search -x -a 'auto on off' -d 'Search the web: auto lets the model decide, on and off do as they say.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -s p -l provider -x -a '(__sleuth_list (__sleuth_providers auto all))' -d 'Whom to ask: ids, comma-separated; auto; all.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l rounds -x -d 'Rounds of searching at the most.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l pages -x -d 'Pages to read in a round.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l lang -x -d 'Language of results: de, zh-CN.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l region -x -d 'Country of results: CH.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l extractive -d 'Sentences of the pages, word for word; no model is asked.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -s f -l format -x -a 'rich plain markdown json' -d 'Output; rich on a terminal, else plain.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l json -d 'Short for --format json.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -s o -l output -r -F -d 'Write there, atomically.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l progress -x -a 'auto json none' -d 'Progress on stderr: a line on a terminal, JSON lines.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l cache -d 'Use and keep cached answers.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l no-cache -d 'The opposite of --cache.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l refresh -d 'Ask anew and keep the answer.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l offline -d 'No network: the cache and the library only.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l timeout -x -d 'Seconds to wait.'
complete -c sleuth -n '__sleuth_at "sleuth ask"' -l exit-status -d 'Exit with 7 when there are no results.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l search -x -a 'auto on off' -d 'Search the web: auto lets the model decide, on and off do as they say.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -s p -l provider -x -a '(__sleuth_list (__sleuth_providers auto all))' -d 'Whom to ask: ids, comma-separated; auto; all.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l rounds -x -d 'Rounds of searching at the most.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l pages -x -d 'Pages to read in a round.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l lang -x -d 'Language of results: de, zh-CN.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l region -x -d 'Country of results: CH.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l extractive -d 'Sentences of the pages, word for word; no model is asked.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l cache -d 'Use and keep cached answers.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l no-cache -d 'The opposite of --cache.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l refresh -d 'Ask anew and keep the answer.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l offline -d 'No network: the cache and the library only.'
complete -c sleuth -n '__sleuth_at "sleuth chat"' -l timeout -x -d 'Seconds to wait.'
complete -c sleuth -n '__sleuth_at "sleuth cite"' -l sources -r -F -d 'JSON of search or summarize, or a list of url and title; - is stdin.'
complete -c sleuth -n '__sleuth_at "sleuth cite"' -l check -d 'Mark what the sources do not bear out: [3?] weak, [3??] not found.'
complete -c sleuth -n '__sleuth_at "sleuth cite"' -l style -x -a 'markdown terminal plain json' -d 'Kind of links; terminal on a terminal, else markdown.'
complete -c sleuth -n '__sleuth_at "sleuth cite"' -l json -d 'Short for --style json.'
complete -c sleuth -n '__sleuth_at "sleuth cite"' -l references -d 'List the sources below.'
complete -c sleuth -n '__sleuth_at "sleuth cite"' -l no-references -d 'The opposite of --references.'
complete -c sleuth -n '__sleuth_at "sleuth cite"' -s o -l output -r -F -d 'Write there, atomically.'
complete -c sleuth -n '__sleuth_at "sleuth cite" 0' -F
complete -c sleuth -n '__sleuth_at "sleuth providers" 0' -a list -d 'List every provider: ready, in need of a key, or of an address.'
complete -c sleuth -n '__sleuth_at "sleuth providers" 0' -a show -d 'Show all that is known of one provider; keys stay masked.'
complete -c sleuth -n '__sleuth_at "sleuth providers" 0' -a set -d 'Change just the named fields of a provider.'
complete -c sleuth -n '__sleuth_at "sleuth providers" 0' -a use -d 'Make a provider the default; auto goes back to the fallback list.'
complete -c sleuth -n '__sleuth_at "sleuth providers" 0' -a add -d 'Add a provider of your own: a results page as a URL with %s, or a second instance of a built-in adapter.'
complete -c sleuth -n '__sleuth_at "sleuth providers" 0' -a remove -d 'Remove a provider of your own.'
complete -c sleuth -n '__sleuth_at "sleuth providers" 0' -a reset -d 'Give a built-in provider back the values it came with; its key is forgotten.'
complete -c sleuth -n '__sleuth_at "sleuth providers" 0' -a test -d 'Make one real request to each provider, all at once, and tell how it went.'
complete -c sleuth -n '__sleuth_at "sleuth providers list"' -l limit -x -d 'At most so many.'
complete -c sleuth -n '__sleuth_at "sleuth providers list"' -l offset -x -d 'Leave out so many first.'
complete -c sleuth -n '__sleuth_at "sleuth providers list"' -l ids -d 'Ids alone, one a line.'
complete -c sleuth -n '__sleuth_at "sleuth providers list"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth providers show"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth providers show" 0' -a '(__sleuth_providers)'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l api-key -x -d 'A key, env:NAME, cmd:COMMAND, keyring: or -.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l api-host -x -d 'Its address; with %s for a local one.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l engines -x -d 'Engines to use.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l using-browser -d 'Read pages in a browser.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l no-using-browser -d 'The opposite of --using-browser.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l basic-auth-username -x -d 'For HTTP Basic authentication.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l basic-auth-password -x -d 'Its password, or - to be asked.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l name -x -d 'The name shown.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l type -x -a 'api local' -d 'What kind it is.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l option -x -d 'What this adapter alone understands.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l enable -d 'Turn it on or off.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l disable -d 'The opposite of --enable.'
complete -c sleuth -n '__sleuth_at "sleuth providers set"' -l unset -x -a 'api_key api_host engines basic_auth_username basic_auth_password options' -d 'Clear: api_key, api_host, engines, basic_auth_username, basic_auth_password, options'
complete -c sleuth -n '__sleuth_at "sleuth providers set" 0' -a '(__sleuth_providers)'
complete -c sleuth -n '__sleuth_at "sleuth providers use" 0' -a '(__sleuth_providers auto)'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l id -x -d 'Its id.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l adapter -x -a 'bocha brave deepseek-search duckduckgo exa firecrawl google jina kagi library linkup local-baidu local-bing local-google marginalia metaso mojeek perplexity searxng serpapi serper tavily wikipedia you zhipu' -d 'A built-in adapter to use once more.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l name -x -d 'The name shown.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l api-host -x -d 'Its address; with %s for a local one.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l api-key -x -d 'A key, env:NAME, cmd:COMMAND, keyring: or -.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l engines -x -d 'Engines to use.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l using-browser -d 'Read pages in a browser.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l no-using-browser -d 'The opposite of --using-browser.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l basic-auth-username -x -d 'For HTTP Basic authentication.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l basic-auth-password -x -d 'Its password, or - to be asked.'
complete -c sleuth -n '__sleuth_at "sleuth providers add"' -l option -x -d 'What this adapter alone understands.'
complete -c sleuth -n '__sleuth_at "sleuth providers remove" 0' -a '(__sleuth_providers)'
complete -c sleuth -n '__sleuth_at "sleuth providers reset" 0' -a '(__sleuth_providers)'
complete -c sleuth -n '__sleuth_at "sleuth providers test"' -l all -d 'Everyone who is ready.'
complete -c sleuth -n '__sleuth_at "sleuth providers test"' -l timeout -x -d 'Seconds to wait.'
complete -c sleuth -n '__sleuth_at "sleuth providers test"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth providers test"' -a '(__sleuth_providers)'
complete -c sleuth -n '__sleuth_at "sleuth config" 0' -a show -d 'Show every setting and its value.'
complete -c sleuth -n '__sleuth_at "sleuth config" 0' -a get -d 'Print one setting\'s value.'
complete -c sleuth -n '__sleuth_at "sleuth config" 0' -a set -d 'Set one setting in the file; comments and order stay.'
complete -c sleuth -n '__sleuth_at "sleuth config" 0' -a unset -d 'Remove one setting from the file: its default holds again.'
complete -c sleuth -n '__sleuth_at "sleuth config" 0' -a edit -d 'Open the file in $VISUAL or $EDITOR, then check it.'
complete -c sleuth -n '__sleuth_at "sleuth config" 0' -a path -d 'Print where the file is.'
complete -c sleuth -n '__sleuth_at "sleuth config" 0' -a validate -d 'Check the file: exit 0 when every value fits, 2 otherwise.'
complete -c sleuth -n '__sleuth_at "sleuth config show"' -l origin -d 'Say where each value comes from.'
complete -c sleuth -n '__sleuth_at "sleuth config show"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth config show" 0' -a 'websearch. searxng. cache. fetch. llm. embedding. rerank. ask. agent.web_search. library. history. ui.'
complete -c sleuth -n '__sleuth_at "sleuth config get"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth config get" 0' -a '(__sleuth_keys)'
complete -c sleuth -n '__sleuth_at "sleuth config set" 0' -a '(__sleuth_keys)'
complete -c sleuth -n '__sleuth_at "sleuth config set" 1' -a '(__sleuth_setting)'
complete -c sleuth -n '__sleuth_at "sleuth config unset" 0' -a '(__sleuth_keys)'
complete -c sleuth -n '__sleuth_at "sleuth library" 0' -a add -d 'Add files, folders and web pages: Markdown, text, HTML, PDF, browser bookmarks.'
complete -c sleuth -n '__sleuth_at "sleuth library" 0' -a search -d 'Search the library alone; the same as `sleuth search -p library`.'
complete -c sleuth -n '__sleuth_at "sleuth library" 0' -a list -d 'List what is in the library, by address, and when it was added or, web pages, read.'
complete -c sleuth -n '__sleuth_at "sleuth library" 0' -a remove -d 'Take pages out: by address, by file, or all below a folder.'
complete -c sleuth -n '__sleuth_at "sleuth library" 0' -a stats -d 'Show how much is in the library.'
complete -c sleuth -n '__sleuth_at "sleuth library add"' -l fetch -d 'Read the pages that bookmarks lead to.'
complete -c sleuth -n '__sleuth_at "sleuth library add"' -l refresh -d 'Read pages anew, cached or bookmarked ones too.'
complete -c sleuth -n '__sleuth_at "sleuth library add"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth library add"' -F
complete -c sleuth -n '__sleuth_at "sleuth library search"' -s n -l count -x -d 'Results to show.'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -l page -x -d 'Page of results.'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -l site -x -d 'Only from this domain.'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -l exclude -x -d 'Nothing from this domain.'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -s f -l format -x -a 'rich plain json ndjson markdown csv urls' -d 'Output; rich on a terminal, else plain.'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -l json -d 'Short for --format json.'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -l template -x -d 'A line a result: \'{rank} {url}\'.'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -l fields -x -a '(__sleuth_list citation rank title url snippet content siteName domain published score providers engines thumbnail author length image)' -d 'Only these fields: citation, rank, title, url, snippet, content, siteName, domain, published, score, providers, engines, thumbnail, author, length, image'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -s o -l output -r -F -d 'Write there, atomically.'
complete -c sleuth -n '__sleuth_at "sleuth library search"' -l exit-status -d 'Exit with 7 when there are no results.'
complete -c sleuth -n '__sleuth_at "sleuth library list"' -l limit -x -d 'How many.'
complete -c sleuth -n '__sleuth_at "sleuth library list"' -l offset -x -d 'After how many.'
complete -c sleuth -n '__sleuth_at "sleuth library list"' -l source -x -a 'handbook file page bookmark' -d 'Only what came from there.'
complete -c sleuth -n '__sleuth_at "sleuth library list"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth library remove"' -l all -d 'Everything but the handbook.'
complete -c sleuth -n '__sleuth_at "sleuth library remove"' -s y -l yes -d 'Do not ask.'
complete -c sleuth -n '__sleuth_at "sleuth library remove"' -F
complete -c sleuth -n '__sleuth_at "sleuth library stats"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth doctor"' -s p -l provider -x -a '(__sleuth_providers)' -d 'Examine this provider alone.'
complete -c sleuth -n '__sleuth_at "sleuth doctor"' -l only -x -d 'Only checks that begin so: searxng, searxng.json, install …'
complete -c sleuth -n '__sleuth_at "sleuth doctor"' -s v -l verbose -d 'Show what was seen everywhere, and times.'
complete -c sleuth -n '__sleuth_at "sleuth doctor"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth doctor"' -l timeout -x -d 'Seconds a search may take.'
complete -c sleuth -n '__sleuth_at "sleuth doctor"' -l settings -r -F -d 'Check a settings.yml of SearXNG instead; asks nobody.'
complete -c sleuth -n '__sleuth_at "sleuth doctor"' -l fix -d 'With --settings: write a corrected file beside it.'
complete -c sleuth -n '__sleuth_at "sleuth searxng" 0' -a init -d 'Write a compose file and settings for a private SearXNG: JSON enabled, a fresh secret, a port on loopback only.'
complete -c sleuth -n '__sleuth_at "sleuth searxng init"' -l port -x -d 'The port on this machine.'
complete -c sleuth -n '__sleuth_at "sleuth searxng init"' -l force -d 'Replace files that are there already.'
complete -c sleuth -n '__sleuth_at "sleuth searxng init"' -l limiter -d 'With the limiter, valkey, and a list of addresses that pass.'
complete -c sleuth -n '__sleuth_at "sleuth searxng init" 0' -a '(__sleuth_folders)'
complete -c sleuth -n '__sleuth_at "sleuth serve"' -l host -x -d 'The address to listen on.'
complete -c sleuth -n '__sleuth_at "sleuth serve"' -l port -x -d 'The port; 0 takes a free one.'
complete -c sleuth -n '__sleuth_at "sleuth serve"' -l token-file -r -F -d 'Where the token is; made when missing.'
complete -c sleuth -n '__sleuth_at "sleuth serve"' -l print-token -d 'Print the token and exit.'
complete -c sleuth -n '__sleuth_at "sleuth serve"' -l allow-host -x -d 'Another name of this server, as behind a proxy.'
complete -c sleuth -n '__sleuth_at "sleuth serve"' -l allow-origin -x -d 'A site whose pages may call it from a browser.'
complete -c sleuth -n '__sleuth_at "sleuth serve"' -l allow-remote -d 'Listen on an address that other machines can reach.'
complete -c sleuth -n '__sleuth_at "sleuth mcp"' -s p -l provider -x -a '(__sleuth_list (__sleuth_providers auto all))' -d 'Whom to ask: ids, comma-separated; auto; all.'
complete -c sleuth -n '__sleuth_at "sleuth mcp"' -s n -l count -x -d 'Results, where the agent names no number.'
complete -c sleuth -n '__sleuth_at "sleuth mcp"' -l timeout -x -d 'Seconds to wait.'
complete -c sleuth -n '__sleuth_at "sleuth usage"' -l days -x -d 'How many days, with today.'
complete -c sleuth -n '__sleuth_at "sleuth usage"' -s p -l provider -x -a '(__sleuth_list (__sleuth_providers auto all))' -d 'One provider alone.'
complete -c sleuth -n '__sleuth_at "sleuth usage"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth history"' -s n -l count -x -d 'How many at the most.'
complete -c sleuth -n '__sleuth_at "sleuth history"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth history"' -l clear -d 'Forget them: all, or those with the words.'
complete -c sleuth -n '__sleuth_at "sleuth history"' -s y -l yes -d 'With --clear: do not ask.'
complete -c sleuth -n '__sleuth_at "sleuth cache" 0' -a stats -d 'Show how many answers and pages are kept.'
complete -c sleuth -n '__sleuth_at "sleuth cache" 0' -a clear -d 'Throw every kept answer and page away, those in a shared cache too.'
complete -c sleuth -n '__sleuth_at "sleuth cache stats"' -l json -d 'As JSON.'
complete -c sleuth -n '__sleuth_at "sleuth tool-schema"' -l style -x -a 'mcp openai anthropic json-schema' -d 'Whose form of the tool; json-schema is the schema of its answer.'
complete -c sleuth -n '__sleuth_at "sleuth tool-schema"' -l tool -x -a 'web_search fetch_page summarize library_search ask' -d 'Which tool.'
complete -c sleuth -n '__sleuth_at "sleuth completions" 0' -a 'bash zsh fish powershell'
