# Everything a person does with this project: `make up` and `make test`.

SHELL := /bin/bash
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/deft
PYTHON ?= python3
VENV := $(CACHE)/venv
CRONER := $(CACHE)/croner
TARGET := $(or $(CARGO_TARGET_DIR),target)
DEFT := $(TARGET)/release/deft
FAST := $(TARGET)/fast/deft
DEBUG := $(TARGET)/debug/deft
NEXTEST_VERSION := 0.9.143
DENY_VERSION := 0.20.2
DENY := $(CACHE)/cargo-deny-$(DENY_VERSION)/bin/cargo-deny
# The versions of the lock file. The parser of the sandbox asks for a newer Rust than it needs: see Cargo.toml.
LOCKED := --locked --ignore-rust-version

# Many tests wait for daemons and servers: with a test per processor, a third of the processor time is idle.
TESTS_AT_ONCE = $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 3 / 2 + 1 )))

# The bench with this name that was built last.
newest = $$(ls -t $(TARGET)/release/deps/$(1)-* | grep -v '\.d$$' | head -1)

.PHONY: up release plain test setup lint deny build unit doc referee fuzz api-fuzz alone alone-unit chaos bench bench-peers bench-servers servers tools clean
.NOTPARALLEL:

## Builds deft and starts it: the first start fills the home with defaults and examples.
up:
	cargo build --profile fast --bin deft $(LOCKED)
	$(FAST) up

# Options of the linker, each used if a program that is linked with it runs here: one copy of functions with equal code,
# and addresses in a short form, with which the binary needs glibc 2.36 or later.
LINK_OPTIONS ?= --icf=all -z,pack-relative-relocs
LINK_ARGS = $(shell mkdir -p $(TARGET); for option in $(LINK_OPTIONS); do \
    echo 'fn main() {}' | rustc -C link-arg=-Wl,$$option -o $(TARGET)/link-probe - 2>/dev/null \
    && $(TARGET)/link-probe 2>/dev/null && echo "-C link-arg=-Wl,$$option"; done)

## The optimised binary for releases and benches; takes several times as long to build as that of `up`.
release:
	cargo rustc --release --bin deft -p deft $(LOCKED) -- $(LINK_ARGS)

## A plain build without any option, by the toolchain that is given: `make plain TOOLCHAIN=+nightly`.
plain:
	cargo $(TOOLCHAIN) build --locked

## Everything that CI checks, with all set-up it needs; prints how long each stage took.
test:
	@MAKE="$(MAKE)" tests/stages.sh setup lint build unit doc referee fuzz

## Installs what the tests need and the machine does not have yet; each part says so when it installs.
setup: tools servers $(DENY) $(VENV)/ready $(CRONER)/ready

## Formatting, lints, and the rules for dependencies.
lint: deny
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(LOCKED) -- -D warnings

## Licences, sources, doubled versions and known defects of the dependencies, by `deny.toml`.
deny: $(DENY)
	$(DENY) --log-level error check licenses bans sources
	@if timeout 60 $(DENY) --log-level off fetch db >/dev/null 2>&1; then \
	    $(DENY) --offline --log-level error check advisories; \
	else \
	    echo "skipped: advisories; their database cannot be reached"; \
	fi

## Compiles all tests.
build: tools
	cargo nextest run --workspace $(LOCKED) --no-run

## All tests, and each bench once so that it keeps working.
unit: tools servers
	cargo nextest run --workspace $(LOCKED) --no-fail-fast --test-threads $(TESTS_AT_ONCE)
	cargo test --workspace --bench '*' $(LOCKED) -q

## Examples in the documentation, and the documentation itself.
doc:
	cargo test --workspace --doc $(LOCKED) -q
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps $(LOCKED) -q

## The recorded verdicts are what the reference validator says, and other libraries agree with the rest.
referee: tools $(VENV)/ready $(CRONER)/ready
	$(VENV)/bin/python crates/skillfile/tests/reference/record.py --check
	$(VENV)/bin/python crates/template/tests/it/record.py --check
	cargo nextest run --workspace $(LOCKED) --no-run  # the binary that the tests used
	$(VENV)/bin/python tests/reference/prompt.py $(DEBUG)
	$(VENV)/bin/python crates/schedule/tests/reference/compare.py $(TARGET)/debug/examples/fires $(CRONER)

## The crates whose tests read ../shared, as a clone without that folder runs them.
alone:
	@MAKE="$(MAKE)" DEFT_SHARED=/nonexistent tests/stages.sh alone-unit

alone-unit: tools
	cargo nextest run --workspace $(LOCKED) -E 'package(deft-compute) + package(deft-skillfile) + package(deft-template) + package(xtask) + binary(seeds)'
	cargo test --workspace $(LOCKED) -q --bench registry

## A short run of every fuzz target.
fuzz:
	fuzz/run.sh $(or $(FUZZ_SECONDS),5)

## Twenty thousand requests, made up from the OpenAPI document, to a daemon; every reply is compared with it. Not a part
## of `test`, which sends a few hundred.
api-fuzz: export DEFT_API_EXAMPLES ?= 300
api-fuzz: tools servers
	cargo nextest run --workspace $(LOCKED) --no-capture -E 'test(api::referee)'

## Ten thousand kills and a million slots; the counts go to docs/chaos.md. Not a part of `test`.
chaos: export DEFT_CHAOS_KILLS ?= 10000
chaos: export DEFT_CHAOS_SLOTS ?= 1000000
chaos: export DEFT_CHAOS_REPORT ?= $(CURDIR)/docs/chaos.md
chaos:
	cargo test --release $(LOCKED) -p deft --test it chaos:: -- --nocapture
	cargo test --release $(LOCKED) -p deft-engine --test it chaos_slots:: -- --nocapture

## Figures; what they print is in docs/performance.md.
bench: $(VENV)/ready release
	cargo bench --workspace --bench '*' $(LOCKED)
	$(VENV)/bin/python benches/validate.py $(DEFT)
	$(VENV)/bin/python benches/seeds.py $(DEFT)
	$(VENV)/bin/python benches/cold.py $(DEFT)

## The same five steps on deft, on Restate and on a plain Python engine, in turn.
bench-peers: $(VENV)/ready
	cargo bench -p deft-engine --bench engine $(LOCKED) --no-run
	$(VENV)/bin/python benches/peers/run.py $(CACHE) \
	    "$(call newest,engine)"

## The servers of `deft up` under load, beside FastMCP, the TypeScript SDK and Restate.
bench-servers: $(VENV)/ready servers release
	cargo bench --workspace $(LOCKED) --no-run --bench load --bench engine
	$(VENV)/bin/python benches/servers.py $(DEFT) "$(call newest,load)" "$(call newest,engine)" $(CACHE) $(PART)

## Public MCP servers, referees of MCP and a real model that the tests talk to, in the cache folder.
servers:
	crates/tools/tests/servers/install.sh
	crates/server/tests/referees/install.sh
	crates/telemetry/tests/referees/install.sh
	crates/testkit/model/install.sh

tools:
	@cargo nextest --version >/dev/null 2>&1 || { \
	    echo "installing cargo-nextest $(NEXTEST_VERSION)"; \
	    cargo install --locked cargo-nextest@$(NEXTEST_VERSION); }

$(DENY):
	@echo "installing cargo-deny $(DENY_VERSION)"
	cargo install --quiet --locked cargo-deny@$(DENY_VERSION) --root $(CACHE)/cargo-deny-$(DENY_VERSION)

$(VENV)/ready: tests/reference/requirements.txt
	@echo "installing the reference validator into $(VENV)"
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r tests/reference/requirements.txt
	touch $@

$(CRONER)/ready: crates/schedule/tests/reference/package.json
	@echo "installing croner into $(CRONER)"
	mkdir -p $(CRONER)
	cp $< $(CRONER)/package.json
	npm install --prefix $(CRONER) --no-audit --no-fund --loglevel=error
	touch $@

clean:
	cargo clean
