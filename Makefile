# Everything a developer or CI runs. `make help` lists the targets.

CARGO ?= cargo
# A failed test prints its chain of reasons; a backtrace of the harness would hide it.
export RUST_LIB_BACKTRACE ?= 0
# Number of random places at which `make test` kills the operator.
KILLS ?= 10

.DEFAULT_GOAL := help
.PHONY: help build fmt lint unit crd-test e2e test demo bench kill-sweep generate

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the operator and the AWS double (release)
	$(CARGO) build --locked --release -p truce-operator -p truce-aws-emulator --bins

fmt: ## Check the format
	$(CARGO) fmt --all --check

lint: ## Check with clippy; warnings are errors
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

unit: ## Unit, case and property tests
	$(CARGO) test --locked --no-fail-fast --workspace --exclude truce-e2e

crd-test: ## CRD tests against a real API server
	$(CARGO) test --locked -p truce-e2e --test crds -- --nocapture

e2e: ## The end-to-end suite: real control planes, real ExternalDNS, the AWS double
	TRUCE_E2E_KILLS=$(KILLS) $(CARGO) test --locked --no-fail-fast -p truce-e2e -- --nocapture --test-threads=1

test: fmt lint unit e2e ## All checks and tests, CRD tests among them

demo: ## The main job, step by step; KEEP=1 leaves everything up until Ctrl-C
	@KEEP=$(KEEP) $(CARGO) run --locked -p truce-e2e --bin demo

bench: ## Planning time, memory, and time from Service to answer
	$(CARGO) bench --locked -p truce-engine --bench plan
	$(CARGO) run --locked --release -p truce-e2e --bin latency

kill-sweep: ## Kill the operator at every write of a short story
	TRUCE_E2E_KILLS=all $(CARGO) test --locked -p truce-e2e --test kill -- --nocapture

generate: ## Rewrite the committed CRDs, the condition table, and the AWS double's table of rules
	UPDATE_CRDS=1 $(CARGO) test --locked -p truce-api --test generated
	UPDATE_README=1 $(CARGO) test --locked -p truce-aws-emulator --test table
