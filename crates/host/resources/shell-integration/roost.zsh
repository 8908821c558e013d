# Shell integration for zsh: tells the terminal where the shell is and what it does.
#
# At each prompt: OSC 133 D with the exit code if a command ran, OSC 7 with the directory, OSC 0 with
# its short form. Around the prompt: OSC 133 A and B. Before each command: OSC 133 C.
# Agents that are started here are reported by `idx0-notify`, at their start and their end.
# `no-cwd`, `no-title`, `no-marks`, `no-prompt`, `no-ssh-env` and `no-agents` in ROOST_SHELL_FEATURES
# switch parts off.
#
# Loaded by zsh/.zshenv, before the user's files; loading it again does nothing.
# It begins at the first prompt, when it can see what those files have set.

if [[ ! -o interactive || -z "${ROOST_TAB_ID-}" || "${_roost_loaded-}" == "$$" ]]; then
    'builtin' 'return' 0
fi
'builtin' 'typeset' -g _roost_loaded=$$ _roost_ran= _roost_url= _roost_url_of= _roost_aliases=aliases
# The agent that runs, since when, and the process that told of it last.
'builtin' 'typeset' -g _roost_agent= _roost_agent_since= _roost_told=

# The user's aliases must not change what follows; it is read one command at a time.
if [[ ! -o aliases ]]; then
    _roost_aliases=noaliases
fi
'builtin' 'unsetopt' aliases

_roost_wants() {
    emulate -L zsh
    [[ ",${ROOST_SHELL_FEATURES-}," != *[,\ ]no-"$1"[,\ ]* ]]
}

# Sets _roost_url to a path, percent-encoded byte by byte.
_roost_encode() {
    emulate -L zsh
    setopt no_multibyte
    if [[ $1 == "$_roost_url_of" ]]; then
        return 0
    fi
    local rest=$1 char
    _roost_url=
    while [[ -n $rest ]]; do
        char=$rest[1]
        rest=${rest[2,-1]}
        if [[ $char != [A-Za-z0-9/._~-] ]]; then
            builtin printf -v char '%%%02X' $(( #char & 255 ))
        fi
        _roost_url+=$char
    done
    _roost_url_of=$1
}

# Tells the terminal what has happened since the last prompt. $1 is the exit code.
_roost_report() {
    emulate -L zsh
    local out= title=$PWD
    if [[ -n $_roost_ran ]] && _roost_wants marks; then
        out+=$'\e]133;D;'$1$'\a'
    fi
    if _roost_wants cwd; then
        _roost_encode "$PWD"
        out+=$'\e]7;file://'${HOST-}$_roost_url$'\a'
    fi
    if _roost_wants title; then
        if [[ ${HOME-} == /?* && $PWD/ == "$HOME"/* ]]; then
            title="~${PWD#"$HOME"}"
        fi
        # A name may contain anything, also the end of this sequence and the start of another.
        out+=$'\e]0;'${title//[[:cntrl:]]/?}$'\a'
    fi
    builtin print -rn -- "$out"
}

# Puts the marks into the prompt, again if the user or a theme has set it anew.
_roost_dress() {
    emulate -L zsh
    local a=$'%{\e]133;A\a%}' b=$'%{\e]133;B\a%}' bare
    if [[ $PS1 != "$a"*"$b" && ${(t)PS1} != *readonly* ]]; then
        bare=${PS1//"$a"/}
        PS1=$a${bare//"$b"/}$b
    fi
}

# Sets _roost_agent to the name of the program that a command starts, if that is an agent: some words
# by their beginning, those that other names begin with as a whole.
_roost_agent_of() {
    emulate -L zsh
    setopt extended_glob
    local -a words=(${(z)1[1,4096]})
    local name
    while [[ ${words[1]-} == [A-Za-z_][A-Za-z0-9_]#(+|)=* ]]; do
        shift words
    done
    while [[ ${words[1]-} == (command|exec|builtin|noglob|nocorrect) ]]; do
        shift words
    done
    name=${${(Q)words[1]-}:t}
    if [[ $name == (claude|aider|cursor|codex|copilot|cody|goose)* ||
        $name == (gemini|opencode|droid|roo|roder)(|[-._0-9]*) ]]; then
        _roost_agent=$name
    fi
}

# Tells of an agent, in the order in which things happen: activity, category, title, summary.
_roost_tell() {
    emulate -L zsh
    local program=idx0-notify
    if [[ -z ${IDX0_SESSION_ID-} || -z ${IDX0_IPC_SOCKET-} ]]; then
        return 0
    fi
    if [[ -x ${IDX0_SHELL_INTEGRATION-}/idx0-notify ]]; then
        program=$IDX0_SHELL_INTEGRATION/idx0-notify
    fi
    # In a shell of its own, so that it is no job of this one and $! stays.
    _roost_told=$(
        command $program ${_roost_told:+--after} $_roost_told \
            -a $1 -c $2 "$3" "$4" </dev/null >/dev/null 2>&1 &
        builtin print -rn -- $!
    )
}

# A command is about to run: as it was typed, and as it is without aliases.
_roost_agent_start() {
    emulate -L zsh
    local line=${1:-$2} clock='%D{%s}'
    _roost_agent=
    if [[ $line$2 != *(claude|aider|cursor|codex|copilot|cody|goose|gemini|opencode|droid|roo|roder)* ]] ||
        ! _roost_wants agents; then
        return 0
    fi
    _roost_agent_of "$line"
    if [[ -z $_roost_agent ]]; then
        _roost_agent_of "$2"
    fi
    if [[ -n $_roost_agent ]]; then
        _roost_agent_since=${(%)clock}
        _roost_tell active informational "$_roost_agent started" "Running: ${line[1,80]}"
    fi
}

# The agent has ended. $1 is its exit code.
_roost_agent_end() {
    emulate -L zsh
    local clock='%D{%s}'
    local -i took=$(( ${(%)clock} - _roost_agent_since ))
    if (( $1 == 0 )); then
        _roost_tell completed completed "$_roost_agent finished" "Completed in ${took}s"
    else
        _roost_tell error error "$_roost_agent failed" "Exit code $1 after ${took}s"
    fi
    _roost_agent=
}

_roost_precmd() {
    # No option or trap of the user may disturb this, and a trace shows nothing of it.
    # They are back when the function returns.
    {
        local code=$? percent=
        if [[ -o prompt_percent ]]; then
            percent=1
        fi
        emulate -L zsh
        setopt no_err_exit no_err_return no_xtrace
        trap - DEBUG ZERR
    } 2>/dev/null
    if [[ -t 1 ]]; then
        _roost_report $code
    fi
    if [[ -n $_roost_agent ]]; then
        _roost_agent_end $code
    fi
    _roost_ran=
    # Without percent escapes the prompt has no way to say that a part of it has no width.
    if [[ -n $percent ]] && _roost_wants marks; then
        _roost_dress
    fi
    return 0
}

_roost_preexec() {
    {
        emulate -L zsh
        setopt no_err_exit no_err_return no_xtrace
        trap - DEBUG ZERR
    } 2>/dev/null
    _roost_ran=1
    if [[ -t 1 ]] && _roost_wants marks; then
        builtin print -n '\e]133;C\a'
    fi
    if [[ -n ${IDX0_SESSION_ID-} && -n ${IDX0_IPC_SOCKET-} ]]; then
        _roost_agent_start "${1-}" "${3-}"
    fi
    return 0
}

# The first prompt: every startup file has been read.
_roost_start() {
    {
        local code=$? percent=
        if [[ -o prompt_percent ]]; then
            percent=1
        fi
        emulate -L zsh
        setopt no_err_exit no_err_return no_xtrace no_aliases
        trap - DEBUG ZERR
    } 2>/dev/null
    typeset -ga precmd_functions preexec_functions
    precmd_functions=(${precmd_functions:#_roost_start})
    if _roost_wants prompt && [[ $PS1 == '%m%# ' && -n $percent ]]; then
        PS1='%B%F{blue}%~%f%b %# '
        if [[ -n ${NO_COLOR-} ]]; then
            PS1='%~ %# '
        fi
        export ROOST_PS1_APPLIED=1
    fi
    if _roost_wants ssh-env && [[ $(whence -w ssh) != *': function' ]]; then
        function ssh {
            command ssh -o 'SendEnv COLORTERM TERM_PROGRAM TERM_PROGRAM_VERSION FORCE_HYPERLINK' "$@"
        }
    fi
    # A startup file may have set it anew.
    if [[ -n ${IDX0_SHELL_INTEGRATION-} && :${PATH-}: != *:"$IDX0_SHELL_INTEGRATION":* ]]; then
        PATH=$IDX0_SHELL_INTEGRATION${PATH:+:$PATH}
    fi
    if _roost_wants marks || _roost_wants cwd || _roost_wants title ||
        { [[ -n ${IDX0_SESSION_ID-} && -n ${IDX0_IPC_SOCKET-} ]] && _roost_wants agents; }; then
        precmd_functions+=(_roost_precmd)
        preexec_functions+=(_roost_preexec)
        setopt ${${percent:+prompt_percent}:-no_prompt_percent}
        () { return $1 } $code
        _roost_precmd
    fi
    unfunction _roost_start
    return 0
}

typeset -ga precmd_functions
precmd_functions+=(_roost_start)
'builtin' 'setopt' $_roost_aliases
'builtin' 'unset' _roost_aliases
'builtin' 'return' 0
