// The server of wire/streams-5k, alone in its process: mTLS, the real gate, sessions that answer
// each frame and then wait. It counts for itself what is open, so that the bench does not have to
// believe its clients.

import { setImmediate as turn } from 'node:timers/promises';
import { realRuntime } from '@bigfleet/base/real';
import {
  createGate,
  createGrpcServer,
  Health,
  HealthRegistry,
  Router,
  Shard,
  tlsFromFlags,
} from '@bigfleet/wire';
import type { Answers } from '../harness/answer-questions.ts';
import type { StreamServerOrder } from './child-order.ts';
import { sessionHandlers } from './ours.ts';
import { createService } from './service.ts';
import type { ServerMemory, StreamCounts } from './stream-counts.ts';

export async function serveStreams({ tls, seed }: StreamServerOrder): Promise<Answers> {
  const material = tlsFromFlags({ ...tls, requireTls: true });
  if (material === 'plaintext') throw new Error('the streams must be mTLS');
  const router = new Router({ gate: createGate({ transport: 'mtls' }) })
    .add(Shard, sessionHandlers(createService(seed)))
    .add(Health, new HealthRegistry().handlers);
  const server = createGrpcServer({
    runtime: realRuntime(),
    router,
    listen: ['127.0.0.1:0'],
    tls: material,
    onError: (report) => console.error(report),
  });
  const [address] = await server.bind();
  return {
    address: () => address,
    counts: (): StreamCounts => ({
      streams: server.callCount,
      connections: server.connectionCount,
    }),
    memory: measureMemory,
  };
}

async function measureMemory(): Promise<ServerMemory> {
  // The second collection frees what finalizers of the first let go.
  globalThis.gc?.();
  await turn();
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, liveBytes: heapUsed + external };
}
