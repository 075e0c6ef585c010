// The services of a coordinator's one server, in the order of checks that the contract asks for:
// leader, identity, arguments, work. Every denial is a security event: one line and a counter.

import {
  Coordinator,
  CoordinatorAdmin,
  createGate,
  type Denial,
  Health,
  type HealthRegistry,
  pathOf,
  reflectionHandlers,
  Router,
  ServerReflection,
} from '@bigfleet/wire';
import type { LeaderTermOptions } from '../replica/leader-term.ts';
import type { Replica } from '../replica/replica.ts';
import { adminHandlers, registryHandlers } from './admin-handlers.ts';
import { type JoinHandler, joinHandlers } from './join-handlers.ts';
import { failure, LeaderGate } from './leader-gate.ts';
import { adminListHandlers, listHandlers, statusHandler } from './list-handlers.ts';
import { snapshotHandlers } from './snapshot-handlers.ts';

const REPORT_PATH = pathOf(Coordinator.method.reportShard);
const READS = /\/(?:List|GetStatus)/;

/** The methods that may appear in the label of denials. */
export const SERVED_METHODS: readonly string[] = [
  ...Coordinator.methods,
  ...CoordinatorAdmin.methods,
]
  .map(({ name }) => name)
  .concat('other');

type ReplicaParts = Pick<LeaderTermOptions, 'runtime' | 'logger' | 'store' | 'metrics'>;

export interface RouterParts extends ReplicaParts {
  readonly replica: Replica;
  readonly health: HealthRegistry;
  readonly join: JoinHandler;
  readonly transport: 'plaintext' | 'mtls';
  readonly nodeId: string;
  /** Where a snapshot waits until its checksum is known. */
  readonly dataDir: string;
  readonly version: string;
  readonly hasReflection: boolean;
}

/** What the handlers of every service have. */
export interface ServiceParts extends RouterParts {
  readonly gate: LeaderGate;
}

export function createRouter(parts: RouterParts): Router {
  const { logger, replica, metrics, health } = parts;
  const gate = new LeaderGate(replica, ({ path }) => {
    if (path === REPORT_PATH) metrics.onReport('not_leader');
  });
  const router = new Router({
    precheck: gate.precheck,
    gate: createGate({
      transport: parts.transport,
      onDenied: (denial) => reportDenial(denial, parts),
    }),
    onPanic: (path, error) =>
      logger.error('handler failed with a bug', {
        rpc: path,
        err: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  });
  const service: ServiceParts = { ...parts, gate };
  router
    .add(Coordinator, {
      reportShard: async (report, { signal }) => {
        const outcome = await gate.leading().desk.handler.handle(report, signal);
        if (outcome.kind === 'refused') throw failure(gate, outcome);
        return outcome.ack;
      },
      ...adminHandlers(service),
      ...listHandlers(gate),
      ...joinHandlers(service),
      ...snapshotHandlers(service),
    })
    .add(CoordinatorAdmin, {
      ...registryHandlers(service),
      ...adminListHandlers(gate),
      ...statusHandler(service),
    })
    .add(Health, health.handlers);
  if (parts.hasReflection) {
    router.add(
      ServerReflection,
      reflectionHandlers(() => router.services),
    );
  }
  return router;
}

function reportDenial(denial: Denial, { logger, metrics }: RouterParts): void {
  const method = denial.path.slice(denial.path.lastIndexOf('/') + 1);
  metrics.onIdentityRejected(SERVED_METHODS.includes(method) ? method : 'other');
  if (denial.path === REPORT_PATH) metrics.onReport('denied');
  logger.error(`coordinator rejected ${kindOf(denial.path)} identity`, {
    rpc: denial.path,
    asserted_id: denial.assertedId ?? '',
    presented_identity: denial.presented,
    peer: denial.peerAddress,
  });
}

function kindOf(path: string): 'shard' | 'read' | 'admin' {
  if (path === REPORT_PATH) return 'shard';
  return READS.test(path) ? 'read' : 'admin';
}
