"""Settings and the files they live in."""

MESSAGES: dict[str, str] = {
    "no such setting: {key}": "没有这个设置项：{key}",
    "no such setting: {key}; did you mean {near}?": "没有这个设置项：{key}；是否指 {near}？",
    "it takes {accepted}": "可接受的值：{accepted}",
    "{path} is not valid TOML: {reason}": "{path} 不是有效的 TOML：{reason}",
    "mend that line: sleuth config edit": "请修正该行：sleuth config edit",
    "{path}: good": "{path}：没有问题",
    "no setting begins with {section!r}": "没有以 {section!r} 开头的设置项",
    "see them all: sleuth config show": "查看全部：sleuth config show",
    "the editor {editor!r} did not work": "编辑器 {editor!r} 无法使用",
    "name another one: EDITOR=nano sleuth config edit": "换一个编辑器：EDITOR=nano sleuth config edit",
    "{variable} is set and overrides the file": "已设置 {variable}，它会覆盖文件中的值",
    "{name}: ": "{name}：",
    "no {name} was given": "没有提供 {name}",
    "type it at the prompt, or pipe it in": "请在提示处输入，或通过管道传入",
    "cannot make the folder {path} ({reason})": "无法创建目录 {path}（{reason}）",
    "give that folder to yourself, or choose another with SLEUTH_HOME": (
        "请把该目录的属主改为自己，或用 SLEUTH_HOME 换一个"
    ),
    "cannot write {path} ({reason})": "无法写入 {path}（{reason}）",
    "check the permissions and the free space there": "请检查那里的权限和剩余空间",
    "check its permissions": "请检查它的权限",
    "{key} cannot be {value}": "{key} 不能设为 {value}",
    "another sleuth keeps {path} locked": "{path} 被另一个 sleuth 锁定",
    "try again in a moment": "请稍后再试",
    "{section} is a value in {path}, not a table": "{section} 在 {path} 中是一个值，而不是表",
    "{path} is written in a way that cannot be changed without harm": "{path} 的写法使它无法在不破坏内容的情况下修改",
    "{key} = {value} ({origin}) does not fit: it takes {accepted}; using {default}": (
        "{key} = {value}（{origin}）不合适：可接受的值：{accepted}；改用 {default}"
    ),
}
