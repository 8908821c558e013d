#compdef rookery
# Completion of rookery for zsh. Everything that is offered comes from the program
# itself, so that this file stays as it is when the program is updated.

_rookery() {
    local line who
    local -a found values shown
    found=("${(@f)$(command rookery __complete "${(@)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null </dev/null)}")
    who=$found[1]
    shift found
    case $who in
    files) compset -P '--*='; _files ;;
    directories) compset -P '--*='; _files -/ ;;
    commands) _command_names -e ;;
    values)
        for line in $found; do
            values+=("${line%%$'\t'*}")
            shown+=("${line/$'\t'/  -- }")
        done
        # The program offers words that need no quotes.
        compadd -Q -V rookery -l -d shown -a values
        ;;
    *) return 1 ;;
    esac
}

if [[ $funcstack[1] == _rookery ]]; then
    _rookery "$@"
else
    compdef _rookery rookery
fi
