"""Simplified Chinese."""

MESSAGES: dict[str, str] = {
    # how anything is said
    "error: {message}": "错误：{message}",
    "hint: {hint}": "提示：{hint}",
    "warning: {message}": "警告：{message}",
    "note: {message}": "说明：{message}",
    "{message}; it may be asked again at {until}": "{message}；{until} 之后可以再试",
    "interrupted": "已中断",
    # providers
    "{provider} could not answer": "{provider} 未能给出结果",
    "try another provider: sleuth search -p ID …, or see: sleuth providers list": (
        "换一个搜索源：sleuth search -p ID …，或查看：sleuth providers list"
    ),
    "{provider} needs an API key": "{provider} 需要 API 密钥",
    "set one: sleuth providers set {id} --api-key -": "设置密钥：sleuth providers set {id} --api-key -",
    "{provider} needs an address": "{provider} 需要一个地址",
    "set it: sleuth providers set {id} --api-host URL": "设置地址：sleuth providers set {id} --api-host URL",
    "{provider} needs the option {option}": "{provider} 需要选项 {option}",
    "set it: sleuth providers set {id} --option {option}=…": "设置选项：sleuth providers set {id} --option {option}=…",
    "{provider} rejected the API key": "{provider} 拒绝了 API 密钥",
    "check the key in settings: sleuth providers set {id} --api-key -": (
        "请检查设置中的密钥：sleuth providers set {id} --api-key -"
    ),
    "{provider} limits how often it may be asked": "{provider} 限制了请求频率",
    "try later, or ask another provider: sleuth search -p ID …": "请稍后再试，或换一个搜索源：sleuth search -p ID …",
    "the quota of {provider} is used up": "{provider} 的配额已用完",
    "try later, top up the account, or ask another provider: sleuth search -p ID …": (
        "请稍后再试、为账户充值，或换一个搜索源：sleuth search -p ID …"
    ),
    "{provider} has been asked as often as sleuth allows": "对 {provider} 的请求已达到 sleuth 允许的上限",
    "wait, or ask another provider: sleuth search -p ID …": "请等待，或换一个搜索源：sleuth search -p ID …",
    "{provider} answered with a bot check instead of results": "{provider} 返回了人机验证，而不是搜索结果",
    "try later or ask another provider: sleuth search -p ID …": "请稍后再试，或换一个搜索源：sleuth search -p ID …",
    "{provider} did not answer in time": "{provider} 未在时限内响应",
    "check the network, or allow more time: --timeout 30": "请检查网络，或延长时限：--timeout 30",
    "{provider} cannot be reached": "无法连接 {provider}",
    "check the network and the address: sleuth providers show {id}": "请检查网络和地址：sleuth providers show {id}",
    "{provider} is unavailable": "{provider} 暂时不可用",
    "{provider} does not accept this request": "{provider} 不接受这个请求",
    "try other words or fewer options; --debug shows the exchange": "请换一些词或减少选项；--debug 显示往来内容",
    "{provider} sent an answer that cannot be read": "{provider} 的响应无法解析",
    "check the address: sleuth providers show {id}": "请检查地址：sleuth providers show {id}",
    "{provider} has nothing at this address": "{provider} 的这个地址下没有内容",
    "{provider} is turned off": "{provider} 已停用",
    "{provider} rests until {until} after trouble ({state})": "{provider} 出过问题（{state}），{until} 之前暂不使用",
    "{provider} was not asked: offline, and not in the cache": "未请求 {provider}：处于离线模式，且缓存中没有",
    "none of the engines of {provider} answered": "{provider} 的引擎都没有响应",
    "see what is wrong: sleuth doctor --verbose": "查看原因：sleuth doctor --verbose",
    "is it running? this finds out: sleuth doctor": "它在运行吗？用 sleuth doctor 查明",
    "{provider} does not allow JSON answers": "{provider} 没有启用 JSON 格式",
    "add `- json` under `search: formats:` in its settings.yml and restart it; to check everything: sleuth doctor": (
        "在它的 settings.yml 的 `search: formats:` 下加上 `- json` 并重启；全面检查：sleuth doctor"
    ),
    "{provider} asks for a user name and a password": "{provider} 要求用户名和密码",
    "on your own server set `server: limiter: false` or pass your address; see: sleuth doctor": (
        "如果是自己的服务器，请设置 `server: limiter: false` 或放行你的地址；参见：sleuth doctor"
    ),
    "is this address really a SearXNG server? check it: sleuth doctor": (
        "这个地址真的是 SearXNG 服务器吗？用 sleuth doctor 检查"
    ),
    "no provider is called {id!r}": "没有名为 {id!r} 的搜索源",
    "no provider is called {id!r}; did you mean {near}?": "没有名为 {id!r} 的搜索源；是否指 {near}？",
    "see which there are: sleuth providers list": "查看全部：sleuth providers list",
    "no provider is ready": "没有可用的搜索源",
    "see what they need: sleuth providers list": "查看各自需要什么：sleuth providers list",
    # searching
    "there is nothing to search for": "没有要搜索的内容",
    "say what: sleuth search rust async runtimes": "请写明要搜什么，例如：sleuth search 大语言模型 评测",
    "no results for {query!r}": "没有找到与 {query!r} 相关的结果",
    "{reasons}; {winner} answered instead": "{reasons}；改由 {winner} 回答",
    "{winner} was faster": "{winner} 更快",
    "{provider} cannot do this: {options}": "{provider} 不支持：{options}",
    "engines of {provider} that failed: {engines}": "{provider} 中失败的引擎：{engines}",
    "{shown} of {found} results": "{found} 条结果中的 {shown} 条",
    "cached {age} ago": "{age} 前缓存",
    "see also: {words}": "另见：{words}",
    "picture": "图片",
    "{count} results": "{count} 条结果",
    # settings and files
    "no such setting: {key}": "没有这个设置项：{key}",
    "no such setting: {key}; did you mean {near}?": "没有这个设置项：{key}；是否指 {near}？",
    "{key} cannot be {value!r}": "{key} 不能设为 {value!r}",
    "it takes {accepted}": "可接受的值：{accepted}",
    "{path} is not valid TOML: {reason}": "{path} 不是有效的 TOML：{reason}",
    "mend that line: sleuth config edit": "请修正该行：sleuth config edit",
    "{path}: good": "{path}：没有问题",
    "something unexpected went wrong ({kind})": "出现了意料之外的问题（{kind}）",
    "run it again with --debug and report it": "请加上 --debug 再运行一次并反馈",
    # the provider table
    "Ready": "可用",
    "Needs a key, to be had at": "需要密钥，可在此获取",
    "Needs an address": "需要地址",
    "Not available now": "暂不可用",
    "no key needed": "无需密钥",
    "key from {source}": "密钥来自 {source}",
    "limited without a key: {page}": "无密钥时用量有限：{page}",
    "yes": "是",
    "no": "否",
    "asking…": "请求中…",
}
