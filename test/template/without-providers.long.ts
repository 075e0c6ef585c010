// Proves decision 22 from the other side: with providers/ removed, everything else installs, passes
// `make check`, packs, and its tests pass in a sample that holds the kit and the suite.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { cloneRepository } from './clone.ts';
import { runCommand } from './command.ts';
import { TimeBox } from './time-box.ts';

/** Whatever could notice that a folder is missing, and one of each kind below it. */
const SAMPLE: readonly string[] = [
  'packages/base/src/**/*.test.ts',
  'packages/wire/src/fencing/**/*.test.ts',
  'packages/providerkit/src/testing/scenario/*.test.ts',
  'packages/conformance/src/{catalogue,cli,verdict}/*.test.ts',
  'tools/{links,pack,providers,walls}/**/*.test.ts',
  // These ask for providers/ and say that it is not there.
  'test/{docs,template}/*.test.ts',
];
const MIN_TESTS = 300;

test('core stands without providers/', async (t) => {
  await using clone = cloneRepository('providers');
  const { path: cwd, env } = clone;
  assert.ok(!existsSync(path.join(cwd, 'providers')));
  await new TimeBox(t).run({
    install: { run: () => clone.install() },
    'make check': {
      expectedMs: 120_000,
      run: async () => {
        await runCommand('make', ['check'], { cwd, env, withinMs: 600_000 });
      },
    },
    'a sample of the tests': {
      expectedMs: 120_000,
      run: async () => {
        const args = ['--test', '--test-concurrency=2', '--test-reporter=tap', ...SAMPLE];
        const output = await runCommand('node', args, { cwd, env, withinMs: 600_000 });
        const count = Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? 0);
        assert.ok(count >= MIN_TESTS, `only ${count} tests ran`);
        t.diagnostic(`${count} tests passed`);
      },
    },
  });
});
