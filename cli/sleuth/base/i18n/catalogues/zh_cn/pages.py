"""Pages: reading, summarising, citing."""

MESSAGES: dict[str, str] = {
    "{site} could not be read: {reason}": "无法读取 {site}：{reason}",
    "reading {done}/{total}": "读取中 {done}/{total}",
    "none of the pages could be read: {why}": "所有页面都无法读取：{why}",
    "there is nothing to read": "没有要读取的页面",
    "name pages: sleuth summarize URL…": "请给出页面：sleuth summarize URL…",
    "what came on standard input is no answer of sleuth": "标准输入的内容不是 sleuth 的搜索结果",
    "pipe it: sleuth search --json … | sleuth summarize": "用管道传入：sleuth search --json … | sleuth summarize",
    "{url!r} is not a web address": "{url!r} 不是网址",
    "write it like https://example.org/page": "写法示例：https://example.org/page",
    "{count} pages are too many": "{count} 个页面太多了",
    "{most} at the most": "最多 {most} 个",
    "{text!r} is no length": "{text!r} 不是有效的长度",
    "short, medium, long, or a number of characters": "可用 short、medium、long 或字符数",
    "FETCH_FAILED: snippets stand in for pages that could not be read: {reasons}": (
        "FETCH_FAILED：无法读取的页面以摘要代替：{reasons}"
    ),
    "{provider} sent a page that only scripts fill": "{provider} 返回的页面要靠脚本填充内容",
    "another way was quicker": "另一种方式更快",
    "{provider}: the page could not be read": "{provider}：无法读取页面",
    "{provider} is at a private address, and pages there are not read": "{provider} 位于私有地址，不读取那里的页面",
    "if you mean to read it: sleuth config set fetch.allow_private true": (
        "如果确实要读取：sleuth config set fetch.allow_private true"
    ),
    "{provider} sent a page without text": "{provider} 返回的页面没有文字",
    "if scripts fill it, let a real browser read it: sleuth config set fetch.browser true": (
        "如果内容由脚本填充，可让真实浏览器读取：sleuth config set fetch.browser true"
    ),
    "{provider} sent something that is not text": "{provider} 返回的不是文本",
    "open it in a program that knows such files": "请用支持这类文件的程序打开",
    "{provider} does not show the page to everybody": "{provider} 不向所有人公开这个页面",
    "not an address of a page: {address}": "不是页面地址：{address}",
    "{provider} sent a PDF file without text, most likely scanned pictures": (
        "{provider} 返回的 PDF 文件没有文字，多半是扫描图片"
    ),
    "the page could not be read; --debug tells more": "无法读取页面；加上 --debug 查看详情",
    "offline, and the page is not in the cache": "处于离线模式，且缓存中没有这个页面",
    "the Jina reader": "Jina 阅读器",
    "the Wayback Machine": "互联网档案馆（Wayback Machine）",
    "{provider} is not told about a page on a private network": "不会把私有网络中的页面告知 {provider}",
    "{provider} did not get the page either": "{provider} 也没有取到页面",
    "{provider} has no copy of the page": "{provider} 没有这个页面的副本",
    "passages could not be scored, pages are cut off instead: {reason}": "无法为段落打分，改为截断页面：{reason}",
    "the model's server": "模型服务器",
    "Sources": "来源",
    "What {count} pages say about {query!r}, in their own sentences": (
        "{count} 个页面关于 {query!r} 的内容，均为原文句子"
    ),
    "What {count} pages say, in their own sentences": "{count} 个页面的内容，均为原文句子",
    "1 to {most}": "1 到 {most}",
    "source {place} has no address": "第 {place} 个来源没有地址",
    "the sources are no list of pages": "来源不是页面列表",
    "the sources are not JSON": "来源不是 JSON",
    "{count} sources are too many": "{count} 个来源太多了",
    "{number!r} is no number of a source": "{number!r} 不是来源编号",
    "References": "参考文献",
    "name a file for one of them": "请为其中一个指定文件",
    "name a file, or pipe the text in": "请指定文件，或通过管道传入文本",
    "name them: sleuth cite --sources results.json": "请指定来源：sleuth cite --sources results.json",
    "name what sleuth search --json wrote": "请指定 sleuth search --json 写出的文件",
    "text and sources cannot both come from standard input": "文本和来源不能都来自标准输入",
    "there are no sources": "没有来源",
    "there is no source for {numbers}": "没有与 {numbers} 对应的来源",
    "{most} characters at the most": "最多 {most} 个字符",
    "{path} is too long": "{path} 太长",
    "citations checked: {total}, of them {quoted} quoted from the source, {supported} found in it, {weak} weak, "
    "{missing} not found, {unchecked} without text to check": (
        "已核对 {total} 处引用：{quoted} 处为原文引用，{supported} 处有依据，{weak} 处依据薄弱，{missing} 处未找到"
        "，{unchecked} 处没有可核对的文本"
    ),
    "What the page says about {query!r}, in its own sentences": "该页面关于 {query!r} 的内容，均为原文句子",
    "What the page says, in its own sentences": "该页面的内容，均为原文句子",
    "check the addresses; pages on your own network need: sleuth config set fetch.allow_private true": (
        "请检查地址；读取自己网络中的页面需要：sleuth config set fetch.allow_private true"
    ),
    "give what sleuth search --json wrote, or a list of objects with url and title": (
        "请提供 sleuth search --json 的输出，或由含 url 和 title 的对象组成的列表"
    ),
    "Round {number}": "第 {number} 轮",
    "a PDF file without text, most likely scanned pictures": "PDF 文件没有文字，多半是扫描图片",
    "added {date}": "添加于 {date}",
    "read {date}": "读取于 {date}",
    "no title": "无标题",
    "{provider} did not give the page": "{provider} 没有给出页面",
    "dense scores from a local model need an optional part": "本地模型的稠密评分需要一个可选组件",
    "pip install 'sleuth[dense]'": "安装命令：pip install 'sleuth[dense]'",
}
