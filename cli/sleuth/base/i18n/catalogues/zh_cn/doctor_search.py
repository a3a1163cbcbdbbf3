"""The doctor searching: formats, limiter, engines, time."""

MESSAGES: dict[str, str] = {
    "the limiter answered first": "限流器先作出了响应",
    "only the search itself asks for a user name and a password": "只有搜索本身要求用户名和密码",
    "the search is redirected to {where}; sleuth does not follow": "搜索被重定向到 {where}；sleuth 不会跟随",
    "a page came instead of JSON: what stands in front drops `format=json`, or another program answers /search": (
        "返回的是网页而不是 JSON：前面的代理丢掉了 `format=json`，或 /search 由别的程序响应"
    ),
    "the server does not answer in time: it hangs, or all its threads wait for slow engines": (
        "服务器未在时限内响应：它卡住了，或所有线程都在等待慢速引擎"
    ),
    "the server fails when it is searched; its log has the reason": "搜索时服务器出错；原因见它的日志",
    "the search is refused by the server or by what stands in front of it": "搜索被服务器或它前面的代理拒绝",
    "# no change? look at the file with the container's eyes:": "# 没有变化？看看容器内实际的文件：",
    "`json` is not in `search.formats`: only html is there by default, and capital letters do not count": (
        "`json` 不在 `search.formats` 中：默认只有 html，且必须小写"
    ),
    "`json` is not in `search.formats`; on servers of other people that is on purpose, and sleuth does not try to "
    "get round it: run your own": (
        "`json` 不在 `search.formats` 中；别人的服务器往往是有意如此，sleuth 不会设法绕过：请自建实例"
    ),
    "# somebody else's server:": "# 别人的服务器：",
    "# your own server:": "# 自己的服务器：",
    "it is on, and so is link_token or public_instance": "限流器已开启，link_token 或 public_instance 也已开启",
    "it is on; this examination used one of the four JSON requests an hour that it allows an address": (
        "限流器已开启；它允许每个地址每小时四次 JSON 请求，本次检查用掉了一次"
    ),
    "{summary}: it does not tell": "{summary}：没有说明",
    "this version has none": "这个版本没有限流器",
    "off; one that is turned on is off in silence when valkey was missing at the start": (
        "已关闭；注意：若启动时缺少 valkey，即使开启了限流器也会静默失效"
    ),
    "{summary}, sent to the home page": "{summary}，被重定向到首页",
    "the address of this machine is listed in `block_ip` of the server's limiter.toml": (
        "本机地址在服务器 limiter.toml 的 `block_ip` 中"
    ),
    "the limiter takes sleuth for a bot, though its headers are good: a proxy in front changes or drops them": (
        "限流器把 sleuth 当成了爬虫，而请求头本身没有问题：前面的代理改动或丢掉了请求头"
    ),
    "a proxy or service in front of SearXNG limits how often it may be asked; wait, or change its rules": (
        "SearXNG 前面的代理或服务限制了请求频率；请等待，或修改它的规则"
    ),
    "the limiter allows four JSON requests an hour and address; addresses in `pass_ip` have no limit": (
        "限流器允许每个地址每小时四次 JSON 请求；`pass_ip` 中的地址不受限制"
    ),
    "# nobody else can reach the server? turn the limiter off:": "# 别人访问不到这台服务器？那就关闭限流器：",
    "# the environment wins over settings.yml:": "# 环境变量优先于 settings.yml：",
    "# or keep it, and let your own addresses pass:": "# 或保留限流器，放行自己的地址：",
    "# somebody else's server: respect its limit, or run your own:": "# 别人的服务器：请遵守它的限制，或自建实例：",
    "`link_token` or `public_instance` is on: it expects a browser, and sends programs to the home page for days": (
        "`link_token` 或 `public_instance` 已开启：它要求浏览器访问，会在几天内把程序的请求都重定向到首页"
    ),
    "the limiter is on and has lost its valkey (or redis) server, so that every search fails": (
        "限流器已开启，但连不上 valkey（或 redis）服务器，因此每次搜索都会失败"
    ),
    "# or do without the limiter:": "# 或不用限流器：",
    "{configured} configured, {enabled} enabled": "已配置 {configured} 个，已启用 {enabled} 个",
    "answered: ": "已响应：",
    "failed: ": "失败：",
    "not heard of: ": "没有消息：",
    "set in sleuth, but not configured there: ": "在 sleuth 中设置了，但服务器上没有配置：",
    "engines: {answered} answered, {failed} failed": "引擎：{answered} 个响应，{failed} 个失败",
    "sleuth asks for engines that this server does not have; SearXNG ignores such names in silence": (
        "sleuth 请求了这台服务器没有的引擎；SearXNG 会静默忽略这些名称"
    ),
    "engines that fail are left out of the results; why is told below, by cause": (
        "失败的引擎不会出现在结果中；原因见下文分类说明"
    ),
    " and {count} more": " 等，另有 {count} 个",
    "these engines take the server for a bot: too many automated searches, or an address of bad repute (data "
    "centre, VPN); a restart clears the suspension, but the block returns": (
        "这些引擎把服务器当成了爬虫：自动搜索太多，或 IP 信誉不好（数据中心、VPN）；重启可以解除暂停，但还会再被封"
    ),
    "# wait until the suspension ends and search less; or turn them off, and others on:": (
        "# 等暂停结束并减少搜索；或停用它们，改用其他引擎："
    ),
    "the server has no way out: no internet or no DNS in the container (VPN, firewall), or `outgoing.proxies` "
    "names a proxy that cannot be reached from there": (
        "服务器无法访问外网：容器内没有网络或 DNS（VPN、防火墙），或 `outgoing.proxies` 指定的代理从容器内连不上"
    ),
    "# 200 means that the network is fine:": "# 返回 200 说明网络正常：",
    "# with a proxy: does `outgoing: proxies:` in settings.yml work inside of the container?": (
        "# 使用代理时：settings.yml 中的 `outgoing: proxies:` 在容器内是否可用？"
    ),
    "the server cannot connect to these engines, though it can to others: they are down, or fail over IPv6 only": (
        "服务器连不上这些引擎，但能连上其他引擎：它们宕机了，或只在 IPv6 上失败"
    ),
    "these engines did not answer within their own time limit; the whole search waits for the slowest": (
        "这些引擎没有在各自的时限内响应；整个搜索要等最慢的那个"
    ),
    "# allow them more time, or turn them off:": "# 给它们更多时间，或停用它们：",
    "a network that inspects TLS signs with an authority the container does not know, or its clock is wrong": (
        "网络中有 TLS 审查，其证书颁发机构不被容器信任；或容器的时钟有误"
    ),
    "`outgoing.proxies` names a proxy that fails, or that is `localhost`, which is the container itself": (
        "`outgoing.proxies` 指定的代理出错，或写的是 `localhost`，而那是容器自己"
    ),
    "these engines answer, but not as this version of SearXNG expects: they changed, or have trouble of their own": (
        "这些引擎有响应，但不符合这个版本 SearXNG 的预期：它们有变动，或自身出了问题"
    ),
    "# still broken? turn them off:": "# 仍然不行？停用它们：",
    "{engine}: {text}, suspended until {until} at the latest": "{engine}：{text}，最迟 {until} 解除暂停",
    "{engine}: {text}, suspended until {until}": "{engine}：{text}，暂停至 {until}",
    "no results, though {count} engines answered: not a fault": "没有结果，但有 {count} 个引擎响应：不是故障",
    "no results: {count} engines failed, none answered": "没有结果：{count} 个引擎失败，没有引擎响应",
    "no engine answered; why is told below, by cause": "没有引擎响应；原因见下文分类说明",
    "no results, and no engine was asked": "没有结果，也没有请求任何引擎",
    "the answer is not the JSON of a search: something in front of the server changes it": (
        "返回的不是搜索结果 JSON：服务器前面有程序改动了它"
    ),
    "no engine is enabled for general searches: {configured} are configured, {enabled} enabled": (
        "常规搜索没有启用任何引擎：已配置 {configured} 个，已启用 {enabled} 个"
    ),
    "searx says nothing of engines that are suspended: they failed before, and come back by themselves": (
        "searx 不会报告被暂停的引擎：它们之前失败过，之后会自行恢复"
    ),
    "the engines were lost when the server started, most often for want of a network; a restart brings them back": (
        "引擎在服务器启动时没有加载成功，多半是因为没有网络；重启即可恢复"
    ),
    "no answer within {seconds} s; sleuth waits {limit} s": "{seconds} 秒内没有响应；sleuth 最多等 {limit} 秒",
    "there was no search to measure": "没有可供计时的搜索",
    "{seconds} s of {limit} s": "{seconds} 秒，上限 {limit} 秒",
    ", slowest engine: {name} with {ms} ms": "，最慢的引擎：{name}，{ms} 毫秒",
    "a search lasts as long as its slowest engine, and sleuth gives up after {limit} s": (
        "搜索耗时取决于最慢的引擎，而 sleuth 在 {limit} 秒后放弃"
    ),
    "# or let SearXNG wait less:": "# 或让 SearXNG 少等一会儿：",
    "JSON format": "JSON 格式",
    "limiter": "限流器",
    "search": "搜索",
    "engines": "引擎",
    "response time": "响应时间",
    "engines that block the server": "封锁了服务器的引擎",
    "engines out of reach": "连不上的引擎",
    "slow engines": "慢速引擎",
    "engines whose certificate is not trusted": "证书不受信任的引擎",
    "engines behind a proxy": "代理出错的引擎",
    "engines that do not work": "不能工作的引擎",
}
