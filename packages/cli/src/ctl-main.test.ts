// Proves bigfleetctl as a process: what is printed where, its exit code, and Ctrl-C in a watch.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startFakeCoordinator } from './ctl/testing/fake-coordinator.ts';

const MAIN = fileURLToPath(new URL('./ctl-main.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly error: string;
}

async function run(argv: readonly string[], onOutput?: (kill: () => void) => void): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    env: { ...process.env, BIGFLEETCTL_CONFIG: '/nowhere/config.yaml' },
  });
  const printed = { output: '', error: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.output += text;
    onOutput?.(() => child.kill('SIGINT'));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.error += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...printed };
}

test('answers to stdout with 0, errors to stderr with 1', async () => {
  await using fake = await startFakeCoordinator();
  const listed = await run([`--coordinator=${fake.address}`, 'list-quotas']);
  assert.deepEqual([listed.code, listed.error], [0, '']);
  assert.match(listed.output, /^PROVIDER {2}REGION/);
  const wrong = await run(['--coordinator=127.0.0.1:1', 'list-quotas']);
  assert.deepEqual([wrong.code, wrong.output], [1, '']);
  assert.match(wrong.error, /coordinator_unreachable/);
});

test('Ctrl-C ends a watch with 0', async () => {
  await using fake = await startFakeCoordinator();
  const argv = [`--coordinator=${fake.address}`, 'list-quotas', '--watch', '--interval=50ms'];
  const { code, output } = await run(argv, (kill) => kill());
  assert.equal(code, 0);
  assert.match(output, /^# \d{4}-.*\nPROVIDER/);
});
