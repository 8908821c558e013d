# Shell integration for bash 4.4 and later: tells the terminal where the shell is and what it does.
#
# At each prompt: OSC 133 D with the exit code if a command ran, OSC 7 with the directory, OSC 0 with
# its short form. Around the prompt: OSC 133 A and B. Before each command: OSC 133 C.
# Agents that are started here are reported by `idx0-notify`, at their start and their end.
# `no-cwd`, `no-title`, `no-marks`, `no-prompt`, `no-ssh-env` and `no-agents` in ROOST_SHELL_FEATURES
# switch parts off.
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

# The agent that runs, since when, and the process that told of it last.
__roost_agent=
__roost_agent_since=
__roost_told=
# What names an agent: some words by their beginning, those that other names begin with as a whole.
__roost_agents='@(@(claude|aider|cursor|codex|copilot|cody|goose)*|@(gemini|opencode|droid|roo|roder)?([-._0-9]*))'
__roost_any_agent='*@(claude|aider|cursor|codex|copilot|cody|goose|gemini|opencode|droid|roo|roder)*'

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

# Sets __roost_agent to the name of the program that a command starts, if that is an agent.
function __roost_agent_of {
    # A variable is set for the command: a name, and a value whose parts may be quoted.
    local __roost_set=$'^[A-Za-z_][A-Za-z0-9_]*[+]?=([^[:space:]"\'\\]|\\\\.|\'[^\']*\'|"([^"\\]|\\\\.)*")*[[:space:]]+'
    local __roost_sets='[A-Za-z_]*([A-Za-z0-9_])?(+)=*' __roost_runs='@(command|exec|builtin)[[:space:]]*'
    local __roost_rest=${1:0:4096}
    while [[ $__roost_rest == $__roost_sets && $__roost_rest =~ $__roost_set ]]; do
        __roost_rest=${__roost_rest:${#BASH_REMATCH}}
    done
    while [[ $__roost_rest == $__roost_runs ]]; do
        __roost_rest=${__roost_rest#*[[:space:]]}
    done
    __roost_rest=${__roost_rest%%[[:space:];&|<>()]*}
    __roost_rest=${__roost_rest//[\"\'\\]/}
    __roost_rest=${__roost_rest##*/}
    __roost_agent=
    if [[ $__roost_rest == $__roost_agents ]]; then
        __roost_agent=$__roost_rest
    fi
}

# Tells of an agent, in the order in which things happen: activity, category, title, summary.
function __roost_tell {
    local __roost_program=idx0-notify
    if [[ -z ${IDX0_SESSION_ID-} || -z ${IDX0_IPC_SOCKET-} ]]; then
        return 0
    fi
    if [[ -x ${IDX0_SHELL_INTEGRATION-}/idx0-notify ]]; then
        __roost_program=$IDX0_SHELL_INTEGRATION/idx0-notify
    fi
    # In a shell of its own, so that it is no job of this one and $! stays.
    __roost_told=$(
        command "$__roost_program" ${__roost_told:+--after "$__roost_told"} \
            -a "$1" -c "$2" "$3" "$4" </dev/null >/dev/null 2>&1 &
        builtin printf %s "$!"
    )
}

# A command that may be an agent is about to run. The last argument is for $_ alone.
function __roost_agent_start {
    local -
    set +eETuvx
    if __roost_wants agents; then
        __roost_agent_of "$BASH_COMMAND"
    fi
    if [[ $__roost_agent ]]; then
        builtin printf -v __roost_agent_since '%(%s)T' -1
        __roost_tell active informational "$__roost_agent started" "Running: ${BASH_COMMAND:0:80}"
    fi
    return 0
}

# The agent has ended. $1 is its exit code.
function __roost_agent_end {
    local __roost_now
    builtin printf -v __roost_now '%(%s)T' -1
    ((__roost_now -= __roost_agent_since))
    if [[ $1 == 0 ]]; then
        __roost_tell completed completed "$__roost_agent finished" "Completed in ${__roost_now}s"
    else
        __roost_tell error error "$__roost_agent failed" "Exit code $1 after ${__roost_now}s"
    fi
    __roost_agent=
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
    if [[ $__roost_watches && $__roost_ran == 1 ]]; then
        # A command ran and our part of the trap did not see it: the trap was set anew.
        __roost_ask_later
    fi
    if [[ -t 1 ]]; then
        __roost_report "$__roost_exit"
    fi
    if [[ $__roost_agent ]]; then
        __roost_agent_end "$__roost_exit"
    fi
    if __roost_wants marks; then
        __roost_dress
    else
        # No prompt will note the next command.
        __roost_ran=1
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
    # A failure here must not end the shell.
    [[ $- == *e* ]] || return "$1"
}

function __roost_hook {
    if [[ ${PROMPT_COMMAND[*]+set} && ${PROMPT_COMMAND[*]@a} == *r* ]]; then
        return 1
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
    return 0
}

# bash has one DEBUG trap, and hides it from functions and sourced files. So it is looked at between
# two prompts, where everything is visible, as one more command before the next prompt.
__roost_watches=
__roost_ask='__roost_watch "$(trap -p DEBUG)"'

function __roost_ask_later {
    local __roost_found=$'\n'${PROMPT_COMMAND[*]-}
    if [[ $__roost_found == *"$__roost_ask"* || ${PROMPT_COMMAND[*]@a} == *r* ]]; then
        return 0
    fi
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
        PROMPT_COMMAND+=$'\n'$__roost_ask
    else
        PROMPT_COMMAND+=("$__roost_ask")
    fi
}

# Takes back what __roost_ask_later added.
function __roost_asked {
    local __roost_at
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
        PROMPT_COMMAND=${PROMPT_COMMAND%$'\n'"$__roost_ask"}
        return 0
    fi
    for __roost_at in "${!PROMPT_COMMAND[@]}"; do
        if [[ ${PROMPT_COMMAND[__roost_at]} == "$__roost_ask" ]]; then
            unset -v "PROMPT_COMMAND[$__roost_at]"
        fi
    done
}

# Looks at the first command of each line, without a process and without a trace: only what does not
# change $_ runs for all of them. $1 is the trap as it is. One of the user's stays and runs first, with
# all that it would see without us; what it returns is what the whole returns.
function __roost_watch {
    { local __roost_words=() -; set +eETuvx; } 2>/dev/null
    __roost_asked
    if [[ $1 == *'__roost_ran == 1'* ]]; then
        return 0
    fi
    local __roost_ours='if ((__roost_ran == 1 && (__roost_ran = 2))) && [[ $BASH_COMMAND == $__roost_any_agent ]]; then __roost_agent_start "$_"; fi;'
    if [[ -z $1 ]]; then
        trap "{ $__roost_ours } 2>/dev/null" DEBUG
        return 0
    fi
    # Quoted by bash itself: trap -- 'text' DEBUG.
    eval "__roost_words=($1)"
    trap "${__roost_words[2]}"$'\n''{ ((__roost_seen = $?)) || ((1)); '"$__roost_ours"' ((__roost_seen == 0)) || __roost_return "$__roost_seen"; } 2>/dev/null' DEBUG
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
    # A startup file may have set it anew.
    if [[ ${IDX0_SHELL_INTEGRATION-} && :${PATH-}: != *:"$IDX0_SHELL_INTEGRATION":* ]]; then
        PATH=$IDX0_SHELL_INTEGRATION${PATH:+:$PATH}
    fi
    if [[ ${IDX0_SESSION_ID-} && ${IDX0_IPC_SOCKET-} ]] && __roost_wants agents; then
        __roost_watches=1
    fi
    if [[ $__roost_watches ]] || __roost_wants marks || __roost_wants cwd || __roost_wants title; then
        if ! __roost_hook; then
            __roost_watches=
        elif [[ $__roost_watches ]]; then
            __roost_ask_later
        fi
    fi
    return 0
}

__roost_start
unset -f __roost_start __roost_hook
\eval "$__roost_aliases"
\unset -v __roost_aliases
\return 0
