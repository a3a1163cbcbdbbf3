"""The doctor reading settings.yml."""

MESSAGES: dict[str, str] = {
    "# correct this line, then:": "# 改正这一行，然后：",
    "use_default_settings knows engines alone; {key} is ignored": "use_default_settings 只认 engines；{key} 会被忽略",
    "it takes keep_only or remove, each with a list; anything else stops the server": (
        "它接受 keep_only 或 remove，各为一个列表；其他写法会使服务器停止"
    ),
    "{key} takes a list of names": "{key} 接受名称列表",
    "engines takes a list, each engine behind a dash; anything else stops the server": (
        "engines 接受列表，每个引擎前加短横线；其他写法会使服务器停止"
    ),
    "an engine is a mapping with a name; anything else stops the server": (
        "引擎是带 name 的映射；其他写法会使服务器停止"
    ),
    "an engine without a name stops the server": "没有 name 的引擎会使服务器停止",
    "YAML does not read this name as text, and the server exits: put it in quotes": (
        "YAML 不会把这个名称当作文本，服务器会退出：请加引号"
    ),
    "an engine with _ in its name is left out": "名称中含 _ 的引擎会被忽略",
    "categories takes a list; anything else stops the server": "categories 接受列表；其他写法会使服务器停止",
    "timeout takes a number without quotes; anything else stops the server": (
        "timeout 接受不带引号的数字；其他写法会使服务器停止"
    ),
    "{key} takes true or false without quotes; any text means true": (
        "{key} 接受不带引号的 true 或 false；任何文本都会被当作 true"
    ),
    "it lacks engine: and is none of those that are kept, so the server leaves it out": (
        "缺少 engine:，又不在保留的引擎之中，所以服务器会忽略它"
    ),
    "two engines have this name (the other: line {line}), and the server exits": (
        "有两个引擎同名（另一个在第 {line} 行），服务器会退出"
    ),
    "this engine is in line {line} already; what stands here counts": "这个引擎在第 {line} 行已有；以此处为准",
    "the engine in line {line} has the same shortcut, and the server exits": (
        "第 {line} 行的引擎使用了相同的 shortcut，服务器会退出"
    ),
    "the engine {owner} has this shortcut, and two with the same stop the server": (
        "引擎 {owner} 已使用这个 shortcut，两者相同会使服务器停止"
    ),
    "no engine is enabled: every search is answered with an empty list": "没有启用任何引擎：每次搜索都只会返回空列表",
    "{names}: kept, but turned off by default": "{names}：已保留，但默认停用",
    "the settings file can be read": "设置文件可以读取",
    "the settings are YAML": "设置是 YAML",
    "the default settings are used": "使用默认设置",
    "JSON is among the formats": "格式中包含 JSON",
    "the secret key is your own": "密钥是你自己的",
    "the limiter lets programs pass": "限流器放行程序",
    "the rules of public instances are off": "公共实例的规则已关闭",
    "the address of valkey": "valkey 的地址",
    "address and port to listen on": "监听的地址和端口",
    "the base address": "基础地址",
    "proxies for engines": "引擎使用的代理",
    "engines are there and enabled": "引擎存在且已启用",
    "every value has its type": "每个值的类型正确",
    "every name is known": "每个名称都认识",
    "the compose file can be read": "compose 文件可以读取",
    "the compose file runs SearXNG": "compose 文件运行 SearXNG",
    "the published port": "发布的端口",
    "the mounted settings": "挂载的设置",
    "the environment file is there": "环境变量文件存在",
    "what the container may do": "容器的权限",
    "it comes back after a restart of the machine": "机器重启后自动恢复",
    "the health check": "健康检查",
    "the environment file can be read": "环境变量文件可以读取",
    "variables of the container": "容器的环境变量",
    "limiter.toml is understood": "limiter.toml 可以理解",
    "link_token is off": "link_token 已关闭",
    "addresses in limiter.toml": "limiter.toml 中的地址",
    "redis.url is deprecated and will go; the setting is called valkey.url now": (
        "redis.url 已弃用，将被移除；现在的设置项是 valkey.url"
    ),
    "if SearXNG runs in a container, localhost is the container itself; name the valkey container then": (
        "如果 SearXNG 运行在容器中，localhost 就是容器自己；这时请写 valkey 容器的名称"
    ),
    "inside the container localhost is the container itself, where no valkey runs": (
        "在容器内 localhost 就是容器自己，那里没有 valkey"
    ),
    "the container does not read this; it listens on GRANIAN_HOST and GRANIAN_PORT (8080)": (
        "容器不读取这一项；它监听 GRANIAN_HOST 和 GRANIAN_PORT（8080）"
    ),
    "a port is a number from 1 to 65535": "端口是 1 到 65535 之间的数字",
    "without a container the server is open to the whole network; in a container this has no effect": (
        "不用容器时，服务器对整个网络开放；在容器中这一项不起作用"
    ),
    "without http:// or https:// the start page answers 500": "没有 http:// 或 https:// 时，首页会返回 500",
    "it names no host, or its port is no number": "没有主机名，或端口不是数字",
    "it must not end in /search: the server would look for /search/search": (
        "不能以 /search 结尾：服务器会去找 /search/search"
    ),
    "a query has no place in it": "其中不能有查询参数",
    "{host} is an address to listen on, not one to visit": "{host} 是监听地址，不能用来访问",
    "its path should end in a slash: older versions cut off the last part otherwise": (
        "路径应以斜杠结尾：否则旧版本会截掉最后一段"
    ),
    "a proxy is written with its scheme, such as http:// or socks5h://": "代理要写明协议，例如 http:// 或 socks5h://",
    "inside the container localhost is the container itself, where no proxy runs: every engine will fail": (
        "在容器内 localhost 就是容器自己，那里没有代理：所有引擎都会失败"
    ),
    "if SearXNG runs in a container, localhost is the container itself": (
        "如果 SearXNG 运行在容器中，localhost 就是容器自己"
    ),
    "use_default_settings takes true or a mapping; anything else stops the server": (
        "use_default_settings 接受 true 或映射；其他写法会使服务器停止"
    ),
    "the file stands alone: engines and settings of newer versions do not reach it": (
        "这个文件独立生效：新版本的引擎和设置不会出现在其中"
    ),
    "without this line SearXNG takes the file for the complete settings and answers 500 to everything": (
        "没有这一行，SearXNG 会把该文件当作完整设置，对所有请求返回 500"
    ),
    "use_default_settings is missing": "缺少 use_default_settings",
    "json is not in search.formats, so every program gets 403 Forbidden": (
        "json 不在 search.formats 中，所以程序都会得到 403 Forbidden"
    ),
    "search.formats is missing: every format is allowed": "缺少 search.formats：允许所有格式",
    "search.formats is missing: HTML alone is allowed": "缺少 search.formats：只允许 HTML",
    "search.formats must be a list; anything else stops the server": (
        "search.formats 必须是列表；其他写法会使服务器停止"
    ),
    "formats are written in lower case: SearXNG does not know {word}": "格式要小写：SearXNG 不认识 {word}",
    "without a key of its own SearXNG refuses to start (server.secret_key is not changed)": (
        "没有自己的密钥时 SearXNG 拒绝启动（server.secret_key is not changed）"
    ),
    "server.secret_key is missing": "缺少 server.secret_key",
    "the key must be text: put it in quotes; anything else stops the server": (
        "密钥必须是文本：请加引号；其他写法会使服务器停止"
    ),
    "taken from the shell when the container is made; not checked": "创建容器时取自 shell；未检查",
    "limiter takes true or false without quotes; anything else stops the server": (
        "limiter 接受不带引号的 true 或 false；其他写法会使服务器停止"
    ),
    "off, as by default": "已关闭，与默认一致",
    "the limiter allows four JSON requests an hour and address; a private server does without it": (
        "限流器允许每个地址每小时四次 JSON 请求；私有服务器用不着它"
    ),
    "# or keep it, and:": "# 或保留它，并：",
    "the limiter needs valkey; without it SearXNG leaves the limiter off and says so in the log alone": (
        "限流器需要 valkey；没有它时 SearXNG 会关闭限流器，且只在日志中说明"
    ),
    "public_instance takes true or false without quotes; anything else stops the server": (
        "public_instance 接受不带引号的 true 或 false；其他写法会使服务器停止"
    ),
    "it forces the limiter and link_token: after a few requests programs are sent to the home page": (
        "它会强制开启限流器和 link_token：几次请求之后，程序就会被重定向到首页"
    ),
    "{count} lines": "{count} 行",
    "see: sleuth doctor --settings {path}": "参见：sleuth doctor --settings {path}",
    "it is not UTF-8": "不是 UTF-8 编码",
    "check the name": "请检查文件名",
    "a tab stands where only spaces may": "只能用空格的地方出现了制表符",
    "it is a folder: Docker made it because the file was missing when it was mounted": (
        "这是一个目录：挂载时文件不存在，于是 Docker 创建了它"
    ),
    "# write the file, mount the folder around it, then:": "# 写好文件，挂载它所在的目录，然后：",
    "a folder": "一个目录",
    "sleuth cannot read it": "sleuth 无法读取它",
    "the server exits when settings.yml is not YAML": "settings.yml 不是 YAML 时服务器会退出",
    "YAML is indented with spaces; the server exits at a tab": "YAML 用空格缩进；遇到制表符服务器会退出",
    "# correct line {line}, then:": "# 改正第 {line} 行，然后：",
    "the file must hold names with values, such as use_default_settings: true; the server exits otherwise": (
        "文件应由名称和值组成，例如 use_default_settings: true；否则服务器会退出"
    ),
    "the section is empty, which stops the server: remove it, or give it a value": (
        "这一节是空的，会使服务器停止：请删除它，或给它一个值"
    ),
    "the section must hold keys with values; anything else stops the server": (
        "这一节应由键和值组成；其他写法会使服务器停止"
    ),
    "{name} takes {accepted}; anything else stops the server": "{name} 可接受的值：{accepted}；其他写法会使服务器停止",
    "{section} knows no {key}, and the server exits at it": "{section} 中没有 {key} 这一项，服务器遇到它会退出",
    "{key} is no longer read; see {new}": "{key} 已不再读取；参见 {new}",
    "{key} belongs under {section}: here it has no effect": "{key} 应放在 {section} 之下：放在这里不起作用",
    "SearXNG knows no {key}; did you mean {near}?": "SearXNG 不认识 {key}；是否指 {near}？",
    "SearXNG knows no {key} and ignores it": "SearXNG 不认识 {key}，会忽略它",
    "{section} knows no {key}; did you mean {near}?": "{section} 中没有 {key} 这一项；是否指 {near}？",
    "{key} stands again in line {line}, and that one counts": "{key} 在第 {line} 行再次出现，以那一行为准",
    "# join the two, then:": "# 把两处合并，然后：",
    "# in settings.yml, in the folder mounted at /etc/searxng:": (
        "# 写入 settings.yml，位于挂载到 /etc/searxng 的目录："
    ),
    "# in limiter.toml, beside settings.yml:": "# 写入 limiter.toml，与 settings.yml 放在一起：",
    "# in docker-compose.yml, at the service:": "# 写入 docker-compose.yml，位于该服务下：",
    "it is larger than {size} characters": "超过 {size} 个字符",
    "it is nested too deep": "嵌套太深",
    "a control character is not allowed": "不允许出现控制字符",
    "a key stands where none may: a wrong indent, or a missing blank or quote before it": (
        "此处不能有键：缩进有误，或前面缺少空格或引号"
    ),
    "a colon, or the blank after it, is missing": "缺少冒号，或冒号后缺少空格",
    "the indent fits no line above it": "缩进与上面任何一行都对不上",
    "the tag {tag} is not understood": "无法理解标签 {tag}",
    "a key must be a word, not a list or a mapping": "键必须是单词，不能是列表或映射",
    "true or false": "true 或 false",
    "nothing": "空",
    "text": "文本",
    "a whole number": "整数",
    "a number": "数字",
    "a list": "列表",
    "a mapping": "映射",
}
