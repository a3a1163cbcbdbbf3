"""Simplified Chinese."""

MESSAGES: dict[str, str] = {
    "error: {message}": "错误：{message}",
    "hint: {hint}": "提示：{hint}",
    "warning: {message}": "警告：{message}",
    "note: {message}": "说明：{message}",
}
