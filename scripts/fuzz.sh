#!/bin/sh
# fuzz.sh DURATION: runs each fuzz target of the module for that long, one
# after the other. What fails is kept by go test in the package's testdata/fuzz.
# Inputs that are only interesting are made smaller in few steps: with Go's own
# minute for each, a policy file would take all of the time.
set -eu

duration=${1:?usage: fuzz.sh DURATION, for example 30s}
go=${GO:-go}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# fuzz PACKAGE TARGET. Before 1.27 go test may take the end of the time for a
# failure (golang.org/issue/75804): then it names the deadline, and no input.
fuzz() {
	{
		"$go" test -run='^$' -fuzz="^$2\$" -fuzztime="$duration" -fuzzminimizetime=10x "$1" </dev/null 2>&1 && status=0 || status=$?
		echo "$status" >"$out/status"
	} | tee "$out/log"
	status=$(cat "$out/status")
	if [ "$status" != 0 ] && grep -q '^    context deadline exceeded$' "$out/log" && ! grep -q 'Failing input written' "$out/log"; then
		echo "fuzz.sh: no input has failed, the time was over"
		status=0
	fi
	return "$status"
}

packages=$("$go" list -f '{{.ImportPath}} {{.Dir}}' ./...)
echo "$packages" | while read -r package dir; do
	for target in $(cat "$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do
		echo "== $package $target"
		fuzz "$package" "$target"
	done
done
