// Talks to the coordinator's leader, wherever it is (coordinator §4.2). A follower refuses
// everything; its hint is an address and nothing more: identity is checked there in full. Without a
// hint every address behind the name is tried once, in random order. Every call of the coordinator
// is idempotent, which is why trying the next replica after a lost answer is safe.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import {
  type CallOptions,
  type Client,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  RpcError,
} from '@bigfleet/wire';
import { callFailure } from './failure.ts';
import {
  dialTarget,
  hostPortOf,
  joinHostPort,
  type LinkOptions,
  type Network,
  withinTimeout,
} from './network.ts';

/** A redirect loop between replicas that disagree ends here. */
const MAX_TRIES = 12;
const LEADER_HINT = 'bigfleet-leader-address';

export interface CoordinatorApi {
  readonly coordinator: Client<typeof Coordinator>;
  readonly admin: Client<typeof CoordinatorAdmin>;
}

export interface CoordinatorOptions extends LinkOptions {
  readonly network: Network;
  /** As given: one address, or several with commas. */
  readonly addresses: readonly string[];
}

export interface AskOptions {
  /** For RPCs that may take as long as they need; Ctrl-C still ends them. */
  readonly isUnbounded?: boolean | undefined;
  /** Answered by any replica: no redirect is followed. */
  readonly isAnyReplica?: boolean | undefined;
}

export interface Replica {
  readonly target: string;
  readonly serverName?: string | undefined;
}

export type CoordinatorWork<T> = (api: CoordinatorApi, call: CallOptions) => Promise<T>;

export class CoordinatorLink {
  readonly #options: CoordinatorOptions;
  /** Where the leader was found, until it refuses. */
  #leader: Replica | undefined;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
  }

  /** `feature` names what is asked, for a server that is too old to know it. */
  async ask<T>(feature: string, work: CoordinatorWork<T>, options: AskOptions = {}): Promise<T> {
    const queue: Replica[] = this.#leader === undefined ? this.#given() : [this.#leader];
    const tried = new Set<string>();
    let hasExpanded = false;
    let failure: { readonly replica: Replica; readonly error: unknown } | undefined;
    while (tried.size < MAX_TRIES) {
      let replica = queue.shift();
      if (replica === undefined && !hasExpanded) {
        hasExpanded = true;
        queue.push(...shuffled(await this.replicas(), this.#options.runtime));
        replica = queue.shift();
      }
      if (replica === undefined) break;
      if (tried.has(replica.target)) continue;
      tried.add(replica.target);
      try {
        const answer = await this.#attempt(replica, work, options);
        if (options.isAnyReplica !== true) this.#leader = replica;
        return answer;
      } catch (error) {
        this.#leader = undefined;
        if (!isWorthAnother(error)) throw callFailure(error, this.#peer(replica), feature);
        // A follower's refusal says less than why the leader could not be reached.
        if (failure === undefined || isNotLeader(failure.error)) failure = { replica, error };
        const hint = hintIn(error);
        if (hint !== undefined && options.isAnyReplica !== true) queue.unshift({ target: hint });
      }
    }
    throw this.#noLeader(failure, tried, feature);
  }

  /** Exactly this replica, followers included. */
  async askReplica<T>(replica: Replica, feature: string, work: CoordinatorWork<T>): Promise<T> {
    try {
      return await this.#attempt(replica, work, {});
    } catch (error) {
      throw callFailure(error, this.#peer(replica), feature);
    }
  }

  #given(): Replica[] {
    return this.#options.addresses.map((address) => ({
      target: dialTarget(address) ?? none(address),
    }));
  }

  /** Every address behind the given names. */
  async replicas(): Promise<Replica[]> {
    const found: Replica[] = [];
    for (const address of this.#options.addresses) {
      const target = dialTarget(address) ?? address;
      const parts = hostPortOf(target);
      if (parts === undefined) {
        found.push({ target });
        continue;
      }
      for (const ip of await this.#options.network.addressesOf(parts.host)) {
        found.push({ target: joinHostPort(ip, parts.port), serverName: parts.host });
      }
    }
    return found;
  }

  async #attempt<T>(replica: Replica, work: CoordinatorWork<T>, options: AskOptions): Promise<T> {
    const { channels, tls, signal } = this.#options;
    const channel = channels.to({ ...replica, tls, serverIdentity: { kind: 'admin' } });
    const api = {
      coordinator: createClient(Coordinator, channel),
      admin: createClient(CoordinatorAdmin, channel),
    };
    if (options.isUnbounded === true) return work(api, { signal });
    return withinTimeout(this.#options, (call) => work(api, call));
  }

  #noLeader(
    failure: { readonly replica: Replica; readonly error: unknown } | undefined,
    tried: ReadonlySet<string>,
    feature: string,
  ): unknown {
    if (failure === undefined) return none(this.#options.addresses.join(','));
    if (!isNotLeader(failure.error)) {
      return callFailure(failure.error, this.#peer(failure.replica), feature);
    }
    return new BigFleetError(
      'coordinator_no_leader',
      `no coordinator replica leads (asked ${[...tried].join(', ')})`,
      { cause: failure.error },
    );
  }

  #peer({ target }: Replica): { readonly kind: 'coordinator'; readonly name: string } {
    return { kind: 'coordinator', name: `the coordinator at ${target}` };
  }
}

/** Refused before anything is dialled: a library would guess port 443. */
function none(address: string): never {
  throw new BigFleetError(
    'coordinator_unreachable',
    `${JSON.stringify(address)} is no address to dial: write host:port`,
  );
}

/** FAILED_PRECONDITION is kept for this, but for two refusals of membership. */
function isNotLeader(error: unknown): boolean {
  return (
    error instanceof RpcError &&
    error.code === 'FAILED_PRECONDITION' &&
    (error.metadata.has(LEADER_HINT) || error.message.includes('not leader'))
  );
}

function isWorthAnother(error: unknown): boolean {
  if (isNotLeader(error)) return true;
  return error instanceof RpcError && ['UNAVAILABLE', 'DEADLINE_EXCEEDED'].includes(error.code);
}

function hintIn(error: unknown): string | undefined {
  const hint = error instanceof RpcError ? error.metadata.get(LEADER_HINT) : undefined;
  return hint === undefined ? undefined : dialTarget(hint);
}

function shuffled<T>(items: readonly T[], { random }: Runtime): T[] {
  const rest = [...items];
  const order: T[] = [];
  while (rest.length > 0) order.push(...rest.splice(random.below(rest.length), 1));
  return order;
}
