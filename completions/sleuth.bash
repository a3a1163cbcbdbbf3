# bash completion for sleuth: asks `sleuth --complete`. Works with bash 3.2 and later.   -*- shell-script -*-

_sleuth() {
    local line rest kind
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            @file* | @folder*) # complete a path: the text before it and the path follow, each after a tab
                rest=${line#*$'\t'} kind=-f
                [[ $line == @folder* ]] && kind=-d
                while IFS= read -r line; do
                    COMPREPLY+=("${rest%%$'\t'*}$line")
                done < <(compgen "$kind" -- "${rest#*$'\t'}")
                compopt -o filenames 2>/dev/null # bash 3.2 has none
                ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done < <(command sleuth --complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null </dev/null)
}

complete -F _sleuth sleuth
