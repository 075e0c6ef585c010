// Proves when browser tests may be skipped, and that no browser and no profile outlives its scope:
// not after use, not after a failure, not when the test process itself is killed.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { createTempDir, eventually, startProcess } from '../toolkit/index.ts';
import { openTab, skipReason } from './chromium.ts';

test('only without Chromium and without root is a skip allowed, and it says what to run', () => {
  const table: ReadonlyArray<readonly [isRoot: boolean, isMissing: boolean, skip: string | false]> =
    [
      [true, false, false],
      [true, true, false],
      [false, false, false],
      [false, true, 'chromium is missing; run: sudo make deps'],
    ];
  for (const [isRoot, isMissing, skip] of table) assert.equal(skipReason(isRoot, isMissing), skip);
});

const skip = skipReason();
/** Browser, zygotes, GPU, network, page: one would mean that the search is blind. */
const MIN_PROCESSES = 4;

test('a browser and its profile go with the scope', { skip }, async (t) => {
  await using dir = createTempDir('browser');
  profilesBelow(t, dir.path);
  let pids: readonly string[] = [];
  {
    await using tab = await openTab('about:blank');
    assert.equal(await tab.page.evaluate('1 + 1'), 2);
    pids = browserPids(dir.path);
    assert.ok(pids.length >= MIN_PROCESSES, `only ${pids.length} processes`);
    assert.ok(readdirSync(dir.path).length > 0);
  }
  await nothingLeft(dir.path, pids);
});

test('a page that cannot be loaded leaves nothing', { skip }, async (t) => {
  await using dir = createTempDir('browser');
  profilesBelow(t, dir.path);
  await assert.rejects(openTab('http://127.0.0.1:1/'), /ERR_/);
  await nothingLeft(dir.path, []);
});

test('a killed test leaves nothing', { skip }, async () => {
  await using dir = createTempDir('browser');
  const code = `import { openTab } from ${JSON.stringify(new URL('./chromium.ts', import.meta.url))};
    await openTab('about:blank');
    console.log('open');
    await new Promise(() => setInterval(() => {}, 1_000));`;
  await using victim = await startProcess({
    name: 'victim',
    command: process.execPath,
    args: ['--input-type=module', '--eval', code],
    env: { TMPDIR: dir.path },
    ready: { kind: 'line', pattern: /^open$/ },
  });
  const pids = browserPids(dir.path);
  assert.ok(pids.length >= MIN_PROCESSES, `only ${pids.length} processes`);
  victim.signal('SIGKILL');
  await nothingLeft(dir.path, pids);
});

/** The kernel takes a moment to end a killed group. */
async function nothingLeft(folder: string, pids: readonly string[]): Promise<void> {
  await eventually(() => leftovers(folder, pids).length === 0, {
    what: 'browser and profile gone',
    details: () => leftovers(folder, pids).join('\n'),
  });
}

/** Temporary directories of this process lie in `folder` until the test ends. */
function profilesBelow(t: TestContext, folder: string): void {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
}

/** What is still there: files below the folder, those processes, and new ones at home in it. */
function leftovers(folder: string, pids: readonly string[]): string[] {
  // A zombie has ended; init has not yet asked how.
  const alive = pids.filter((pid) => /\) [^ZX]/.test(readProc(pid, 'stat')));
  return [...readdirSync(folder), ...new Set([...alive, ...browserPids(folder)])];
}

/** The groups of processes whose HOME lies in the folder; a browser's children hide theirs. */
function browserPids(folder: string): string[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const groups = new Set(
    all.filter((pid) => readProc(pid, 'environ').includes(`HOME=${folder}/`)).map(groupOf),
  );
  return all.filter((pid) => groups.has(groupOf(pid)));
}

/** Third field behind the command, which stands in parentheses and may hold any character. */
function groupOf(pid: string): string {
  return /^.*\) \S+ \S+ (\S+)/s.exec(readProc(pid, 'stat'))?.[1] ?? `none of ${pid}`;
}

/** Empty for a process that ended meanwhile, and for one of somebody else. */
function readProc(pid: string, file: 'environ' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return '';
    throw error;
  }
}
