"""Usage and history."""

MESSAGES: dict[str, str] = {
    "{provider} was not asked in these days": "这些天没有询问过 {provider}",
    "nothing was searched for in these days yet; try: sleuth search rust async runtimes": (
        "这些天还没有搜索过；试试：sleuth search rust async runtimes"
    ),
    "{days} days, {first} to {last}": "{days} 天，{first} 至 {last}",
    "{count} searches": "{count} 次搜索",
    "{count} with results": "{count} 次有结果",
    "{count} without": "{count} 次无结果",
    "{count} from the cache": "{count} 次来自缓存",
    "without a model": "未使用模型",
    "about {cost}, estimated from list prices": "约 {cost}，按公开价格估算",
    "{count} answers": "{count} 个回答",
    "{rounds:.1f} rounds each": "平均 {rounds:.1f} 轮",
    "{read} tokens read, {written} written": "读取 {read} 词元，写出 {written} 词元",
    "provider": "搜索源",
    "requests": "请求",
    "answered": "成功",
    "failed": "失败",
    "cache hits": "缓存命中",
    "mean": "平均用时",
    "p90": "九成以内",
    "cost": "费用",
    "all": "全部",
    "requests and cache hits, a column a day": "请求与缓存命中，每列一天",
    "requests and cache hits, a column for {days} days": "请求与缓存命中，每列 {days} 天",
    "no queries are kept: history.enabled is false": "不保存查询：history.enabled 为 false",
    "no query has these words in it": "没有包含这些词的查询",
    "nothing was searched for yet": "还没有搜索过",
    "something was missing": "结果不完整",
    "no results": "没有结果",
    "cached": "来自缓存",
    "another process still reads the old queries; clear again when it has ended": (
        "另一个进程仍在读取旧的查询；待它结束后请再清除一次"
    ),
    "{count} queries and {lines} lines of the prompt forgotten": "已清除 {count} 条查询和 {lines} 行提示符输入",
    "nothing was forgotten: nobody can be asked here": "未清除任何内容：此处无法询问确认",
    "say it: sleuth history --clear --yes": "请明确确认：sleuth history --clear --yes",
    "Forget {count} queries, and what was typed at the prompt? [y/N] ": (
        "清除 {count} 条查询以及在提示符处输入的内容？[y/N] "
    ),
    "nothing was forgotten": "未清除任何内容",
    "answer y to forget": "输入 y 才会清除",
}
