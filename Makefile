# Needs only python3 (3.11 or later), pip and make. The work itself is in scripts/.

PYTEST_ARGS ?=
SAMPLE ?=
CHANGED ?=
ADAPTERS ?=
AGENTDOJO ?=
WRITE ?=
PROJECTS = pyproject.toml src/amplifier_core/pyproject.toml src/amplifier_audit/pyproject.toml

.PHONY: help demo demo-web test test-all check bench bench-security bench-rivals slow agents adapters mcp typescript docs screenshots mutants wheels clean
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' Makefile

demo: .venv/run.ok ## See hooks at work, in one minute
	@.venv/bin/amplifier demo

demo-web: .venv/run.ok ## The same, with its question in your browser
	@.venv/bin/amplifier demo --web

test: .venv/dev.ok ## Run the tests (PYTEST_ARGS="-k name" for some of them)
	@scripts/test $(PYTEST_ARGS)

test-all: ## Run the tests on every supported Python that is installed
	@scripts/test-all

check: .venv/dev.ok ## Lint, formatting, types and import contracts
	@scripts/check

bench: .venv/dev.ok ## Measure against the bare loop
	@scripts/bench

bench-security: .venv/dev.ok ## Measure what the guards ask and stop (AMPLIFIER_PUBLIC_DATA=folder for public lists, AGENTDOJO=folder to install and replay that, WRITE=1 for the page)
	@$(if $(AGENTDOJO),scripts/agentdojo $(AGENTDOJO))
	@AMPLIFIER_AGENTDOJO=$(AGENTDOJO) .venv/bin/python -m benchmarks.security $(if $(WRITE),--write)

bench-rivals: .venv/dev.ok ## Install the other products that bench-security measures, each in an environment of its own
	@.venv/bin/python -m benchmarks.security.rivals

slow: .venv/dev.ok .venv/local.ok ## Run the slow tests, with the embedded model
	@scripts/test -m slow

agents: .venv/dev.ok ## Run the real coding agents, without a network, behind our hooks
	@scripts/agents >/dev/null
	@scripts/test -m agents -p no:randomly tests/agents $(PYTEST_ARGS)

adapters: .venv/dev.ok ## Run the adapters on the real frameworks (ADAPTERS="langchain crewai" for some)
	@.venv/bin/python scripts/adapter-tests $(ADAPTERS) -- $(PYTEST_ARGS)

mcp: .venv/dev.ok ## Run the gateway between real MCP servers and the SDK's client
	@scripts/mcp-servers >/dev/null
	@AMPLIFIER_MCP=1 scripts/test -p no:randomly tests/mcp $(PYTEST_ARGS)

typescript: .venv/dev.ok ## Build and test the TypeScript client, on its own and with the AI SDK and Mastra
	@scripts/typescript $(PYTEST_ARGS)

docs: .venv/dev.ok ## Build the documentation as a site in site/, and check its links
	@.venv/bin/python scripts/docs

screenshots: .venv/dev.ok ## Renew the pictures in docs/images
	@.venv/bin/python scripts/screenshots

mutants: .venv/dev.ok ## See whether tests notice faults (SAMPLE=10 of each file, CHANGED=HEAD~1)
	@.venv/bin/python scripts/mutants $(SAMPLE:%=--sample %) $(CHANGED:%=--changed %)

wheels: .venv/run.ok ## Build the three distributions into dist/
	@scripts/wheels

clean: ## Remove the environment and everything generated
	@scripts/clean

.venv/run.ok: requirements.lock scripts/bootstrap.lock $(PROJECTS) scripts/setup
	@echo "Preparing .venv (once, about a minute) ..."
	@scripts/setup run

.venv/dev.ok: requirements-dev.lock scripts/bootstrap.lock $(PROJECTS) scripts/setup
	@echo "Preparing .venv for development (once, about a minute) ..."
	@scripts/setup dev

.venv/local.ok: requirements-local.lock .venv/dev.ok
	@echo "Adding the embedded model (once, about 200 MB) ..."
	@scripts/setup local
