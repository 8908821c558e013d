# Completion of rookery for bash. Everything that is offered comes from the program
# itself, so that this file stays as it is when the program is updated.

_rookery() {
    # bash splits words at = and : as well; here only blanks separate them.
    local rest=${COMP_LINE:0:COMP_POINT} word trimmed i count=0
    local -a words=()
    COMPREPLY=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        trimmed=${rest#"${rest%%[![:space:]]*}"}
        ((i < COMP_CWORD)) || word=$trimmed
        if ((count > 0)) && [[ $trimmed == "$rest" ]]; then
            words[count - 1]+=$word
        else
            words[count++]=$word
        fi
        rest=${trimmed#"$word"}
    done
    word=${words[count - 1]}

    # What readline leaves alone: the part before the last character at which it splits.
    local kept="" mark
    for mark in : = @; do
        if [[ $COMP_WORDBREAKS == *"$mark"* && $word == *"$mark"* ]]; then
            trimmed=${word%"${word##*"$mark"}"}
            ((${#trimmed} <= ${#kept})) || kept=$trimmed
        fi
    done

    local line who="" value
    while IFS= read -r line; do
        if [[ -z $who ]]; then
            who=$line
            continue
        fi
        [[ $who == values ]] || break
        value=${line%%$'\t'*}
        value=${value#"$kept"}
        # A list that is only shown can say what the values mean; one that may be typed cannot.
        if [[ $COMP_TYPE == 63 && $line == *$'\t'* ]]; then
            value+="  (${line#*$'\t'})"
        fi
        COMPREPLY+=("$value")
    done < <(command rookery __complete "${words[@]}" 2>/dev/null </dev/null)

    case $who in
    files) compopt -o default 2>/dev/null ;;
    directories) compopt -o dirnames 2>/dev/null ;;
    commands)
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -c -- "$word")
        ;;
    esac
}

complete -F _rookery rookery
