# make help lists the targets.
.DEFAULT_GOAL := check
TIME ?= 10m
LINT := go tool -modfile=.ci/tools/go.mod golangci-lint

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "%-12s %s\n", $$1, $$2}'

.PHONY: check
check: lint test ## everything a change must pass

.PHONY: test
test: ## tests with the race detector
	go test -race -shuffle=on ./...

.PHONY: lint
lint: ## format check, linters, and whether each mutant can be made
	go vet ./...
	$(LINT) run
	go run ./.ci/mutants -check

.PHONY: mutants
mutants: ## change one line at a time and see that its test notices; ONLY is a pattern
	go run ./.ci/mutants -only '$(ONLY)'

.PHONY: fmt
fmt: ## format the tree
	$(LINT) fmt

.PHONY: golden
golden: ## rewrite golden files, then read the diff
	UPDATE_GOLDEN=1 go test ./...
	git diff --stat

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s)
	.ci/fuzz

.PHONY: ci
ci: ## all that CI runs, foreign clients included
	.ci/run

.PHONY: extended
extended: ## what is too long for each run: stress, swapped files and soak for TIME (10m), a minute of each fuzz target, the whole corpus, types of sixty documents, all pointers, all mutants, more systems, a real collector of telemetry, Keycloak, real clients, a release
	TENON_EXTENDED=1 TENON_STRESS=$(TIME) TENON_ATTACKS_TIME=$(TIME) FUZZTIME=1m TENON_CORPUS=all \
		.ci/run build data platforms stress pointers attacks fuzz corpus types keycloak telemetry install mutants chaos release

.PHONY: release
release: ## build what is published from the last commit, twice, and try it; publishes nothing
	.ci/release/run

.PHONY: chaos
chaos: ## ten minutes of replicas that are killed and a store that goes away, with a report
	go build -o .cache/bin/tenon ./cmd/tenon
	go run ./.ci/chaos -time 10m -report .ci/chaos/report.md .cache/bin/tenon

.PHONY: recording
recording: ## draw docs/demo.svg from a run of tenon demo
	go build -o .cache/bin/tenon ./cmd/tenon
	go run ./.ci/recording .cache/bin/tenon docs/demo.svg

.PHONY: sizes
sizes: ## what weighs in the binary, by library
	go run ./.ci/sizes

.PHONY: bench
bench: ## side-by-side benchmarks into bench/out/
	$(MAKE) -C bench run

.PHONY: bench-check
bench-check: ## fail where the last benchmark run is under budget
	$(MAKE) -C bench check

.PHONY: corpus
corpus: ## open every document below CORPUS, compile every schema; AJV names a folder with ajv
	$(MAKE) -C bench corpus
