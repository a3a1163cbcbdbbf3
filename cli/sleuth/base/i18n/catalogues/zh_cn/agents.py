"""The tools for agents: `sleuth mcp`."""

MESSAGES: dict[str, str] = {
    "there is no tool {name!r}": "没有 {name!r} 这个工具",
    "see what is offered: tools/list": "查看可用的工具：tools/list",
    "see the input schema of {tool}": "请参照 {tool} 的输入 schema",
    "searching for {query}": "正在搜索 {query}",
    "reading {site}": "正在读取 {site}",
    "{site}: {done} of {total} pages": "{site}：已读 {done} 页，共 {total} 页",
    "there is more on the page": "页面还有更多内容",
    "serving agents needs an optional part": "为智能体提供服务需要一个可选组件",
    "install it: pip install 'sleuth[mcp]'": "请安装：pip install 'sleuth[mcp]'",
    "this is an MCP server: an agent starts it, and talks to it where you type now": (
        "这是一个 MCP 服务器：由智能体启动，并通过您现在输入的位置与它通信"
    ),
    "to set it up in yours: docs/agents.md, or sleuth search -p library set up agents": (
        "在您的智能体中配置：docs/agents.md，或运行 sleuth search -p library set up agents"
    ),
    "Ctrl-D or Ctrl-C ends it": "按 Ctrl-D 或 Ctrl-C 结束",
}
