// Finds the leader among the coordinator's replicas and stays with it (coordinator §4.2). A follower
// refuses everything and may name the leader; without a name every address is tried once, in random
// order, within the same call. One connection is kept: the leader's.
//
// A hint is only an address: it is dialled and verified like any other, and followed at most once per
// call, so that two replicas that name each other cannot hold a report up.

import { BigFleetError, describeThrown, type Runtime, withDeadline } from '@bigfleet/base';
import { type Channel, RpcError } from '@bigfleet/wire';
import type { Endpoint, Resolve } from './endpoint.ts';

export const LEADER_HINT = 'bigfleet-leader-address';
/** No single replica may use up the time of all others. */
const ATTEMPT_SHARE = 3;
const MIN_ATTEMPT_MS = 1_000;
const MAX_ATTEMPTS = 16;

export interface LeaderCallerOptions {
  readonly runtime: Runtime;
  readonly address: string;
  readonly resolve: Resolve;
  readonly connect: (endpoint: Endpoint) => Channel;
}

interface Connection {
  readonly endpoint: Endpoint;
  readonly channel: Channel;
}

type Work<T> = (channel: Channel, signal: AbortSignal) => Promise<T>;

type Attempt<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  /** Not the leader, who possibly said who is; or nobody in time. */
  | { readonly kind: 'refused'; readonly hint: string | undefined; readonly error: RpcError };

export class LeaderCaller {
  readonly #options: LeaderCallerOptions;
  #leader: Connection | undefined;

  constructor(options: LeaderCallerOptions) {
    this.#options = options;
  }

  get leaderAddress(): string | undefined {
    return this.#leader?.endpoint.address;
  }

  /** What it says is not to be believed: the next call looks for another. */
  forgetLeader(): void {
    this.#leader?.channel.close();
    this.#leader = undefined;
  }

  /** Rejects with the RpcError of the leader, or `leader_not_found` when there is none. */
  async call<T>(deadlineMs: number, signal: AbortSignal, work: Work<T>): Promise<T> {
    const deadline = withDeadline(this.#options.runtime, deadlineMs, signal);
    try {
      return await this.#call(deadlineMs, deadline.signal, work);
    } finally {
      deadline.dispose();
    }
  }

  async #call<T>(deadlineMs: number, signal: AbortSignal, work: Work<T>): Promise<T> {
    const attemptMs = Math.max(MIN_ATTEMPT_MS, deadlineMs / ATTEMPT_SHARE);
    const tried = new Set<string>();
    const waiting: Endpoint[] = [];
    let last: RpcError | undefined;
    let isResolved = false;
    if (this.#leader !== undefined) waiting.push(this.#leader.endpoint);
    while (tried.size < MAX_ATTEMPTS) {
      signal.throwIfAborted();
      const next = waiting.shift();
      if (next === undefined) {
        if (isResolved) break;
        isResolved = true;
        waiting.push(...(await this.#addresses(signal)));
        continue;
      }
      if (tried.has(next.address)) continue;
      tried.add(next.address);
      const attempt = await this.#attempt(next, attemptMs, signal, work);
      if (attempt.kind === 'answered') return attempt.answer;
      last = attempt.error;
      if (attempt.hint !== undefined) waiting.unshift({ address: attempt.hint });
    }
    throw noLeader(this.#options.address, last);
  }

  async #attempt<T>(
    endpoint: Endpoint,
    attemptMs: number,
    signal: AbortSignal,
    work: Work<T>,
  ): Promise<Attempt<T>> {
    const connection = this.#connectionTo(endpoint);
    const deadline = withDeadline(this.#options.runtime, attemptMs, signal);
    try {
      const answer = await work(connection.channel, deadline.signal);
      this.#keep(connection);
      return { kind: 'answered', answer };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (isLeadersWord(error)) {
        this.#keep(connection);
        throw error;
      }
      this.#drop(connection);
      const isFollower = error.code === 'FAILED_PRECONDITION';
      const hint = isFollower ? error.metadata.get(LEADER_HINT) : undefined;
      return { kind: 'refused', hint: hint === '' ? undefined : hint, error };
    } finally {
      deadline.dispose();
    }
  }

  #connectionTo(endpoint: Endpoint): Connection {
    if (this.#leader?.endpoint.address === endpoint.address) return this.#leader;
    return { endpoint, channel: this.#options.connect(endpoint) };
  }

  #keep(connection: Connection): void {
    if (this.#leader === connection) return;
    this.#leader?.channel.close();
    this.#leader = connection;
  }

  #drop(connection: Connection): void {
    connection.channel.close();
    if (this.#leader === connection) this.#leader = undefined;
  }

  async #addresses(signal: AbortSignal): Promise<readonly Endpoint[]> {
    const { resolve, address, runtime } = this.#options;
    try {
      return shuffled(await resolve(address, signal), runtime);
    } catch (error) {
      signal.throwIfAborted();
      const text = `${address} cannot be resolved: ${describeThrown(error)}`;
      throw new BigFleetError('leader_not_found', text, { cause: error });
    }
  }
}

/** Followers refuse before anything else, so any other refusal is the leader's own. */
function isLeadersWord({ code }: RpcError): boolean {
  return (
    code !== 'FAILED_PRECONDITION' &&
    code !== 'UNAVAILABLE' &&
    code !== 'DEADLINE_EXCEEDED' &&
    code !== 'CANCELLED' &&
    code !== 'UNIMPLEMENTED'
  );
}

function noLeader(address: string, last: RpcError | undefined): BigFleetError {
  const why = last === undefined ? 'the name has no address' : `${last.code}: ${last.message}`;
  const text = `no leader among the replicas of ${address}: ${why}`;
  return new BigFleetError('leader_not_found', text, { cause: last });
}

function shuffled(endpoints: readonly Endpoint[], { random }: Runtime): Endpoint[] {
  const order = [...endpoints];
  for (let at = order.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    const held = order[at] as Endpoint;
    order[at] = order[other] as Endpoint;
    order[other] = held;
  }
  return order;
}
