# Everything here needs Go only; `make help` lists the targets.
SHELL := /bin/sh
.DEFAULT_GOAL := help

LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# The race detector needs a C compiler that Go can use.
RACE := $(shell CGO_ENABLED=1 go env CC >/dev/null 2>&1 && command -v $$(go env CC) >/dev/null 2>&1 && echo -race)

# How a function is built: static, without paths and build ids, so that the
# same source gives the same bytes wherever it is built.
FUNCTION := CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags='-s -w -buildid='
JOBS := $(notdir $(patsubst %/main.go,%,$(wildcard functions/*/main.go)))

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST)

.PHONY: demo
demo: functions-local ## watch real function processes run a scheduled job alone (ARGS=--without-fencing: see it go wrong)
	@CGO_ENABLED=0 go build -trimpath -buildvcs=false -o dist/solotick ./cmd/solotick # the functions' flags: what both need is compiled once
	@dist/solotick up --scenario --functions dist/local $(ARGS)

.PHONY: functions-local
functions-local: ## build every function for this machine
	@for job in $(JOBS); do $(FUNCTION) -o dist/local/$$job/bootstrap ./functions/$$job || exit 1; done

.PHONY: test
test: ## all tests that need nothing but Go (ARGS is passed to go test)
ifeq ($(RACE),)
	@echo "no C compiler found: the tests run without the race detector"
endif
	go test $(RACE) $(ARGS) ./...

.PHONY: test-infra
test-infra: ## the tests of the CDK app, which need Node; minutes when the CDK is compiled for the first time
	cd infra && JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=$$(node -p 'process.versions.node.split(".")[0]') go test $(ARGS) ./...

.PHONY: test-postgres
test-postgres: ## the SQL guards on a real PostgreSQL, which is installed where it is absent (root, Debian)
	.ci/with-postgres go test $(RACE) -tags postgres -run '^TestPostgres' -count=1 ./lockkit/fence $(ARGS)

# The deployed functions, for ARCH (arm64, or amd64 with -c architecture=x86_64).
ARCH ?= arm64
.PHONY: functions
functions: ## build every function for Lambda (ARCH=amd64 for x86_64)
	@for name in $(JOBS); do GOOS=linux GOARCH=$(ARCH) $(FUNCTION) -o dist/lambda/$$name/bootstrap ./functions/$$name || exit 1; done

# No telemetry and no look-ups: a synth needs no network and no account.
CDK := CDK_DISABLE_CLI_TELEMETRY=true JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=$$(node -p 'process.versions.node.split(".")[0]') node_modules/.bin/cdk
STAGE ?= dev

node_modules: package.json package-lock.json
	npm ci --no-fund --no-audit
	@touch node_modules

.PHONY: synth
synth: node_modules ## synthesise the stack into cdk.out, without network or account (STAGE=prod)
	$(CDK) synth --quiet --no-lookups -c stage=$(STAGE)

.PHONY: diff
diff: node_modules ## what a deploy would change (STAGE=prod)
	$(CDK) diff -c stage=$(STAGE)

.PHONY: deploy
deploy: node_modules ## deploy the stack (STAGE=prod)
	$(CDK) deploy -c stage=$(STAGE)

.PHONY: destroy
destroy: node_modules ## remove the dev stack
	$(CDK) destroy -c stage=dev

# In parallel, because these tests mostly wait.
.PHONY: integration
integration: ## what needs real sockets and real time, against DYNAMODB_ENDPOINT or else in memory
	go test -tags integration -count=1 -timeout 5m -parallel 8 $(ARGS) ./integration/...

.PHONY: bench
bench: ## measure against the performance goals; minutes, on a quiet machine (ARGS=-test.run=ClientCost for a part)
	@go test -c -tags bench -o dist/bench.test ./internal/bench && dist/bench.test -test.timeout 15m $(ARGS)

.PHONY: mutants
mutants: ## plant known bugs one by one; the simulation must find each
	go run ./internal/mutants

.PHONY: lint
lint: ## what CI checks besides the tests
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "run gofmt on: $$unformatted"; exit 1; fi
	go mod tidy -diff
	go vet ./...
	cd infra && go mod tidy -diff && go vet ./...
	$(LINT) run --build-tags integration,bench,postgres ./...

.PHONY: clean
clean: ## remove what was built
	rm -rf dist build
