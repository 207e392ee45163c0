# Two commands matter: `make up` and `make test`. `make help` lists the rest.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Everything built lies outside the checkout, so that a fresh clone starts warm.
export KUBEOPERA_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kubeopera
export CARGO_TARGET_DIR ?= $(KUBEOPERA_CACHE)/target
export CARGO_TERM_COLOR ?= never

# A kubectl is built with the clusters and linked here where the machine has none.
export PATH := $(PATH):$(KUBEOPERA_CACHE)/bin

LOCAL_CLUSTER := $(KUBEOPERA_CACHE)/bin/local-cluster
export KUBEOPERA_LOCAL_CLUSTER := $(LOCAL_CLUSTER)
HELM := $(KUBEOPERA_CACHE)/bin/helm
CARGO_DENY := $(KUBEOPERA_CACHE)/tools/bin/cargo-deny
CARGO_DENY_VERSION := 0.20.2

## up: install what is missing, build, start a local cluster and serve the dashboard
.PHONY: up
up: prerequisites web local-cluster
	@echo "» $$(date +%T) Building KubeOpera"
	cargo build --locked --bin kubeopera
	$(CARGO_TARGET_DIR)/debug/kubeopera up --local $(ARGS)

## down: stop the local cluster and the mirror that `make up` started; their data is kept
.PHONY: down
down: $(LOCAL_CLUSTER)
	$(LOCAL_CLUSTER) down kubeopera
	$(LOCAL_CLUSTER) registry down

## test: install what is missing and run all tests but those of the Helm chart, see test-chart
.PHONY: test
test: prerequisites web check test-rust test-web test-observability test-local-cluster test-stack
	@echo "» $$(date +%T) All tests passed; those of the Helm chart are in make test-chart"

## check: formatting, lints, licences (direction of dependencies and generated files are among the tests)
.PHONY: check
check: web $(CARGO_DENY)
	@echo "» $$(date +%T) Checking formatting, lints and licences"
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO_DENY) --locked --all-features check bans licenses sources

# No comment in the docs is code to run: looking for some takes two minutes.
## test-rust: unit, property and service tests
.PHONY: test-rust
test-rust: local-cluster
	@tools/moto
	@tools/terraform
	@tools/schemathesis
	@tools/oidc-provider
	@echo "» $$(date +%T) Testing the Rust workspace"
	cargo test --locked --workspace --lib --bins --tests

## test-api: whatever is asked, the API answers as its document says
.PHONY: test-api
test-api: web
	@tools/schemathesis
	@echo "» $$(date +%T) Trying the API against its own document"
	cargo test --locked --package kubeopera-api conformance

## test-web: types, lints and component tests of the dashboard
.PHONY: test-web
test-web: web
	@echo "» $$(date +%T) Testing the dashboard"
	cd web && npm run check

## test-observability: alert rules, dashboard and metrics by Prometheus' own parsers and engine
.PHONY: test-observability
test-observability:
	@echo "» $$(date +%T) Testing what is shipped for Prometheus and Grafana"
	cd deploy/observability && test -z "$$(gofmt -l .)" && go vet ./... && CGO_ENABLED=0 go test -count=1 ./...

## test-local-cluster: tests of local-cluster, real clusters included
.PHONY: test-local-cluster
test-local-cluster: local-cluster
	@echo "» $$(date +%T) Testing local-cluster"
	cd local-cluster && test -z "$$(gofmt -l .)" && go vet ./... && go test -count=1 -timeout 40m -p 1 ./...
	cd local-cluster/components/cert-manager && CGO_ENABLED=0 go test -count=1 -trimpath ./...

## test-chart: the Helm chart, against a real API server (the first time Helm itself is built, which takes minutes)
.PHONY: test-chart
test-chart: local-cluster $(HELM)
	@echo "» $$(date +%T) Testing the Helm chart"
	cargo build --locked --bin kubeopera
	HELM=$(HELM) KUBEOPERA=$(CARGO_TARGET_DIR)/debug/kubeopera deploy/chart/test

$(HELM): deploy/chart/tools/go.mod deploy/chart/tools/go.sum
	@echo "» $$(date +%T) Building Helm"
	cd deploy/chart/tools && CGO_ENABLED=0 go build -trimpath -o $@ helm.sh/helm/v4/cmd/helm
	@touch $@

## test-stack: the product on a real cluster, through real Flux, Git and browser
.PHONY: test-stack
test-stack: web local-cluster
	@tools/moto
	@echo "» $$(date +%T) Testing the whole on a real local cluster"
	cargo test --locked --workspace --test stack --test real_cluster --test soak -- --ignored --test-threads 1

## screenshots: take the pictures of README.md and docs/ anew
.PHONY: screenshots
screenshots: web local-cluster
	@echo "» $$(date +%T) Taking pictures of the dashboard"
	cargo build --locked --bin kubeopera
	@tools/screenshots

## bench: figures with their goals; with BENCH_STRICT=1 a goal that is missed is a failure
.PHONY: bench
bench: web local-cluster
	@tools/bench

# Both packages, as for `make bench`: chosen alone, one would have other features and all would be built again.
## soak: twenty minutes in which pods are replaced all the time; memory has to stay where it is
.PHONY: soak
soak:
	CARGO_TARGET_DIR=$(KUBEOPERA_CACHE)/bench nice cargo build --locked --release --package kubeopera-api-bench --package k8s-monitor-bench
	$(KUBEOPERA_CACHE)/bench/release/k8s-monitor-bench soak 20

## generate: write the files that follow from code
.PHONY: generate
generate:
	cargo xtask generate
	cd web && npm run api:types

## prerequisites: install the Debian packages that are missing and look for the tool chains
.PHONY: prerequisites
prerequisites:
	@tools/prerequisites

.PHONY: web
web:
	@tools/web

.PHONY: local-cluster
local-cluster: $(LOCAL_CLUSTER)
	@$(LOCAL_CLUSTER) build
	@command -v kubectl >/dev/null || ln -sfn "$$($(LOCAL_CLUSTER) kubectl)" $(KUBEOPERA_CACHE)/bin/kubectl

.PHONY: $(LOCAL_CLUSTER)
$(LOCAL_CLUSTER):
	@cd local-cluster && CGO_ENABLED=0 go build -o $@ .

$(CARGO_DENY):
	@echo "» $$(date +%T) Installing cargo-deny $(CARGO_DENY_VERSION), once for this machine"
	cargo install cargo-deny --version $(CARGO_DENY_VERSION) --locked --root $(KUBEOPERA_CACHE)/tools --target-dir $(KUBEOPERA_CACHE)/tools/target
	rm -rf $(KUBEOPERA_CACHE)/tools/target

## clean: remove what builds left in the cache
.PHONY: clean
clean:
	rm -rf $(KUBEOPERA_CACHE)

.PHONY: help
help:
	@sed -n 's/^## /  make /p' $(MAKEFILE_LIST)
