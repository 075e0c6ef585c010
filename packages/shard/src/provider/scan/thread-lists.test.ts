// Proves that Lists asked for by the reconcile thread are those that main would get: over mTLS and
// Unix sockets, with the same errors, with a certificate that was replaced, and in the next thread.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type BigFleetError, sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { type TlsMaterial, TokenSource } from '@bigfleet/wire';
import { type FakeServer, serveFake } from '../../testing/fake-server.ts';
import { FakeProvider } from '../../testing/fake/fake-provider.ts';
import { seedSpecs } from '../../testing/fake/seed.ts';
import { dialProvider } from '../dial.ts';
import { ListColumns } from '../list/columns.ts';
import { ProviderError } from '../provider-error.ts';
import { createLeaves, type TestLeaves } from '../testing/leaf.ts';
import { askHere, type AskOrder, type ListAnswer, type ListAsker } from './list-asker.ts';
import { noMarks, type ScanAnswer } from './list-scans.ts';
import { createInlineScans } from './scanner.ts';
import { packTls, pairOf, unpackTls } from './tls-parcel.ts';
import { WorkerScans } from './worker-scans.ts';

const runtime = realRuntime();
const fencing = new TokenSource('shard-0', 3n);

function createFake(): FakeProvider {
  const fake = new FakeProvider({ runtime, instantTransitions: true });
  for (const spec of seedSpecs({ provider: 'a', count: 5 })) fake.addIdle(spec);
  return fake;
}

function orderOf(changes: Partial<AskOrder> = {}): AskOrder {
  return { provider: 'a', isFull: true, request: {}, ...noMarks, onAnswered: () => {}, ...changes };
}

function revisionOf(answer: ScanAnswer): Uint8Array {
  assert.ok(answer.kind === 'scanned');
  return answer.data.revision.slice();
}

function plain(answer: ScanAnswer): unknown {
  if (answer.kind === 'malformed') return answer;
  const columns = new ListColumns(answer.data);
  const ids = Array.from({ length: columns.rowCount }, (_, row) => columns.id(row));
  return { ids, rows: [...answer.rows], absent: answer.absent };
}

async function withScans(
  tls: TlsMaterial | undefined,
  body: (scans: WorkerScans, lost: readonly BigFleetError[]) => Promise<void>,
): Promise<void> {
  const lost: BigFleetError[] = [];
  const scans = new WorkerScans({
    runtime,
    onLost: (error) => lost.push(error),
    tls,
  });
  try {
    await body(scans, lost);
  } finally {
    await scans.close();
  }
}

function isProviderError(status: string, failure: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ProviderError, String(error));
    assert.deepEqual([error.status, error.failure], [status, failure]);
    return true;
  };
}

describe('behind mTLS', () => {
  let leaves: TestLeaves;
  let server: FakeServer;
  let fake: FakeProvider;
  let shardTls: TlsMaterial;

  before(async () => {
    leaves = await createLeaves();
    shardTls = await leaves.leaf('bigfleet://shard/shard-0');
    fake = createFake();
    const tls = await leaves.leaf('bigfleet://provider/a');
    server = await serveFake({ runtime, fake, listen: '127.0.0.1:0', tls });
  });

  after(async () => {
    await server.stop();
    leaves.remove();
  });

  test('a full List and a delta, as main gets them; the answer is told before its scan', async () => {
    const dialled = dialProvider({ runtime, address: server.address, fencing, tls: shardTls });
    const here = askHere(dialled.provider, createInlineScans());
    await withScans(shardTls, async (scans, lost) => {
      const there = scans.connect(server.address).asker;
      let toldCount = 0;
      const onAnswered = (): void => {
        toldCount += 1;
      };
      const full = await there.ask(orderOf({ onAnswered }));
      assert.equal(toldCount, 1);
      assert.deepEqual(plain(full), plain(await here.ask(orderOf())));
      const sinceRevision = revisionOf(full);
      const columns = full.kind === 'scanned' ? new ListColumns(full.data) : undefined;
      fake.failMachine(columns?.id(3) ?? '', 'broken');
      const delta = { isFull: false, request: { sinceRevision } };
      const [next, expected] = [await there.ask(orderOf(delta)), await here.ask(orderOf(delta))];
      assert.deepEqual(plain(next), plain(expected));
      assert.deepEqual(plain(next), { ids: [columns?.id(3)], rows: [0], absent: undefined });
      assert.deepEqual(lost, []);
    });
    dialled.close();
  });

  test('who has no identity is refused, as on main, until its certificate was replaced', async () => {
    const tls = await leaves.leaf('');
    await withScans(tls, async (scans) => {
      const first = scans.connect(server.address);
      const refused = isProviderError('PERMISSION_DENIED', 'rejected');
      await assert.rejects(first.asker.ask(orderOf()), refused);
      first.close();
      tls.replace(pairOf(packTls(shardTls)));
      const second = scans.connect(server.address);
      assert.equal((await second.asker.ask(orderOf())).kind, 'scanned');
    });
  });

  test('a pair crosses a port whole', () => {
    const parcel = structuredClone(packTls(shardTls));
    const { certificatePem, keyPem } = packTls(shardTls);
    const copy = unpackTls(parcel);
    assert.equal(copy.mode, 'mtls');
    assert.equal(copy.expiresAtUnixSeconds(), shardTls.expiresAtUnixSeconds());
    assert.ok(copy.holds(Buffer.from(certificatePem), Buffer.from(keyPem)));
  });
});

test('a Unix socket, an address where nobody is, a List that is given up, a line that is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-unix-'));
  const listen = `unix:${join(folder, 'p.sock')}`;
  const server = await serveFake({ runtime, fake: createFake(), listen });
  await withScans(undefined, async (scans, lost) => {
    const line = scans.connect(listen);
    assert.equal((await line.asker.ask(orderOf())).kind, 'scanned');
    const cancelled = isProviderError('CANCELLED', 'unknown_result');
    const stop = new AbortController();
    const open = line.asker.ask(orderOf({ signal: stop.signal }));
    stop.abort();
    await assert.rejects(open, cancelled);
    await assert.rejects(line.asker.ask(orderOf({ signal: stop.signal })), cancelled);
    const nobody = scans.connect(`unix:${join(folder, 'nobody.sock')}`);
    await assert.rejects(
      nobody.asker.ask(orderOf()),
      isProviderError('UNAVAILABLE', 'unknown_result'),
    );
    const hungUp = assert.rejects(line.asker.ask(orderOf()), cancelled);
    line.close();
    line.close();
    await hungUp;
    await assert.rejects(line.asker.ask(orderOf()), cancelled);
    assert.deepEqual(lost, []);
  });
  await server.stop();
  rmSync(folder, { recursive: true });
});

test('a List names its connection: the same while it lasts, another behind a restart or a new thread', async () => {
  const leaves = await createLeaves();
  const tls = await leaves.leaf('bigfleet://provider/a');
  const shardTls = await leaves.leaf('bigfleet://shard/shard-0');
  const serve = (listen: string): Promise<FakeServer> =>
    serveFake({ runtime, fake: createFake(), listen, tls });
  let server = await serve('127.0.0.1:0');
  const { address } = server;
  const dialled = dialProvider({ runtime, address, fencing, tls: shardTls });
  await withScans(shardTls, async (scans) => {
    const askers = [scans.connect(address).asker, askHere(dialled.provider, createInlineScans())];
    const connections = (): Promise<string[]> =>
      Promise.all(askers.map(async (asker) => (await untilAnswered(asker)).connection));
    const first = await connections();
    assert.deepEqual(await connections(), first);
    await server.stop();
    server = await serve(address);
    const second = await connections();
    assert.deepEqual(await connections(), second);
    for (const [at, connection] of second.entries()) assert.notEqual(connection, first[at]);
    await assert.rejects(askers[0]?.ask(orderOf({ again: [7 as never] })) ?? Promise.resolve());
    const [inNextThread] = await connections();
    assert.ok(inNextThread !== first[0] && inNextThread !== second[0], inNextThread);
  });
  dialled.close();
  await server.stop();
  leaves.remove();
});

/** Until the line has noticed that its server is another one. */
async function untilAnswered(asker: ListAsker): Promise<ListAnswer> {
  for (;;) {
    try {
      return await asker.ask(orderOf());
    } catch (error) {
      if (!(error instanceof ProviderError) || error.status !== 'UNAVAILABLE') throw error;
    }
    await sleep(runtime, 50);
  }
}

test('a line outlives the thread: the next List goes through another one', async () => {
  const server = await serveFake({ runtime, fake: createFake(), listen: '127.0.0.1:0' });
  await withScans(undefined, async (scans, lost) => {
    const { asker } = scans.connect(server.address);
    const first = plain(await asker.ask(orderOf()));
    // No string: the scanner chokes on it as it would on a bug of its own.
    const poison = orderOf({ again: [7 as never] });
    await assert.rejects(asker.ask(poison), { code: 'reconcile_lost' });
    assert.equal(lost.length, 1);
    assert.deepEqual(plain(await asker.ask(orderOf())), first);
  });
  await server.stop();
});
