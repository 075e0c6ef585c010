// What an administrator sees of three coordinators while they are replaced one by one: how many voters are
// healthy at each look, and whether somebody answers. A replica is ready by a read through its own member of
// the quorum (coordinator §4.3), so a Pod that is ready is a voter that is in it. Who asks the replicas
// themselves sees fewer for a moment whenever the quorum changes its leader: no member can be read from then.

import { realRuntime } from '@bigfleet/base/real';
import { Coordinator, createClient, createGrpcChannel } from '@bigfleet/wire';
import { monotonicMs, withDeadline } from '../../toolkit/index.ts';
import type { RunningNode } from './node.ts';
import { isServing, rest } from './probe.ts';

const runtime = realRuntime();
const GRPC_PORT = 7_790;
const EVERY_MS = 200;
const ANSWER_MS = 10_000;

export interface Seen {
  /** Ready Pods at each look. */
  readonly voterCounts: readonly number[];
  /** Replicas that served at the worst look, for the report of a run. */
  readonly fewestServing: number;
  readonly callCount: number;
  /** What calls that nobody answered said. */
  readonly failures: readonly string[];
  /** For the report of a run; other tests bound it. */
  readonly longestUnansweredMs: number;
}

export class UpgradeWatch {
  readonly #node: RunningNode;
  readonly #replicas: readonly string[];
  readonly #ender = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #voterCounts: number[] = [];
  readonly #failures: string[] = [];
  #callCount = 0;
  #fewestServing = Infinity;
  #longestUnansweredMs = 0;

  constructor(node: RunningNode, replicas: readonly string[]) {
    this.#node = node;
    this.#replicas = replicas;
    this.#running = Promise.all([
      this.#repeat(() => this.#countVoters()),
      this.#repeat(() => this.#callUntilAnswered()),
    ]);
  }

  async end(): Promise<Seen> {
    this.#ender.abort();
    await this.#running;
    return {
      voterCounts: this.#voterCounts,
      fewestServing: this.#fewestServing,
      callCount: this.#callCount,
      failures: this.#failures,
      longestUnansweredMs: this.#longestUnansweredMs,
    };
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#ender;
    while (!signal.aborted) {
      await work();
      await rest(EVERY_MS, signal);
    }
  }

  get #targets(): string[] {
    return this.#replicas.flatMap((name) => {
      const address = this.#node.pod(name)?.address;
      return address === undefined ? [] : [`${address}:${GRPC_PORT}`];
    });
  }

  async #countVoters(): Promise<void> {
    const ready = this.#replicas.filter((name) => this.#node.pod(name)?.isReady === true);
    this.#voterCounts.push(ready.length);
    const service = 'bigfleet.v1alpha1.Coordinator';
    const healthy = await Promise.all(this.#targets.map((one) => isServing(one, service)));
    this.#fewestServing = Math.min(this.#fewestServing, healthy.filter(Boolean).length);
  }

  /** Asks one replica after the other until the leader answers. */
  async #callUntilAnswered(): Promise<void> {
    const sinceMs = monotonicMs();
    while (!this.#ender.signal.aborted) {
      const problems: string[] = [];
      for (const target of this.#targets) {
        const problem = await listShards(target);
        if (problem === undefined) {
          this.#callCount += 1;
          const tookMs = monotonicMs() - sinceMs;
          this.#longestUnansweredMs = Math.max(this.#longestUnansweredMs, tookMs);
          return;
        }
        problems.push(problem);
      }
      this.#failures.push(problems.join('; '));
      await rest(EVERY_MS, this.#ender.signal);
    }
  }
}

async function listShards(target: string): Promise<string | undefined> {
  const channel = createGrpcChannel({ runtime, target });
  try {
    const admin = createClient(Coordinator, channel);
    await withDeadline('list shards', ANSWER_MS, (signal) => admin.listShards({}, { signal }));
    return undefined;
  } catch (error) {
    return `${target}: ${String(error)}`;
  } finally {
    channel.close();
  }
}
