"""The doctor reading a deployment: compose, environment and limiter files."""

MESSAGES: dict[str, str] = {
    "with the host's network the server listens on every interface; ports: has no effect": (
        "使用宿主机网络时，服务器会监听所有网络接口；ports: 不起作用"
    ),
    "no port is published: only containers of the same network reach the server": (
        "没有发布端口：只有同一网络中的容器能访问服务器"
    ),
    "inside the container the server listens on {inside}, not on {target}": (
        "服务器在容器内监听 {inside}，而不是 {target}"
    ),
    "the port is open to the whole network, past most firewalls: Docker sets its own rules": (
        "端口对整个网络开放，且会绕过多数防火墙：Docker 有自己的规则"
    ),
    "this machine only": "仅限本机",
    "the network of {host}": "{host} 所在的网络",
    "the container has no uWSGI any more and ignores this file": "容器已不再使用 uWSGI，会忽略这个文件",
    "# remove this line, then:": "# 删除这一行，然后：",
    "nothing is mounted at {path}: the container does not see this file": "没有内容挂载到 {path}：容器看不到这个文件",
    "there is no such file: Docker makes a folder of that name, and the server exits": (
        "没有这个文件：Docker 会创建一个同名目录，服务器随即退出"
    ),
    "a file mounted by itself keeps its old content when an editor replaces it, and limiter.toml is not seen: "
    "mount the folder around it": (
        "单独挂载的文件在编辑器替换后仍是旧内容，而且 limiter.toml 也看不到：请挂载它所在的目录"
    ),
    "the settings live in a volume of Docker's own; the file at hand is not the one in use": (
        "设置存放在 Docker 自己的卷中；手头这个文件并不是正在使用的那个"
    ),
    "the container reads another folder than the one of the file at hand": "容器读取的目录与手头这个文件所在的目录不同",
    "the container cannot hand a read-only folder to its own user, and may not be allowed to read it": (
        "容器无法把只读目录的属主改为自己的用户，可能因此读不了它"
    ),
    "Docker cannot read the compose file": "Docker 无法读取这个 compose 文件",
    "no service here runs SearXNG": "这里没有运行 SearXNG 的服务",
    "docker compose stops when the file is missing; it may be empty": (
        "缺少这个文件时 docker compose 会停止；空文件也可以"
    ),
    "without {names} the container cannot hand its folders to its own user, and may not read the settings": (
        "没有 {names}，容器无法把目录的属主改为自己的用户，可能读不了设置"
    ),
    "the server stays down after a crash or a restart of the machine": "崩溃或机器重启后，服务器不会自动恢复",
    "the image has neither curl nor wget, so it is shown as unhealthy although it works": (
        "镜像里既没有 curl 也没有 wget，所以虽然正常工作，仍会显示为 unhealthy"
    ),
    "searx is no longer maintained; its settings differ from those of SearXNG": (
        "searx 已不再维护；它的设置与 SearXNG 不同"
    ),
    "there already: {files}; nothing was written": "已存在：{files}；没有写入任何内容",
    "choose another folder, or replace them with --force": "请换一个目录，或用 --force 覆盖",
    "Docker refuses a line that is not NAME=value": "Docker 不接受不是 NAME=value 形式的行",
    "none that SearXNG reads": "没有 SearXNG 会读取的变量",
    "a switch is true or false, on or off, 1 or 0; anything else stops the server": (
        "开关应为 true 或 false、on 或 off、1 或 0；其他值会使服务器停止"
    ),
    "it must be GET or POST, in capitals; anything else stops the server": (
        "必须是大写的 GET 或 POST；其他值会使服务器停止"
    ),
    "a port is a number; the container ignores this one or exits": "端口应为数字；这个值会被容器忽略或导致退出",
    "the address must begin with valkey://; this one stops the server": (
        "地址必须以 valkey:// 开头；这个地址会使服务器停止"
    ),
    "settings.yml, key {key}": "settings.yml，{key} 键",
    "the container does not read {name}; use {new}": "容器不读取 {name}；请改用 {new}",
    "this is the key everybody knows; the server refuses to start with it": (
        "这是人人都知道的密钥；服务器会拒绝用它启动"
    ),
    "an empty key lets anybody forge the addresses that the server signs": "密钥为空时，任何人都能伪造服务器签名的地址",
    "every name and address is understood": "每个名称和地址都能理解",
    "the server exits when limiter.toml is not TOML": "limiter.toml 不是 TOML 时服务器会退出",
    "# correct that line, then:": "# 改正那一行，然后：",
    "real_ip is gone: x_for became trusted_proxies, the prefixes moved to [botdetection]": (
        "real_ip 已取消：x_for 变为 trusted_proxies，前缀移到了 [botdetection]"
    ),
    "the server exits at a name it does not know: {name}": "服务器遇到不认识的名称会退出：{name}",
    "# did you mean {name}? Otherwise remove it, then:": "# 是否指 {name}？否则请删除，然后：",
    "# remove it, then:": "# 删除它，然后：",
    "{name} takes {kind}; anything else stops the server": "{name} 可接受的值：{kind}；其他写法会使服务器停止",
    "link_token expects a browser that loads the style sheet; programs are redirected to the home page": (
        "link_token 要求浏览器加载样式表；程序会被重定向到首页"
    ),
    "this is no address, and every request is answered with 500 because of it": (
        "这不是 IP 地址，会导致每个请求都返回 500"
    ),
    "this is no address; the server leaves it out": "这不是 IP 地址；服务器会忽略它",
    "this network is the whole internet: the limiter limits nobody": "这个网段是整个互联网：限流器谁也限制不了",
    "a table": "表",
}
