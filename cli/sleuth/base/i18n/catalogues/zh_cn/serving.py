"""The HTTP API: sleuth serve."""

MESSAGES: dict[str, str] = {
    "serving {address}; the token is in {place}": "正在 {address} 提供服务；令牌在 {place}",
    "serving HTTP needs an optional part": "提供 HTTP 服务需要一个可选组件",
    "install it: pip install 'sleuth[serve]'": "请安装：pip install 'sleuth[serve]'",
    "cannot listen on {host} port {port} ({reason})": "无法监听 {host} 的端口 {port}（{reason}）",
    "choose another port; 0 takes a free one: sleuth serve --port 0": (
        "请换一个端口；0 表示任选空闲端口：sleuth serve --port 0"
    ),
    "{host!r} is not an address of this machine": "{host!r} 不是本机的地址",
    "leave --host out to listen on 127.0.0.1": "去掉 --host 即监听 127.0.0.1",
    "{host} can be reached from other machines, and what is sent is not encrypted": (
        "其他机器可以访问 {host}，而且传输内容没有加密"
    ),
    "leave --host out, or say --allow-remote if you mean it": "请去掉 --host；如果确实需要，请加上 --allow-remote",
    "whoever can reach {address} can try tokens, and read what is sent": (
        "能够访问 {address} 的人都可以尝试令牌，并看到传输的内容"
    ),
    "{name!r} is not a host": "{name!r} 不是主机名",
    "write it like search.example.org or host:8443": "写法如 search.example.org 或 host:8443",
    "{origin!r} is not an origin": "{origin!r} 不是来源（origin）",
    "write it like https://app.example.org": "写法如 https://app.example.org",
    "the token in {place} cannot be used": "{place} 中的令牌无法使用",
    "it has 16 to 500 letters, digits and -._~+/=; without it sleuth makes one": (
        "令牌由 16 到 500 个字母、数字和 -._~+/= 组成；不提供时 sleuth 会生成一个"
    ),
    "others on this machine can read {path}: chmod 600 {path}": "这台机器上的其他人可以读取 {path}：chmod 600 {path}",
    "the token is missing or wrong": "缺少令牌，或令牌不对",
    "send it in the header Authorization, after Bearer; to see it: sleuth serve --print-token": (
        "请把它放在 Authorization 头里的 Bearer 之后；查看令牌：sleuth serve --print-token"
    ),
    "this server does not go by that name": "本服务器不叫这个名字",
    "call it by the address it printed, or start it with --allow-host": (
        "请使用它启动时显示的地址，或用 --allow-host 启动它"
    ),
    "pages from that origin may not call this server": "来自该来源的网页不得调用本服务器",
    "start it with --allow-origin": "请用 --allow-origin 启动它",
    "there is nothing at this path": "这个路径下没有内容",
    "this path does not know that method": "这个路径不支持该方法",
    "see what there is: GET /openapi.json": "查看有哪些接口：GET /openapi.json",
    "this is not HTTP as it should be": "这不是正确的 HTTP 请求",
    "the body must be JSON in UTF-8": "请求体必须是 UTF-8 编码的 JSON",
    "send it with: Content-Type: application/json": "发送时请带上：Content-Type: application/json",
    "the body did not come in time": "请求体没有及时到达",
    "send it within {seconds:g} seconds": "请在 {seconds:g} 秒内发送",
    "the body is too large": "请求体太大",
    "{most} bytes at the most": "最多 {most} 字节",
    "this line is no message of the protocol": "这一行不是该协议的消息",
    "write one of JSON-RPC 2.0 in UTF-8 on each line": "每行写一条 UTF-8 编码的 JSON-RPC 2.0 消息",
    "this line is too long": "这一行太长",
    "the body is not valid JSON": "请求体不是有效的 JSON",
    "an object in UTF-8 is expected": "应为 UTF-8 编码的对象",
    "the shapes of requests are described at /openapi.json": "请求的格式见 /openapi.json",
    "{place} is missing": "缺少 {place}",
    "{place} cannot be empty": "{place} 不能为空",
    "{place} is too long": "{place} 太长",
    "{place} does not have the right form": "{place} 的格式不对",
    "{place} must be text": "{place} 必须是文本",
    "{place} must be a whole number": "{place} 必须是整数",
    "{place} must be true or false": "{place} 必须是 true 或 false",
    "{place} must be a list": "{place} 必须是列表",
    "{place} must be an object": "{place} 必须是对象",
    "{place} must be one of {names}": "{place} 必须是以下之一：{names}",
    "{place} must be from {low} to {high}": "{place} 必须在 {low} 到 {high} 之间",
    "there is no field {name!r}": "没有字段 {name!r}",
    "{field} is masked, and not the mask of what is there": "{field} 是掩码，且与现有值的掩码不符",
    "send the whole of it, or leave it out": "请发送完整的值，或者不发送",
    "where a key comes from is not set over HTTP: it could run commands, or read other secrets": (
        "密钥的来源不能通过 HTTP 设置：那样可以运行命令，或读取其他机密"
    ),
    "set it at the machine: sleuth providers set ID --api-key …": "请在本机设置：sleuth providers set ID --api-key …",
    "links are only read when the first question is {word}": "只有第一个问题是 {word} 时才会读取链接",
    "there are too many requests at the moment": "当前请求太多",
    "the server is being stopped": "服务器正在停止",
    "start it again: sleuth serve": "请重新启动：sleuth serve",
    "something unexpected went wrong": "出现了意料之外的问题",
    "the log of sleuth serve tells more": "详情见 sleuth serve 的日志",
}
