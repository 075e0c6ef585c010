// Proves that the reference pages are what their sources say today, that a planted difference in any
// source changes a page or stops it, and that every exit code on the page is the one of the real command.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { apiPage } from './api-page.ts';
import { errorsPage, OUR_TABLES } from './errors-page.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { table } from './markdown.ts';
import { build, readDefinitions, referencePages } from './pages.ts';
import {
  type Receipt,
  RECEIPTS,
  readTiers,
  SCALING_PAGE,
  scalingPage,
  tierRows,
} from './scaling-page.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const CATALOGUE = 'packages/base/src/errors/catalogue.ts';

/** What the pages are made from, as a copy that a test may spoil. */
function plant(t: TestContext): string {
  const root = mkdtempSync(path.join(tmpdir(), 'reference-'));
  t.after(() => rmSync(root, { recursive: true }));
  const sources = [
    'api',
    'buf.yaml',
    CATALOGUE,
    SCALING_PAGE,
    'bench/baseline.json',
    'deploy/helm',
  ];
  for (const name of [...sources, 'docs/spec/scale-and-testing.md']) {
    cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true });
  }
  return root;
}

function edit(root: string, file: string, from: string, to: string): void {
  const text = readFileSync(path.join(root, file), 'utf8');
  assert.ok(text.includes(from), `${file} has no ${from}`);
  writeFileSync(path.join(root, file), text.replace(from, to));
}

test('the committed pages are current', () => {
  for (const [name, text] of referencePages(ROOT)) {
    const committed = readFileSync(path.join(ROOT, name), 'utf8');
    assert.ok(committed === text, `${name}: run node tools/reference/main.ts`);
  }
});

test('a new comment, a changed description and a changed selector each change the API page', (t) => {
  const before = referencePages(ROOT).get('docs/api-reference.md');
  const changes = [
    [
      'api/proto/bigfleet/v1alpha1/shard.proto',
      'string request_id = 1;',
      '// Said back.\n  string request_id = 1;',
    ],
    [
      'api/crd/bigfleet.lucy.sh_capacityrequests.yaml',
      'higher is served first',
      'lower is served first',
    ],
    [
      'api/crd/bigfleet.lucy.sh_capacityrequests.yaml',
      '- jsonPath: .status.phase',
      '- jsonPath: .spec.priority',
    ],
  ] as const;
  for (const [file, from, to] of changes) {
    const root = plant(t);
    edit(root, file, from, to);
    assert.notEqual(
      apiPage({ definitions: readDefinitions(root), image: build(root) }),
      before,
      file,
    );
  }
});

test('a field that nobody explains stops the API page', (t) => {
  const root = plant(t);
  const file = 'api/proto/bigfleet/ext/v1alpha1/types.proto';
  edit(root, file, 'message QuotaSlice {', 'message QuotaSlice {\n  string unheard_of = 77;');
  const sources = { definitions: readDefinitions(root), image: build(root) };
  assert.throws(() => apiPage(sources), /QuotaSlice\.unheard_of has no meaning/);
});

test('fields of ours in established messages are marked, and established ones are not', () => {
  const text = referencePages(ROOT).get('docs/api-reference.md') ?? '';
  const hello = text.split('#### Hello\n')[1]?.split('####')[0] ?? '';
  assert.match(hello, /`extensions` \| 1000 \| repeated string \| .* \| ours \|/);
  assert.match(hello, /`cluster_id` \| 1 \| string \| .* \| {2}\|/);
});

test('every error and every reason is on the page with its words, and a changed word changes it', () => {
  const source = readFileSync(path.join(ROOT, CATALOGUE), 'utf8');
  const text = errorsPage(OUR_TABLES, source);
  for (const name of Object.keys(OUR_TABLES.errors))
    assert.ok(text.includes(`| \`${name}\` |`), name);
  for (const set of Object.values(OUR_TABLES.reasons)) {
    for (const name of Object.keys(set)) assert.ok(text.includes(`| \`${name}\` |`), name);
  }
  const errors = {
    ...OUR_TABLES.errors,
    internal: { kind: 'system', meaning: 'Planted.', action: 'None.', grpc: 'INTERNAL' },
  } as const;
  assert.notEqual(errorsPage({ ...OUR_TABLES, errors }, source), text);
  assert.throws(
    () => errorsPage(OUR_TABLES, source.replace('  cancelled: {', '  cancelled : {')),
    /1 error codes stand under no heading/,
  );
});

for (const { command, exit, shownBy } of EXIT_CODES) {
  if (shownBy === undefined) continue;
  test(`${shownBy.join(' ')} exits with ${exit}, as the page says of ${command}`, () => {
    const [program = '', ...args] = shownBy;
    const isScript = program.endsWith('.ts');
    const { status, stdout, stderr } = spawnSync(
      isScript ? process.execPath : path.join(ROOT, program),
      isScript ? [path.join(ROOT, program), ...args] : args,
      { encoding: 'utf8', cwd: ROOT },
    );
    assert.equal(status, exit, `${stdout}${stderr}`);
  });
}

const receipt: Receipt = {
  runId: '20260101-000000-5k',
  profile: '5k',
  substrate: 'kind-laptop',
  seed: 7,
  gitRevision: '0123456789abcdef',
  startedAt: '2026-01-01T00:00:00Z',
  passed: true,
  scale: { machinesEffective: 5000, coordinatorReplicas: 3 },
  environment: { cpuModel: 'Some CPU', cores: 16 },
  samples: { shardCycleDurationSeconds: { p99: 0.4 }, shardConfigurePhaseSeconds: { p99: 3 } },
};

test('a tier that was never run says so; a passed run shows its numbers with their conditions', () => {
  const tiers = readTiers(readFileSync(path.join(ROOT, 'docs/spec/scale-and-testing.md'), 'utf8'));
  assert.deepEqual(tiers[0], {
    profile: '5k',
    machines: '5,000',
    pods: '500K',
    clusters: '20',
    shards: '1',
  });
  const rows = tierRows(tiers, [receipt]).split('\n').slice(2);
  assert.match(
    rows[0] ?? '',
    /0\.4 s \| 3 s \| .*`0123456789ab`, seed 7, kind-laptop, 16 cores of Some CPU/,
  );
  for (const row of rows.slice(1)) assert.match(row, /\| – \| – \| never run \|$/);
  const failed = tierRows(tiers, [{ ...receipt, passed: false }]);
  assert.match(failed, /1 runs, none passed/);
});

test('receipts are read from their folder, and one without its samples stops the page', (t) => {
  const root = plant(t);
  const folder = path.join(root, RECEIPTS, receipt.runId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'summary.json'), JSON.stringify(receipt));
  assert.match(scalingPage(root), /20260101-000000-5k/);
  writeFileSync(path.join(folder, 'summary.json'), JSON.stringify({ ...receipt, samples: {} }));
  assert.throws(() => scalingPage(root), /has no sample shardCycleDurationSeconds/);
});

test('--check changes nothing and fails on a page that is not current', () => {
  const main = path.join(import.meta.dirname, 'main.ts');
  const { status, stdout } = spawnSync(process.execPath, [main, '--check'], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [0, 'reference: 3 pages, 0 stale\n']);
});

test('a row with a missing cell is refused', () => {
  assert.throws(() => table(['a', 'b'], [['x']]), /a row of 1 cells/);
});
