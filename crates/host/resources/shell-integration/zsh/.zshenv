# Startup file of a zsh whose ZDOTDIR names this folder.
#
# It gives the user's ZDOTDIR back, so every later startup file is the user's, loads the integration,
# which waits for the first prompt, and reads the file in whose place it was read.

if [[ -n "${ROOST_ZSH_ZDOTDIR+set}" ]]; then
    'builtin' 'export' ZDOTDIR="$ROOST_ZSH_ZDOTDIR"
else
    'builtin' 'unset' ZDOTDIR
fi
'builtin' 'unset' ROOST_ZSH_ZDOTDIR

if [[ -r "${ROOST_RESOURCES_DIR-}/shell-integration/roost.zsh" ]]; then
    'builtin' 'source' "$ROOST_RESOURCES_DIR/shell-integration/roost.zsh"
fi

if [[ -r "${ZDOTDIR:-$HOME}/.zshenv" && ! -d "${ZDOTDIR:-$HOME}/.zshenv" ]]; then
    'builtin' 'source' "${ZDOTDIR:-$HOME}/.zshenv"
fi
