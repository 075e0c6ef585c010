// Proves the fake's process: it serves what its flags say, ends cleanly on a signal, and refuses
// flags that it does not understand.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realRuntime } from '@bigfleet/base/real';
import { TokenSource } from '@bigfleet/wire';
import { dialProvider } from '../provider/dial.ts';
import { decodeMachineList } from '../provider/list/decode-list.ts';
import { parseFakeFlags } from './fake-options.ts';

const main = fileURLToPath(new URL('./fake-main.ts', import.meta.url));

test('a process that serves its slots and stops on SIGTERM', async () => {
  const args = [
    main,
    '--addr=127.0.0.1:0',
    '--provider=certify',
    '--use-fake-backend',
    '--seed-count=5',
    '--instant',
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const address = /^fake provider listening on (\S+)$/.exec(line)?.[1] ?? '';
    const fencing = new TokenSource('s', 1n);
    const { provider, close } = dialProvider({ runtime: realRuntime(), address, fencing });
    const columns = decodeMachineList(await provider.list({}));
    assert.equal(columns.rowCount, 5);
    assert.match(columns.id(0), /^certify\/OnDemand\/fake-standard-4\/fake-zone-a\/000$/);
    const { machine } = await provider.create(columns.id(0));
    assert.deepEqual([machine?.state, machine?.host?.provider], [3, 'certify']);
    close();
  } finally {
    child.kill('SIGTERM');
  }
  assert.deepEqual(await exited, [0, null]);
});

test('an address that cannot be had ends the process with one line', async () => {
  const child = spawn(process.execPath, [main, '--addr=nonsense'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number];
  assert.equal(code, 2);
  assert.match(text, /^fake provider: listen address "nonsense"/);
});

test('flags: defaults, and what is refused', () => {
  const parsed = parseFakeFlags([]);
  assert.ok(parsed.ok);
  assert.deepEqual(
    [parsed.value.addr, parsed.value.seedCount, parsed.value.instant, parsed.value.latencyMs],
    [':9000', 256, false, 20],
  );
  assert.equal(parsed.value.strictTokens, false);
  const strict = parseFakeFlags(['--strict-tokens']);
  assert.ok(strict.ok && strict.value.strictTokens);
  const refused: readonly (readonly string[])[] = [
    ['--seed-count=-1'],
    ['--seed-count=x'],
    ['--seed-count=1.5'],
    ['--staged', '--instant'],
    ['--latency=20'],
    ['--latency=2h'],
    ['--create-latency=soon'],
    ['--unknown'],
    ['positional'],
  ];
  for (const args of refused) assert.equal(parseFakeFlags(args).ok, false, args.join(' '));
  const slow = parseFakeFlags(['--create-latency=2s', '--latency', '1m', '--no-reflection']);
  assert.ok(slow.ok);
  assert.deepEqual(
    [slow.value.createLatencyMs, slow.value.latencyMs, slow.value.reflection],
    [2_000, 60_000, false],
  );
});
