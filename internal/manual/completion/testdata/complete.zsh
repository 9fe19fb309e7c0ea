# zsh -f complete.zsh DIR LINE...: prints what a Tab behind each LINE offers, with
# the completions in DIR: a match to a line, and END behind the last. It asks a
# zsh with a terminal of its own.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($1 \$fpath); . ${0:h}/inner.zsh; print READY"
zpty -r shell answer $'*\nREADY*'
for line in $@[2,-1]; do
  zpty -n -w shell "$line"$'\t'
  zpty -r shell answer '*THE END*'
  print -r -- "$answer"
  print END
  zpty -n -w shell $'\x15' # kill the line
done
