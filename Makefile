# `make` alone says what can be done here.

SHELL         := bash
.SHELLFLAGS   := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZTIME ?= 30s

programs := ./cmd/svcrun ./cmd/svckit-probe ./cmd/svcgen ./cmd/svcstat
ldflags   = -s -w -X main.version=$(VERSION)
# svcrun's own entry point, which sees what signals it was given ignored: internal/proc/entry_linux_*.s.
entry    := -E=svckit_rt0
# The command line's own manual pages are not written; what writes them would take a third of svcgen's start.
tags     := urfave_cli_no_docs
# $(call compile,DIRECTORY)
compile   = CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -tags $(tags) -ldflags '$(ldflags)' -ldflags './cmd/svcrun=$(ldflags) $(entry)' -o $(1)/ $(programs)
lint     := $(GO) tool -modfile=tools/go.mod golangci-lint

# The packages whose tests boot a systemd are those that import internal/lab. They run after the others and one by one,
# so that nothing else takes the processor while they measure, aloud (-v), so that a skip is seen, and many side by side
# (-parallel), since they mostly wait for timers. What they saw last time counts for nothing (-count=1): the programs
# and the roots they run are no part of what go test looks at.
tested        = $(GO) list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./...
lab_packages  = $$($(tested) | awk  '/\/internal\/lab/ { print $$1 }')
unit_packages = $$($(tested) | awk '!/\/internal\/lab/ { print $$1 }')
go_test      := CGO_ENABLED=1 $(GO) test -race
export SVCKIT_BIN := $(CURDIR)/bin

# What it takes to run them: $(call run_tests,TIMEOUT OF THE UNIT TESTS,TIMEOUT OF THE LAB,FLAGS).
define run_tests
@echo '== unit tests, with the race detector'
@packages="$(unit_packages)"; $(go_test) -timeout $(1) $(3) $$packages
@echo '== tests in the lab'
@packages="$(lab_packages)"; $(go_test) -count=1 -v -p 1 -parallel 12 -timeout $(2) $$packages
endef

##@ Build and show

.PHONY: build
build: ## the three static programs and svcrun's helper, into ./bin; VERSION=… stamps another version
	$(call compile,bin)

.PHONY: man
man: ## the manual pages, into ./build/man
	@$(GO) run ./internal/manual -version '$(VERSION)' -date "$$(date -u -d @$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} +%F)" man

.PHONY: completions
completions: ## the completions of bash, zsh and fish, into ./build/completions
	@$(GO) run ./internal/manual completions

.PHONY: demo
demo: build ## a policy, its unit, and what becomes of a service that crashes, hangs and drains; no root, no systemd, half a minute
	@$(GO) build -o bin/demo ./internal/demo && bin/demo

.PHONY: demo-systemd
demo-systemd: deps build ## the story from policy to history on a real systemd, as a time line
	@$(GO) build -o bin/demo ./internal/demo && bin/demo systemd

##@ Test

.PHONY: test
test: deps build ## everything: unit tests with the race detector, then a real systemd in the lab
	$(call run_tests,10m,25m)

.PHONY: test-full
test-full: export SVCKIT_FULL := 1
test-full: deps build ## the same with the exhaustive sets, then each fuzz target for FUZZTIME
	$(call run_tests,60m,60m,-count=1)
	@GO=$(GO) scripts/fuzz.sh $(FUZZTIME)

.PHONY: test-vm
test-vm: export SVCKIT_VM := 1
test-vm: deps build ## what needs limits of memory and processes, or a kernel log, in an emulated machine: fork bombs, out of memory
	@$(GO) test -count=1 -v -timeout 9m ./cmd/svcrun/e2e/limits
	@$(GO) test -count=1 -v -timeout 5m -run KernelLog ./cmd/svcgen/e2e
	@$(GO) test -count=1 -v -timeout 9m -run OutOfMemory ./cmd/svcstat/e2e

.PHONY: bench
bench: deps build ## what is promised in time and weight, beside what people use today; BENCH='-only=start,stop' and the like
	@scripts/bench-deps.sh
	@$(GO) build -o bin/bench ./internal/bench && bin/bench $(BENCH)

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (30s)
	@GO=$(GO) scripts/fuzz.sh $(FUZZTIME)

.PHONY: verify
verify: ## formatting, vet, linters, the architecture, docs against code, a tidy go.mod
	@echo '== gofmt'
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "run gofmt -w on:" $$unformatted; exit 1; }
	@echo '== go vet'
	@$(GO) vet ./...
	@echo '== go mod tidy -diff'
	@$(GO) mod tidy -diff
	@echo '== the architecture, and docs against code'
	@$(GO) test ./internal/arch
	@echo '== golangci-lint'
	@$(lint) run ./...

##@ Package and release

DIST      ?= dist
ARCHS     ?= amd64 arm64
compiled   = $(ARCHS:%=build/%)
# The one time that stands in what is packed, so that whoever builds a commit again gets the same bytes.
deb rpm release: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)

.PHONY: deb rpm release
deb:     ## dist/svckit_VERSION_ARCH.deb, for amd64 and arm64; VERSION=v1.2.3, else the commit's
rpm:     ## dist/svckit-VERSION.ARCH.rpm, the same
release: ## VERSION=v1.2.3: both, tarballs, a bill of materials and SHA256SUMS; refused without a heading in CHANGELOG.md
deb rpm release: man completions $(compiled)
	@$(GO) run ./packaging/release -version '$(VERSION)' -arch '$(ARCHS)' -dist '$(DIST)' $@

.PHONY: $(compiled)
$(compiled): build/%:
	@echo '== the programs for $*'
	@GOOS=linux GOARCH=$* $(call compile,$@)

##@ This machine

.PHONY: preflight
preflight: ## what is missing here, each with its cure
	@scripts/preflight.sh

.PHONY: deps
deps: ## installs what is missing (Debian, as root); elsewhere the same as preflight
	@scripts/preflight.sh --install

.PHONY: clean
clean: ## removes ./bin, ./build and ./dist; the Go caches and the lab's roots stay
	rm -rf bin build dist

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
