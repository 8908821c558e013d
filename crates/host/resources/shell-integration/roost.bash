# Shell integration for bash 4.4 and later: tells the terminal where the shell is and what it does.
#
# At each prompt: OSC 133 D with the exit code if a command ran, OSC 7 with the directory, OSC 0 with
# its short form. Around the prompt: OSC 133 A and B. Before each command: OSC 133 C.
# `no-cwd`, `no-title`, `no-marks`, `no-prompt` and `no-ssh-env` in ROOST_SHELL_FEATURES switch parts off.
#
# Loaded by bash/start.bash; loading it again does nothing. All names begin with `__roost_`, locals
# too, because a local cannot be declared where the user has a read-only variable of its name.

if [[ $- != *i* || -z ${ROOST_TAB_ID-} || ${__roost_loaded-} == "$$" ]] ||
    ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    return 0
fi
__roost_loaded=$$

# The user's aliases must not change what follows; it is read one command at a time.
__roost_aliases=$(\shopt -p expand_aliases) || \:
\shopt -u expand_aliases

__roost_ran=
__roost_url_of=
__roost_url=

function __roost_wants {
    case ,${ROOST_SHELL_FEATURES-}, in
        *[,\ ]no-"$1"[,\ ]*) return 1 ;;
    esac
    return 0
}

# Sets __roost_url to a path, percent-encoded byte by byte.
function __roost_encode {
    if [[ $1 == "$__roost_url_of" ]]; then
        return 0
    fi
    local LC_ALL=C __roost_path=$1 __roost_char __roost_code __roost_at
    __roost_url=
    for ((__roost_at = 0; __roost_at < ${#__roost_path}; __roost_at++)); do
        __roost_char=${__roost_path:__roost_at:1}
        if [[ $__roost_char != [A-Za-z0-9/._~-] ]]; then
            # The number of a byte above 127 may come out negative.
            builtin printf -v __roost_code %d "'$__roost_char"
            builtin printf -v __roost_char %%%02X "$((__roost_code & 255))"
        fi
        __roost_url+=$__roost_char
    done
    __roost_url_of=$1
}

# Tells the terminal what has happened since the last prompt. $1 is the exit code.
function __roost_report {
    local __roost_out= __roost_title
    if [[ $__roost_ran ]] && __roost_wants marks; then
        __roost_out+=$'\e]133;D;'$1$'\a'
    fi
    if __roost_wants cwd; then
        __roost_encode "$PWD"
        __roost_out+=$'\e]7;file://'${HOSTNAME-}$__roost_url$'\a'
    fi
    if __roost_wants title; then
        __roost_title=$PWD
        if [[ ${HOME-} == /?* && $PWD/ == "$HOME"/* ]]; then
            __roost_title="~${PWD#"$HOME"}"
        fi
        # A name may contain anything, also the end of this sequence and the start of another.
        __roost_out+=$'\e]0;'${__roost_title//[[:cntrl:]]/'?'}$'\a'
    fi
    builtin printf %s "$__roost_out"
}

# Puts the marks into the prompts, again if the user or a theme has set them anew.
function __roost_dress {
    local __roost_a='\[\e]133;A\a\]' __roost_b='\[\e]133;B\a\]' __roost_c='\e]133;C\a'
    # Only a prompt that is shown before a command knows that there was one.
    local __roost_note='${BASH_VERSION:0*(__roost_ran=1):0}' __roost_bare
    if [[ ${PS1-} != "$__roost_a"*"$__roost_b" && ${PS1+${PS1@a}} != *r* ]]; then
        __roost_bare=${PS1-}
        __roost_bare=${__roost_bare//"$__roost_a"/}
        PS1=$__roost_a${__roost_bare//"$__roost_b"/}$__roost_b
    fi
    __roost_ran=
    if ! shopt -q promptvars; then
        # Nothing can be noted then, and the note would be shown as it is.
        __roost_note=
        __roost_ran=1
    fi
    if [[ ${PS0-} != *"$__roost_c$__roost_note" && ${PS0+${PS0@a}} != *r* ]]; then
        __roost_bare=${PS0-}
        __roost_bare=${__roost_bare//"$__roost_c"/}
        PS0=${__roost_bare//'${BASH_VERSION:0*(__roost_ran=1):0}'/}$__roost_c$__roost_note
    fi
}

# What runs before each prompt.
function __roost_prompt {
    # No option of the user may end or disturb this, and no trace may show more than its name.
    { local __roost_exit=${__roost_status:-$?} -; set +eETuvx; } 2>/dev/null
    __roost_status=
    if [[ -t 1 ]]; then
        __roost_report "$__roost_exit"
    fi
    if __roost_wants marks; then
        __roost_dress
    fi
    return 0
}

# Before bash 5.1 there is one PROMPT_COMMAND, whose commands see each other's exit codes. There this
# runs first and keeps the code, and the user's own runs after a pipeline that brings back the codes.
function __roost_keep {
    __roost_status=$? __roost_codes=("${PIPESTATUS[@]}")
    { local __roost_code __roost_line= -; set +eETuvx; } 2>/dev/null
    for __roost_code in "${__roost_codes[@]}"; do
        __roost_line+=" | __roost_return $__roost_code"
    done
    __roost_again="${__roost_line# | }"$'\n'$__roost_user_command
    return 0
}

function __roost_return {
    # Nobody can have asked for a failure that would end the shell.
    [[ $- == *e* ]] || return "$1"
}

function __roost_hook {
    if [[ ${PROMPT_COMMAND[*]+set} && ${PROMPT_COMMAND[*]@a} == *r* ]]; then
        return 0
    fi
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
        __roost_user_command=${PROMPT_COMMAND-}
        PROMPT_COMMAND=$'__roost_keep\neval "$__roost_again"\n__roost_prompt'
    elif [[ ${PROMPT_COMMAND[*]+set} ]]; then
        PROMPT_COMMAND+=(__roost_prompt)
    else
        # The first place is the user's: a plain assignment to PROMPT_COMMAND writes there.
        PROMPT_COMMAND[1]=__roost_prompt
    fi
}

function __roost_start {
    local -
    set +eETuvx
    if __roost_wants prompt && [[ ${PS1-} == '\s-\v\$ ' ]]; then
        PS1='\[\e[1;34m\]\w\[\e[0m\] \$ '
        if [[ ${NO_COLOR-} ]]; then
            PS1='\w \$ '
        fi
        export ROOST_PS1_APPLIED=1
    fi
    if __roost_wants ssh-env && ! declare -F ssh >/dev/null; then
        function ssh {
            command ssh -o 'SendEnv COLORTERM TERM_PROGRAM TERM_PROGRAM_VERSION FORCE_HYPERLINK' "$@"
        }
    fi
    if __roost_wants marks || __roost_wants cwd || __roost_wants title; then
        __roost_hook
    fi
    return 0
}

__roost_start
unset -f __roost_start __roost_hook
\eval "$__roost_aliases"
\unset -v __roost_aliases
\return 0
