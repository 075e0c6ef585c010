// Proves what SIGTERM does to a provider with work under way: mutations are refused, reads go on,
// the work may finish within the grace, and what did not is driven again by the next process.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { MachineState, RpcError } from '@bigfleet/wire';
import { createTempDir, eventually, http } from '../toolkit/index.ts';
import { dial, type ProviderClient, type ProviderProcess, startProvider } from './child.ts';

function argvOf(folder: string, ...more: readonly string[]): readonly string[] {
  return ['--addr=127.0.0.1:0', `--state=${join(folder, 'state.json')}`, ...more];
}

interface Begun {
  readonly machineId: string;
  readonly operationId: string;
}

async function begin({ calls }: ProviderClient): Promise<Begun> {
  const { machines } = await calls.list({ maxResults: 1 });
  const machineId = machines[0]?.id ?? '';
  const token = { shardId: 's', shardEpoch: 1n, sequenceNumber: 1n };
  const { operationId, machine } = await calls.create({ machineId, ...token });
  assert.equal(machine?.state, MachineState.CREATING);
  return { machineId, operationId };
}

async function readyz(provider: ProviderProcess): Promise<string> {
  const { status, body } = await http({ url: `http://${provider.metricsAddress}/readyz` });
  return `${status} ${body.trim()}`;
}

test('work under way finishes, nothing new is accepted, reads go on, exit code 0', async () => {
  await using folder = createTempDir('shutdown');
  const provider = await startProvider(argvOf(folder.path, '--work=1h', '--shutdown-grace=10m'));
  assert.equal(await readyz(provider), '200 ready');
  using client = dial(provider.address);
  const { machineId, operationId } = await begin(client);
  provider.process.signal('SIGTERM');
  const refused = await eventually(
    () =>
      client.calls
        .create({ machineId, shardId: 's', shardEpoch: 1n, sequenceNumber: 2n })
        .then(() => undefined)
        .catch((error: unknown) => error),
    { what: 'mutations are refused', everyMs: 5 },
  );
  assert.ok(refused instanceof RpcError && refused.code === 'UNAVAILABLE', String(refused));
  assert.equal((await client.calls.get({ id: machineId })).state, MachineState.CREATING);
  assert.equal(await readyz(provider), '503 shutting down');
  provider.process.signal('SIGUSR2');
  assert.deepEqual(await provider.process.waitExit(), { kind: 'code', code: 0 });
  assert.match(provider.process.output.text(), /provider stopped.*finished_count=1/);

  await using next = await startProvider(argvOf(folder.path, '--work=60s'));
  using again = dial(next.address);
  const machine = await again.calls.get({ id: machineId });
  assert.equal(machine.state, MachineState.IDLE, 'finished before the end, not driven again');
  assert.equal(machine.host?.ref, `host-${operationId}`);
});

test('what outlasts the grace is left, and driven again with the same operation id', async () => {
  await using folder = createTempDir('shutdown-cut');
  const provider = await startProvider(argvOf(folder.path, '--work=1h', '--shutdown-grace=200ms'));
  using client = dial(provider.address);
  const { machineId, operationId } = await begin(client);
  provider.process.signal('SIGTERM');
  assert.deepEqual(await provider.process.waitExit(), { kind: 'code', code: 0 });

  await using next = await startProvider(argvOf(folder.path, '--work=10ms'));
  using again = dial(next.address);
  const machine = await eventually(
    async () => {
      const found = await again.calls.get({ id: machineId });
      return found.state === MachineState.IDLE && found;
    },
    { what: 'the create is driven again' },
  );
  assert.equal(machine.host?.ref, `host-${operationId}`);
});

test('a second signal does not wait', async () => {
  await using folder = createTempDir('shutdown-twice');
  const provider = await startProvider(argvOf(folder.path, '--work=60s'));
  using client = dial(provider.address);
  await begin(client);
  provider.process.signal('SIGINT');
  await provider.process.waitForLine(/signal received, shutting down/);
  provider.process.signal('SIGTERM');
  assert.deepEqual(await provider.process.waitExit(), { kind: 'code', code: 130 });
});
