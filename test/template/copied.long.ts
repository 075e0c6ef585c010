// Proves the copy path in a clone of this repository: the template copied under another name
// installs and is certified for everything that it declares, and nothing changes but the new
// folder and its entries in the lock file.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { cloneRepository, SKIP } from './clone.ts';
import { NPM_INSTALL, runCommand } from './command.ts';
import { changedEntries, readLock } from './lock-file.ts';
import { TimeBox } from './time-box.ts';

const NAME = 'copied';
const INSTALL_MS = 300_000;
const CERTIFY_MS = 600_000;
const CERTIFY_EXPECTED_MS = 240_000;

test('cp -r, npm install, make conformance-<name>', SKIP, async (t) => {
  await using clone = cloneRepository();
  const { path: cwd, env } = clone;
  const folder = path.join('providers', NAME);
  await new TimeBox(t).run({
    'install the clone': {
      run: async () => {
        await clone.install();
        assert.deepEqual(clone.changes(), [], 'the lock file is stale: run npm install');
      },
    },
    'copy and install': {
      run: async () => {
        const before = readLock(cwd);
        await runCommand('cp', ['-r', 'providers/_template', folder], { cwd });
        await runCommand('npm', NPM_INSTALL, { cwd, withinMs: INSTALL_MS });
        const added = [`node_modules/${NAME}`, folder];
        assert.deepEqual(changedEntries(before, readLock(cwd)), added.sort());
        assertOnlyTheCopy(clone.changes(), folder);
      },
    },
    'type-check, lint and dead code': {
      run: async () => {
        const options = { cwd, env };
        await runCommand('tsc', ['-b', 'tsconfig.providers.json'], options);
        await runCommand('oxlint', ['--type-aware', '--deny-warnings', folder], options);
        await runCommand('biome', ['format', folder], options);
        await runCommand('knip', ['--no-config-hints', '--workspace', folder], options);
        await runCommand('npm', ['test', '--workspace', folder], options);
      },
    },
    certify: {
      expectedMs: CERTIFY_EXPECTED_MS,
      run: async () => {
        const output = await runCommand('make', [`conformance-${NAME}`], {
          cwd,
          env,
          withinMs: CERTIFY_MS,
        });
        assert.match(output, /behaviours: 93 total, 93 passed, 0 failed, 0 skipped, 0 not run/);
        assert.match(output, />> VERDICT: CERTIFIED \(core,cloud,spot,scale,durable,fault\)/);
        assertOnlyTheCopy(clone.changes(), folder);
      },
    },
  });
});

function assertOnlyTheCopy(changes: readonly string[], folder: string): void {
  const elsewhere = changes.filter((file) => !file.startsWith(`${folder}/`));
  assert.deepEqual(elsewhere, ['package-lock.json']);
  assert.ok(changes.length > 5, `the copy is not seen: ${changes.join(', ')}`);
  assert.ok(!changes.includes(`${folder}/package-lock.json`), 'one lock file for all');
}
