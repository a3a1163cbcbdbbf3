"""`sleuth completions`: print the completion script of a shell."""

import os
from typing import Annotated, Literal

import typer

from sleuth.base.errors import SleuthError
from sleuth.base.paths import shipped_folder
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime

app = make_app()

Shell = Literal["bash", "zsh", "fish", "powershell"]
FILES = {"bash": "sleuth.bash", "zsh": "_sleuth", "fish": "sleuth.fish", "powershell": "sleuth.ps1"}
EPILOG = """Installing it:

\b
  bash        sleuth completions bash > ~/.local/share/bash-completion/completions/sleuth
  zsh         sleuth completions zsh > ~/.zfunc/_sleuth
  fish        sleuth completions fish > ~/.config/fish/completions/sleuth.fish
  powershell  sleuth completions powershell > ~/sleuth.ps1

bash without the bash-completion package wants `source <(sleuth completions bash)` in ~/.bashrc instead. zsh wants
`fpath+=~/.zfunc` in ~/.zshrc, before compinit. PowerShell wants `. ~/sleuth.ps1` in its $PROFILE. Make the folder
first where there is none, and start a new shell afterwards. Packages of sleuth bring these files along.

Example: source <(sleuth completions bash)
"""


@app.command(epilog=EPILOG)
def completions(
    ctx: typer.Context,
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
) -> None:
    """Print the completion script of a shell.

    It completes commands, options, their values, keys of the settings, and the ids of providers, your own included.
    """
    runtime: Runtime = ctx.obj
    folder = shipped_folder("completions")
    if folder is None:
        raise SleuthError("this installation has no completion scripts", "install sleuth again")
    with open(os.path.join(folder, FILES[shell]), encoding="utf-8") as stream:
        print(stream.read(), end="", file=runtime.stdout)
