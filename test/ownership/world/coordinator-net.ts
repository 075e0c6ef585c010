// The in-memory transport between real shards and whoever leads: every leadership is a host of its
// own, so that a dead one refuses, a deposed one still answers, and a call fails as calls do.

import type { Runtime } from '@bigfleet/base';
import {
  Coordinator,
  type Handlers,
  openGate,
  type ReportAck,
  Router,
  RpcError,
  type ShardReport,
} from '@bigfleet/wire';
import { createMemoryNetwork, type LinkProfile, type MemoryNetwork } from '@bigfleet/wire/memory';

const BAD_LINK: LinkProfile = {
  latency: { minMs: 1, maxMs: 1_500, tailProbability: 0.05, tailMs: 4_000 },
  bytesPerMs: undefined,
  callLossProbability: 0.05,
  connectionLossProbability: 0.01,
  duplicateProbability: 0.1,
};

export class CoordinatorNet {
  readonly network: MemoryNetwork;
  #isCalm = true;

  constructor(runtime: Runtime) {
    this.network = createMemoryNetwork({ runtime });
  }

  get lostCount(): number {
    return this.network.counters.lostCalls + this.network.counters.lostConnections;
  }

  static addressOf(replica: string): string {
    return `${replica}:7790`;
  }

  /** `handle` answers undefined for a refusal. */
  listen(replica: string, handle: (report: ShardReport) => Promise<ReportAck | undefined>): void {
    const router = new Router({ gate: openGate }).add(Coordinator, handlersOf(handle));
    this.network.listen(CoordinatorNet.addressOf(replica), router);
  }

  crash(replica: string): void {
    this.network.apply({ kind: 'crash', host: replica });
  }

  /** From now on, between these; `calm` ends it. */
  spoil(shardId: string, replica: string): void {
    if (this.#isCalm) return;
    for (const [from, to] of [
      [shardId, replica],
      [replica, shardId],
    ] as const) {
      this.network.apply({ kind: 'profile', from, to, profile: BAD_LINK });
    }
  }

  set isCalm(isCalm: boolean) {
    this.#isCalm = isCalm;
    if (isCalm) this.network.apply({ kind: 'calm' });
  }
}

function handlersOf(
  handle: (report: ShardReport) => Promise<ReportAck | undefined>,
): Handlers<typeof Coordinator> {
  const never = (): Promise<never> => Promise.reject(new RpcError('UNIMPLEMENTED', 'not here'));
  return {
    reportShard: async (report) => {
      const ack = await handle(report);
      if (ack === undefined) throw new RpcError('FAILED_PRECONDITION', 'coordinator: not leader');
      return ack;
    },
    assignDomain: never,
    unassignDomain: never,
    removeShard: never,
    listShards: never,
    listDomainAssignments: never,
    listQuotas: never,
    listProviders: never,
    listShardReports: never,
    joinRaftCluster: never,
    snapshotSave: async function* () {
      yield* [];
      throw new RpcError('UNIMPLEMENTED', 'not here');
    },
  };
}
