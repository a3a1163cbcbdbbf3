# bash completion for sleuth                                -*- shell-script -*-
# Generated from the commands by `python -m tools.generate`: change those, not this.

# What may follow a command. The functions below answer in `offer` (words), `source` (what to ask) and `comma`.
_sleuth_commands() {
    case $1 in
        'sleuth') offer='search summarize ask chat cite providers config library doctor searxng serve mcp usage history cache tool-schema completions' ;;
        'sleuth providers') offer='list show set use add remove reset test' ;;
        'sleuth config') offer='show get set unset edit path validate' ;;
        'sleuth library') offer='add search list remove stats' ;;
        'sleuth searxng') offer='init' ;;
        'sleuth cache') offer='stats clear' ;;
        *) offer='' ;;
    esac
}

_sleuth_options() {
    case $1 in
        'sleuth') offer='--color --debug --version -h --help' ;;
        'sleuth search') offer='-q --question -p --provider -n --count --page --lang --region --freshness --safe --category --engine --site --exclude -f --format --json --template --fields -o --output --rerank --recent --rules --explain --record --replay --batch --ordered --resume --jobs -i --interactive --content --compress --limit --unit --max-tokens --progress --cache --no-cache --refresh --offline --timeout --fallback --no-fallback --with-time --no-time --open -j --exit-status -h --help --color --debug' ;;
        'sleuth summarize') offer='--query --length --extractive -f --format --json -o --output --progress --timeout --refresh --offline -h --help --color --debug' ;;
        'sleuth ask') offer='--search -p --provider --rounds --pages --lang --region --extractive -f --format --json -o --output --progress --cache --no-cache --refresh --offline --timeout --exit-status -h --help --color --debug' ;;
        'sleuth chat') offer='--search -p --provider --rounds --pages --lang --region --extractive --cache --no-cache --refresh --offline --timeout -h --help --color --debug' ;;
        'sleuth cite') offer='--sources --check --style --json --references --no-references -o --output -h --help --color --debug' ;;
        'sleuth providers' | 'sleuth providers use' | 'sleuth providers remove' | 'sleuth providers reset' | \
            'sleuth config' | 'sleuth config set' | 'sleuth config unset' | 'sleuth config edit' | \
            'sleuth config path' | 'sleuth config validate' | 'sleuth library' | 'sleuth searxng' | 'sleuth cache' | \
            'sleuth cache clear' | 'sleuth completions') offer='-h --help --color --debug' ;;
        'sleuth providers list') offer='--limit --offset --ids --json -h --help --color --debug' ;;
        'sleuth providers show' | 'sleuth config get' | 'sleuth library stats' | 'sleuth cache stats') offer='--json -h --help --color --debug' ;;
        'sleuth providers set') offer='--api-key --api-host --engines --using-browser --no-using-browser --basic-auth-username --basic-auth-password --name --type --option --enable --disable --unset -h --help --color --debug' ;;
        'sleuth providers add') offer='--id --adapter --name --api-host --api-key --engines --using-browser --no-using-browser --basic-auth-username --basic-auth-password --option -h --help --color --debug' ;;
        'sleuth providers test') offer='--all --timeout --json -h --help --color --debug' ;;
        'sleuth config show') offer='--origin --json -h --help --color --debug' ;;
        'sleuth library add') offer='--fetch --refresh --json -h --help --color --debug' ;;
        'sleuth library search') offer='-n --count --page --site --exclude -f --format --json --template --fields -o --output --exit-status -h --help --color --debug' ;;
        'sleuth library list') offer='--limit --offset --source --json -h --help --color --debug' ;;
        'sleuth library remove') offer='--all -y --yes -h --help --color --debug' ;;
        'sleuth doctor') offer='-p --provider --only -v --verbose --json --timeout --settings --fix -h --help --color --debug' ;;
        'sleuth searxng init') offer='--port --force --limiter -h --help --color --debug' ;;
        'sleuth serve') offer='--host --port --token-file --print-token --allow-host --allow-origin --allow-remote -h --help --color --debug' ;;
        'sleuth mcp') offer='-p --provider -n --count --timeout -h --help --color --debug' ;;
        'sleuth usage') offer='--days -p --provider --json -h --help --color --debug' ;;
        'sleuth history') offer='-n --count --json --clear -y --yes -h --help --color --debug' ;;
        'sleuth tool-schema') offer='--style --tool -h --help --color --debug' ;;
    esac
}

# What an option takes; fails for one that takes nothing.
_sleuth_value() {
    case "$1 $2" in
        *' --color') offer='auto always never' ;;
        'sleuth search -q' | 'sleuth search --question' | 'sleuth search -n' | 'sleuth search --count' | \
            'sleuth search --page' | 'sleuth search --lang' | 'sleuth search --region' | 'sleuth search --engine' | \
            'sleuth search --site' | 'sleuth search --exclude' | 'sleuth search --template' | \
            'sleuth search --jobs' | 'sleuth search --limit' | 'sleuth search --max-tokens' | \
            'sleuth search --timeout' | 'sleuth search --open' | 'sleuth summarize --query' | \
            'sleuth summarize --timeout' | 'sleuth ask --rounds' | 'sleuth ask --pages' | 'sleuth ask --lang' | \
            'sleuth ask --region' | 'sleuth ask --timeout' | 'sleuth chat --rounds' | 'sleuth chat --pages' | \
            'sleuth chat --lang' | 'sleuth chat --region' | 'sleuth chat --timeout' | \
            'sleuth providers list --limit' | 'sleuth providers list --offset' | 'sleuth providers set --api-key' | \
            'sleuth providers set --api-host' | 'sleuth providers set --engines' | \
            'sleuth providers set --basic-auth-username' | 'sleuth providers set --basic-auth-password' | \
            'sleuth providers set --name' | 'sleuth providers set --option' | 'sleuth providers add --id' | \
            'sleuth providers add --name' | 'sleuth providers add --api-host' | 'sleuth providers add --api-key' | \
            'sleuth providers add --engines' | 'sleuth providers add --basic-auth-username' | \
            'sleuth providers add --basic-auth-password' | 'sleuth providers add --option' | \
            'sleuth providers test --timeout' | 'sleuth library search -n' | 'sleuth library search --count' | \
            'sleuth library search --page' | 'sleuth library search --site' | 'sleuth library search --exclude' | \
            'sleuth library search --template' | 'sleuth library list --limit' | 'sleuth library list --offset' | \
            'sleuth doctor --only' | 'sleuth doctor --timeout' | 'sleuth searxng init --port' | \
            'sleuth serve --host' | 'sleuth serve --port' | 'sleuth serve --allow-host' | \
            'sleuth serve --allow-origin' | 'sleuth mcp -n' | 'sleuth mcp --count' | 'sleuth mcp --timeout' | \
            'sleuth usage --days' | 'sleuth history -n' | 'sleuth history --count') : ;;
        'sleuth search -p' | 'sleuth search --provider' | 'sleuth ask -p' | 'sleuth ask --provider' | \
            'sleuth chat -p' | 'sleuth chat --provider' | 'sleuth mcp -p' | 'sleuth mcp --provider' | \
            'sleuth usage -p' | 'sleuth usage --provider') offer='auto all' source=providers comma=, ;;
        'sleuth search --freshness') offer='day week month year' ;;
        'sleuth search --safe') offer='off moderate strict' ;;
        'sleuth search --category') offer='general news images videos science it' ;;
        'sleuth search -f' | 'sleuth search --format' | 'sleuth library search -f' | \
            'sleuth library search --format') offer='rich plain json ndjson markdown csv urls' ;;
        'sleuth search --fields' | 'sleuth library search --fields') offer='citation rank title url snippet content siteName domain published score providers engines thumbnail author length image' comma=, ;;
        'sleuth search -o' | 'sleuth search --output' | 'sleuth search --rules' | 'sleuth search --record' | \
            'sleuth search --replay' | 'sleuth search --batch' | 'sleuth summarize -o' | \
            'sleuth summarize --output' | 'sleuth ask -o' | 'sleuth ask --output' | 'sleuth cite --sources' | \
            'sleuth cite -o' | 'sleuth cite --output' | 'sleuth library search -o' | \
            'sleuth library search --output' | 'sleuth doctor --settings' | 'sleuth serve --token-file') source=file ;;
        'sleuth search --compress') offer='none cutoff rag' ;;
        'sleuth search --unit') offer='char token' ;;
        'sleuth search --progress' | 'sleuth summarize --progress' | 'sleuth ask --progress') offer='auto json none' ;;
        'sleuth summarize --length') offer='short medium long' ;;
        'sleuth summarize -f' | 'sleuth summarize --format' | 'sleuth ask -f' | 'sleuth ask --format') offer='rich plain markdown json' ;;
        'sleuth ask --search' | 'sleuth chat --search') offer='auto on off' ;;
        'sleuth cite --style') offer='markdown terminal plain json' ;;
        'sleuth providers set --type') offer='api local' ;;
        'sleuth providers set --unset') offer='api_key api_host engines basic_auth_username basic_auth_password options' ;;
        'sleuth providers add --adapter') offer='bocha brave deepseek-search duckduckgo exa firecrawl google jina kagi library linkup local-baidu local-bing local-google marginalia metaso mojeek perplexity searxng serpapi serper tavily wikipedia you zhipu' ;;
        'sleuth library list --source') offer='handbook file page bookmark' ;;
        'sleuth doctor -p' | 'sleuth doctor --provider') source=providers ;;
        'sleuth tool-schema --style') offer='mcp openai anthropic json-schema' ;;
        'sleuth tool-schema --tool') offer='web_search fetch_page summarize library_search ask' ;;
        *) return 1 ;;
    esac
}

# What the argument after so many others may be.
_sleuth_argument() {
    case "$1 $2" in
        'sleuth cite 0' | 'sleuth library add '[0-9]* | 'sleuth library remove '[0-9]*) source=file ;;
        'sleuth providers show 0' | 'sleuth providers set 0' | 'sleuth providers remove 0' | \
            'sleuth providers reset 0' | 'sleuth providers test '[0-9]*) source=providers ;;
        'sleuth providers use 0') offer='auto' source=providers ;;
        'sleuth config show 0') offer='websearch. searxng. cache. fetch. llm. embedding. rerank. ask. agent.web_search. library. history. ui.' ;;
        'sleuth config get 0' | 'sleuth config set 0' | 'sleuth config unset 0') source=keys ;;
        'sleuth config set 1') _sleuth_setting "$before" ;;
        'sleuth searxng init 0') source=folder ;;
        'sleuth completions 0') offer='bash zsh fish powershell' ;;
    esac
}

# What a setting takes.
_sleuth_setting() {
    case $1 in
        'websearch.default_provider') offer='auto' source=providers ;;
        'websearch.fallback') source=providers comma=, ;;
        'websearch.search_with_time' | 'fetch.jina' | 'fetch.archive' | 'fetch.browser' | 'fetch.allow_private' | \
            'agent.web_search.enabled' | 'library.remember' | 'history.enabled') offer='true false' ;;
        'websearch.safe_search') offer='off moderate strict' ;;
        'ui.language') offer='auto en zh-CN' ;;
        'ui.theme') offer='auto light dark plain' ;;
    esac
}

# The ids in the user's table; those that come with sleuth when it does not answer in time.
_sleuth_providers() {
    local ids='' id
    IFS= read -r -d '' -t 2 ids < <(command sleuth providers list --ids 2>/dev/null </dev/null)
    if (($? > 128)) || [[ -z $ids ]]; then
        offer+=' bocha brave deepseek-search duckduckgo exa firecrawl google jina kagi library linkup local-baidu local-bing local-google marginalia metaso mojeek perplexity searxng serpapi serper tavily wikipedia you zhipu'
        return
    fi
    while IFS= read -r id; do # compgen expands its words: nothing that could be more than a word gets there
        [[ -z $id || $id == *[!A-Za-z0-9._-]* ]] || offer+=" $id"
    done <<<"$ids"
}

# The words up to the cursor in `typed`, whole again where readline cut them at = or : . What it does not replace
# of the last one goes to `kept`.
_sleuth_typed() {
    local line=${COMP_LINE-${COMP_WORDS[*]}} word index
    line=${line:0:${COMP_POINT-${#line}}}
    typed=()
    for ((index = 0; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]-}
        if ((index)) && [[ -n $line && $line != [[:space:]]* ]]; then
            kept=${typed[${#typed[@]} - 1]}
            ((index < COMP_CWORD)) || word=$line
            typed[${#typed[@]} - 1]+=$word
            [[ $word == [=:]* ]] && kept+=$word
        else
            line=${line#"${line%%[![:space:]]*}"}
            ((index < COMP_CWORD)) || word=$line
            typed+=("$word")
            kept=''
        fi
        line=${line#"$word"}
    done
}

_sleuth_reply() {
    local value=${current#"$lead"} chosen='' word IFS=$' \t\n'
    case $source in
        providers) _sleuth_providers ;;
        keys) offer='websearch.default_provider websearch.fallback websearch.search_with_time websearch.max_results websearch.exclude_domains websearch.language websearch.region websearch.safe_search websearch.snippet_length websearch.timeout websearch.connect_timeout websearch.retries websearch.max_output_chars websearch.compression searxng.timeout cache.ttl_minutes cache.max_entries cache.url fetch.timeout fetch.concurrency fetch.max_chars fetch.cache_ttl_minutes fetch.jina fetch.archive fetch.browser fetch.allow_private llm.base_url llm.model llm.reasoner_model llm.api_key llm.price_input llm.price_output embedding.base_url embedding.model embedding.api_key embedding.dimensions rerank.base_url rerank.model rerank.api_key ask.max_iterations ask.pages agent.web_search.enabled library.remember library.max_megabytes history.enabled ui.language ui.theme' ;;
    esac
    if [[ -n $comma ]]; then
        chosen=${value%"${value##*,}"}
        lead+=$chosen
        value=${value##*,}
    fi
    while IFS= read -r word; do
        [[ ,$chosen == *",$word,"* ]] && continue # a list names nobody twice
        word=$lead$word
        COMPREPLY+=("${word#"$kept"}")
    done < <(
        case $source in
            file) compgen -f -- "$value" ;;
            folder) compgen -d -- "$value" ;;
            *) compgen -W "$offer" -- "$value" ;;
        esac
    )
    case $source in
        file | folder) compopt -o filenames 2>/dev/null ;; # bash 3.2 has none
    esac
    return 0
}

_sleuth() {
    local command=sleuth option='' ended='' before='' count=0 index word
    local current kept='' lead='' offer='' source='' comma=''
    local -a typed
    COMPREPLY=()
    _sleuth_typed
    for ((index = 1; index < ${#typed[@]} - 1; index++)); do
        word=${typed[index]}
        if [[ -n $option ]]; then
            option=''
        elif [[ -z $ended && $word == -- ]]; then
            ended=1
        elif [[ -z $ended && $word == -?* ]]; then
            _sleuth_value "$command" "$word" && option=$word
        else
            _sleuth_commands "$command"
            if ((count == 0)) && [[ " $offer " == *" $word "* ]]; then
                command+=" $word"
            else
                before=$word
                ((++count))
            fi
        fi
    done
    current=${typed[${#typed[@]} - 1]}
    offer='' source='' comma=''
    if [[ -n $option ]]; then
        _sleuth_value "$command" "$option"
    elif [[ -z $ended && $current == --*=* ]]; then
        lead=${current%%=*}=
        _sleuth_value "$command" "${current%%=*}"
    elif [[ -z $ended && $current == -* ]]; then
        _sleuth_options "$command"
    else
        ((count)) || _sleuth_commands "$command"
        [[ -n $offer ]] || _sleuth_argument "$command" "$count"
    fi
    _sleuth_reply
}

complete -F _sleuth sleuth
