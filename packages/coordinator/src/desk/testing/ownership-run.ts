// One random history of a small fleet: reports with lost replies, shard restarts, elections, domains
// and registry entries changed by hand. After every step it is asked who would act on each machine.

import type { Random } from '@bigfleet/base';
import { assignDomain, unassignDomain } from '../../registry/domains.ts';
import { registerProvider } from '../../registry/providers.ts';
import { makeReport, ReportWorld } from './report-world.ts';
import { ModelShard } from './model-shard.ts';

const SHARDS: readonly string[] = ['a', 'b', 'c'];
const ADDRESSES = ['p:1', 'p:2'] as const;
const ZONES = ['z1', 'z2', 'z3'] as const;
/** Matched by no domain, ever. */
const UNMATCHED = 'unmatched';

export interface RunOptions {
  readonly seed: bigint;
  readonly steps: number;
}

export interface RunResult {
  /** The first machine with two owners, and the history up to there. */
  readonly violation: string | undefined;
  readonly history: readonly string[];
  /** Machines that have an owner by the ledger, and those that somebody acts on, at rest. */
  readonly machines: number;
  readonly owned: number;
}

export async function runOwnership(options: RunOptions): Promise<RunResult> {
  const run = new OwnershipRun(await ReportWorld.open({ seed: options.seed }));
  for (let step = 0; step < options.steps && run.violation === undefined; step++) {
    await run.step();
  }
  if (run.violation === undefined) await run.rest();
  return run.result();
}

class OwnershipRun {
  readonly #world: ReportWorld;
  readonly #random: Random;
  readonly #shards: readonly ModelShard[];
  readonly #history: string[] = [];
  violation: string | undefined;

  constructor(world: ReportWorld) {
    this.#world = world;
    this.#random = world.time.runtime.random.stream('ownership');
    this.#shards = SHARDS.map((id) => new ModelShard(id, () => this.#random.below(4)));
  }

  async step(): Promise<void> {
    const what = this.#random.below(100);
    if (what < 70) await this.#report(this.#pick(this.#shards), this.#random.below(5) === 0);
    else if (what < 80) await this.#assign();
    else if (what < 87) await this.#unassign();
    else if (what < 93) await this.#register();
    else if (what < 97) this.#restart();
    else await this.#elect();
    this.#check();
  }

  /** Nothing changes any more and every reply arrives. */
  async rest(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      for (const shard of this.#shards) await this.#report(shard, false);
      this.#check();
    }
  }

  result(): RunResult {
    const machines = this.#machines().filter(([address, zone]) => this.#hasOwner(address, zone));
    const owned = machines.filter(([address, zone]) => this.#acting(address, zone).length === 1);
    const { violation } = this;
    return { violation, history: this.#history, owned: owned.length, machines: machines.length };
  }

  async #report(shard: ModelShard, isLost: boolean): Promise<void> {
    const report = makeReport({ shardId: shard.id, ...shard.report() });
    const outcome = await this.#world.handle(report);
    this.#history.push(`report ${shard.id} ${isLost ? 'lost' : outcome.kind}`);
    if (outcome.kind === 'ack' && !isLost) shard.hear(outcome.ack);
  }

  async #assign(): Promise<void> {
    const { ledger, desk } = this.#world;
    const [zone, shard] = [this.#pick(ZONES), this.#pick(SHARDS)];
    const operations = { ...desk, ledger };
    const outcome = await this.#world.run(
      assignDomain(operations, { key: 'zone', value: zone }, shard),
    );
    this.#history.push(`assign ${zone} ${shard} ${outcome.kind}`);
  }

  async #unassign(): Promise<void> {
    const { ledger, desk } = this.#world;
    const zone = this.#pick(ZONES);
    const operations = { ...desk, ledger };
    await this.#world.run(unassignDomain(operations, { key: 'zone', value: zone }));
    this.#history.push(`unassign ${zone}`);
  }

  async #register(): Promise<void> {
    const { ledger, desk } = this.#world;
    const address = this.#pick(ADDRESSES);
    const named = SHARDS.filter(() => this.#random.below(2) === 0);
    const entry = { name: address, address, region: 'r', declaredQuota: 0, shards: named };
    const operations = { ...desk, ledger };
    await this.#world.run(registerProvider(operations, entry));
    this.#history.push(`register ${address} [${named.join()}]`);
  }

  #restart(): void {
    const shard = this.#pick(this.#shards);
    shard.restart();
    this.#history.push(`restart ${shard.id}`);
  }

  async #elect(): Promise<void> {
    await this.#world.elect();
    this.#history.push('elect');
  }

  #check(): void {
    if (this.violation !== undefined) return;
    for (const [address, zone] of this.#machines()) {
      const acting = this.#acting(address, zone);
      if (acting.length > 1) this.violation = `${zone} of ${address}: ${acting.join(' and ')}`;
    }
  }

  #machines(): (readonly [string, string])[] {
    return ADDRESSES.flatMap((address) =>
      [...ZONES, UNMATCHED].map((zone) => [address, zone] as const),
    );
  }

  #acting(address: string, zone: string): string[] {
    return this.#shards.filter((shard) => shard.isActing(address, zone)).map(({ id }) => id);
  }

  /** By the registry: whoever owns its domain is to dial it, or nobody does and there is a home. */
  #hasOwner(address: string, zone: string): boolean {
    const { state } = this.#world.ledger;
    const entry = state.provider(address);
    if (entry === undefined) return false;
    const owner = state.domain({ key: 'zone', value: zone })?.shardId;
    return owner === undefined || entry.shards.length === 0 || entry.shards.includes(owner);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)] as T;
  }
}
