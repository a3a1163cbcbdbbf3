"""Simplified Chinese of what a machine can do to a run."""

MESSAGES = {
    "a part of sleuth cannot be loaded ({reason})": "sleuth 的一部分无法加载（{reason}）",
    "free some memory, or install sleuth anew": "请释放一些内存，或重新安装 sleuth",
    "{path} is cut short": "{path} 不完整",
    "delete it: Python makes it anew": "请将其删除：Python 会重新生成",
    "end other programs, or raise the limit: ulimit -v": "请结束其他程序，或提高上限：ulimit -v",
    "raise the limits: ulimit -u, ulimit -v": "请提高上限：ulimit -u、ulimit -v",
    "raise the limit: ulimit -n 256": "请提高上限：ulimit -n 256",
    "cannot use {path} ({reason})": "无法使用 {path}（{reason}）",
    "check what is there, the permissions and the free space": "请检查那里有什么、权限和剩余空间",
    "the output cannot be written ({reason})": "无法写入输出（{reason}）",
    "check the free space where it goes": "请检查输出位置的剩余空间",
    "cannot empty {path} ({reason})": "无法清空 {path}（{reason}）",
}
DETAILS = {
    "too many files are open": "打开的文件太多",
    "no more threads can be started": "无法再启动线程",
    "there is not enough memory": "内存不足",
    "File too large": "文件过大",
    "not a regular file": "不是普通文件",
    "more than a megabyte, which is no file of settings": "超过一兆字节，不会是设置文件",
    "Invalid value for {name}: nan is not a number of seconds": "{name} 的值无效：nan 不是秒数",
}
