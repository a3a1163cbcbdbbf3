"""How anything is said, searching, and the commands around it."""

MESSAGES: dict[str, str] = {
    "this installation has no completion scripts": "此安装不含补全脚本",
    "install sleuth again": "请重新安装 sleuth",
    "error: {message}": "错误：{message}",
    "hint: {hint}": "提示：{hint}",
    "warning: {message}": "警告：{message}",
    "note: {message}": "说明：{message}",
    "{message}; it may be asked again at {until}": "{message}；{until} 之后可以再试",
    "interrupted": "已中断",
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
    "something unexpected went wrong ({kind})": "出现了意料之外的问题（{kind}）",
    "run it again with --debug and report it": "请加上 --debug 再运行一次并反馈",
    "see: {path} --help": "参见：{path} --help",
    "there is no command {name!r}": "没有 {name!r} 这个命令",
    "did you mean: sleuth {near} …; all of them: sleuth --help": "是否指：sleuth {near} …；全部命令：sleuth --help",
    "{path} is not a file of batch answers": "{path} 不是批量搜索的结果文件",
    "name another one with -o, or leave --resume out": "用 -o 换一个文件，或去掉 --resume",
    "{path} exists": "{path} 已存在",
    "go on with it: --resume; or name another file": "继续写入：--resume；或换一个文件",
    "--resume needs to know the file": "--resume 需要指定文件",
    "name it with -o FILE": "用 -o FILE 指定",
    "{count} queries failed; their lines say why": "{count} 个查询失败；原因见各自的行",
    "cannot read {path} ({reason})": "无法读取 {path}（{reason}）",
    "name a file with one query a line": "请指定一个每行一个查询的文件",
    "{entries} answers, {bytes} bytes": "{entries} 条结果，{bytes} 字节",
    "  1  2 5  3-6    open these results in the browser\n"
    "  n, p, f         next, previous, first page\n"
    "  c N             copy the address of result N\n"
    "  x               show whole addresses, or domains again\n"
    "  s N             summarise result N\n"
    "  d WORDS         search for WORDS, also when they look like a command\n"
    "  WORDS           search for WORDS\n"
    "  ?               this help\n"
    "  q               quit (also Ctrl-D)": (
        "  1  2 5  3-6    在浏览器中打开这些结果\n"
        "  n, p, f         下一页、上一页、首页\n"
        "  c N             复制第 N 条结果的地址\n"
        "  x               切换显示完整地址或域名\n"
        "  s N             总结第 N 条结果\n"
        "  d WORDS         搜索 WORDS，即使它看起来像命令\n"
        "  WORDS           搜索 WORDS\n"
        "  ?               显示本帮助\n"
        "  q               退出（或按 Ctrl-D）"
    ),
    "nothing has been searched for yet": "还没有搜索过",
    "type some words": "请输入关键词",
    "there is no result {number}": "没有第 {number} 条结果",
    "there are {count}": "共有 {count} 条",
    "copied {url}": "已复制 {url}",
    "--record and --replay exclude each other": "--record 与 --replay 不能同时使用",
    "use one of them": "请只用其中一个",
    "no such field: {name}": "没有这个字段：{name}",
    "{language!r} is not a language": "{language!r} 不是语言代码",
    "write it like de or zh-CN": "写法示例：de 或 zh-CN",
    "{value!r} says not how new results must be ({reason})": "{value!r} 不是有效的时间范围（{reason}）",
    "write day, week, month, year or 2026-01-01..2026-06-30": "可写 day、week、month、year 或 2026-01-01..2026-06-30",
    "check --rules": "请检查 --rules",
    "the template does not work: there is no {{{name}}}": "模板无效：没有 {{{name}}}",
    "; searching without remembering anything": "；本次搜索不保存任何记录",
    "; searching without settings of providers": "；本次搜索不使用搜索源的设置",
    "nobody answered": "没有搜索源响应",
    "name a file written by --record": "请指定由 --record 写出的文件",
    "{path} is not a recording": "{path} 不是录制文件",
    "{message} ({detail})": "{message}（{detail}）",
    ", ": "、",
    "install wl-copy, xclip or xsel; the address: {url}": "请安装 wl-copy、xclip 或 xsel；地址：{url}",
    "nothing here can copy": "这里没有可用的剪贴板工具",
    "leave --offline out, or ask the library: sleuth search --offline …": (
        "请去掉 --offline，或搜索资料库：sleuth search --offline …"
    ),
    "the pattern {pattern} is broken or could take for ever, and is not used": (
        "模式 {pattern} 有误或可能永远匹配不完，因此不使用"
    ),
    "{answers} answers and {pages} pages thrown away": "已清除 {answers} 条结果和 {pages} 个页面",
    "{entries} pages, {bytes} bytes": "{entries} 个页面，{bytes} 字节",
    ": ": "：",
    "; ": "；",
    "fields: {fields}": "可用字段：{fields}",
    "it takes names in braces, such as '{{rank}} {{url}}'; names: {fields}": (
        "模板由花括号中的名称组成，例如 '{{rank}} {{url}}'；可用名称：{fields}"
    ),
}
