"""Answers as they are shown, and the conversation around them."""

MESSAGES: dict[str, str] = {
    "  WORDS                 ask; what was said before is known\n"
    "  /search on|off|auto   the switch: search for every question, never, or as the model decides\n"
    "  /mode chat|agent      who turns the switch: you, or the model\n"
    "  /provider ID          whom to ask; auto for the usual ones\n"
    "  /sources [N]          the sources of the last answer; what source N says\n"
    "  /settings             what is set\n"
    "  /save FILE            the conversation as Markdown; /save! FILE replaces a file\n"
    "  /clear                forget what was said\n"
    "  /help                 this help\n"
    "  /quit                 leave (also Ctrl-D)": (
        "  WORDS                 提问；之前的对话会一并考虑\n"
        "  /search on|off|auto   搜索开关：每次都搜索、从不搜索，或由模型决定\n"
        "  /mode chat|agent      由谁控制开关：您，或模型\n"
        "  /provider ID          使用哪个搜索源；auto 为默认\n"
        "  /sources [N]          上一个答案的来源；第 N 个来源的内容\n"
        "  /settings             当前设置\n"
        "  /save FILE            将对话存为 Markdown；/save! FILE 覆盖已有文件\n"
        "  /clear                忘记之前的对话\n"
        "  /help                 显示本帮助\n"
        "  /quit                 退出（或按 Ctrl-D）"
    ),
    "/mode chat or /mode agent": "可用 /mode chat 或 /mode agent",
    "/search on, off or auto": "可用 /search on、off 或 auto",
    "/sources lists them": "用 /sources 查看全部来源",
    "1 page": "1 个网页",
    "1 round": "1 轮",
    "Extractive: sentences of the pages themselves": "摘录：以下均为网页原句",
    "Mode": "模式",
    "Model": "模型",
    "Pages": "网页",
    "Provider": "搜索源",
    "Rounds": "轮数",
    "Search": "搜索",
    "Settings": "设置",
    "Summing up {count} pages": "正在总结 {count} 个网页",
    "Turns": "对话轮次",
    "What the page says about {query!r}, written by {model}": "该网页关于 {query!r} 的内容，由 {model} 撰写",
    "What the page says, written by {model}": "该网页的内容，由 {model} 撰写",
    "What {count} pages say about {query!r}, written by {model}": (
        "{count} 个网页关于 {query!r} 的内容，由 {model} 撰写"
    ),
    "What {count} pages say, written by {model}": "{count} 个网页的内容，由 {model} 撰写",
    "ask anything; /help lists the commands, Ctrl-D leaves": "请提问；/help 列出命令，Ctrl-D 退出",
    "ask something": "请先提问",
    "citations: {counts}": "引用：{counts}",
    "did you mean /{near}? All of them: /help": "是否指 /{near}？全部命令：/help",
    "mode: {mode}; search: {state}": "模式：{mode}；搜索：{state}",
    "name it: /save FILE": "请指定：/save FILE",
    "no model": "无模型",
    "no search": "未搜索",
    "none: answers are sentences of the pages": "无：答案为网页原句",
    "nothing has been answered yet": "还没有任何答案",
    "off": "关",
    "on": "开",
    "provider: {ids}": "搜索源：{ids}",
    "replace it: /save! {path}": "覆盖：/save! {path}",
    "saved to {path}": "已保存到 {path}",
    "see what there is: /help": "查看全部命令：/help",
    "stopped": "已停止",
    "take it back: /mode chat": "收回控制：/mode chat",
    "the last answer has no sources": "上一个答案没有来源",
    "the question is too long": "问题太长",
    "the switch has no position {name!r}": "开关没有 {name!r} 这一档",
    "the switch is disabled: in agent mode the model decides": "开关已停用：代理模式下由模型决定",
    "there is no command /{name}": "没有 /{name} 这个命令",
    "there is no file to save to": "没有指定要保存的文件",
    "there is no mode {name!r}": "没有 {name!r} 这个模式",
    "there is no source {number}": "没有第 {number} 个来源",
    "there is no text of it": "没有它的正文",
    "to have answers written, give the key of a model: sleuth config set llm.api_key -, or name one on this machine: "
    "sleuth config set llm.base_url http://localhost:11434/v1": (
        "要由模型撰写答案，请设置模型密钥：sleuth config set llm.api_key -，"
        "或指定本机的模型：sleuth config set llm.base_url http://localhost:11434/v1"
    ),
    "turn the switch on: /mode chat, then /search on": "打开搜索开关：先 /mode chat，再 /search on",
    "what was said is forgotten": "已忘记之前的对话",
    "{count} found": "{count} 条有据",
    "{count} not found": "{count} 条未找到依据",
    "{count} quoted": "{count} 条为原文",
    "{count} rounds": "{count} 轮",
    "{count} tokens": "{count} 个 token",
    "{count} unchecked": "{count} 条未核对",
    "{count} weak": "{count} 条依据不足",
    "{position}, disabled: in agent mode the model decides": "{position}（已停用：代理模式下由模型决定）",
}
