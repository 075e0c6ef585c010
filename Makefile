# BigFleet's front door. Every target installs what it needs, or says in one line what to run.
# `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# The pinned Node 24 comes first: without it, scripts would silently run on the machine's own.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.bigfleet-installed
WEB := packages/dashboard/dist/web/index.html
PLAYGROUND := packages/dashboard/dist/playground/index.html
TIME ?= 30m
BENCH ?= *

.PHONY: help
help: ## List the targets
	@echo 'BigFleet: make <target>'
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | sort | \
	  awk -F'\t' '{printf "  %-16s %s\n", $$1, $$2}'

$(INSTALLED): package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing: install Node.js with npm, then run make again' >&2; exit 1; }
	npm ci --no-audit --no-fund
	@node -e 'if (process.versions.node.split(".")[0] !== "24") { console.error("Node " + process.version + " runs instead of the pinned Node 24: is there a node-linux package for this platform?"); process.exit(1) }'
	@touch $@

.PHONY: install
install: $(INSTALLED) ## Install the npm packages, the pinned Node 24 among them

.PHONY: deps
deps: ## Install the Debian packages that tests start as real servers (needs root)
	@bash test/toolkit/install-debian-packages.sh

.PHONY: image-deps
image-deps: ## Install the Debian packages that build and start container images (needs root)
	@INSTALL_WITH='sudo make image-deps' bash test/toolkit/install-debian-packages.sh deploy/images/debian-packages.txt

.PHONY: images
images: $(INSTALLED) image-deps ## Container images, without a registry (needs root and Go): TAG=dev, IMAGES='bigfleet …'
	@sh deploy/images/build.sh $(IMAGES)

.PHONY: etcd
etcd: $(INSTALLED) ## Build etcd and etcdutl for the tests, once (needs Go; without it Debian's etcd is used)
	@node test/etcd/build-main.ts

.PHONY: kube
kube: $(INSTALLED) ## Build the Kubernetes control plane, helm and kwok for the end-to-end tests, once (needs Go)
	@node test/kube/build-main.ts

# Pages are built anew when something that is bundled into them changed.
WEB_SOURCES := $(shell find packages/dashboard packages/base/src packages/engine/src packages/sim/src \
  -not -path '*/dist/*' -not -name '*.test.ts' -type f \( -name '*.ts' -o -name '*.tsx' -o -name '*.css' -o -name '*.html' -o -name '*.svg' \))

# A source is written by hand: without this line one named conformance-x.ts would be the target conformance-%.
$(WEB_SOURCES): ;

$(WEB): $(INSTALLED) $(WEB_SOURCES)
	@vite build --config packages/dashboard/web/vite.config.ts --logLevel warn
	@touch $@

$(PLAYGROUND): $(INSTALLED) $(WEB_SOURCES)
	@vite build --config packages/dashboard/web/vite.config.ts --mode playground --logLevel warn
	@touch $@

.PHONY: web
web: $(WEB) ## Build the dashboard's pages

.PHONY: playground
playground: $(PLAYGROUND) ## The engine and a simulated fleet in your browser: builds static files and shows them; PORT=8761
	@echo 'static files for any web server: packages/dashboard/dist/playground'
	@vite preview --config packages/dashboard/web/vite.config.ts --mode playground --host 127.0.0.1 --port $(or $(PORT),8761)

.PHONY: up
up: $(INSTALLED) $(WEB) ## A living fleet with a dashboard: FOR=30s, SEED=n, PROFILE=tiny|small|large, ETCD=1, KUBECONFIG=file
	@node demo/src/up.ts $(if $(FOR),--for $(FOR)) $(if $(SEED),--seed $(SEED)) \
		$(if $(PROFILE),--profile '$(PROFILE)') $(if $(ETCD),--etcd '$(ETCD)') \
		$(if $(filter command,$(origin KUBECONFIG)),--kubeconfig '$(KUBECONFIG)')

# Five things to try on a running `make up`: scale, zone, spot, shard, gang. Options of each: demo/README.md.
TRIALS := try-scale try-zone try-spot try-shard try-gang
.PHONY: $(TRIALS)
$(TRIALS): $(INSTALLED)
	@node demo/src/try.ts '$(@:try-%=%)'

.PHONY: check
check: $(INSTALLED) ## Types, lint, format, import walls, dead code, wire contract, generated pages, links, cited sections
	tsc -b
	oxlint --type-aware --deny-warnings
	biome format
	node tools/walls/check.ts
	knip --no-config-hints
	node tools/proto/check.ts
	node tools/crd/generate.ts --check
	node tools/providers/catalogue.ts --check
	node tools/charts/main.ts --check
	node tools/grafana/generate.ts --check
	node packages/cli/src/reference/main.ts --check
	node test/docs/observability/main.ts --check
	node tools/reference/main.ts --check
	node tools/links.ts

.PHONY: test
test: $(INSTALLED) deps etcd ## All tests of a change; ends with "N passed, N failed"
	@node tools/test/run.ts

.PHONY: e2e-kube
e2e-kube: $(INSTALLED) deps etcd kube ## End-to-end tests on a real Kubernetes control plane: FILTER=glob; skipped, and counted, without Go
	@[ "$$(id -u)" != 0 ] || $(MAKE) image-deps # without root, the tests of images skip
	@node tools/test/run.ts --e2e --lane kube $(if $(FILTER),--filter '$(FILTER)')

.PHONY: e2e-browser
e2e-browser: $(INSTALLED) deps $(WEB) $(PLAYGROUND) ## Every page of dashboard and playground in Chromium: FILTER=glob
	@node tools/test/run.ts --e2e --lane browser $(if $(FILTER),--filter '$(FILTER)')

.PHONY: test-long
test-long: $(INSTALLED) deps etcd ## The same laws with long seed counts and kill loops: TIME=30m
	@node tools/test/run.ts --long --time $(TIME)

.PHONY: verify
verify: check test ## check and test

.PHONY: prevalidate
prevalidate: verify bench ## verify and the benches

.PHONY: fuzz-system
fuzz-system: $(INSTALLED) ## Whole-system seeds under virtual time: SEEDS=n
	@BIGFLEET_SEEDS=$(or $(SEEDS),2000) node --test test/system/seeds.test.ts

.PHONY: bench
bench: $(INSTALLED) ## Benchmarks in units of K: BENCH='wire/*'
	@node bench/run.ts --bench '$(BENCH)'

# ── Conformance: "BigFleet-compatible" is a passing run of bfconformance (packages/conformance) ──
# Variables given to make are in the environment of its recipes: quoted there, a START_CMD may hold
# anything.
BFCONFORMANCE := node packages/conformance/src/main.ts
CONFORMANCE_FLAGS := $${ONLY:+--only "$$ONLY"} $${SEED:+--seed "$$SEED"} \
  $${TIME_SCALE:+--time-scale "$$TIME_SCALE"} $${SCALE_SEED:+--scale-seed "$$SCALE_SEED"} \
  $${SOAK:+--soak "$$SOAK"}
TARGET_FLAGS := $${PROFILE:+--profile "$$PROFILE"} $${FAULT_TARGET:+--fault-target "$$FAULT_TARGET"} \
  $${START_CMD:+--start-cmd "$$START_CMD"} $${TLS_CERT:+--tls-cert "$$TLS_CERT"} \
  $${TLS_KEY:+--tls-key "$$TLS_KEY"} $${TLS_CA:+--tls-ca "$$TLS_CA"} $${OUT:+--out "$$OUT"}

.PHONY: conformance
conformance: $(INSTALLED) ## Judge a running provider: TARGET=host:port (PROFILE= FAULT_TARGET= START_CMD= OUT=)
	@[ -n "$${TARGET:-}" ] || { echo 'TARGET=addr:port required' >&2; exit 1; }
	@$(BFCONFORMANCE) --target "$$TARGET" $(TARGET_FLAGS) $(CONFORMANCE_FLAGS)

.PHONY: conformance-self
conformance-self: $(INSTALLED) ## The suite against the in-tree fake and the template
	@node packages/conformance/src/testing/self/main.ts

.PHONY: conformance-mutants
conformance-mutants: $(INSTALLED) ## Wrong providers: each must be caught by its named behaviours
	@node packages/conformance/src/testing/mutants/main.ts

# One provider of this repository, for the profiles in its own package.json: conformance-_template.
conformance-%: $(INSTALLED) FORCE
	@$(BFCONFORMANCE) --provider "$*" --profile declared --host-label conformance $(CONFORMANCE_FLAGS)

certify-%: $(INSTALLED) FORCE
	@$(MAKE) "conformance-$*"
	@echo 'CERTIFIED: $* passed the profiles that providers/$*/package.json declares'

.PHONY: certify
certify: $(INSTALLED) ## Certify every provider of this repository (certify-<name>: one)
	@failed=''; for manifest in providers/*/package.json; do \
	  name="$$(basename "$$(dirname "$$manifest")")"; \
	  $(MAKE) "certify-$$name" || failed="$$failed $$name"; \
	done; [ -z "$$failed" ] || { echo "not certified:$$failed" >&2; exit 1; }

# PROFILE=core,cloud,spot,fault,durable,scale is the full run.
report-%: $(INSTALLED) FORCE
	@$(BFCONFORMANCE) --provider "$*" --profile "$${PROFILE:-declared}" --out "$${OUT:-conformance-report/$*}" $(CONFORMANCE_FLAGS)

.PHONY: FORCE
FORCE:

.PHONY: proto
proto: $(INSTALLED) ## Regenerate the code and the descriptor of the wire contract
	@node tools/proto/generate.ts

.PHONY: crd
crd: $(INSTALLED) ## Regenerate the types of the custom resources from api/crd
	@node tools/crd/generate.ts

.PHONY: chart-versions
chart-versions: $(INSTALLED) ## Charts that changed since a published commit and kept their version: BASE=<commit>
	@[ -n "$${BASE:-}" ] || { echo 'BASE=<commit> required: the one whose charts were published' >&2; exit 1; }
	@node tools/charts/versions-main.ts "$$BASE"

.PHONY: format
format: $(INSTALLED) ## Format the sources
	biome format --write

.PHONY: docs
docs: $(INSTALLED) $(PLAYGROUND) ## Check links and cited sections, and build the documentation as a site without network: .cache/site
	@node tools/links.ts
	@node tools/site/main.ts

.PHONY: screenshots
screenshots: $(INSTALLED) deps $(WEB) $(PLAYGROUND) ## Every page of the dashboard in light and dark, into docs/img
	@BIGFLEET_SCREENSHOTS=docs node tools/test/run.ts --e2e --lane browser --filter 'test/dashboard/{up,playground}.e2e.ts'

.PHONY: goldens
goldens: $(INSTALLED) deps $(PLAYGROUND) ## Pictures that pages are compared with, into test/dashboard/golden: look at them before you commit
	@BIGFLEET_GOLDENS=write node tools/test/run.ts --e2e --lane browser --filter 'test/dashboard/golden.e2e.ts'

.PHONY: clean
clean: ## Remove what was built; node_modules stays
	rm -rf .cache bench/results packages/*/dist providers/*/dist
	find . -name '*.tsbuildinfo' -not -path './node_modules/*' -delete
