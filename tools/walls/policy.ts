// What the walls allow, as tables. A change here is a change of architecture: make it with a
// reason beside the row, and with a decision record when design.md says otherwise.

/**
 * Which of our packages each area may import, itself aside; tests obey the same rows, because a
 * test that needs a lower wall belongs under test/. The order is design.md's tree. Processes
 * (shard, coordinator, operator, pod-controller, dashboard) never import each other: they talk
 * over the wire, and an import would tie their releases and their failures together.
 */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'packages/base': [],
  'packages/engine': ['base'],
  // What a process is made of, shared by every command; published with the provider kit.
  'packages/process': ['base'],
  'packages/wire': ['base', 'engine'],
  'packages/telemetry': ['base', 'engine', 'process', 'wire'],
  'packages/shard': ['base', 'engine', 'process', 'wire', 'telemetry'],
  // The shard-side client of the coordinator: the one process library that may know the shard.
  'packages/coordclient': ['base', 'engine', 'process', 'wire', 'telemetry', 'shard'],
  'packages/coordinator': ['base', 'engine', 'process', 'wire', 'telemetry'],
  'packages/kube': ['base', 'process', 'telemetry'],
  'packages/operator': ['base', 'engine', 'process', 'wire', 'telemetry', 'kube'],
  'packages/pod-controller': ['base', 'engine', 'process', 'wire', 'telemetry', 'kube'],
  // Published to provider authors: only packages that are published too.
  'packages/providerkit': ['base', 'process', 'wire', 'telemetry'],
  // providerkit only in its self-test, see SELF_TEST_ONLY.
  'packages/conformance': ['base', 'process', 'wire', 'telemetry', 'providerkit'],
  'packages/sim': words(
    'base engine wire telemetry shard coordclient coordinator kube operator',
    'pod-controller providerkit conformance',
  ),
  'packages/scaletest': words(
    'base engine wire telemetry shard coordclient coordinator kube operator',
    'pod-controller providerkit conformance sim',
  ),
  // sim for the playground only. sim reaches providerkit, so what the cli starts of the
  // dashboard must not reach sim: the wall "core-without-providers" sees that path.
  'packages/dashboard': ['base', 'engine', 'process', 'wire', 'telemetry', 'sim'],
  // Starts every process; providerkit, conformance, sim and scaletest stay outside (decision 22).
  'packages/cli': words(
    'base engine process wire telemetry shard coordclient coordinator kube operator',
    'pod-controller dashboard',
  ),
  'providers/*': ['base', 'wire', 'telemetry', 'providerkit', 'conformance'],
  demo: ['*'],
  bench: ['*'],
  test: ['*'],
  tools: ['base', 'process', 'wire'],
};

/** Which top-level folders each may import besides packages/ (rows of LAYERS decide those). */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  packages: [],
  providers: [],
  demo: ['test'],
  // Benchmarks of real processes use the test toolkit (certificates, ports, servers).
  bench: ['test'],
  test: [],
  tools: [],
};

/** Packages and folders that only test code of the keyed area may import. */
export const SELF_TEST_ONLY: Readonly<Record<string, readonly string[]>> = {
  'packages/conformance': ['providerkit'],
  demo: ['test'],
};

/** What ships as BigFleet itself (decision 22). */
export const CORE: readonly string[] = words(
  'engine process wire telemetry shard coordclient coordinator kube operator',
  'pod-controller dashboard cli',
);

/** What tests of the pure packages may import besides the package itself. */
export const PURE_TEST_IMPORTS: readonly string[] = [
  // getEventListeners(): that an aborted wait leaves no listener behind.
  'node:events',
  // Expected texts beside the test.
  'node:fs',
  // That a replay in another thread decides the same bytes.
  'node:worker_threads',
  // Mutants of the engine run in processes of their own.
  'node:child_process',
  'node:os',
  'node:path',
  'node:url',
  'node:test',
  'node:assert',
  'node:assert/strict',
  'fast-check',
];

/** The one module that may touch the wall clock, timers and system randomness. */
export const REAL_RUNTIME = 'packages/base/src/runtime/real.ts';

/**
 * Sources that a bundler turns into static files: whoever installs the package gets those, so what they
 * import is a development dependency.
 */
export const BUNDLED: RegExp = /^packages\/dashboard\/web\//;

/**
 * Where each third-party package may be imported: one adapter, so that replacing it is one
 * folder's work. A package that is not listed may not be imported at all below packages/ and
 * demo/. A provider's SDK is its own business, so providers/ has no rows here.
 */
export const ADAPTERS: Readonly<Record<string, readonly RegExp[]>> = {
  '@grpc/grpc-js': [/^packages\/wire\/src\/grpc\//, /^bench\//, /^test\//],
  // wire *is* the adapter: its typed handlers and clients are typed by generated descriptors.
  // Measured against, never linked (record 0088).
  '@kubernetes/client-node': [/^bench\/kube\//],
  '@bufbuild/protobuf': [/^packages\/wire\/src\//, /^(?:bench|test|tools)\//],
  'prom-client': [/^packages\/telemetry\/src\//],
  pino: [/^packages\/telemetry\/src\//],
  yaml: [/^packages\/process\/src\/yaml\.ts$/],
  // Types of a schema reach the server that answers by it.
  zod: [/^packages\/dashboard\/src\/(?:api|server)\//],
  // The framework of the pages: every component is written in it.
  react: [/^packages\/dashboard\/web\//],
  'react-dom': [/^packages\/dashboard\/web\//],
  '@tanstack/react-router': [/^packages\/dashboard\/web\/src\/nav\//],
  '@tanstack/react-virtual': [/^packages\/dashboard\/web\/src\/parts\/table\.tsx$/],
  uplot: [/^packages\/dashboard\/web\/src\/charts\//],
  'd3-hierarchy': [/^packages\/dashboard\/web\/src\/charts\//],
  'd3-scale': [/^packages\/dashboard\/web\/src\/charts\//],
  vite: [/^packages\/dashboard\/web\/vite\.config\.ts$/],
  'fast-check': [/\.(?:test|long|e2e)\.ts$/, /\/testing\//, /^test\//, /^bench\//],
  '@peculiar/x509': [/^test\//, /\/testing\//, /\.(?:test|long|e2e)\.ts$/],
  'reflect-metadata': [/^test\//, /\/testing\//, /\.(?:test|long|e2e)\.ts$/],
  esbuild: [/^test\/browser\//, /^tools\/bundle\//],
  'playwright-core': [/^test\//, /^tools\/site\/.*\.test\.ts$/],
  'axe-core': [/^test\//],
  'markdown-it': [/^tools\/site\//],
};

/** The one file that may read event-loop delay and GC pauses from perf_hooks. */
export const PERF_HOOKS_FILE = 'packages/telemetry/src/process/source.ts';

/** May say how long the process runs, as a fact about it; nothing there is decided by it. */
export const PROCESS_FACTS: RegExp = /^packages\/telemetry\/src\//;

/** SDKs and clients of substrates (providers C2): a provider's own workspace only. */
export const SUBSTRATE_SDKS: readonly RegExp[] = [
  /^@?aws-sdk(?:\/|$)/,
  /^@smithy\//,
  /^@azure\//,
  /^@google-cloud\//,
  /^googleapis$/,
  /^oci-/,
  /^@scaleway\//,
  /^@digitalocean\//,
  /^dots-wrapper$/,
  /^@ovhcloud\//,
  /^@?hcloud/,
  /^@hetzner\//,
  /^@latitudesh\//,
  /^@upcloud\//,
  /^proxmox-api$/,
  /^libvirt$/,
  /^ssh2$/,
];

/** All words of the given lines, in order: tables of names read best as lines of words. */
export function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}
