"""Simplified Chinese of what is said of hostile input."""

MESSAGES = {
    "what was typed is not all text: {said}": "输入的内容不全是文本：{said}",
    "type it in UTF-8": "请用 UTF-8 输入",
}
DETAILS = {
    "more values than an answer has": "数值多得不像一个结果",
    "more markup than a results page has": "标记多得不像一个结果页",
}
