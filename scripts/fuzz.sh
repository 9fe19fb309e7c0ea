#!/bin/sh
# fuzz.sh DURATION: runs each fuzz target of the module for that long, one
# after the other. What fails is kept by go test in the package's testdata/fuzz.
# Inputs that are only interesting are made smaller in few steps: with Go's own
# minute for each, a policy file would take all of the time.
set -eu

duration=${1:?usage: fuzz.sh DURATION, for example 30s}
go=${GO:-go}

packages=$("$go" list -f '{{.ImportPath}} {{.Dir}}' ./...)
echo "$packages" | while read -r package dir; do
	for target in $(cat "$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do
		echo "== $package $target"
		"$go" test -run='^$' -fuzz="^$target\$" -fuzztime="$duration" -fuzzminimizetime=10x "$package" </dev/null
	done
done
