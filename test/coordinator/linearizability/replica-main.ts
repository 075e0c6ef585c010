// One coordinator replica as a process, reduced to what a history needs: the production etcd engine
// and apply queue, leading whenever it can, answering operations as JSON lines over TCP, and the
// health service that the fast failover watches.
// node replica-main.ts <node id> <health port> <operations port> <ttl ms> <endpoint>...

import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { realRuntime } from '@bigfleet/base/real';
import { type Ledger, openLedger } from '@bigfleet/coordinator';
import { EtcdClient, EtcdStore } from '@bigfleet/coordinator/etcd';
import { createLogger } from '@bigfleet/telemetry';
import {
  createGrpcChannel,
  createGrpcServer,
  Health,
  HealthRegistry,
  openGate,
  Router,
} from '@bigfleet/wire';
import type { Operation, Outcome } from './model.ts';
import { prepare, serve } from './serve.ts';

const [nodeId = '', healthPort = '', operationsPort = '', ttlMs = '', ...endpoints] =
  process.argv.slice(2);
const runtime = realRuntime();
const never = new AbortController().signal;
const write = (text: string): void => {
  process.stderr.write(text);
};
const log = createLogger({ clock: runtime.clock, sink: { write, flushSync: () => {} } });
let ledger: Ledger | undefined;

const store = new EtcdStore({
  runtime,
  client: new EtcdClient({ runtime, endpoints }),
  nodeId,
  grpcAddress: `127.0.0.1:${healthPort}`,
  peerAddress: '',
  version: 'test',
  bootstrap: true,
  holdsNodeLock: true,
  leaderLeaseTtlMs: Number(ttlMs),
  dialLeader: (target) =>
    createGrpcChannel({ runtime, target, keepalive: { timeMs: 1_000, timeoutMs: 1_000 } }),
  observer: {
    onWon: (term) => log.info('won', { term }),
    onLost: (reason) => log.info('lost', { reason }),
  },
});

async function leadForEver(): Promise<never> {
  for (;;) {
    const leadership = await store.campaign(never);
    try {
      const opened = await openLedger({ runtime, store, leadership, log });
      await prepare(opened);
      ledger = opened;
      await new Promise<void>((resolve) => {
        if (opened.lost.aborted) resolve();
        else opened.lost.addEventListener('abort', () => resolve(), { once: true });
      });
    } catch (error) {
      log.warn('leading failed', { error: String(error) });
    } finally {
      ledger = undefined;
    }
  }
}

async function answer(line: string): Promise<string> {
  const { id, register, operation } = JSON.parse(line) as {
    id: number;
    register: string;
    operation: Operation;
  };
  const leading = ledger;
  const outcome: Outcome =
    leading === undefined ? { kind: 'none' } : await serve(leading, register, operation);
  return `${JSON.stringify({ id, outcome })}\n`;
}

function onConnection(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  const lines = createInterface({ input: socket });
  lines.on('error', () => socket.destroy());
  lines.on('line', (line) => {
    answer(line).then(
      (text) => socket.write(text),
      (error: unknown) => socket.destroy(error instanceof Error ? error : undefined),
    );
  });
}

const router = new Router({ gate: openGate }).add(Health, new HealthRegistry().handlers);
await createGrpcServer({ runtime, router, listen: [`127.0.0.1:${healthPort}`] }).bind();
createServer(onConnection).listen(Number(operationsPort), '127.0.0.1');
for (;;) {
  try {
    await store.open();
    break;
  } catch (error) {
    log.warn('etcd does not answer yet', { error: String(error) });
  }
}
process.stdout.write('ready\n');
await leadForEver();
