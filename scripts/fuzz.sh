#!/bin/sh
# fuzz.sh DURATION: runs each fuzz target of the module for that long, one
# after the other. What fails is kept by go test in the package's testdata/fuzz.
set -eu

duration=${1:?usage: fuzz.sh DURATION, for example 30s}
go=${GO:-go}

"$go" list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r package dir; do
	targets=$(cat "$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p')
	for target in $targets; do
		echo "== $package $target"
		"$go" test -run='^$' -fuzz="^$target\$" -fuzztime="$duration" "$package"
	done
done
