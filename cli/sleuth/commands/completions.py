"""`sleuth completions`: print the completion script of a shell."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sleuth.base.errors import SleuthError
from sleuth.base.paths import shipped_folder
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime

app = make_app()

Shell = Literal["bash", "zsh", "fish", "powershell"]
FILES = {"bash": "sleuth.bash", "zsh": "_sleuth", "fish": "sleuth.fish", "powershell": "sleuth.ps1"}
EPILOG = """Installation:

\b
  bash        sleuth completions bash > ~/.local/share/bash-completion/completions/sleuth
  zsh         sleuth completions zsh > ~/.zfunc/_sleuth
  fish        sleuth completions fish > ~/.config/fish/completions/sleuth.fish
  powershell  sleuth completions powershell > ~/sleuth.ps1

Create the folder first if it does not exist, and start a new shell afterwards. bash without the bash-completion package
needs `source <(sleuth completions bash)` in ~/.bashrc instead; zsh needs `fpath+=~/.zfunc` in ~/.zshrc before compinit;
PowerShell needs `. ~/sleuth.ps1` in its $PROFILE. A wheel installs the scripts for bash, zsh and fish.

Example: source <(sleuth completions bash)
"""


@app.command(epilog=EPILOG)
def completions(
    runtime: Runtime, shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")]
) -> None:
    """Print the completion script for a shell.

    Completes commands, options, their values, setting keys and provider ids, including those you added.
    """
    folder = shipped_folder("completions")
    if folder is None:
        raise SleuthError("this installation has no completion scripts", "reinstall sleuth")
    print(Path(folder, FILES[shell]).read_text("utf-8"), end="", file=runtime.stdout)
