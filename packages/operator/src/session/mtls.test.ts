// Proves that the same session client works over real gRPC with mTLS: identity accepted and refused
// on both sides, frames in both directions, reconnect, stop.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type ClusterId, sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { type CapturedLog, captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import {
  createGate,
  createGrpcChannel,
  createGrpcServer,
  RpcError,
  type ServerIdentityRule,
  type TlsMaterial,
} from '@bigfleet/wire';
import { request } from '../rollup/testing/requests.ts';
import { createOperatorMetrics } from './metrics.ts';
import { OperatorSession } from './operator-session.ts';
import { createMint } from './testing/pki.ts';
import { ScriptedShard } from './testing/scripted-shard.ts';
import { BLOB, SimulatedCluster } from './testing/simulated-cluster.ts';

const runtime = realRuntime({ seed: 'operator-mtls' });

interface Opened {
  readonly shard: ScriptedShard;
  readonly cluster: SimulatedCluster;
  readonly log: CapturedLog;
  readonly operator: OperatorSession;
}

interface OpenOptions {
  readonly server: TlsMaterial;
  readonly client: TlsMaterial;
  readonly serverIdentity: ServerIdentityRule;
}

async function open(t: TestContext, options: OpenOptions): Promise<Opened> {
  const shard = new ScriptedShard(createGate({ transport: 'mtls' }));
  const server = createGrpcServer({
    runtime,
    router: shard.router,
    listen: ['127.0.0.1:0'],
    tls: options.server,
    stopGraceMs: 50,
  });
  const [target = ''] = await server.bind();
  const cluster = new SimulatedCluster(runtime);
  const log = captureSink();
  const operator = new OperatorSession({
    runtime,
    clusterId: 'eu-1' as ClusterId,
    cluster,
    dial: () =>
      createGrpcChannel({
        runtime,
        target,
        tls: options.client,
        serverIdentity: options.serverIdentity,
      }),
    metrics: createOperatorMetrics(createRegistry()),
    logger: createLogger({ clock: runtime.clock, sink: log }),
    settings: { rollupIntervalMs: 300, backoffInitialMs: 20, backoffMaxMs: 100 },
  });
  const stop = new AbortController();
  const running = operator.run(stop.signal);
  t.after(async () => {
    stop.abort(new Error('the test is over'));
    await running;
    await server.stop();
  });
  return { shard, cluster, log, operator };
}

async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (let poll = 0; poll < 6_000; poll++) {
    if (holds()) return;
    await sleep(runtime, 10);
  }
  assert.fail(`never happened: ${what}`);
}

describe('over gRPC with mTLS', () => {
  it('a session opens, works, and is dialled again', async (t) => {
    const mint = await createMint(t, runtime);
    const server = await mint('bigfleet://shard/s-0');
    const client = await mint('bigfleet://cluster/eu-1');
    const serverIdentity = { kind: 'shard', id: 's-0' } as const;
    const { shard, cluster, operator, log } = await open(t, { server, client, serverIdentity });
    await eventually('connected', () => operator.isConnected);
    cluster.request(request({ uid: 'r1', spec: { priority: 7 } }));
    await eventually('acknowledged', () => cluster.acknowledged.includes('r1'));
    const { session } = shard;
    session.send({ case: 'bootstrapRequest', value: { requestId: 'b1', clusterId: 'eu-1' } });
    await eventually('answered', () => session.all('bootstrapResponse').length === 1);
    const [answer] = session.all('bootstrapResponse');
    assert.equal(new TextDecoder().decode(answer?.userData), BLOB);
    session.end(new RpcError('UNAVAILABLE', 'restart'));
    await eventually('a second session', () => shard.sessions.length === 2 && operator.isConnected);
    assert.ok(!log.lines.join('\n').includes(BLOB));
  });

  it('the certificate of another cluster is refused, loudly and for ever', async (t) => {
    const mint = await createMint(t, runtime);
    const server = await mint('bigfleet://shard/s-0');
    const client = await mint('bigfleet://cluster/us-9');
    const { shard, log, operator } = await open(t, {
      server,
      client,
      serverIdentity: { kind: 'shard' },
    });
    await eventually('three attempts', () => shard.sessions.length >= 3);
    assert.equal(operator.isConnected, false);
    const refused = log.lines.find((line) => line.includes('PERMISSION_DENIED')) ?? '';
    assert.match(refused, /level=ERROR .*bigfleet:\/\/cluster\/us-9/);
  });

  it('a server that is another shard gets no Hello', async (t) => {
    const mint = await createMint(t, runtime);
    const server = await mint('bigfleet://shard/s-1');
    const client = await mint('bigfleet://cluster/eu-1');
    const serverIdentity = { kind: 'shard', id: 's-0' } as const;
    const { shard, log } = await open(t, { server, client, serverIdentity });
    const ended = (): string[] => log.lines.filter((line) => line.includes('session ended'));
    await eventually('two attempts', () => ended().length >= 2);
    assert.equal(shard.sessions.length, 0);
    assert.match(ended()[0] ?? '', /s-1/);
  });
});
