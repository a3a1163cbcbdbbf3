"""Providers: what goes wrong with them, their keys, their table."""

MESSAGES: dict[str, str] = {
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
    "the plug-in behind {id!r} is broken ({reason})": "{id!r} 所用的插件已损坏（{reason}）",
    "update or uninstall its package": "请更新或卸载它的软件包",
    "{id!r} needs the adapter {adapter!r}, which is not installed": "{id!r} 需要适配器 {adapter!r}，但没有安装",
    "install the package it came with, or: sleuth providers remove {id}": (
        "请安装它所属的软件包，或：sleuth providers remove {id}"
    ),
    "the plug-in {name!r} is broken ({reason})": "插件 {name!r} 已损坏（{reason}）",
    "nothing was said to change": "没有指定要修改的内容",
    "see: sleuth providers set --help": "参见：sleuth providers set --help",
    "{id}: changed {fields}": "{id}：已修改 {fields}",
    "{id} is the default now": "{id} 现在是默认搜索源",
    "a provider of your own needs an address": "自定义搜索源需要一个地址",
    "{id} was added; try it: sleuth providers test {id}": "已添加 {id}；试一试：sleuth providers test {id}",
    "{id} was removed": "已移除 {id}",
    "{id!r} is your own, there is nothing to go back to": "{id!r} 是你自己添加的，没有可恢复的默认值",
    "{id} is as it came": "{id} 已恢复默认",
    "a secret on the command line stays in the shell's history; use - instead": (
        "写在命令行中的密钥会留在 shell 历史里；请改用 -"
    ),
    "{text!r} is not name=value": "{text!r} 不是 name=value 的形式",
    "write it like --option weight=2": "写法示例：--option weight=2",
    "the command for a key failed: {command}": "获取密钥的命令失败：{command}",
    "run it by hand to see why; it must print the key and nothing else": (
        "请手动运行查看原因；它只能输出密钥，不能有其他内容"
    ),
    "keys from the system keyring need an optional part": "从系统密钥环读取密钥需要一个可选组件",
    "the system keyring did not give the key {name!r}": "系统密钥环没有给出密钥 {name!r}",
    "unlock it, or see: keyring diagnose": "请解锁密钥环，或参见：keyring diagnose",
    "{id!r} cannot be an id": "{id!r} 不能用作 id",
    "use letters, digits and -": "请使用字母、数字和 -",
    "there is a provider called {id!r} already": "已有名为 {id!r} 的搜索源",
    "change it: sleuth providers set {id} …": "修改它：sleuth providers set {id} …",
    "{id!r} is built in and stays": "{id!r} 是内置的，不能移除",
    "turn it off: sleuth providers set {id} --disable": "停用它：sleuth providers set {id} --disable",
    "a provider has no field {name!r}": "搜索源没有 {name!r} 这个字段",
    "{name} must be plain text": "{name} 必须是纯文本",
    "leave out line breaks and control characters": "请去掉换行和控制字符",
    "{name} cannot be empty": "{name} 不能为空",
    "give it a value": "请给它一个值",
    "a provider's type cannot be {value!r}": "搜索源的类型不能是 {value!r}",
    "it is api or local": "应为 api 或 local",
    "{name} cannot be {value!r}": "{name} 不能是 {value!r}",
    "it is true or false": "应为 true 或 false",
    "engines are names, options are k=v": "engines 是名称，options 的形式是 k=v",
    "{value!r} is not an http(s) address": "{value!r} 不是 http(s) 地址",
    "write it like https://host:port": "写法示例：https://host:port",
    "an address must not carry a password": "地址中不能包含密码",
    "use --basic-auth-username and --basic-auth-password -": "请使用 --basic-auth-username 和 --basic-auth-password -",
    "{value!r} has no %s for the query": "{value!r} 中没有代表查询词的 %s",
    "write it like https://host/search?q=%s": "写法示例：https://host/search?q=%s",
    "; engines that failed: {engines}": "；失败的引擎：{engines}",
    "without page text from LLM context: sleuth providers set {id} --option content=snippets": (
        "不从 LLM context 取页面文本：sleuth providers set {id} --option content=snippets"
    ),
    "{provider} is set to use a browser, and none can be driven": "{provider} 设为使用浏览器，但没有可驱动的浏览器",
    "pip install 'sleuth[browser]' and install Chromium, or: sleuth providers set {id} --no-using-browser": (
        "pip install 'sleuth[browser]' 并安装 Chromium，或：sleuth providers set {id} --no-using-browser"
    ),
    "try later, or use a key of your own: sleuth providers set {id} --api-key -": (
        "请稍后再试，或使用自己的密钥：sleuth providers set {id} --api-key -"
    ),
    "set it: sleuth providers set {id} --option cx=ID, or GOOGLE_CSE_ID": (
        "设置它：sleuth providers set {id} --option cx=ID，或 GOOGLE_CSE_ID"
    ),
    "{provider} needs the id of a search engine": "{provider} 需要搜索引擎 ID",
    "check the search engine id: sleuth providers set {id} --option cx=ID": (
        "请检查搜索引擎 ID：sleuth providers set {id} --option cx=ID"
    ),
    "enable the Custom Search API for this key's project; Google takes no new customers for it": (
        "请为该密钥所属的项目启用 Custom Search API；Google 已不再接受新用户"
    ),
    "let a browser read the page: sleuth providers set {id} --using-browser": (
        "让浏览器读取页面：sleuth providers set {id} --using-browser"
    ),
    "see: sleuth providers show {id}": "参见：sleuth providers show {id}",
    "the option {name} cannot be {value!r}": "选项 {name} 不能是 {value!r}",
    "it is a number from {low} to {high}": "应为 {low} 到 {high} 之间的数字",
}
