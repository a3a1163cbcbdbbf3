# fish completion for sleuth: asks `sleuth --complete`.

function __sleuth_complete
    set -l words (commandline -opc)[2..] (commandline -ct)
    for line in (command sleuth --complete fish -- $words 2>/dev/null </dev/null)
        set -l parts (string split \t -- $line)
        switch $parts[1]
            case @file
                printf "$parts[2]%s\n" (__fish_complete_path $parts[3])
            case @folder
                printf "$parts[2]%s\n" (__fish_complete_directories $parts[3] '')
            case '*'
                echo -- $line
        end
    end
end

complete -c sleuth -f -a '(__sleuth_complete)'
