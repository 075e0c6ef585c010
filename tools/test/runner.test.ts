// Proves with real test processes that failing, hanging, crashing and empty files turn a run
// red, that counts and skips are right, and that the command's exit code and last line agree.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Lane, assignLanes, LANES } from './lanes.ts';
import { filterFiles, type Runner, runLane, runLong } from './runner.ts';
import type { Totals } from './summary.ts';

const HEAD = "import { test, describe } from 'node:test';\nimport assert from 'node:assert';\n";

const FILES: Readonly<Record<string, string>> = {
  'pass.test.ts': "test('one', () => {}); describe('d', () => { test('two', () => {}); });",
  'fail.test.ts': "test('ok', () => {}); test('bad', () => assert.equal(1, 2));",
  'nested.test.ts': "test('outer', async (t) => { await t.test('inner', () => assert.fail()); });",
  'suite.test.ts': "describe('broken', () => { throw new Error('in suite'); });",
  'skip.test.ts':
    "test('s', { skip: 'no etcd here' }, () => {}); test('t', { todo: true }, () => {});\n" +
    "describe('ds', { skip: 'no network' }, () => { test('u', () => {}); });",
  'empty.test.ts': '',
  'load.test.ts': "import './missing.ts';",
  'exit.test.ts': "test('quits', () => process.exit(0)); test('never', () => {});",
  'late.test.ts':
    "test('a', () => { setTimeout(() => { throw new Error('late'); }, 20); });\n" +
    "test('b', () => new Promise((r) => setTimeout(r, 80)));",
  'after.test.ts':
    "test('a', () => {}); const end = () => setTimeout(() => { throw new Error('too late'); }, 200);\n" +
    "process.once('beforeExit', end);",
  'rejected.test.ts': "test('a', () => { void Promise.reject(new Error('lost')); });",
  'hang.test.ts':
    "test('fine', () => {}); test('stuck', () => new Promise(() => setInterval(() => {}, 9)));",
  'spin.test.ts': "test('spins', () => { for (;;); });",
  'leak.test.ts': "test('leaves a timer', () => { setInterval(() => {}, 1000); });",
  'helper.ts': "export const suite = () => test('from a helper', () => {});",
  'helped.test.ts': "import { suite } from './helper.ts'; suite();",
};

function plant(t: TestContext, files: Readonly<Record<string, string>> = FILES): string {
  const root = mkdtempSync(path.join(tmpdir(), 'runner-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), HEAD + text);
  }
  return root;
}

function lane(fields: Partial<Lane>): Lane {
  return {
    name: 'planted',
    holds: () => true,
    isolation: 'own',
    processes: 2,
    perCore: 1,
    boundMs: 60_000,
    printsNotes: false,
    minFiles: 0,
    minTests: 0,
    ...fields,
  };
}

interface Recorded {
  readonly totals: Totals;
  readonly text: string;
}

async function run(
  root: string,
  fields: Partial<Lane>,
  files: readonly string[],
): Promise<Recorded> {
  const lines: string[] = [];
  const runner: Runner = { root, style: { color: false, root }, print: (l) => lines.push(l) };
  const totals = await runLane(runner, lane(fields), files, true);
  return { totals, text: lines.join('\n') };
}

test('each file in a process of its own', async (t) => {
  const root = plant(t);
  const table: ReadonlyArray<
    readonly [file: string, passed: number, failed: number, skipped: number, shows: RegExp]
  > = [
    ['pass.test.ts', 2, 0, 0, /ok {3}pass\.test\.ts {2}2 passed/],
    ['fail.test.ts', 1, 1, 0, /✖ bad\n {4}at fail\.test\.ts:3\n[^]*1 == 2/],
    ['nested.test.ts', 0, 2, 0, /✖ outer › inner/],
    ['suite.test.ts', 0, 1, 0, /in suite/],
    ['skip.test.ts', 0, 0, 3, /3 skipped/],
    ['empty.test.ts', 0, 1, 0, /reported no test/],
    ['load.test.ts', 0, 1, 0, /missing\.ts/],
    ['exit.test.ts', 0, 1, 0, /reported no test/],
    ['late.test.ts', 2, 1, 0, /late/],
    ['after.test.ts', 1, 1, 0, /too late/],
    ['rejected.test.ts', 1, 1, 0, /lost/],
    ['helped.test.ts', 1, 0, 0, /1 passed/],
  ];
  for (const [file, passed, failed, skipped, shows] of table) {
    await t.test(file, async () => {
      const { totals, text } = await run(root, {}, [file]);
      const counts = [totals.passed, totals.failed, totals.skipped.length];
      assert.deepEqual(counts, [passed, failed, skipped], text);
      assert.match(text, shows);
    });
  }
});

test('a file that does not end is killed at its bound and named', async (t) => {
  const root = plant(t);
  const files = ['hang.test.ts', 'spin.test.ts', 'leak.test.ts'];
  const { totals, text } = await run(root, { boundMs: 10_000, processes: 3 }, files);
  assert.equal(totals.failed, 3, text);
  assert.match(text, /FAIL hang\.test\.ts {2}1 passed, 1 failed/);
  assert.match(text, /within 10000 ms[^]*running: hang\.test\.ts:3 stuck/);
});

test('all files in one process', async (t) => {
  const root = plant(t);
  const good = ['pass.test.ts', 'helped.test.ts', 'skip.test.ts', 'leak.test.ts'];
  const shared = { isolation: 'shared' } as const;
  const clean = await run(root, shared, good);
  assert.deepEqual([clean.totals.passed, clean.totals.failed], [4, 0], clean.text);
  assert.equal(clean.totals.skipped.length, 3);
  const dealt = await run(root, { ...shared, processes: 2 }, good);
  assert.deepEqual(dealt.totals, clean.totals, dealt.text);
  const hands = Math.min(2, availableParallelism());
  assert.equal(dealt.text.split('in one process').length - 1, hands, dealt.text);
  const cases: ReadonlyArray<readonly [file: string, failed: number, shows: RegExp]> = [
    ['fail.test.ts', 1, /✖ bad/],
    ['empty.test.ts', 1, /empty\.test\.ts\n[^]*defines no test/],
    ['load.test.ts', 1, /missing\.ts/],
    ['exit.test.ts', 1, /✖ planted/],
    ['spin.test.ts', 1, /within 1500 ms/],
  ];
  for (const [file, failed, shows] of cases) {
    const boundMs = file === 'spin.test.ts' ? 1_500 : 60_000;
    const { totals, text } = await run(root, { ...shared, boundMs }, ['pass.test.ts', file]);
    assert.equal(totals.failed, failed, text);
    assert.match(text, shows);
  }
});

test('what a file compiles is kept for the files after it', async (t) => {
  const root = plant(t);
  const inherited = process.env['NODE_COMPILE_CACHE'];
  delete process.env['NODE_COMPILE_CACHE'];
  t.after(() => {
    if (inherited !== undefined) process.env['NODE_COMPILE_CACHE'] = inherited;
  });
  const { totals, text } = await run(root, {}, ['helped.test.ts']);
  assert.equal(totals.passed, 1, text);
  assert.ok(readdirSync(path.join(root, '.cache/compiled')).length > 0);
});

test('a lane that prints notes prints what a test measured, another does not', async (t) => {
  const root = plant(t, { 'note.test.ts': "test('a', (t) => t.diagnostic('budget: 7 of 9'));" });
  const told = await run(root, { printsNotes: true }, ['note.test.ts']);
  assert.match(told.text, /^ {5}budget: 7 of 9$/m);
  const quiet = await run(root, {}, ['note.test.ts']);
  assert.doesNotMatch(quiet.text, /budget/);
});

test('a lane below its floor fails, for files and for tests', async (t) => {
  const root = plant(t);
  const few = await run(root, { minFiles: 2, minTests: 3 }, ['pass.test.ts']);
  assert.equal(few.totals.failed, 2, few.text);
  const none = await run(root, { minFiles: 1, minTests: 1, isolation: 'shared' }, []);
  assert.equal(none.totals.failed, 2, none.text);
});

test('a long run passes its share on, prints how far each got and is red on a failure', async (t) => {
  const ms = "Number(process.env['BIGFLEET_LONG_MS'])";
  const root = plant(t, {
    'a.long.ts': `test('a', (t) => { assert.ok(${ms} > 0); t.diagnostic('reached 41 of 90 seeds'); });`,
    'b.long.ts': `test('b', () => console.log('share', ${ms} <= 600000 ? 'fits' : 'too big'));`,
    'c.long.ts': "test('c', () => assert.fail('seed 7'));",
  });
  const lines: string[] = [];
  const runner: Runner = { root, style: { color: false, root }, print: (l) => lines.push(l) };
  const totals = await runLong(runner, ['a.long.ts', 'b.long.ts', 'c.long.ts'], 600_000);
  const text = lines.join('\n');
  assert.deepEqual([totals.passed, totals.failed], [2, 1], text);
  assert.match(text, /reached 41 of 90 seeds/);
  assert.match(text, /share fits/);
  assert.match(text, /seed 7/);
  const late = await runLong(runner, ['a.long.ts'], 1_000);
  assert.equal(late.passed, 0);
  assert.match(lines.join('\n'), /not reached within the time box: a\.long\.ts/);
});

test('the command: last line and exit code', (t) => {
  const root = plant(t, {
    'packages/base/src/a.test.ts': "test('a', () => {});",
    'packages/wire/src/b.test.ts': "test('b', () => assert.fail());",
    'packages/wire/src/c.test.ts': "test('c', { skip: 'no root' }, () => {});",
    'test/fixtures/d.test.ts': "test('d', () => assert.fail());",
    'test/kube/e.e2e.ts': "test('e', { skip: 'no Go' }, () => {});",
  });
  const command = path.join(import.meta.dirname, 'run.ts');
  const table: ReadonlyArray<readonly [args: readonly string[], status: number, last: RegExp]> = [
    [['--filter', 'packages/base/**'], 0, /^1 passed, 0 failed$/],
    [['--filter', '**/*.test.ts'], 1, /^1 passed, 1 failed, 1 skipped$/],
    [['--filter', '/c.test'], 0, /^0 passed, 0 failed, 1 skipped$/],
    [['--filter', 'nothing'], 1, /^0 passed, 1 failed$/],
    [['--lane', 'pure', '--filter', '**/*.test.ts'], 0, /^1 passed, 0 failed$/],
    [['--long'], 1, /^0 passed, 1 failed$/],
    [['--e2e', '--filter', 'test/kube/**'], 0, /^0 passed, 0 failed, 1 skipped$/],
    [['--e2e', '--lane', 'kube'], 1, /^0 passed, 2 failed, 1 skipped$/],
    [['--e2e', '--long'], 2, /usage/],
    [['--lane', 'unknown'], 2, /usage/],
    [['--typo'], 2, /usage/],
    [['--time', '5m'], 2, /usage/],
    [['--long', '--time', 'soon'], 2, /usage/],
  ];
  for (const [args, status, last] of table) {
    const all = [command, '--root', root, ...args];
    const result = spawnSync(process.execPath, all, { encoding: 'utf8' });
    const lines = (result.stdout + result.stderr).trimEnd().split('\n');
    assert.equal(result.status, status, `${args.join(' ')}\n${lines.join('\n')}`);
    assert.match(lines.at(-1) ?? '', last);
    assert.ok(!lines.some((line) => line.includes('\u001B')), 'colours only on a terminal');
    if (args[1] === '/c.test') assert.match(result.stdout, /skipped: .*c\.test\.ts:3 c: no root/);
  }
});

test('every file belongs to exactly one lane', () => {
  const assigned = assignLanes(LANES, [
    'packages/base/src/a.test.ts',
    'packages/wire/src/a.test.ts',
    'tools/a.test.ts',
    'test/a.test.ts',
  ]);
  assert.deepEqual(
    [...assigned].map(([name, files]) => `${name} ${files.length}`),
    ['pure 1', 'packages 1', 'tools 1', 'system 1'],
  );
  assert.throws(() => assignLanes(LANES, ['elsewhere/a.test.ts']), /belongs to none/);
  assert.throws(() => assignLanes([...LANES, lane({})], ['tools/a.test.ts']), /tools and planted/);
});

test('a filter is a glob, or a part of the path', () => {
  const files = ['packages/base/src/a.test.ts', 'packages/wire/src/b.test.ts'];
  assert.deepEqual(filterFiles(files, 'packages/base/**'), [files[0]]);
  assert.deepEqual(filterFiles(files, 'wire/src'), [files[1]]);
  assert.deepEqual(filterFiles(files, undefined), files);
});
