# What a person types. `make check` is what CI runs.

PKGS      ?= ./...
# CI runs the race detector on packages that share memory between goroutines; make race runs it on all, and on sqldb, which
# takes four minutes by itself.
RACE_PKGS ?= ./internal/platform/outbound ./internal/platform/secret ./internal/platform/worker ./internal/event ./internal/webhook/...
TIMEOUT   ?= 15m
FUZZTIME  ?= 20s
TESTARGS  ?=
BENCHARGS ?=
CHAOSARGS ?=
RELEASEARGS ?=

# The programs that tests need besides Go, and Debian's package where it has another name.
PROGRAMS = curl pgbouncer node=nodejs php=php-cli promtool=prometheus psql=postgresql python3
# Journeys take half the processor's time in a Chromium without windows. Not every distribution has it.
CHROMIUM = 'chromium-headless-shell=chromium-headless-shell | chromium'
# make test installs at once what its parts look for: each run of apt-get costs seconds by itself.
PARTS = npm rpm $(CHROMIUM)
# Tests with dependencies that the program should not have are modules of their own.
MODULES = test/acme test/browser tools/release
WITHPG  = go run ./test/withpg
# The linter vets with more analyzers, and test programs link in two thirds of the time without what debuggers read.
LEAN    = -vet=off -ldflags=-w

# The name bears the Go version: a linter refuses code newer than the Go that built it.
LINTER := bin/golangci-lint-$(shell go env GOVERSION)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build demo test beside acme openapi n8n-node n8n browser pictures race fuzz bench soak year chaos release fixture package check vuln vuln-known fmt fmt-check vet lint clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/carteira
	go build -trimpath -buildvcs=auto -o bin/carteira ./cmd/carteira

demo: ## serve a seeded company on the embedded database
	go run ./cmd/carteira demo

# Green means that every test ran: one that lacks a program fails, where plain go test skips it.
# A package waits for its databases half of the time: there are more at once than cores.
test: export CI = true
# As in a release, so that the packages are compiled once for the tests and for the program that they install.
test package: export CGO_ENABLED = 0
test: ## every test, on both databases (PKGS=./internal/platform/money TESTARGS='-run Parse -v')
	@tools/ensure $(PROGRAMS) $(if $(filter ./...,$(PKGS)),$(PARTS))
	@if [ '$(PKGS)' = ./... ]; then \
		$(MAKE) --no-print-directory beside >test/beside.log 2>&1 & beside=$$!; \
	fi; \
	$(WITHPG) -- go test $(LEAN) -p 3 -timeout $(TIMEOUT) $(TESTARGS) $(PKGS); tests=$$?; \
	if [ "$$beside" ]; then wait $$beside; others=$$?; cat test/beside.log; fi; \
	exit $$((tests ? tests : $${others:-0}))
	@if [ '$(PKGS)' = ./... ]; then $(MAKE) --no-print-directory browser; fi

# What waits for other programs most of the time runs in parallel with the Go tests. Browsers have the machine to themselves.
# Node comes first: by the time that Go has its turn, the other tests have compiled what both need.
beside: n8n-node openapi acme package

acme: ## certificates from Pebble, the certificate authority that Let's Encrypt has for tests
	go -C test/acme test $(LEAN) -timeout $(TIMEOUT) $(TESTARGS) ./...

openapi: ## linters and generators of others read the document, and what they generate calls the real program
	@tools/ensure node=nodejs npm
	@cd test/openapi && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --ignore-scripts --prefer-offline --no-audit --no-fund; }
	CI=true go -C test/openapi test $(LEAN) -timeout $(TIMEOUT) $(TESTARGS) .

N8N_NODE = integrations/n8n-nodes-carteira
n8n-node: ## the node for n8n is made from the document, compiled, and passes n8n's linter and its tests
	@tools/ensure node=nodejs npm
	@cd $(N8N_NODE) && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --ignore-scripts --prefer-offline --no-audit --no-fund; }
	cd $(N8N_NODE) && npm run --silent build && npm run --silent lint && npm run --silent test

# Not a part of make test: the first time it installs n8n, which takes half an hour and two gigabytes outside of the tree.
N8N_VERSION ?= 2.41.1
N8N_DAY     ?= 2026-09-24
N8N_CACHE   ?= $(HOME)/.cache/carteira
n8n: n8n-node build ## the node inside a real n8n: register, receive, page, pay, restart, deregister (on demand, minutes)
	@tools/ensure openssl make g++ python3
	cd $(N8N_NODE) && node test/real/run.mjs "$$(test/real/n8n.sh $(N8N_CACHE) $(N8N_VERSION) $(N8N_DAY))" ../../bin/carteira

# A test waits for its page most of the time: there are more at once than cores.
browser: ## the panel's journeys in Chromium, a picture of every page in test/artifacts/panel, axe on each
	@tools/ensure $(CHROMIUM)
	@rm -f test/artifacts/clicks.txt
	$(WITHPG) -- go -C test/browser test $(LEAN) -timeout $(TIMEOUT) -parallel 4 $(TESTARGS) ./...
	@if [ -f test/artifacts/clicks.txt ]; then cat test/artifacts/clicks.txt; fi

pictures: ## the pictures of README and docs, anew from the demo (after a change of the pages in them)
	@tools/ensure $(CHROMIUM)
	@mkdir -p docs/pictures
	go -C test/browser test -timeout $(TIMEOUT) -count 1 -run TestPicturesOfTheDocuments -pictures ../../docs/pictures .
	go test -count 1 -run TestPictures ./test/documents -pictures-taken

race: ## every test under the race detector
	@tools/ensure $(PROGRAMS)
	$(WITHPG) -- go test -race -timeout $(TIMEOUT) $(TESTARGS) $(PKGS)

fuzz: ## each fuzz target for FUZZTIME (20s)
	@grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sort | \
	while IFS=: read -r file target; do \
		echo "$${target#func } in $${file%/*}"; \
		go test -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) "$${file%/*}" </dev/null || exit 1; \
	done

bench: ## measure the real server, durable, on both databases (BENCHARGS=…)
	$(WITHPG) --durable -- go run ./test/bench $(BENCHARGS)

soak: ## 500 hostile receivers together with 500 healthy ones, on both databases (short: BENCHARGS='-lanes 60 -rounds 1')
	$(WITHPG) --durable -- go run ./test/bench -soak $(BENCHARGS)

# CI lives through some months of the same, each life on one database; these are the whole.
year: export CARTEIRA_TEST_BOTH = true
year: ## a sandbox's two years against the model over HTTP, and a year by the hour against one at once (minutes)
	CARTEIRA_TEST_MONTHS=24 $(WITHPG) -- go test -timeout 60m -run TestYearsInASandboxAreWhatTheModelSays $(TESTARGS) ./test/program
	CARTEIRA_TEST_MONTHS=12 $(WITHPG) -- go test -timeout 60m -run TestAdvancingLeaves $(TESTARGS) ./internal/app
	CARTEIRA_TEST_MONTHS=24 $(WITHPG) -- go test -timeout 60m -run TestLifeOfACompanyIsWhatTheModelSays $(TESTARGS) ./internal/billing

chaos: ## hurt the real server in every way, count what is lost and how long it hangs; mutants of each trial first (CHAOSARGS='-only disk')
	CARTEIRA_TEST_MUTANTS=1 go test -timeout $(TIMEOUT) -run TestEachTrialSeesItsMutants ./test/chaos
	go run ./test/chaos $(CHAOSARGS)

release: ## archives, packages, images, checksums and what is inside, in dist (RELEASEARGS='-platforms linux/amd64')
	go -C tools/release run . $(RELEASEARGS)

fixture: ## keep a database of this version for the tests of later ones, once per release (KEEP=1.0.0)
	@test -n '$(KEEP)' || { echo 'say which version: make fixture KEEP=1.0.0' >&2; exit 2; }
	$(WITHPG) -- go test ./test/program -run TestDatabaseOfAReleaseCanBeKept -keep-release '$(KEEP)'

package: ## make the packages, install the .deb on this machine, start it as its own user, remove it (as root)
	@tools/ensure rpm
	go -C tools/release test $(LEAN) -timeout $(TIMEOUT) $(TESTARGS) ./...

# The linter has govet: go vet would read all packages again.
check: fmt-check lint vuln-known test ## what CI runs: format, lint, vulnerabilities, test, then race on RACE_PKGS
	@$(MAKE) --no-print-directory race PKGS='$(RACE_PKGS)' TESTARGS='-vet=off'

# Where its database cannot be had, the answer is unknown, and said to be: that is no pass.
GOVULNCHECK ?= golang.org/x/vuln/cmd/govulncheck@v1.4.0
vuln: ## known vulnerabilities in what the program calls (needs vuln.go.dev, or GOVULNDB)
	go run $(GOVULNCHECK) ./...

# As vuln, where its database can be reached. Where not, a line says that nothing is known, and check goes on: the tree is
# not at fault. go run makes every failure 1 and prints the real status; 3 is that vulnerabilities were found.
vuln-known:
	@said=$$(timeout 300 go run $(GOVULNCHECK) ./... 2>&1) && { echo 'vuln: none is known in what the program calls'; exit 0; }; \
	case "$$said" in \
	*'exit status 3'*) echo "$$said"; exit 1;; \
	*) echo 'vuln: NOT CHECKED, neither passed nor failed: the vulnerability database, or the tool that asks it, cannot be reached:'; echo "$$said" | tail -n 2;; \
	esac

fmt: $(LINTER) ## format the tree
	$(LINTER) fmt

fmt-check: $(LINTER)
	$(LINTER) fmt --diff

vet:
	go vet ./...
	@for module in $(MODULES); do (set -x; go -C $$module vet ./...) || exit 1; done

# A third of the linter's time, and a fifth of the compiler's, is garbage collection, unless they may have more memory;
# and no debugger reads what the tests compile. To compile our own packages without inlining takes a quarter less,
# and costs their tests nothing that can be measured: SQLite, where the time goes, is not ours.
vet lint test: export GOGC = off
vet test: export GOMEMLIMIT = 2GiB
lint: export GOMEMLIMIT = 4GiB
test: export GOFLAGS := $(shell go env GOFLAGS) -gcflags=all=-dwarf=false '-gcflags=carteira/...=-dwarf=false -l'
lint: $(LINTER) ## static analysis and the house rules of .golangci.yml
	$(LINTER) run ./...
	@for module in $(MODULES); do (set -x; cd $$module && ../../$(LINTER) run ./...) || exit 1; done

$(LINTER): tools/lint/go.mod tools/lint/go.sum
	@echo 'building the linter; the first time takes minutes'
	@go -C tools/lint build -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

clean: ## delete what was built
	rm -rf bin
