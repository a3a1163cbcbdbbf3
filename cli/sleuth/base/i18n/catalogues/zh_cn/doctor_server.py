"""The doctor at a server: address, connection, TLS, paths, container."""

MESSAGES: dict[str, str] = {
    "it begins with {scheme}://": "它以 {scheme}:// 开头",
    "it does not begin with http:// or https://": "它没有以 http:// 或 https:// 开头",
    "its host is misspelt, or its port is no number from 1 to 65535": "主机名有误，或端口不是 1 到 65535 之间的数字",
    "it names no host": "没有主机名",
    "0 is no port": "0 不是有效端口",
    "it ends in a query, and sleuth adds its own": "它以查询参数结尾，而 sleuth 会自己添加",
    "it ends in /search, which sleuth adds itself": "它以 /search 结尾，而 sleuth 会自己添加",
    "this is not the address of a web server: http:// or https://, a host, perhaps a port": (
        "这不是 Web 服务器的地址：应为 http:// 或 https://，加主机名，可带端口"
    ),
    "a search cannot use the address as it is written; the checks below use {url}": (
        "按现在的写法，这个地址无法用于搜索；以下检查改用 {url}"
    ),
    "sleuth keeps user name and password apart from the address and does not use those in it": (
        "sleuth 把用户名和密码与地址分开保存，不使用地址里的用户名和密码"
    ),
    "the address contains a user name": "地址中含有用户名",
    "{host} is an address to listen on, not one to connect to": "{host} 是监听地址，不能用来连接",
    "host {host}, port {port}": "主机 {host}，端口 {port}",
    "{variables} is set, but this address is asked directly": "已设置 {variables}，但这个地址会直连",
    "asked through the proxy of {variables}": "经由 {variables} 指定的代理访问",
    "the proxy looks names up": "由代理解析域名",
    "an address, nothing to look up": "是 IP 地址，无需解析",
    "the name server of this machine does not answer: no network, a VPN, or a wrong DNS setting": (
        "本机的 DNS 服务器没有响应：没有网络、VPN 问题，或 DNS 设置有误"
    ),
    "no answer about {host}": "查询 {host} 没有得到答复",
    "no such host: {host}": "没有这个主机：{host}",
    "on Linux this name must be added to the container; outside of containers use localhost": (
        "在 Linux 上，需要为容器添加这个名称；容器之外请用 localhost"
    ),
    "# in docker-compose.yml, at the service that runs sleuth:": (
        "# 写入 docker-compose.yml，位于运行 sleuth 的服务下："
    ),
    "# or, outside of containers:": "# 或在容器之外：",
    "the name of a container is known only to containers on its network; from the host use {url}": (
        "容器名只有同一网络中的容器才认识；在宿主机上请用 {url}"
    ),
    "the name is misspelt, or known only in another network (VPN, local DNS)": (
        "名称拼写有误，或只在别的网络（VPN、本地 DNS）中有效"
    ),
    "the proxy makes the connection": "由代理建立连接",
    "port {port}: {seen}": "端口 {port}：{seen}",
    "open": "开放",
    "silent": "没有响应",
    "refused": "拒绝连接",
    "the machine is off, the address is wrong, or a firewall drops the connection": (
        "机器已关机、地址有误，或防火墙丢弃了连接"
    ),
    "no SearXNG is set up here; without one, searches go to the other providers": (
        "这里没有部署 SearXNG；没有它时，会改用其他搜索源"
    ),
    "inside a container, localhost is that container itself; SearXNG is in another one, or nowhere": (
        "在容器内，localhost 就是该容器自己；SearXNG 在另一个容器里，或根本没有运行"
    ),
    "nothing listens there: SearXNG is stopped, exits at the start (secret_key unchanged, a mistake in "
    "settings.yml), or has another port (8888 without a container)": (
        "没有程序监听这个端口：SearXNG 已停止、启动时退出（secret_key 未修改、settings.yml 有误），或使用了别的端口"
        "（不用容器时为 8888）"
    ),
    "SearXNG does not run on that machine, or its port is published on 127.0.0.1 only": (
        "SearXNG 没有在那台机器上运行，或端口只发布在 127.0.0.1 上"
    ),
    "# on that machine:": "# 在那台机器上：",
    "# published on 127.0.0.1 only? in docker-compose.yml, at the service:": (
        "# 只发布在 127.0.0.1 上？修改 docker-compose.yml 中的该服务："
    ),
    "# or from here, through a tunnel:": "# 或在本机通过隧道访问：",
    "neither docker nor podman is installed here": "这里既没有安装 docker 也没有安装 podman",
    "no answer in time": "未在时限内响应",
    "you may not ask {program}: only root and members of its group may": (
        "你无权使用 {program}：只有 root 和它的用户组成员可以"
    ),
    "{program} is installed, but does not answer: its service is not running": (
        "{program} 已安装但没有响应：它的服务没有运行"
    ),
    "{program} has no container of SearXNG": "{program} 中没有 SearXNG 容器",
    "no container was ever made, or it was removed; without a container SearXNG listens on port 8888": (
        "从未创建过容器，或已被删除；不用容器时 SearXNG 监听 8888 端口"
    ),
    "{name}: {status}, ports: {ports}": "{name}：{status}，端口：{ports}",
    "the container runs and publishes this port, but its server does not answer there: it is starting, or listens "
    "on another port inside (GRANIAN_PORT, SEARXNG_PORT; `server.port` has no effect in a container)": (
        "容器正在运行并发布了这个端口，但其中的服务器没有响应：它正在启动，或在容器内监听别的端口（GRANIAN_PORT、"
        "SEARXNG_PORT；`server.port` 在容器中不起作用）"
    ),
    "the container publishes another port than {port}": "容器发布的端口不是 {port}",
    "the container publishes no port, so nothing outside of its network can reach it": (
        "容器没有发布端口，所以它的网络之外无法访问"
    ),
    "{name}: {status}": "{name}：{status}",
    "the container has stopped; its log has the reason": "容器已停止；原因见它的日志",
    "{summary}; SearXNG answers at {url}": "{summary}；SearXNG 在 {url} 响应",
    "the address has the wrong path: it must have the prefix under which SearXNG is served, and no more": (
        "地址的路径不对：应恰好是 SearXNG 对外提供服务的前缀"
    ),
    "SearXNG does not know this path: the proxy in front neither strips the prefix nor announces it": (
        "SearXNG 不认识这个路径：前面的反向代理既没有去掉前缀，也没有告知前缀"
    ),
    "# in the proxy, for nginx:": "# 在反向代理中，以 nginx 为例：",
    "# or in .env:": "# 或写入 .env：",
    "nothing of SearXNG at this path or at the usual ones": "在这个路径和常用路径下都没有找到 SearXNG",
    "sleuth asks at the wrong port or address: SearXNG runs, but elsewhere": (
        "sleuth 访问的端口或地址不对：SearXNG 在运行，但在别处"
    ),
    "SearXNG answers at {url}": "SearXNG 在 {url} 响应",
    "{status} from {server}": "{status}，来自 {server}",
    "address": "地址",
    "not checked, because of: {culprit}": "未检查，原因：{culprit}",
    "the proxy in the environment (http_proxy and the like) does not lead to this address": (
        "环境变量中的代理（http_proxy 等）无法通往这个地址"
    ),
    "the port is open but nothing answers: the server hangs, all its threads are busy, or it is no web server": (
        "端口开放但没有响应：服务器卡住了、所有线程都忙，或它不是 Web 服务器"
    ),
    "the connection is closed without an answer: typical of a port that Docker publishes with no program behind "
    "it, because SearXNG exited or listens on another port inside; or of a program that is no web server": (
        "连接未作响应就被关闭：典型情况是 Docker 发布了端口，但背后没有程序，因为 SearXNG 已退出或在容器内监听别的"
        "端口；也可能是非 Web 服务器的程序"
    ),
    "the port speaks TLS: the address must begin with https://": "这个端口使用 TLS：地址必须以 https:// 开头",
    "{summary}, redirects to {url}": "{summary}，重定向到 {url}",
    "the server wants https; sleuth must be given that address": "服务器要求 https；请把该地址设置给 sleuth",
    "the proxy in front waits for SearXNG in vain: it hangs, or its engines are slower than the proxy allows": (
        "前面的反向代理等不到 SearXNG：它卡住了，或引擎耗时超过了代理的时限"
    ),
    "the proxy in front cannot reach SearXNG: it is stopped, exits at the start, or the proxy has the wrong port": (
        "前面的反向代理连不上 SearXNG：它已停止、启动时退出，或代理配置的端口不对"
    ),
    "requests are sent to another site, most often a login page in front; sleuth can only give a password": (
        "请求被转到另一个网站，多半是前置的登录页；sleuth 只能提供密码"
    ),
    "# let this path pass without a login page, or go past the proxy on the server itself:": (
        "# 让这个路径不经登录页直接放行，或在服务器本机绕过代理："
    ),
    "redirected to {host}": "重定向到 {host}",
    "what stands in front of the server forbids access: a firewall, a bot check, or an address list": (
        "服务器前面有东西禁止访问：防火墙、人机验证或地址名单"
    ),
    "user name and password are accepted": "用户名和密码被接受",
    "none needed": "无需认证",
    "{summary}, asks for {challenge}": "{summary}，要求 {challenge}",
    "the server in front wants a kind of login that sleuth does not know; it knows HTTP Basic": (
        "前面的服务器要求 sleuth 不支持的登录方式；sleuth 只支持 HTTP Basic"
    ),
    "the server in front rejects the user name or the password that sleuth has for it": (
        "前面的服务器拒绝了 sleuth 保存的用户名或密码"
    ),
    "the server in front of SearXNG asks for a user name and a password; SearXNG itself has no login": (
        "SearXNG 前面的服务器要求用户名和密码；SearXNG 本身没有登录功能"
    ),
    "HTTP 500 on every path, /healthz too": "所有路径都返回 HTTP 500，包括 /healthz",
    "search engines change their pages often; a server that is {days} days old has lost some": (
        "搜索引擎经常改版；这台服务器的版本已有 {days} 天，部分引擎已经失效"
    ),
    "another program answers at this address: none of SearXNG's signs is there (/config, Server-Timing, generator)": (
        "这个地址由别的程序响应：没有 SearXNG 的任何特征（/config、Server-Timing、generator）"
    ),
    "# give SearXNG another port, in docker-compose.yml at the service:": (
        "# 在 docker-compose.yml 的该服务下，为 SearXNG 换一个端口："
    ),
    "# then:": "# 然后：",
    "the server fails on every request; its log has the reason": "服务器对每个请求都出错；原因见它的日志",
    "settings.yml lacks `use_default_settings: true`, so that almost every setting is missing": (
        "settings.yml 缺少 `use_default_settings: true`，因此几乎所有设置都缺失"
    ),
    "this is searx, the predecessor of SearXNG, no longer developed: it works with sleuth, but engines that are "
    "suspended vanish without a word and many no longer work": (
        "这是 SearXNG 的前身 searx，已停止开发：可以配合 sleuth 使用，但被暂停的引擎会悄然消失，许多引擎也已失效"
    ),
    "it believes to be at {there}, and is asked at {here}": "它以为自己在 {there}，而实际访问的是 {here}",
    "# in .env:": "# 写入 .env：",
    "# or in the proxy, for nginx:": "# 或在反向代理中，以 nginx 为例：",
    "SEARXNG_BASE_URL or the headers of a proxy name another address; JSON does not care, links in pages do": (
        "SEARXNG_BASE_URL 或代理的请求头给出了别的地址；对 JSON 没有影响，但会影响页面中的链接"
    ),
    "the server tells no time": "服务器没有返回时间",
    "{seconds} s apart": "相差 {seconds} 秒",
    "server: {header}; here: {here} GMT": "服务器：{header}；本机：{here} GMT",
    "one of the two clocks is wrong; certificates and the ends of suspensions depend on them": (
        "两边的时钟有一个不准；证书和暂停的结束时间都依赖时钟"
    ),
    "plain HTTP": "明文 HTTP",
    "no answer": "没有响应",
    "the certificate ends soon: is it renewed by itself?": "证书即将到期：是否会自动续期？",
    "good until {date}": "有效期至 {date}",
    "{version}, good until {date}": "{version}，有效期至 {date}",
    "the certificate is self-signed, or of an authority this machine does not know": (
        "证书是自签名的，或由本机不信任的机构颁发"
    ),
    "the certificate belongs to another name; the address must have a name that is in it": (
        "证书属于别的域名；地址必须使用证书中的域名"
    ),
    "the certificate has expired or is not good yet, or the clock of this machine is wrong": (
        "证书已过期或尚未生效，或本机时钟有误"
    ),
    "the port speaks plain HTTP, not TLS: the address must begin with http://": (
        "这个端口使用明文 HTTP，而不是 TLS：地址必须以 http:// 开头"
    ),
    "the TLS handshake failed: is this port one for https at all?": "TLS 握手失败：这个端口真的提供 https 吗？",
    "# make its authority known, on Debian and Ubuntu:": "# 信任它的证书颁发机构，在 Debian 和 Ubuntu 上：",
    "# or, on the same machine, use the plain port:": "# 或在同一台机器上，使用明文端口：",
    "name lookup": "域名解析",
    "port": "端口",
    "certificate": "证书",
    "HTTP answer": "HTTP 响应",
    "authentication": "身份认证",
    "path": "路径",
    "base address": "基础地址",
    "clock": "时钟",
    "SearXNG at another address": "其他地址上的 SearXNG",
    "container": "容器",
    "the settings have no secret of their own, and SearXNG refuses to run with the built-in one": (
        "设置中没有自己的密钥，而 SearXNG 拒绝用内置密钥运行"
    ),
    "settings.yml is not valid YAML: a tab, or a wrong indent": "settings.yml 不是有效的 YAML：有制表符，或缩进有误",
    "Kubernetes sets SEARXNG_PORT for a service of that name": "Kubernetes 会为同名的 Service 设置 SEARXNG_PORT",
    "the limiter is on, by itself or through `public_instance`, and there is no valkey server for it": (
        "限流器已开启（直接开启或因 `public_instance`），但没有可用的 valkey 服务器"
    ),
    "settings.yml or a variable has a value SearXNG does not accept; the log names the key": (
        "settings.yml 或某个变量的值不被 SearXNG 接受；日志中写明了是哪一项"
    ),
    "the server listens on IPv6, which this host does not have": "服务器监听 IPv6，而这台主机没有 IPv6",
    "the mounted folder is not writable for the user of the server (977), or settings.yml is a folder": (
        "服务器的用户（977）对挂载的目录没有写权限，或 settings.yml 是一个目录"
    ),
}
