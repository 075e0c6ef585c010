// Proves the out-of-tree path: the template in an empty folder outside the repository, installed
// from packed tarballs of the published packages, passes its own tests, builds, starts from what it
// built, and is certified by the packed suite.

import assert from 'node:assert/strict';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createTempDir, leasePort, startProcess } from '../toolkit/index.ts';
import { ROOT, SKIP } from './clone.ts';
import { NPM_INSTALL, ownEnvironment, runCommand } from './command.ts';
import { TimeBox } from './time-box.ts';

const NAME = 'rack';
const MIN_TARBALLS = 5;
const SUITE = 'node_modules/.bin/bfconformance';
/** Durability but for B1006, which kills a fault provider: the published suite brings none. */
const RESTART = 'B1001,B1002,B1003,B1004,B1005,B1007';

test('packed packages, an empty folder, a certified provider', SKIP, async (t) => {
  await using folder = createTempDir('out-of-tree');
  const cwd = path.join(folder.path, NAME);
  const tarballs = path.join(folder.path, 'tarballs');
  await new TimeBox(t).run({
    pack: {
      run: async () => {
        mkdirSync(tarballs);
        const args = ['tools/pack/stage.ts', '--out', tarballs];
        await runCommand(process.execPath, args, { cwd: ROOT });
      },
    },
    install: {
      run: async () => {
        cpSync(path.join(ROOT, 'providers/_template'), cwd, { recursive: true });
        rmSync(path.join(cwd, 'dist'), { recursive: true, force: true });
        const packed = globSync(path.join(tarballs, '*.tgz'));
        assert.ok(packed.length >= MIN_TARBALLS, packed.join(', '));
        await runCommand('npm', [...NPM_INSTALL, ...packed], { cwd, withinMs: 300_000 });
      },
    },
    'test and build': {
      run: async () => {
        await runCommand('npm', ['test'], { cwd });
        await runCommand('npm', ['run', 'build'], { cwd });
      },
    },
    'judge the running provider': {
      run: async () => {
        await using lease = await leasePort();
        await using provider = await startProcess({
          name: 'the built provider',
          command: process.execPath,
          args: [
            'dist/main.js',
            '--use-fake-backend',
            `--addr=127.0.0.1:${lease.port}`,
            '--metrics-addr=',
            '--seed-count=256',
          ],
          cwd,
          ready: { kind: 'line', pattern: /serving CapacityProvider/ },
        });
        assert.match(provider.output.text(), new RegExp(`component=provider-${NAME}`));
        const target = `127.0.0.1:${lease.port}`;
        const args = [SUITE, '-target', target, '-profile', 'core,cloud,spot'];
        const output = await runCommand(process.execPath, args, { cwd, withinMs: 300_000 });
        assert.match(output, />> VERDICT: CERTIFIED \(core,cloud,spot\)/);
      },
    },
    'boot, kill and boot it again': {
      run: async () => {
        const out = path.join(folder.path, 'report');
        const start =
          'exec node dist/main.js --use-fake-backend --metrics-addr= ' +
          '--addr={addr} --state={state} --seed-count={seed}';
        const args = [SUITE, '-start-cmd', start, '-profile', 'durable', '-only', RESTART];
        await assertPassed([...args, '-skip-baseline', '-out', out], out);
      },
    },
  });

  /** A partial run never certifies, so the report says what passed. */
  async function assertPassed(args: readonly string[], out: string): Promise<void> {
    await using suite = await startProcess({
      name: 'bfconformance',
      command: process.execPath,
      args,
      cwd,
      env: ownEnvironment(),
    });
    await suite.waitExit();
    const report = JSON.parse(readFileSync(path.join(out, 'report.json'), 'utf8')) as {
      readonly behaviors: ReadonlyArray<{ readonly id: string; readonly status: string }>;
    };
    const passed = report.behaviors.filter(({ status }) => status === 'passed');
    assert.equal(passed.map(({ id }) => id).join(','), RESTART, suite.output.text());
  }
});
