"""The doctor's report, and what it finds in this installation."""

MESSAGES: dict[str, str] = {
    "--fix needs a file to mend": "--fix 需要指定要修复的文件",
    "no check begins with {only!r}": "没有以 {only!r} 开头的检查项",
    "see their names: sleuth doctor --json": "查看检查项名称：sleuth doctor --json",
    "there is nothing in {path} that sleuth can mend": "{path} 中没有 sleuth 能修复的问题",
    "written: {target}; to use it:": "已写入：{target}；让它生效：",
    "it is turned off: sleuth providers set searxng --enable": "已停用；启用：sleuth providers set searxng --enable",
    "wrote {path}": "已写入 {path}",
    "on its first start the container takes the folder core-config as its own (uid 977): edit with sudo then": (
        "容器首次启动时会把 core-config 目录的属主改为自己（uid 977）：之后请用 sudo 编辑"
    ),
    "# start": "# 启动",
    "# verify: the good answer is {answer}": "# 验证：正常时返回 {answer}",
    "# restart, after a change of core-config/settings.yml": "# 修改 core-config/settings.yml 后重启",
    "# after a change of .env or docker-compose.yml": "# 修改 .env 或 docker-compose.yml 后",
    "the database with the keys cannot be used": "存放密钥的数据库无法使用",
    "a key is to come from the keyring, but the part that reads it is not installed": (
        "有密钥要从系统密钥环读取，但负责读取的可选组件没有安装"
    ),
    "they are in use and need a key; until then others are asked, or nobody": (
        "这些搜索源已启用但缺少密钥；在此之前会改用其他搜索源，或无搜索源可用"
    ),
    "no key: {names}": "没有密钥：{names}",
    "none is needed by {names}": "{names} 无需密钥",
    "none is set up; answers are put together without one": "没有配置模型；不用模型也能整理答案",
    "its key is kept elsewhere ({where}) and not fetched here": "密钥存放在别处（{where}），此处不读取",
    "the variable that should hold the key is empty": "应存放密钥的变量为空",
    "the key would travel unencrypted to another machine; it was not sent": "密钥会以明文发往另一台机器；因此没有发送",
    "the endpoint does not list the model {model}": "端点的模型列表中没有 {model}",
    "the endpoint rejects the key": "端点拒绝了密钥",
    "the endpoint wants a key": "端点需要密钥",
    "something answers, but not with a list of models: is the address complete, with /v1 at the end?": (
        "有响应，但不是模型列表：地址是否完整，以 /v1 结尾？"
    ),
    "the endpoint does not answer: check the address, the network, or start the program there": (
        "端点没有响应：请检查地址和网络，或启动对应的程序"
    ),
    "sleuth and Python": "sleuth 与 Python",
    "optional parts": "可选组件",
    "the settings of sleuth": "sleuth 的设置",
    "the database": "数据库",
    "private files": "私有文件",
    "the cache of answers": "结果缓存",
    "the library and its handbook": "资料库与内置手册",
    "keys of the providers in use": "所用搜索源的密钥",
    "proxies": "代理",
    "certificates": "证书",
    "the terminal": "终端",
    "characters": "字符编码",
    "the model": "模型",
    "the check itself went wrong ({kind}); see the log": "检查本身出错（{kind}）；详见日志",
    "sleuth {version}, Python {python}, SQLite {sqlite}, {system}": (
        "sleuth {version}，Python {python}，SQLite {sqlite}，{system}"
    ),
    "sleuth needs Python {wanted} or newer": "sleuth 需要 Python {wanted} 或更新版本",
    "{name}: installed": "{name}：已安装",
    "{name}: not installed": "{name}：未安装",
    "fetch.browser is on, but the part that runs a browser is not installed": (
        "fetch.browser 已开启，但运行浏览器的可选组件没有安装"
    ),
    "nothing of the file is used while it cannot be read": "无法读取期间，文件中的内容都不会使用",
    "the default is used in its place": "改用默认值",
    "{path}: not there, so the defaults hold": "{path}：不存在，因此使用默认值",
    "it is made at the first search": "首次搜索时会创建",
    "{path}: version {version}, this sleuth knows {known}": "{path}：版本 {version}，当前 sleuth 支持到 {known}",
    "it was made by a newer sleuth, and is left alone": "它由更新版本的 sleuth 创建，不会改动",
    "{path}: whole, version {version}, {size} bytes": "{path}：完好，版本 {version}，{size} 字节",
    "nothing can be written in {folder}": "{folder} 中无法写入",
    "another process keeps it locked": "被另一个进程锁定",
    "it cannot be read: it may belong to another user, often after a run with sudo": (
        "无法读取：可能属于另一个用户，常见于用 sudo 运行过之后"
    ),
    "the file is damaged; set it aside, and the next command makes a new one. Older copies end in .v1, .v2 …": (
        "文件已损坏；把它移走，下一个命令会新建。旧副本以 .v1、.v2 … 结尾"
    ),
    "permissions are looked at on Unix alone": "仅在 Unix 上检查权限",
    "they belong to another user, often after a run with sudo": "它们属于另一个用户，常见于用 sudo 运行过之后",
    "other users of this machine can read them, and keys may be inside": "本机其他用户可以读取它们，其中可能有密钥",
    "there are no files yet": "还没有文件",
    "{folders} folders and {files} files are yours alone": "{folders} 个目录和 {files} 个文件仅你可以访问",
    "turned off: cache.ttl_minutes is 0": "已关闭：cache.ttl_minutes 为 0",
    "a cache that cannot be read is not used; clearing it is always safe": "无法读取的缓存不会使用；清空缓存总是安全的",
    "entries that are not plain text; sleuth refuses to read them, and did not write them": (
        "有些条目不是纯文本；sleuth 拒绝读取，它们也不是 sleuth 写入的"
    ),
    "{path}: {foreign} of {count} entries": "{path}：{count} 条中有 {foreign} 条",
    "answers cannot be kept there; searches work without": "结果无法保存在那里；不影响搜索",
    "{path}: {count} answers, text alone": "{path}：{count} 条结果，均为纯文本",
    "this SQLite was built without full-text search (FTS5), which the library needs": (
        "这个 SQLite 编译时没有包含全文搜索（FTS5），而资料库需要它"
    ),
    "the handbook is missing from this installation": "安装中缺少内置手册",
    "it is made when first searched": "首次使用时会创建",
    "empty": "空",
    "no variable names a proxy; requests go directly": "没有变量指定代理；请求直连",
    "loopback addresses are asked directly all the same": "环回地址仍然直连",
    "this is no address of a proxy": "这不是代理地址",
    "this is no address of a proxy: it begins with http://, https:// or socks5://": (
        "这不是代理地址：应以 http://、https:// 或 socks5:// 开头"
    ),
    "the proxy does not accept connections ({reason}): every request through it will fail": (
        "代理不接受连接（{reason}）：经由它的请求都会失败"
    ),
    "file": "文件",
    "folder": "目录",
    "there is no such {what}; every https request fails": "没有这个{what}；所有 https 请求都会失败",
    "the file holds no certificates in PEM form; every https request fails": (
        "文件中没有 PEM 格式的证书；所有 https 请求都会失败"
    ),
    "sleuth does not read this variable; it reads SSL_CERT_FILE": "sleuth 不读取这个变量；它读取 SSL_CERT_FILE",
    "no variable names certificates; the system's are used": "没有变量指定证书；使用系统证书",
    "the output goes to no terminal: plain text, no colours": "输出不到终端：纯文本，无颜色",
    "links can be clicked where the terminal knows them": "在支持的终端中可以点击链接",
    "no links": "无链接",
    "{width} columns, colours: {colors}, {links}": "{width} 列，颜色：{colors}，{links}",
    "the lines will be very short": "每行会很短",
    "none, because NO_COLOR is set": "无，因为设置了 NO_COLOR",
    "none, because TERM is {term}": "无，因为 TERM 为 {term}",
    "not set": "未设置",
    "none": "无",
    "no locale is set": "没有设置 locale",
    "{locale}, output in {encoding}": "{locale}，输出编码 {encoding}",
    "this encoding has no Chinese, Japanese or Korean: such text is shown as question marks": (
        "这种编码不含中文、日文或韩文：这些文字会显示为问号"
    ),
    "the locale is not UTF-8: the terminal may garble Chinese, Japanese and Korean text": (
        "locale 不是 UTF-8：终端可能会把中文、日文和韩文显示为乱码"
    ),
    "This installation": "本机安装",
    "{count} good": "{count} 项正常",
    "{count} to look at": "{count} 项需留意",
    "{count} failed": "{count} 项失败",
    "{count} not checked": "{count} 项未检查",
    "examining…": "检查中…",
    "  handbook: {link}": "  手册：{link}",
    "nothing was checked": "没有进行任何检查",
}
