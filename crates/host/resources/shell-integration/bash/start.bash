# Startup file of a bash that was started with `--posix` and ENV naming this file.
#
# Such a bash reads no other startup file, so none of the user's has to be changed.
# This one leaves POSIX mode again, reads what bash would have read, and loads the integration.
# It must work in every bash, also in one that is too old for the integration.

\set +o posix

# Before any file of the user runs: what they start must not be sent here as well.
if [[ ${ROOST_BASH_ENV+set} ]]; then
    export ENV="$ROOST_BASH_ENV"
else
    unset -v ENV
fi
unset -v ROOST_BASH_ENV

# What bash has chosen otherwise because of POSIX mode. What the environment says is exported, and stays.
if [[ ${HISTFILE-} == ~/.sh_history && $(declare -p HISTFILE) == 'declare -- '* ]]; then
    HISTFILE=~/.bash_history
fi
if [[ ${MAILCHECK-} == 600 && $(declare -p MAILCHECK) == 'declare -'[-i]' '* ]]; then
    MAILCHECK=60
fi
if [[ ${BASHOPTS-} == *inherit_errexit* && $(declare -p BASHOPTS) == 'declare -r '* ]]; then
    shopt -u inherit_errexit
fi

# At top level, not in a function: `declare` in a startup file must stay global.
if shopt -q login_shell; then
    if [[ -r /etc/profile && ! -d /etc/profile ]]; then
        . /etc/profile
    fi
    if [[ -r ~/.bash_profile && ! -d ~/.bash_profile ]]; then
        . ~/.bash_profile
    elif [[ -r ~/.bash_login && ! -d ~/.bash_login ]]; then
        . ~/.bash_login
    elif [[ -r ~/.profile && ! -d ~/.profile ]]; then
        . ~/.profile
    fi
else
    # Only some distributions build bash to read it, and only those have it.
    if [[ -r /etc/bash.bashrc && ! -d /etc/bash.bashrc ]]; then
        . /etc/bash.bashrc
    fi
    if [[ -r ~/.bashrc && ! -d ~/.bashrc ]]; then
        . ~/.bashrc
    fi
fi

if [[ -r ${BASH_SOURCE[0]%/bash/*}/roost.bash ]]; then
    . "${BASH_SOURCE[0]%/bash/*}/roost.bash"
fi
