# Shell integration for fish: tells the terminal where the shell is and what it does.
#
# At each prompt: OSC 7 with the directory and OSC 133 A, after it B. Before each command OSC 133 C,
# after it D with the exit code. The title, which fish writes itself, becomes the short directory.
# Agents that are started here are reported by `idx0-notify`, at their start and their end.
# `no-cwd`, `no-title`, `no-marks`, `no-ssh-env` and `no-agents` in ROOST_SHELL_FEATURES switch parts off.
# The prompt that fish comes with is left as it is.
#
# Loaded with --init-command, after the user's files; loading it again does nothing.

if not status is-interactive; or test -z "$ROOST_TAB_ID"; or test "$__roost_loaded" = "$fish_pid"
    exit 0
end
set -g __roost_loaded $fish_pid

function __roost_wants
    not string match -qr -- "(^|[, ])no-$argv[1](\$|[, ])" "$ROOST_SHELL_FEATURES"
end

if __roost_wants cwd
    function __roost_cwd --on-event fish_prompt
        if isatty stdout
            printf '\e]7;file://%s%s\a' $hostname (string escape --style=url -- $PWD)
        end
    end
end

# From version 4 on, fish sets the marks itself.
if __roost_wants marks; and string match -qr '^[23]\.' -- $version
    set -g __roost_end
    function __roost_prompt --on-event fish_prompt
        # The prompt itself is not written to the terminal by its function, so that cannot ask.
        set -g __roost_end
        if isatty stdout
            printf '\e]133;A\a'
            set -g __roost_end \e']133;B'\a
        end
    end

    function __roost_preexec --on-event fish_preexec
        isatty stdout; and printf '\e]133;C\a'
    end

    function __roost_postexec --on-event fish_postexec
        set -l code $status
        isatty stdout; and printf '\e]133;D;%s\a' $code
    end

    # The end mark becomes the last line of the prompt's own function: nothing may run before the
    # lines that look at $status, and a function that the user saves must work without us.
    if functions -q fish_prompt
        set -l lines (functions fish_prompt)
        if test "$lines[-1]" = end
            set lines $lines[1..-2] '    printf %s "$__roost_end"' end
            string join \n -- $lines | source
        end
    end
end

# A title of the user's own stays.
if __roost_wants title; and string match -q -- "$__fish_data_dir/*" (functions --details fish_title)
    function fish_title
        set -l home (string escape --style=regex -- $HOME)
        string replace -r -- "^$home(?=/|\$)" '~' $PWD | string replace -ra '[[:cntrl:]]' '?'
    end
end

if __roost_wants ssh-env; and not functions -q ssh
    function ssh --wraps ssh
        command ssh -o 'SendEnv COLORTERM TERM_PROGRAM TERM_PROGRAM_VERSION FORCE_HYPERLINK' $argv
    end
end

# A startup file may have set it anew.
if test -n "$IDX0_SHELL_INTEGRATION"; and not contains -- "$IDX0_SHELL_INTEGRATION" $PATH
    set -gx PATH $IDX0_SHELL_INTEGRATION $PATH
end

if __roost_wants agents; and test -n "$IDX0_SESSION_ID" -a -n "$IDX0_IPC_SOCKET"
    # The agent that runs, and the process that told of it last.
    set -g __roost_agent
    set -g __roost_told

    # Writes the name of the program that a command starts, if that is an agent: some words by their
    # beginning, those that other names begin with as a whole.
    function __roost_agent_of
        set -l value '(?:[^\s"\'\\\\]|\\\\.|\'[^\']*\'|"(?:[^"\\\\]|\\\\.)*")*'
        set -l before "^\\s*(?:[A-Za-z_]\\w*=$value\\s+)*(?:(?:command|exec|builtin)\\s+)*"
        set -l line (string sub -l 4096 -- $argv[1] | string collect)
        set -l words (string match -r -- "$before([^\\s;&|<>()]+)" $line)
        set -l name (string replace -ra -- '["\'\\\\]' '' "$words[2]" | string replace -r -- '.*/' '')
        string match -r -- '^(?:claude|aider|cursor|codex|copilot|cody|goose).*|^(?:gemini|opencode|droid|roo|roder)(?:$|[-._0-9].*)' $name
    end

    # Tells of an agent, in the order in which things happen: activity, category, title, summary.
    function __roost_tell
        if test -z "$IDX0_SESSION_ID" -o -z "$IDX0_IPC_SOCKET"
            return
        end
        set -l program idx0-notify
        if test -x "$IDX0_SHELL_INTEGRATION/idx0-notify"
            set program $IDX0_SHELL_INTEGRATION/idx0-notify
        end
        # Started by another shell, so that it is no job of this one.
        set -g __roost_told (command sh -c '"$@" </dev/null >/dev/null 2>&1 & echo "$!"' sh \
            $program --after="$__roost_told" -a $argv[1] -c $argv[2] $argv[3] $argv[4])
    end

    function __roost_agent_start --on-event fish_preexec
        set -g __roost_agent
        if string match -qr -- 'claude|aider|cursor|codex|copilot|cody|goose|gemini|opencode|droid|roo|roder' "$argv[1]"
            set -g __roost_agent (__roost_agent_of $argv[1])
        end
        if test -n "$__roost_agent"
            set -l line (string sub -l 80 -- $argv[1] | string collect)
            __roost_tell active informational "$__roost_agent started" "Running: $line"
        end
    end

    function __roost_agent_end --on-event fish_postexec
        set -l code $status
        test -n "$__roost_agent"; or return
        set -l took (math "floor($CMD_DURATION / 1000)")
        if test $code = 0
            __roost_tell completed completed "$__roost_agent finished" "Completed in "$took"s"
        else
            __roost_tell error error "$__roost_agent failed" "Exit code $code after "$took"s"
        end
        set -g __roost_agent
    end
end
