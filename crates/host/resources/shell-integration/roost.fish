# Shell integration for fish: tells the terminal where the shell is and what it does.
#
# At each prompt: OSC 7 with the directory and OSC 133 A, after it B. Before each command OSC 133 C,
# after it D with the exit code. The title, which fish writes itself, becomes the short directory.
# `no-cwd`, `no-title`, `no-marks` and `no-ssh-env` in ROOST_SHELL_FEATURES switch parts off.
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
