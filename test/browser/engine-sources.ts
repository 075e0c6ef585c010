// Which files the browser tests bundle: all that ships of @bigfleet/engine and @bigfleet/base
// (without the real runtime), reachable from an index or not, and the engine's core tests.
// Files are found by pattern; a pattern without a match is an error, never an empty bundle.

import { globSync } from 'node:fs';
import path from 'node:path';
import { type Bundle, bundleForBrowser, type TestSupport } from './bundle.ts';

export const REPOSITORY: string = path.resolve(import.meta.dirname, '../..');

const PACKAGES = ['packages/base', 'packages/engine'];
/** Clock, timers and entropy of the machine: the one module of base that is not for browsers. */
const REAL_RUNTIME = 'packages/base/src/runtime/real.ts';
const NOT_SHIPPED = /\.(?:test|long)\.ts$|\/testing\//;

/** What the engine decides: its behaviours, its guards, and both differential laws. */
const CORE_TESTS: readonly string[] = [
  'packages/engine/src/cycle/behaviours.test.ts',
  'packages/engine/src/cycle/engine.test.ts',
  'packages/engine/src/oracle/behaviours.test.ts',
  'packages/engine/src/testing/differential/engine-equals-oracle.test.ts',
  'packages/engine/src/testing/differential/incremental-equals-full.test.ts',
];

/** Generates fleets from seeds, for the tests of the engine. */
export const FLEET_GENERATOR = 'packages/engine/src/testing/generate.ts';

export function shippedSources(root: string = REPOSITORY): string[] {
  return PACKAGES.flatMap((name) => matches(root, `${name}/src/**/*.ts`))
    .filter((file) => file !== REAL_RUNTIME && !NOT_SHIPPED.test(file))
    .sort();
}

/** Everything that ships, exported whole: nothing is too unused to be bundled and checked. */
export function bundleShipped(root: string = REPOSITORY): Promise<Bundle> {
  const entry = shippedSources(root)
    .map((file, at) => `export * as module${at} from './${file}';`)
    .join('\n');
  return bundleForBrowser({ entry, from: root, folders: sourceFolders(root) });
}

/** The worker: the core tests, and what compares whole fleets with Node. */
export function bundleWorker(env: TestSupport['env']): Promise<Bundle> {
  const entry = [
    ...CORE_TESTS.flatMap((pattern) => matches(REPOSITORY, pattern)).map(
      (file) => `import './${file}';`,
    ),
    `import { randomFleet } from './${FLEET_GENERATOR}';`,
    "import { serve } from './test/browser/worker-main.ts';",
    'serve(randomFleet);',
  ].join('\n');
  const workerFolder = import.meta.dirname;
  return bundleForBrowser({
    entry,
    from: REPOSITORY,
    folders: [...sourceFolders(REPOSITORY), workerFolder],
    tests: {
      isTest: (file) => NOT_SHIPPED.test(file),
      shims: {
        'node:test': path.join(workerFolder, 'node-test.ts'),
        'node:assert/strict': path.join(workerFolder, 'node-assert.ts'),
      },
      env,
      workerFolder,
    },
  });
}

function sourceFolders(root: string): string[] {
  return PACKAGES.map((name) => path.join(root, name, 'src'));
}

function matches(root: string, pattern: string): string[] {
  const found = globSync(pattern, { cwd: root });
  if (found.length === 0) throw new Error(`no file matches ${pattern}`);
  return found.map((file) => file.split(path.sep).join('/')).sort();
}
