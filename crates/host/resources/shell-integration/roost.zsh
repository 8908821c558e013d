# Shell integration for zsh: tells the terminal where the shell is and what it does.
#
# At each prompt: OSC 133 D with the exit code if a command ran, OSC 7 with the directory, OSC 0 with
# its short form. Around the prompt: OSC 133 A and B. Before each command: OSC 133 C.
# `no-cwd`, `no-title`, `no-marks`, `no-prompt` and `no-ssh-env` in ROOST_SHELL_FEATURES switch parts off.
#
# Loaded by zsh/.zshenv, before the user's files; loading it again does nothing.
# It begins at the first prompt, when it can see what those files have set.

if [[ ! -o interactive || -z "${ROOST_TAB_ID-}" || "${_roost_loaded-}" == "$$" ]]; then
    'builtin' 'return' 0
fi
'builtin' 'typeset' -g _roost_loaded=$$ _roost_ran= _roost_url= _roost_url_of= _roost_aliases=aliases

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
    if _roost_wants marks || _roost_wants cwd || _roost_wants title; then
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
