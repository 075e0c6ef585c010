// Proves the command end to end, with real measuring processes over benches whose answers are
// known: files written, bars and shapes judged, exit codes. Nothing here depends on speed.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { readBaseline, writeBaseline } from './harness/baseline.ts';
import { percentiles } from './harness/percentiles.ts';
import { type Results, parseResults } from './harness/results.ts';

const TESTDATA = join(import.meta.dirname, 'harness/testdata');
let scratch = '';

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'bigfleet-run-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

interface Ran {
  /** null when it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...args: readonly string[]): Promise<Ran> {
  const fixed = ['--dir', TESTDATA, '--results', scratch, '--baseline', baselinePath()];
  const argv = [join(import.meta.dirname, 'run.ts'), ...fixed, ...args];
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      argv,
      { timeout: 120_000 },
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      },
    );
  });
}

function baselinePath(): string {
  return join(scratch, 'baseline.json');
}

function latest(): Results {
  return parseResults(readFileSync(join(scratch, 'latest.json'), 'utf8'));
}

function readSamples(file: string): Float64Array {
  const bytes = readFileSync(join(scratch, file));
  return Float64Array.from({ length: bytes.length / 8 }, (_, index) =>
    bytes.readDoubleLE(index * 8),
  );
}

test('a run writes results that agree with its raw samples', async () => {
  const { code, stdout, stderr } = await run('--bench', 'demo/*', '-o', 'json');
  assert.equal(code, 0, stderr);
  assert.deepEqual(parseResults(stdout), latest());
  const [allocates, large] = latest().results;
  assert.ok(allocates && large);
  for (const result of [allocates, large]) {
    const samples = readSamples(result.samplesFile);
    assert.equal(samples.length, result.iterations);
    const { p50, p95, p99, max } = percentiles(samples);
    assert.deepEqual(
      [p50, p95, p99, max],
      [result.p50Ms, result.p95Ms, result.p99Ms, result.maxMs],
    );
    const kMs = Math.min(Number(result.extra['kBeforeMs']), Number(result.extra['kAfterMs']));
    assert.equal(result.perK.p99, result.p99Ms / kMs);
    assert.ok(kMs >= latest().calibrationMs);
  }
  assert.deepEqual(allocates.shape, { floats: 1_024, rows: 3 });
  assert.equal(allocates.extra['seen'], 40);
  assert.equal(allocates.extra['safetyPassMsCount'], 4);
  assert.equal(large.extra['growth'], large.p50Ms / allocates.p50Ms);
  assert.equal(typeof large.extra['ratio'], 'number');
  const retained = Number(large.extra['retainedBytes']);
  // Eight million, and what else the process came by or let go of in between: a few kilobytes.
  assert.ok(retained >= 7_900_000 && retained <= 8_200_000, `${retained} bytes retained`);
});

test('allocations are the bytes allocated: 8 KiB of floats and their headers', async () => {
  const { code, stderr } = await run('--bench', 'demo/allocates', '--iterations', '20');
  assert.equal(code, 0, stderr);
  const bytes = latest().results[0]?.allocBytesPerOp ?? 0;
  assert.ok(bytes >= 8_192 && bytes <= 8_192 + 1_024, `${bytes} bytes`);
});

test('broken bars, wrong shapes, throwing and hanging benches turn the run red', async () => {
  const { code, stderr } = await run('--bench', 'bad/*');
  assert.equal(code, 1);
  assert.match(stderr, /FAILED bad\/bar: p50Ms is .*bar ≤ 0/);
  assert.match(stderr, /FAILED bad\/unmeasured: extra\.ratio has a bar but was not measured/);
  assert.match(stderr, /FAILED bad\/shape: .*machines: stated 5, built 4/);
  assert.match(stderr, /FAILED bad\/short: .*too short/);
  assert.match(stderr, /FAILED bad\/throws: .*planted failure/);
  assert.match(stderr, /FAILED bad\/hangs: .*SIGKILL/);
  assert.equal(stderr.match(/^FAILED/gm)?.length, 6);
  assert.deepEqual(
    latest().results.map(({ name }) => name),
    ['bad/bar', 'bad/unmeasured'],
  );
});

test('the baseline is written on request, and compared with', async () => {
  const only = ['--bench', 'demo/allocates', '--no-alloc'];
  assert.equal((await run(...only, '--update-baseline')).code, 0);
  assert.equal(readBaseline(baselinePath()).machine?.node, process.version);

  const impossible = { p50: 1e-9, p95: 1e-9, p99: 1e-9 };
  const perK = { 'demo/allocates': impossible };
  writeBaseline(baselinePath(), { ...readBaseline(baselinePath()), perK });
  const informed = await run(...only);
  assert.equal(informed.code, 0);
  assert.match(informed.stdout, /^demo\/allocates .* ×\d+\.\d\d /m);
  assert.ok(!informed.stdout.includes('\u001b'));
  const gated = await run(...only, '--fail-on-regression', '2');
  assert.equal(gated.code, 1);
  assert.match(gated.stderr, /FAILED demo\/allocates: p50 is .* × baseline, limit 2/);
});

test('list, no match, usage', async () => {
  assert.equal((await run('--list', '--bench', 'demo/*')).stdout, 'demo/allocates\ndemo/large\n');
  const nothing = await run('--bench', 'nothing/*');
  assert.deepEqual([nothing.code, nothing.stdout], [2, '']);
  assert.equal((await run('--nonsense')).code, 2);
  assert.match((await run('--help')).stdout, /^Usage: node bench\/run\.ts/);
});
