#!/usr/bin/env bash
# picture.sh: draws docs/demo.svg, the README's picture, from what a terminal shows while the README's own policy runs.
# It wants redis-server, procps and util-linux's script, and the programs in ./bin.
set -euo pipefail
cd "$(dirname "$0")/.."
picture=$PWD/docs/demo.svg
go=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$go" build -modfile=tools/freeze/go.mod -o "$dir/freeze" github.com/charmbracelet/freeze

# The first policy of the README, between its comment and the end of its block.
sed -n '/^<!-- file: redis.yaml -->$/,/^```$/p' README.md | sed '1,2d;$d' >"$dir/redis.yaml"
cat >"$dir/show" <<'SHOW'
printf '$ cat redis.yaml\n'
cat redis.yaml
printf '\n$ svcgen run redis.yaml &\n$ pkill -STOP -x redis-server    # it hangs\n'
svcgen run redis.yaml &
sleep 2
pkill -STOP -x -P "$(pgrep -d, -P $!)" redis-server
sleep 6
kill -INT $!
wait $!
SHOW
cd "$dir"
PATH="${SVCKIT_BIN:-$OLDPWD/bin}:$PATH" script -qec 'bash show' /dev/null </dev/null | sed -E 's/\r$//; /\| [0-9]+:/d' >shown # without Redis's own lines
grep -q 'restart 1 in' shown || { echo 'picture.sh: the story went another way:' >&2; cat shown >&2; exit 1; }
./freeze shown --language ansi --output "$picture" --window --padding 16 --font.family monospace --font.size 13 >/dev/null
echo "$picture"
