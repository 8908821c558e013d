# Completion of rookery for fish. Everything that is offered comes from the program
# itself, so that this file stays as it is when the program is updated.

function __rookery_complete
    set -l word (commandline --current-token)
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l found (command rookery __complete $words "$word" 2>/dev/null </dev/null)
    set -l option (string match --regex -- '^--[^=]*=' "$word")
    set -l path (string replace --regex -- '^--[^=]*=' '' "$word")
    switch "$found[1]"
        case values
            printf '%s\n' $found[2..-1]
        case files
            for one in (__fish_complete_path "$path")
                printf '%s%s\n' "$option" "$one"
            end
        case directories
            for one in (__fish_complete_directories "$path" '')
                printf '%s%s\n' "$option" "$one"
            end
        case commands
            __fish_complete_command
    end
end

complete --command rookery --no-files --keep-order --arguments '(__rookery_complete)'
