// The provider that both shards share: the real kit behind a real gRPC server, over a substrate in
// memory that takes its time. Writes down each mutating call before it is looked at, with the shard
// that sent it. Never killed: what is there twice was asked for twice.
// `node provider-main.ts <listen> <file of acts>`.

import { type Runtime, sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { type Backend, createProvider, type Instance, MemoryStore } from '@bigfleet/providerkit';
import { createLogger, createRegistry, stderrSink } from '@bigfleet/telemetry';
import {
  type ByteRouter,
  CapacityProvider,
  ConfigureRequestSchema,
  CreateRequestSchema,
  createGrpcServer,
  decode,
  DeleteRequestSchema,
  DrainRequestSchema,
  openGate,
  Router,
} from '@bigfleet/wire';
import { appendAct } from './acts.ts';
import { CORES, parkMachines } from './park.ts';

const WORK_MS = 40;

const [listen = '', acts = ''] = process.argv.slice(2);
const runtime = realRuntime();
const { clock, timers } = runtime;
const logger = createLogger({ clock, sink: stderrSink({ timers, registry: createRegistry() }) });
const provider = await createProvider({
  backend: substrate(runtime),
  store: new MemoryStore(),
  runtime,
  options: { reconcileIntervalMs: 0, timeouts: { drain: 900_000 } },
  logger,
});
const router = new Router({ gate: openGate });
router.add(CapacityProvider, provider.handlers);
const served = { runtime, router: recorded(router), listen: [listen] };
const server = createGrpcServer({ ...served, keepalive: 'provider' });
const [address = ''] = await server.bind();
logger.info('the shared provider serves', { addr: address });

/** Before it is answered: whoever asks believes to be the owner. */
function recorded(router: ByteRouter): ByteRouter {
  const note = (kind: string, { machineId, shardId }: FencedRequest): void =>
    appendAct(acts, { kind, machineId, shardId });
  const readers = new Map<string, (request: Uint8Array) => FencedRequest>([
    ['Create', (bytes) => decode(CreateRequestSchema, bytes, 'INVALID_ARGUMENT')],
    ['Configure', (bytes) => decode(ConfigureRequestSchema, bytes, 'INVALID_ARGUMENT')],
    ['Drain', (bytes) => decode(DrainRequestSchema, bytes, 'INVALID_ARGUMENT')],
    ['Delete', (bytes) => decode(DeleteRequestSchema, bytes, 'INVALID_ARGUMENT')],
  ]);
  return {
    find: (path) => {
      const method = router.find(path);
      const kind = path.slice(path.lastIndexOf('/') + 1);
      const read = readers.get(kind);
      if (method?.kind !== 'unary' || read === undefined) return method;
      return {
        kind: 'unary',
        handle: (request, call) => {
          note(kind, read(request));
          return method.handle(request, call);
        },
      };
    },
  };
}

interface FencedRequest {
  readonly machineId: string;
  readonly shardId: string;
}

function substrate(given: Runtime): Backend {
  const work = (signal: AbortSignal): Promise<void> => sleep(given, WORK_MS, signal);
  const hosts = new Map<string, string>();
  for (const { id, capacityType } of parkMachines()) {
    if (capacityType === 'BareMetal') hosts.set(id, `rack/${id}`);
  }
  const host = (ref: string): Required<Pick<Instance, 'host'>> => ({
    host: { provider: 'shared', ref },
  });
  return {
    describe: async () =>
      parkMachines().map((machine) => {
        const ref = hosts.get(machine.id);
        return {
          ...machine,
          pricePerHour: machine.capacityType === 'BareMetal' ? 0 : 1,
          interruptionProbability: 0,
          resources: new Map([['cpu', `${CORES}`]]),
          ...(ref === undefined ? {} : host(ref)),
        };
      }),
    createInstance: async ({ machine, operationId, signal }) => {
      await work(signal);
      hosts.set(machine.id, `host-${operationId}`);
      return host(`host-${operationId}`);
    },
    configureInstance: ({ signal }) => work(signal),
    confirmNodeReady: async () => {},
    drainInstance: ({ signal }) => work(signal),
    deleteInstance: async ({ machine, signal }) => {
      await work(signal);
      hosts.delete(machine.id);
    },
  };
}
