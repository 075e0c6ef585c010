// Proves dialling over real sockets: lazy and plain, over a Unix socket without TLS although the
// process has certificates, and with mTLS, where a shard speaks only for itself.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { type TlsMaterial, TokenSource } from '@bigfleet/wire';
import { FakeProvider } from '../testing/fake/fake-provider.ts';
import { seedSpecs } from '../testing/fake/seed.ts';
import { type FakeServer, serveFake } from '../testing/fake-server.ts';
import { dialProvider } from './dial.ts';
import { decodeMachineList } from './list/decode-list.ts';
import { ProviderError } from './provider-error.ts';
import { createLeaves, type TestLeaves } from './testing/leaf.ts';

const runtime = realRuntime();
const fencing = new TokenSource('shard-0', 3n);

function createFake(): FakeProvider {
  const fake = new FakeProvider({ runtime, instantTransitions: true });
  for (const spec of seedSpecs({ provider: 'a', count: 2 })) fake.addSpeculative(spec);
  return fake;
}

test('bad configuration is refused before anything is dialled', () => {
  const misconfigured = { code: 'provider_misconfigured' };
  assert.throws(() => dialProvider({ runtime, address: '', fencing }), misconfigured);
});

test('a provider that comes up after it was dialled is reached', async () => {
  const fake = createFake();
  const first = await serveFake({ runtime, fake, listen: '127.0.0.1:0' });
  const { address } = first;
  await first.stop();
  const { provider, close } = dialProvider({ runtime, address, fencing });
  const server = await serveFake({ runtime, fake: createFake(), listen: address });
  try {
    assert.equal(decodeMachineList(await provider.list({})).rowCount, 2);
  } finally {
    close();
    await server.stop();
  }
});

test('two clients of one process share a counter, and a closed one is cancelled', async () => {
  const server = await serveFake({ runtime, fake: createFake(), listen: '127.0.0.1:0' });
  const tokens = new TokenSource('shard-0', 1n);
  const dialled = [1, 2].map(() =>
    dialProvider({ runtime, address: server.address, fencing: tokens }),
  );
  try {
    const [id] = await idsOf(dialled[0]?.provider);
    await dialled[0]?.provider.create(id ?? '');
    await dialled[1]?.provider.create(id ?? '');
    assert.equal(tokens.next().sequenceNumber, 3n);
  } finally {
    for (const { close } of dialled) close();
    await server.stop();
  }
  const closed = dialled[0]?.provider.get('m');
  await assert.rejects(closed ?? Promise.resolve(), (error) => {
    assert.ok(error instanceof ProviderError);
    assert.equal(error.status, 'CANCELLED');
    return true;
  });
});

async function idsOf(
  provider: ReturnType<typeof dialProvider>['provider'] | undefined,
): Promise<string[]> {
  const columns = provider && decodeMachineList(await provider.list({}));
  return Array.from({ length: columns?.rowCount ?? 0 }, (_, row) => columns?.id(row) ?? '');
}

describe('with certificates', () => {
  let leaves: TestLeaves;
  let shardTls: TlsMaterial;
  let server: FakeServer;

  before(async () => {
    leaves = await createLeaves();
    shardTls = await leaves.leaf('bigfleet://shard/shard-0');
    const tls = await leaves.leaf('');
    server = await serveFake({ runtime, fake: createFake(), listen: '127.0.0.1:0', tls });
  });

  after(async () => {
    await server.stop();
    leaves.remove();
  });

  test('mTLS: a shard mutates in its own name', async () => {
    const { provider, close } = dialProvider({
      runtime,
      address: server.address,
      fencing,
      tls: shardTls,
    });
    try {
      const [id = ''] = await idsOf(provider);
      assert.equal((await provider.create(id)).machine?.state, 3);
    } finally {
      close();
    }
  });

  test('mTLS: another id in the token is a definite rejection, never a fence', async () => {
    const { provider, close } = dialProvider({
      runtime,
      address: server.address,
      fencing: new TokenSource('shard-1', 9n),
      tls: shardTls,
    });
    try {
      const [id = ''] = await idsOf(provider);
      await assert.rejects(provider.create(id), (error) => {
        assert.ok(error instanceof ProviderError);
        assert.deepEqual([error.status, error.failure], ['PERMISSION_DENIED', 'rejected']);
        return true;
      });
    } finally {
      close();
    }
  });

  test('without TLS a TLS provider is unreachable', async () => {
    const { provider, close } = dialProvider({ runtime, address: server.address, fencing });
    try {
      await assert.rejects(provider.list({}), { code: 'provider_result_unknown' });
    } finally {
      close();
    }
  });

  test('a Unix socket carries no TLS, although the shard has certificates', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-unix-'));
    const listen = `unix:${join(folder, 'p.sock')}`;
    const local = await serveFake({ runtime, fake: createFake(), listen });
    const { provider, close } = dialProvider({ runtime, address: listen, fencing, tls: shardTls });
    try {
      const [id = ''] = await idsOf(provider);
      assert.equal((await provider.create(id)).machine?.state, 3);
    } finally {
      close();
      await local.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
