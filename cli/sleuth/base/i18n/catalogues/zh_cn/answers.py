"""Answers to questions, and summaries written by a model."""

MESSAGES: dict[str, str] = {
    "there is nothing to answer": "没有要回答的问题",
    "ask something: sleuth ask why is the sky blue": "请提问：sleuth ask 天空为什么是蓝色的",
    "the question is too long and was cut after {limit} characters": "问题太长，已截取前 {limit} 个字符",
    "an extractive answer needs a search": "摘录式答案需要先搜索",
    "leave --search off out": "去掉 --search off",
    "no model is set up": "没有配置模型",
    "give its key: sleuth config set llm.api_key -": "设置模型密钥：sleuth config set llm.api_key -",
    "offline, and the model is at {host}": "当前为离线模式，而模型位于 {host}",
    "leave --offline out": "去掉 --offline",
    "the model {model} wrote nothing": "模型 {model} 没有写出任何内容",
    "the question was searched for as it is, not analysed: {reason}": "未能分析问题，直接按原文搜索：{reason}",
    "the search failed: {reason}": "搜索失败：{reason}",
    "there are no sources: the answer comes from the model's own knowledge": "没有来源：答案来自模型自身的知识",
    "this is what pages say, word for word, without a model: {reason}": "以下是网页原文摘录，未使用模型：{reason}",
    "Nothing was found that answers this.": "没有找到能回答这个问题的内容。",
    "Searching for {query}": "正在搜索 {query}",
    "Round {number}: searching for {query}": "第 {number} 轮：搜索 {query}",
    "Reading pages: {done} of {total}, {site}": "正在读取网页：{done}/{total}，{site}",
    "Taking notes: {done} of {total} pages": "正在摘录要点：{done}/{total} 个网页",
    "Judging whether {count} sources are enough": "正在判断 {count} 个来源是否足够",
    "Found {sources} sources in {rounds} rounds": "经 {rounds} 轮搜索，共找到 {sources} 个来源",
    "there is no text on it": "页面上没有文字",
    "FETCH_FAILED: no page could be read; the snippets of the search stand in": (
        "FETCH_FAILED：没有网页能读取；以搜索摘要代替"
    ),
    "{count} pages speak for themselves, without notes of the model: {reason}": (
        "有 {count} 个网页没有模型摘录的要点，直接使用原文：{reason}"
    ),
    "what was found could not be judged and is taken as enough: {reason}": "未能判断已找到的内容，视为足够：{reason}",
    "no answer within {seconds:g} seconds": "{seconds:g} 秒内没有响应",
    "the model takes no prompt that long; half of what was found was left out": (
        "模型无法接受这么长的提示；已略去一半找到的内容"
    ),
    "the answer breaks off: {reason}": "答案中断：{reason}",
    "the answer breaks off: the model has reached its longest reply": "答案中断：已达到模型回复的最大长度",
    "the answer breaks off: a filter of the model's server stopped it": "答案中断：被模型服务器的过滤器拦截",
    "these are the pages' own sentences, not a model's: {reason}": "以下是网页自身的句子，并非模型撰写：{reason}",
    "{site} is quoted, not summed up by the model: {reason}": "{site} 为原文摘录，未由模型总结：{reason}",
}
