// A random fleet, told step by step, and beside it the slow and obvious model: whole maps copied at every
// step. What the real model shows of any moment must be what was copied then.

import { createRandom, type Random } from '@bigfleet/base';
import { type CapacityTypeCode, State, type StateCode } from '@bigfleet/engine';
import type { Fleet, MachineFacts, NeedFacts, ShardFeed } from '../../facts.ts';

const START_MS = 1_700_000_000_000;

export interface ShardPicture {
  readonly machines: ReadonlyMap<string, MachineFacts>;
  readonly needs: ReadonlyMap<string, NeedFacts & { readonly unmetSinceMs: number | null }>;
}

/** What was told until a moment. */
export interface Picture {
  readonly atMs: number;
  readonly shards: ReadonlyMap<string, ShardPicture>;
}

const CLUSTERS = ['a', 'b', '__proto__', 'c😀'];
const HOSTILE = ['constructor', '__proto__', 'm/1', 'ü', '😀', 'a\u0000b', '</script>'];

interface Shard {
  readonly name: string;
  readonly feed: ShardFeed;
  readonly machines: Map<string, MachineFacts>;
  readonly needs: Map<string, NeedFacts>;
  epoch: bigint;
  cycle: number;
}

export class RandomFeed {
  readonly pictures: Picture[] = [];
  nowMs: number = START_MS;
  readonly #random: Random;
  readonly #shards: Shard[];

  constructor(seed: string, connect: (nowMs: () => number) => Fleet) {
    this.#random = createRandom(seed);
    const fleet = connect(() => this.nowMs);
    this.#shards = ['one', 'two'].map((name) => ({
      name,
      feed: fleet.shard(name, `${name}:1`),
      machines: new Map(),
      needs: new Map(),
      epoch: 1n,
      cycle: 0,
    }));
    for (const shard of this.#shards) this.#snapshot(shard);
    this.#keep();
  }

  step(): void {
    this.nowMs += 1 + this.#random.below(20_000);
    const shard = this.#shards[this.#random.below(this.#shards.length)] as Shard;
    const draw = this.#random.below(20);
    if (draw === 0) shard.epoch += 1n;
    if (draw <= 2) {
      // What happened in the gap was not told.
      for (let change = this.#random.below(8); change > 0; change--) this.#change(shard);
      this.#snapshot(shard);
    } else this.#delta(shard);
    this.#keep();
  }

  #keep(): void {
    const before = this.pictures.at(-1);
    const shards = new Map(
      this.#shards.map(({ name, machines, needs }) => {
        const known = before?.shards.get(name)?.needs;
        const told = [...needs].map(([key, facts]) => {
          const unmetSinceMs = facts.isSatisfied
            ? null
            : (known?.get(key)?.unmetSinceMs ?? this.nowMs);
          return [key, { ...facts, unmetSinceMs }] as const;
        });
        return [name, { machines: new Map(machines), needs: new Map(told) }];
      }),
    );
    this.pictures.push({ atMs: this.nowMs, shards });
  }

  #snapshot(shard: Shard): void {
    const { feed, machines, needs, epoch } = shard;
    shard.cycle += 1;
    feed.begin({ epoch, cycle: shard.cycle, isResumed: false });
    // In two parts, and cut short and begun again now and then.
    const rows = [...machines.values()];
    const half = Math.floor(rows.length / 2);
    if (this.#random.below(3) === 0) {
      feed.snapshotPart(rows.slice(0, half), []);
      feed.begin({ epoch, cycle: shard.cycle, isResumed: false });
    }
    feed.snapshotPart(rows.slice(0, half), []);
    feed.snapshotPart(rows.slice(half), [...needs.values()]);
    const ended = feed.snapshotEnd({
      machines: machines.size,
      needs: needs.size,
      atMs: this.nowMs,
    });
    if (!ended.ok) throw new Error(ended.error.message);
  }

  #delta(shard: Shard): void {
    const changed = new Set<string>();
    const removed = new Set<string>();
    const needsChanged = new Set<string>();
    const needsRemoved = new Map<string, NeedFacts>();
    for (let change = this.#random.below(12); change > 0; change--) {
      const done = this.#change(shard);
      if (done.kind === 'machine') {
        changed.delete(done.key);
        removed.delete(done.key);
        (done.isRemoved ? removed : changed).add(done.key);
      } else if (done.removed === undefined) {
        needsRemoved.delete(done.key);
        needsChanged.add(done.key);
      } else {
        needsChanged.delete(done.key);
        needsRemoved.set(done.key, done.removed);
      }
    }
    shard.cycle += 1;
    shard.feed.cycle({
      cycle: shard.cycle,
      atMs: this.nowMs,
      machinesChanged: [...changed].map((id) => shard.machines.get(id) as MachineFacts),
      machinesRemoved: [...removed],
      needsChanged: [...needsChanged].map((key) => shard.needs.get(key) as NeedFacts),
      needsRemoved: [...needsRemoved.values()],
      actions: { Bootstrap: 1, constructor: 3 },
      shortfalls: 0,
      dollarsPerHour: 0,
    });
  }

  #change(
    shard: Shard,
  ):
    | { readonly kind: 'machine'; readonly key: string; readonly isRemoved: boolean }
    | { readonly kind: 'need'; readonly key: string; readonly removed: NeedFacts | undefined } {
    const random = this.#random;
    const isRemoved = random.below(4) === 0;
    if (random.below(3) > 0) {
      const id = HOSTILE[random.below(40)] ?? `m-${random.below(60)}`;
      if (isRemoved) shard.machines.delete(id);
      else shard.machines.set(id, this.#machine(id));
      return { kind: 'machine', key: id, isRemoved };
    }
    const need = this.#need();
    const key = JSON.stringify([need.cluster, need.fingerprint, need.group]);
    if (isRemoved) {
      shard.needs.delete(key);
      return { kind: 'need', key, removed: need };
    }
    shard.needs.set(key, need);
    return { kind: 'need', key, removed: undefined };
  }

  #machine(id: string): MachineFacts {
    const random = this.#random;
    const state = (1 + random.below(8)) as StateCode;
    const isBound = state >= State.Configuring && state <= State.Draining;
    return {
      machine: id,
      state,
      cluster: isBound ? (CLUSTERS[random.below(CLUSTERS.length)] ?? '') : '',
      provider: ['p', 'q'][random.below(2)] ?? '',
      instanceType: `t${random.below(3)}`,
      region: ['', 'r1'][random.below(2)] ?? '',
      zone: `z${random.below(3)}`,
      rack: ['', 'k1'][random.below(2)] ?? '',
      capacityType: (1 + random.below(4)) as CapacityTypeCode,
      dollarsPerHour: random.below(1_000_000) / 10_000,
      interruptionProbability: [0, 0.0001, 0.3][random.below(3)] ?? 0,
      priority: isBound ? (([-5, 100, 1_000, 1_000_000][random.below(4)] as number) ?? 0) : 0,
      interruptionPenaltyBucket: isBound ? 1 + random.below(27) : 1,
      reclamationPenaltyBucket: 1 + random.below(27),
      node: state === State.Configured ? `node-${id}` : '',
      sinceMs: this.nowMs - random.below(60_000),
      pendingAction: ['', 'Reclaim'][random.below(2)] ?? '',
      lastError: state === State.Failed ? 'host lost' : '',
      need: isBound ? `f${random.below(5)}` : '',
      group: isBound ? (['', 'g'][random.below(2)] ?? '') : '',
    };
  }

  #need(): NeedFacts {
    const random = this.#random;
    const isSatisfied = random.below(2) === 0;
    const reasons = ['awaiting_drain', 'priority_starved', 'no_matching_supply', 'of_tomorrow'];
    return {
      cluster: CLUSTERS[random.below(CLUSTERS.length)] ?? '',
      fingerprint: `f${random.below(5)}`,
      group: ['', 'g'][random.below(2)] ?? '',
      priority: [0, 1_000, 1_000_000][random.below(3)] ?? 0,
      interruptionPenaltyBucket: 1 + random.below(27),
      reclamationPenaltyBucket: 1 + random.below(27),
      requirements: [`zone In [z${random.below(2)}]`],
      resources: { cpu: String(random.below(9)) },
      isSatisfied,
      deficit: isSatisfied ? {} : { cpu: '1' },
      reason: isSatisfied ? '' : (reasons[random.below(4)] ?? ''),
      claimed: random.below(5),
      ageCyclesUnmet: random.below(100),
      isEscalated: random.below(2) === 0,
      isParked: false,
      domain: '',
      matching: { idle: 0, configured: random.below(3), speculative: random.below(2) },
      awaitingDrain: random.below(2),
    };
  }
}
