"""The library and the database."""

MESSAGES: dict[str, str] = {
    "{added} added, {updated} updated, {unchanged} unchanged": "新增 {added}，更新 {updated}，未变 {unchanged}",
    ", {count} skipped": "，跳过 {count}",
    "{shown} of {total}; more: --offset {next}": "{total} 项中的 {shown} 项；查看更多：--offset {next}",
    "say what to remove": "请指明要移除什么",
    "name addresses, files or folders, or give --all": "请给出地址、文件或目录，或使用 --all",
    "nothing of that name is in the library": "资料库中没有这个名称的内容",
    "see what is: sleuth library list; the handbook always stays": (
        "查看已有内容：sleuth library list；内置手册始终保留"
    ),
    "{count} pages removed": "已移除 {count} 个页面",
    "{pages} pages ({sources}), {size:.1f} of {limit} MB": (
        "{pages} 个页面（{sources}），已用 {size:.1f} MB，上限 {limit} MB"
    ),
    "Remove everything but the handbook from {path}? [y/N] ": "从 {path} 中移除除内置手册以外的全部内容？[y/N] ",
    "nothing was removed: nobody can be asked here": "未移除任何内容：此处无法询问确认",
    "say it: sleuth library remove --all --yes": "请明确确认：sleuth library remove --all --yes",
    "nothing was removed": "未移除任何内容",
    "answer y to remove everything": "输入 y 才会全部移除",
    "skipped {count}: {reason} ({names})": "跳过 {count} 个：{reason}（{names}）",
    "the library is larger than {limit} MB; remove something, or raise library.max_megabytes": (
        "资料库已超过 {limit} MB；请移除一些内容，或调大 library.max_megabytes"
    ),
    "reading": "读取中",
    "{count} pages": "{count} 个页面",
    "cannot open {path} ({reason})": "无法打开 {path}（{reason}）",
    "check the permissions there, or choose another place with SLEUTH_HOME": (
        "请检查那里的权限，或用 SLEUTH_HOME 换一个位置"
    ),
    "another process keeps {path} locked": "{path} 被另一个进程锁定",
    "cannot write the database {path} ({reason})": "无法写入数据库 {path}（{reason}）",
    "check the permissions and the free space there, or choose another place with SLEUTH_HOME": (
        "请检查那里的权限和剩余空间，或用 SLEUTH_HOME 换一个位置"
    ),
    "the database {path} cannot be used ({reason})": "数据库 {path} 无法使用（{reason}）",
    "set it aside and start afresh: mv {path} {path}.broken; older copies: ls {path}.v*": (
        "把它移走重新开始：mv {path} {path}.broken；旧副本：ls {path}.v*"
    ),
    "{path} was made by a newer sleuth (schema {found}, this one knows {known})": (
        "{path} 由更新版本的 sleuth 创建（schema {found}，当前版本支持到 {known}）"
    ),
    "update sleuth, or use another home with SLEUTH_HOME; the file was left as it is": (
        "请更新 sleuth，或用 SLEUTH_HOME 换一个主目录；该文件没有改动"
    ),
    "there is no file or folder {path}": "没有 {path} 这个文件或目录",
    "check the name: ls -d {path}": "请检查名称：ls -d {path}",
    "not a kind of file that can be read": "不是可读取的文件类型",
    "cannot be read ({reason})": "无法读取（{reason}）",
    "not an ordinary file": "不是普通文件",
    "larger than {limit} MB": "大于 {limit} MB",
    "not text": "不是文本",
    "only its first {limit} characters are searched": "只有前 {limit} 个字符可供搜索",
    "nothing to read in it": "没有可读取的内容",
}
