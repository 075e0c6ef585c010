// Proves that the engine runs in a browser: its core tests pass in a Chromium worker, and for the
// same seeds it decides there, byte for byte, what it decides in Node.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { HANG_MS, withDeadline } from '../toolkit/index.ts';
import { openTab, skipReason } from './chromium.ts';
import { bundleWorker, FLEET_GENERATOR, REPOSITORY } from './engine-sources.ts';
import { fleetDigests, type RandomFleet } from './fleet-digests.ts';
import { NODE_GLOBALS } from './node-globals.ts';
import { servePage, WORKER_PATH } from './page-server.ts';
import type { WorkerAnswer, WorkerReport, WorkerRequest } from './worker-main.ts';

const FLEET_COUNT = 320;
const INCREMENTAL_RUNS = 24;
/** Tests that show that the suites below were bundled at all; the rest is a floor. */
const MUST_RUN: readonly RegExp[] = [
  new RegExp(`^the engine equals the oracle on ${FLEET_COUNT} fleets$`),
  new RegExp(`^incremental equals full and the oracle over ${INCREMENTAL_RUNS} runs`),
  new RegExp(`^the invariants hold on ${FLEET_COUNT} fleets$`),
  /^phase 2 › /,
];
const MIN_TESTS = 400;
const SHOWN_FAILURES = 3;

const skip = skipReason();

test('the engine in a browser worker', { skip }, async (t) => {
  const { report, version } = await reportFromBrowser();
  t.diagnostic(`Chromium ${version}: ${report.tests.length} core tests, ${FLEET_COUNT} fleets`);

  await t.test('ran in a worker, without anything of Node', async () => {
    assert.equal(report.scope, 'DedicatedWorkerGlobalScope');
    const here = await globalsOfNode();
    const lacking = here.filter((name) => !report.globals.includes(name)).sort();
    assert.deepEqual(lacking, NODE_GLOBALS, 'what the bundler refuses is what a worker lacks');
  });

  await t.test('its core tests pass', () => {
    const failed = report.tests.filter(({ problem }) => problem !== undefined);
    const shown = failed.slice(0, SHOWN_FAILURES).map(({ name, problem }) => `${name}: ${problem}`);
    assert.equal(failed.length, 0, shown.join('\n'));
    assert.ok(report.tests.length >= MIN_TESTS, `only ${report.tests.length} tests ran`);
    for (const name of MUST_RUN) {
      assert.ok(
        report.tests.some((one) => name.test(one.name)),
        `no test ${name} ran`,
      );
    }
  });

  await t.test(
    `${FLEET_COUNT} fleets: engine = oracle, and the same bytes as in Node`,
    async () => {
      const expected = await digestsInNode();
      assert.equal(report.fleets.length, FLEET_COUNT);
      for (const [at, digest] of report.fleets.entries()) {
        assert.ok(digest.equalsOracle, `seed ${digest.seed}: engine and oracle differ`);
        assert.deepEqual(digest, expected[at], `seed ${digest.seed}: browser and Node differ`);
      }
      // Fleets in which nothing happens would prove nothing.
      const total = (of: 'actionCount' | 'recordBytes'): number =>
        expected.reduce((sum, digest) => sum + digest[of], 0);
      assert.ok(total('actionCount') > FLEET_COUNT && total('recordBytes') > FLEET_COUNT * 16);
      assert.ok(new Set(expected.map(({ outputs }) => outputs)).size > FLEET_COUNT * 0.9);
      t.diagnostic(`${total('actionCount')} actions, ${total('recordBytes')} bytes of records`);
    },
  );
});

async function reportFromBrowser(): Promise<{ report: WorkerReport; version: string }> {
  const bundle = await bundleWorker({
    BIGFLEET_FLEETS: String(FLEET_COUNT),
    BIGFLEET_RUNS: String(INCREMENTAL_RUNS),
  });
  assert.ok(bundle.ok, bundle.ok ? '' : bundle.problems.join('\n'));
  await using server = await servePage(bundle.code);
  await using tab = await openTab(server.url);
  const answer = await withDeadline('the report of the worker', HANG_MS, () =>
    tab.page.evaluate<WorkerAnswer>(askWorker({ fleetCount: FLEET_COUNT })),
  );
  assert.ok(answer.ok, answer.ok ? '' : answer.problem);
  return { report: answer.report, version: tab.version };
}

/** For the page; as text, because here are no types of a browser. */
function askWorker(request: WorkerRequest): string {
  return `new Promise((resolve, reject) => {
    const worker = new Worker('${WORKER_PATH}', { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error('the worker failed: ' + message));
    worker.postMessage(${JSON.stringify(request)});
  })`;
}

/** In a fresh thread: libraries add names to the globals of this one. */
async function globalsOfNode(): Promise<readonly string[]> {
  const code = `import { parentPort } from 'node:worker_threads';
    parentPort.postMessage(Object.getOwnPropertyNames(globalThis));`;
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const [names] = (await once(thread, 'message')) as [readonly string[]];
  await thread.terminate();
  return names;
}

/** By a computed path: the generator is a test helper of the engine, not part of its face. */
async function digestsInNode(): ReturnType<typeof fleetDigests> {
  const file = pathToFileURL(path.join(REPOSITORY, FLEET_GENERATOR)).href;
  const { randomFleet } = (await import(file)) as { readonly randomFleet: RandomFleet };
  return fleetDigests(randomFleet, FLEET_COUNT);
}
