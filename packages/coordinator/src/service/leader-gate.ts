// Who may answer. Followers refuse everything, reads included, so that there is no undocumented
// stale-read contract; they name the leader when they know it. A leader's answer that is not the
// result of a commit is released only after a look at the leadership that began after its data was
// taken (coordinator §3.3): a boolean `isLeader` would let a stalled process answer from the past.

import { type CallContext, RpcError } from '@bigfleet/wire';
import { NOT_LEADER, type Refused } from '../ledger/outcome.ts';
import type { LeaderTerm } from '../replica/leader-term.ts';
import type { Replica } from '../replica/replica.ts';

/** Trailer of a refusal: where the leader is dialled. */
export const LEADER_ADDRESS = 'bigfleet-leader-address';

/** Answered by every replica. */
const OPEN_PATHS: ReadonlySet<string> = new Set([
  '/bigfleet.ext.v1alpha1.CoordinatorAdmin/GetStatus',
  '/grpc.health.v1.Health/Check',
  '/grpc.health.v1.Health/Watch',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
]);

export class LeaderGate {
  readonly #replica: Replica;
  readonly #onRefused: (call: CallContext) => void;

  constructor(replica: Replica, onRefused: (call: CallContext) => void) {
    this.#replica = replica;
    this.#onRefused = onRefused;
  }

  /** Before identity, as the contract orders: a follower tells nobody who it would have admitted. */
  readonly precheck = (call: CallContext): RpcError | undefined => {
    if (OPEN_PATHS.has(call.path) || this.#replica.leading() !== undefined) return undefined;
    this.#onRefused(call);
    return this.refusal();
  };

  leading(): LeaderTerm {
    const leader = this.#replica.leading();
    if (leader === undefined) throw this.refusal();
    return leader;
  }

  /** Takes the data, then makes sure that it was this leader's to give. */
  async read<T>(take: (leader: LeaderTerm) => T): Promise<T> {
    const leader = this.leading();
    const taken = take(leader);
    await this.confirm(leader);
    return taken;
  }

  async confirm(leader: LeaderTerm): Promise<void> {
    const verdict = await leader.ledger.confirm();
    if (verdict === 'timeout') {
      throw new RpcError('UNAVAILABLE', 'coordinator: leadership could not be confirmed; retry');
    }
    if (verdict === 'deposed' || this.#replica.leading() !== leader) throw this.refusal();
  }

  refusal(): RpcError {
    const hint = this.#replica.observed().leader;
    if (hint === undefined || hint.grpcAddress === '') {
      return new RpcError('FAILED_PRECONDITION', NOT_LEADER);
    }
    const metadata = new Map([
      [LEADER_ADDRESS, hint.grpcAddress],
      ['bigfleet-leader-term', String(hint.term)],
    ]);
    return new RpcError('FAILED_PRECONDITION', NOT_LEADER, { metadata });
  }
}

/** A refused operation as the status that the caller gets. "Not the leader" always carries the hint. */
export function failure(gate: LeaderGate, { status, message }: Refused): RpcError {
  return message === NOT_LEADER ? gate.refusal() : new RpcError(status, message);
}
