autoload -Uz compinit
compinit -D -u
unsetopt beep
LISTMAX=9999
PROMPT=

# compadd tells its matches, but where they are only asked for, or left out.
compadd() {
  local -a asks=(${(M)@[1,(i)--]:#-[AOD]*}) offered
  if (( ! $#asks )); then
    builtin compadd -A offered "$@"
    print -lr -- '' 'MATCH '$^offered
  fi
  builtin compadd "$@"
}
the-end() {
  print 'THE END'
  comppostfuncs=(the-end) # each is called but once
}
comppostfuncs=(the-end)
