"""The cache and the limits that machines share."""

MESSAGES: dict[str, str] = {
    "The shared cache": "共享缓存",
    "the server that cache.url names": "cache.url 指向的服务器",
    "the shared cache at {host} does not answer ({why}); this machine's own cache serves": (
        "共享缓存 {host} 没有响应（{why}）；改用本机缓存"
    ),
    "; this machine's own cache serves": "；改用本机缓存",
    "there is no address for cache.url in {where}": "{where} 中没有 cache.url 的地址",
    "put it there, or set another one: sleuth config set cache.url -": (
        "请在那里写上地址，或另设一个：sleuth config set cache.url -"
    ),
    "cache.url is no address of a Redis or Valkey server": "cache.url 不是 Redis 或 Valkey 服务器的地址",
    "write it like redis://user:password@host:6379/0, with %2F for / in a password, %40 for @ and so on": (
        "请写成 redis://user:password@host:6379/0 的形式；密码中的 / 写作 %2F，@ 写作 %40，依此类推"
    ),
    "{answers} answers and {pages} pages in the shared cache {address} ({kind}, {latencyMs} ms)": (
        "共享缓存 {address} 中有 {answers} 条结果、{pages} 个网页（{kind}，{latencyMs} 毫秒）"
    ),
    "the shared server holds so much that there was no time to look at all of it": (
        "共享服务器中的内容太多，限时内没能全部查看"
    ),
    "{answers} answers and {pages} pages thrown away in the shared cache {address}, for all machines": (
        "已为所有机器清除共享缓存 {address} 中的 {answers} 条结果和 {pages} 个网页"
    ),
    "what answers there is no Redis or Valkey": "那里响应的不是 Redis 或 Valkey",
    "no answer in time": "没有及时响应",
    "no such host": "没有这个主机",
    "connection refused": "拒绝连接",
    "there is no such socket": "没有这个套接字",
    "bad certificate: {detail}": "证书有问题：{detail}",
    "it does not speak TLS": "对方不使用 TLS",
    "it closed the connection": "对方关闭了连接",
    "it wants a password": "需要密码",
    "it rejects the name or the password": "用户名或密码被拒绝",
    "this user may not do there what sleuth does": "该用户没有 sleuth 所需的权限",
    "it is a replica that can only be read": "它是只读副本",
    "its memory is full": "内存已满",
    "it is still loading its data": "仍在加载数据",
    "it takes no writes now": "目前不接受写入",
    "it answers to its own machine alone": "只响应它所在的机器",
    "it is part of a cluster, and sleuth knows single servers only": "它属于集群，而 sleuth 只支持单台服务器",
    "it takes no more connections": "不再接受更多连接",
    "it has no database of that number": "没有这个编号的数据库",
    "it answers with the error {code}": "返回错误 {code}",
    "{address}: {software} {version}, {latency} ms": "{address}：{software} {version}，{latency} 毫秒",
    "its address is kept elsewhere ({where}) and not fetched here": "地址存放在别处（{where}），此处不读取",
    "(version not told)": "（未告知版本）",
    "when its memory is full it takes nothing more; a cache should rather forget what is old": (
        "内存满后它不再接受任何内容；缓存应当淘汰旧条目"
    ),
    "it is far away or busy: a search asks it four times or more, and waits each time": (
        "它距离远或负载高：一次搜索要询问它四次以上，每次都要等待"
    ),
    "this version is older than any that sleuth is tried with": "这个版本比 sleuth 测试过的都旧",
    "no server listens at this socket, or it may not be opened by you": "没有服务器监听这个套接字，或你无权打开它",
    "the name is misspelt, or cannot be looked up from here": "主机名拼写有误，或在这里无法解析",
    "no server listens there; one that was just installed listens to its own machine alone (bind)": (
        "那里没有服务器在监听；刚安装的服务器只监听本机（bind）"
    ),
    "a firewall swallows the connection, or the server hangs or is overloaded": (
        "防火墙丢弃了连接，或服务器卡住、负载过高"
    ),
    "this machine does not trust the certificate of the server": "本机不信任服务器的证书",
    "this port speaks no TLS: write redis:// for rediss://": "这个端口不使用 TLS：请把 rediss:// 改为 redis://",
    "the server hangs, a firewall swallows the connection, or this port speaks no TLS": (
        "服务器卡住、防火墙丢弃了连接，或这个端口不使用 TLS"
    ),
    "it hangs up: another program has this port, or it speaks TLS, then write rediss:// for redis://": (
        "对方挂断了连接：端口被另一个程序占用，或者它使用 TLS，那就请把 redis:// 改为 rediss://"
    ),
    "the number at the end of the address is too high: most servers have the databases 0 to 15": (
        "地址末尾的编号太大：多数服务器只有 0 到 15 号数据库"
    ),
    "another program has this port": "这个端口被另一个程序占用",
    "there is no way to it from here": "从这里无法到达它",
    "write the address with name and password, such as redis://name:password@host:6379/0": (
        "请在地址中写明用户名和密码，例如 redis://name:password@host:6379/0"
    ),
    "an administrator of the server can allow this user what sleuth needs": (
        "服务器管理员可以授予该用户 sleuth 所需的权限"
    ),
    "this is a copy of another server: write the address of that one": "这是另一台服务器的副本：请写那一台的地址",
    "its memory is full, and it is not allowed to forget anything": "内存已满，而它又不允许淘汰任何内容",
    "it cannot write its own file, so it takes nothing: its disk may be full": (
        "它无法写入自己的文件，因此不接受写入：磁盘可能已满"
    ),
    "it is starting, or waits for other servers: look again in a moment": "它正在启动，或在等待其他服务器：请稍后再看",
    "it has no password and is therefore closed to other machines: give it one, or a bind address": (
        "它没有密码，因此不对其他机器开放：请设置密码，或指定 bind 地址"
    ),
    "its administrator or its log can tell more": "它的管理员或日志能提供更多信息",
}
