// A coordinator replica on the in-memory network that answers reports as a test says: it leads, it
// refuses with or without a hint, or it says nothing at all. It keeps every report.

import {
  Coordinator,
  type Handlers,
  openGate,
  type ReportAckSchema,
  Router,
  RpcError,
  type ShardReport,
} from '@bigfleet/wire';
import type { MemoryNetwork, MemoryServer } from '@bigfleet/wire/memory';
import { LEADER_HINT } from '../leader/leader-caller.ts';
import type { Init } from '../wire/report.ts';

export type ReplyInit = Init<typeof ReportAckSchema>;

/** Undefined: never answers. */
export type Script = (report: ShardReport) => ReplyInit | undefined | Promise<ReplyInit>;

export class ScriptedCoordinator {
  readonly reports: ShardReport[] = [];
  readonly address: string;
  readonly server: MemoryServer;
  /** Consumed one per report, then `otherwise`. */
  readonly replies: ReplyInit[] = [];
  script: Script = () => ({ coordinatorTerm: 1n, acknowledged: true });

  constructor(network: MemoryNetwork, address: string) {
    this.address = address;
    this.server = network.listen(
      address,
      new Router({ gate: openGate }).add(Coordinator, this.#handlers()),
    );
  }

  /** The next answer, over the defaults of a leader in term 1. */
  answer(...replies: readonly ReplyInit[]): this {
    for (const reply of replies) {
      this.replies.push({ coordinatorTerm: 1n, acknowledged: true, ...reply });
    }
    return this;
  }

  follow(leader?: string): this {
    this.script = () => {
      const metadata = new Map(leader === undefined ? [] : [[LEADER_HINT, leader]]);
      throw new RpcError('FAILED_PRECONDITION', 'coordinator: not leader', { metadata });
    };
    return this;
  }

  #handlers(): Handlers<typeof Coordinator> {
    const never = (): Promise<never> => Promise.reject(new RpcError('UNIMPLEMENTED', 'not here'));
    return {
      reportShard: async (report, call) => {
        this.reports.push(report);
        const reply = this.replies.shift() ?? (await this.script(report));
        if (reply !== undefined) return reply;
        return new Promise((_, reject) => {
          call.signal.addEventListener('abort', () => reject(new RpcError('CANCELLED', 'gone')));
        });
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
}
