// A whole fleet on one seed: several shards, one coordinator after another, and a network that
// loses, delays and doubles what they say. Deaths fall on any durable step of a shard and on either
// side of any commit of the ledger; leaders are deposed without noticing; once per seed the ledger
// may go back to an older snapshot.

import {
  BigFleetError,
  createVirtualRuntime,
  type Random,
  type VirtualRuntime,
  sleep,
} from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { CoordinatorObserver, SagaRules } from '@bigfleet/coordinator';
import { MemoryDisk, MemoryStore } from '@bigfleet/coordinator/testing';
import { createLogger, type Logger } from '@bigfleet/telemetry';
import type { ReportAck, ShardReport } from '@bigfleet/wire';
import { DECLARED_QUOTA, Judge } from './judge.ts';
import { Leader, SEED_SETTINGS } from './leader.ts';
import { MachinePark } from './machine-park.ts';
import { CoordinatorNet } from './coordinator-net.ts';
import {
  Died,
  type FleetShard,
  PROVIDER,
  PROVIDER_ADDRESS,
  REGION,
  REPORT_MS,
  SEED_CYCLES_PER_REPORT,
  type TransferStep,
} from './fleet-shard.ts';
import { ModelShard } from './model-shard.ts';
import { cooldownsOf, type PlantedFault, rulesOf } from './planted-fault.ts';
import { RealShard } from './real-shard.ts';

const REPLY_DEADLINE_MS = 5_000;
const COMMIT_FAULTS = [
  'crash-before-commit',
  'crash-after-commit',
  'unknown-after-commit',
  'unknown-without-commit',
  'failed',
  'index-moved',
] as const;

const KEPT_SNAPSHOTS = 4;
const STEPS = ['frozen', 'released', 'claimed', 'gone'] as const;
const MISFORTUNES = ['restore', 'restore', 'crash', 'depose'] as const;

interface Ambush {
  readonly step: TransferStep;
  readonly misfortune: (typeof MISFORTUNES)[number];
  skip: number;
}

export interface Tally {
  deaths: number;
  elections: number;
  restores: number;
  lostMessages: number;
  commits: number;
  aborts: number;
  quotaMoves: number;
  /** Transfers that a shard named and the ledger did not know: brought back, or thawed. */
  rebuilt: number;
  cancelled: number;
  /** Machines drained for another shard. */
  drains: number;
  removals: number;
}

/** `model` is cheap and can be broken on purpose; `real` is what runs in production. */
export type ShardKind = 'model' | 'real';

export interface WorldOptions {
  readonly seed: string;
  readonly kind: ShardKind;
  readonly fault?: PlantedFault;
  readonly logLine?: (line: string) => void;
}

export class World {
  readonly random: Random;
  readonly shards: readonly FleetShard[];
  readonly judge: Judge;
  readonly park: MachinePark;
  readonly tally: Tally = {
    deaths: 0,
    elections: 0,
    restores: 0,
    lostMessages: 0,
    commits: 0,
    aborts: 0,
    quotaMoves: 0,
    rebuilt: 0,
    cancelled: 0,
    drains: 0,
    removals: 0,
  };
  readonly #time: VirtualRuntime;
  readonly #log: Logger;
  readonly #fault: PlantedFault | undefined;
  /** Only real shards need one. */
  readonly #net: CoordinatorNet | undefined;
  readonly #observer: CoordinatorObserver;
  #disk = new MemoryDisk();
  #leader: Leader | undefined;
  #zombie: Leader | undefined;
  #snapshots: readonly MemoryDisk[] = [];
  /** From before anybody reported: it knows no home and no epoch. */
  #first: MemoryDisk | undefined;
  #ambush: Ambush | undefined;
  readonly #downUntil = new Map<string, number>();
  #isCalm = true;
  #mayPass = true;
  #isOver = false;
  #bug: unknown;

  constructor({ seed, kind, fault, logLine }: WorldOptions) {
    this.#time = createVirtualRuntime({ seed, drain: drainMicrotasks });
    this.random = this.#time.runtime.random.stream('world');
    this.#fault = fault;
    this.#net = kind === 'real' ? new CoordinatorNet(this.#time.runtime) : undefined;
    this.#log = createLogger({
      clock: this.#time.runtime.clock,
      sink: { write: (line: string) => logLine?.(line), flushSync: () => {} },
      level: logLine === undefined ? 'error' : 'debug',
    });
    this.#observer = observerOf(this.tally);
    this.park = new MachinePark(4 + this.random.below(6));
    const shards: FleetShard[] = [];
    for (let at = 0; at < 2 + this.random.below(3); at++) shards.push(this.#makeShard(`s${at}`));
    this.shards = shards;
    this.judge = new Judge(this.park, shards);
    this.#ambush = {
      step: pick(this.random, STEPS),
      misfortune: pick(this.random, MISFORTUNES),
      skip: this.random.below(2),
    };
  }

  /** Runs the seed; rejects with the first broken law. */
  async run(): Promise<void> {
    const whole = this.#script();
    whole.catch((error: unknown) => this.#fail(error));
    while (!this.#isOver) {
      await this.#time.runFor(REPORT_MS);
      if (this.judge.violation !== undefined) this.#isOver = true;
    }
    for (const shard of this.shards) shard.kill();
    this.#net?.network.close();
    this.tally.lostMessages += this.#net?.lostCount ?? 0;
    if (this.judge.violation !== undefined) throw this.judge.violation;
    if (this.#bug !== undefined) throw asError(this.#bug);
    this.tally.commits = this.judge.commitCount;
    this.tally.aborts = this.judge.abortCount;
  }

  get now(): number {
    return this.#time.nowMs;
  }

  async #script(): Promise<void> {
    await this.#elect();
    await this.#register();
    this.#first = copyOf(this.#disk);
    for (const shard of this.shards) this.#supervise(this.#live(shard));
    this.#supervise(this.#passes());
    this.#supervise(this.#snapshotsNowAndThen());
    await this.#sleep(3 * REPORT_MS);
    for (const shard of this.shards) this.#wantAnew(shard);
    // The home owns everything at first: the others must have a reason to ask.
    for (const shard of this.shards.slice(1)) shard.demand += 1;
    this.#setCalm(false);
    const faults = 6 + this.random.below(8);
    for (let at = 0; at < faults; at++) {
      await this.#sleep(2_000 + this.random.below(22_000));
      await this.#misfortune();
    }
    await this.#settle();
    this.#isOver = true;
  }

  /** Nothing goes wrong any more: everything must come to rest within the longest time-out. */
  async #settle(): Promise<void> {
    this.#setCalm(true);
    this.#mayPass = false;
    this.#leader?.store.commitFaults.splice(0);
    if (this.#leader === undefined || this.#leader.isLost) await this.#elect();
    let unrest: string | undefined = 'never looked';
    for (let round = 0; round < 90; round++) {
      await this.#sleep(REPORT_MS);
      const isLed = this.#leader?.isLost === false;
      const leader = isLed && this.#leader ? this.#leader : await this.#elect();
      const isAllUp = this.shards.every(({ isUp }) => isUp);
      unrest = isAllUp ? this.judge.unrest(leader.ledger.state) : 'a shard is down';
      if (unrest === undefined && round > 1) return;
    }
    throw new Error(`no rest: ${unrest}`);
  }

  async #misfortune(): Promise<void> {
    const { random } = this;
    switch (random.below(10)) {
      case 0:
        return this.#crashLeader();
      case 1:
        return this.#deposeQuietly();
      case 2:
        return this.#restore();
      case 3: {
        const shard = pick(random, this.shards);
        shard.kill();
        this.#downUntil.set(shard.id, this.now + random.below(60_000));
        return;
      }
      case 4:
        this.#leader?.store.commitFaults.push(pick(random, COMMIT_FAULTS));
        return;
      case 5: {
        this.park.set(this.#likelyMoved(), 'gone');
        return;
      }
      case 6:
        return this.#remove(pick(random, this.shards));
      default:
        for (const shard of this.shards) if (random.below(2) === 0) this.#wantAnew(shard);
    }
  }

  /** A machine that the ledger gives to somebody by name, if there is one: its end has a protocol. */
  #likelyMoved(): string {
    const moved = this.#leader?.ledger.state.overrides().map(({ machineId }) => machineId) ?? [];
    return pick(this.random, moved.length > 0 ? moved : this.park.ids);
  }

  #setCalm(isCalm: boolean): void {
    this.#isCalm = isCalm;
    if (this.#net !== undefined) this.#net.isCalm = isCalm;
    if (!isCalm) this.#spoilLinks();
  }

  #spoilLinks(): void {
    const replica = this.#leader?.name;
    if (replica === undefined) return;
    for (const { id } of this.shards) this.#net?.spoil(id, replica);
  }

  #wantAnew(shard: FleetShard): void {
    shard.demand = this.random.below(1 + Math.ceil(this.park.ids.length / 2));
    shard.isQuotaBound = this.random.below(3) === 0;
  }

  async #crashLeader(): Promise<void> {
    this.#crash();
    this.tally.deaths += 1;
    await this.#elect();
  }

  #crash(): void {
    if (this.#leader === undefined) return;
    this.#leader.store.crash();
    this.#net?.crash(this.#leader.name);
  }

  /** Its lease ended and it does not know: it goes on until it looks. */
  async #deposeQuietly(): Promise<void> {
    const { leader } = this.#disk;
    if (leader !== undefined) this.#disk.lead({ ...leader, depose: () => {} });
    this.#disk.depose();
    this.#zombie = this.#leader;
    await this.#elect();
  }

  async #restore(): Promise<void> {
    const isFirst = this.#first !== undefined && this.random.below(6) === 0;
    const at = this.random.below(Math.max(1, this.#snapshots.length));
    const disk = isFirst ? this.#first : this.#snapshots[at];
    const meta = disk?.meta;
    // Whoever registered after the snapshot and stays silent cannot be waited for (§10.5).
    const known = disk?.rows().filter(({ table }) => table === 'shards').length;
    if (known !== this.shards.length) return;
    if (disk === undefined || meta === undefined || this.tally.restores > 0) return;
    this.tally.restores += 1;
    this.#crash();
    disk.meta = {
      ...meta,
      term: meta.term + 1_000n,
      ledgerGeneration: meta.ledgerGeneration + 1,
    };
    this.#disk = disk;
    this.judge.isRestored = true;
    await this.#elect();
  }

  /**
   * A shard that is stopped for good, with its work; a new one of its name begins with nothing. Older
   * snapshots go: a home that was removed and restored is an operator's to settle (§10.4).
   */
  async #remove(shard: FleetShard): Promise<void> {
    const leader = this.#leader;
    if (leader === undefined || leader.isLost || this.tally.removals > 0) return;
    shard.wipe();
    this.#downUntil.set(shard.id, Number.POSITIVE_INFINITY);
    for (const id of this.park.ids)
      if (this.park.userOf(id) === shard.id) this.park.set(id, 'idle');
    this.tally.removals += 1;
    const result = await leader.ledger.apply({ kind: 'RemoveShard', id: shard.id });
    this.#downUntil.delete(shard.id);
    this.#snapshots = [];
    this.#first = undefined;
    if (result.kind === 'applied') leader.desk.forgetShard(shard.id);
  }

  async #elect(): Promise<Leader> {
    this.#leader = undefined;
    this.tally.elections += 1;
    const name = `coordinator-${this.tally.elections}`;
    const runtime = this.#time.runtimeFor(name);
    const store = new MemoryStore({ runtime, disk: this.#disk, nodeId: name });
    if (this.#disk.leader !== undefined) this.#disk.depose();
    await store.open();
    const idleOf = (shardId: string): readonly string[] =>
      this.shards.find(({ id }) => id === shardId)?.idle() ?? [];
    const leadership = await store.campaign(new AbortController().signal);
    const leader = await Leader.open({
      name,
      runtime,
      store,
      leadership,
      log: this.#log,
      observer: this.#observer,
      settings: SEED_SETTINGS,
      cooldowns: cooldownsOf(this.#fault),
      rules: countedRules(rulesOf(this.#fault, idleOf), this.tally),
    });
    this.#leader = leader;
    this.#net?.listen(name, (report) => this.#answer(leader, report));
    this.#spoilLinks();
    this.#supervise(leader.desk.recoveryDriver.run(leader.ledger.lost));
    return leader;
  }

  async #register(): Promise<void> {
    const leader = this.#leader;
    if (leader === undefined) return;
    const entry = {
      name: PROVIDER,
      address: PROVIDER_ADDRESS,
      region: REGION,
      declaredQuota: DECLARED_QUOTA,
      shards: [],
    };
    await leader.ledger.apply({ kind: 'UpsertProvider', entry });
    for (const { id } of this.shards) {
      const address = `${id}:7780`;
      await leader.ledger.apply({ kind: 'AddShard', id, address, registeredAtMs: 0 });
    }
    const share = Math.floor(DECLARED_QUOTA / this.shards.length);
    const perShard = new Map(this.shards.map(({ id }) => [id, share]));
    await leader.ledger.apply({ kind: 'SetQuota', provider: PROVIDER, region: REGION, perShard });
  }

  async #passes(): Promise<void> {
    while (!this.#isOver) {
      await this.#sleep(7_000 + this.random.below(8_000));
      const leader = this.#leader;
      if (leader === undefined || !this.#mayPass) continue;
      await Promise.race([leader.pass(), this.#sleep(20_000)]);
      this.#look(leader);
    }
  }

  async #live(shard: FleetShard): Promise<void> {
    await this.#sleep(this.random.below(REPORT_MS));
    while (!this.#isOver) {
      const startedMs = this.now;
      if (!shard.isUp && this.#mayStart(shard)) await shard.start();
      try {
        if (shard.isUp) await shard.turn();
      } catch (error) {
        if (!(error instanceof Died)) throw error;
      }
      const jitterMs = this.random.below(1_000);
      await this.#sleep(Math.max(0, startedMs + REPORT_MS + jitterMs - this.now));
    }
  }

  #mayStart({ id }: FleetShard): boolean {
    if (this.#isCalm) return true;
    return this.now >= (this.#downUntil.get(id) ?? 0) && this.random.below(2) === 0;
  }

  /** Over the network, whose accidents are its own. */
  async #answer(leader: Leader, report: ShardReport): Promise<ReportAck | undefined> {
    const reply = await leader.handle(report).catch(() => undefined);
    this.#supervise(this.#drive(leader));
    return reply;
  }

  /** Undefined: lost on the way, refused, or too late. */
  async #call(report: ShardReport): Promise<ReportAck | undefined> {
    const { random } = this;
    const target =
      this.#zombie !== undefined && random.below(3) === 0 ? this.#zombie : this.#leader;
    await this.#sleep(this.#isCalm ? 10 : random.below(3_000));
    if (target === undefined || this.#isLostMessage()) return undefined;
    if (!this.#isCalm && random.below(10) === 0) this.#supervise(target.handle(report));
    const reply = await Promise.race([
      target.handle(report).catch(() => undefined),
      this.#sleep(REPLY_DEADLINE_MS).then(() => undefined),
    ]);
    this.#supervise(this.#drive(target));
    await this.#sleep(this.#isCalm ? 10 : random.below(4_000));
    return this.#isLostMessage() ? undefined : reply;
  }

  async #drive(leader: Leader): Promise<void> {
    await this.#sleep(this.random.below(1_500));
    await leader.drive();
    this.#look(leader);
  }

  #look(leader: Leader): void {
    if (leader.isLost || leader !== this.#leader) return;
    this.judge.looksAtLedger(leader.ledger.state, leader.ledger.term, this.now);
  }

  #isLostMessage(): boolean {
    if (this.#isCalm || this.random.below(10) > 0) return false;
    this.tally.lostMessages += 1;
    return true;
  }

  async #snapshotsNowAndThen(): Promise<void> {
    while (!this.#isOver) {
      await this.#sleep(5_000 + this.random.below(15_000));
      this.#snapshots = [...this.#snapshots, copyOf(this.#disk)].slice(-KEPT_SNAPSHOTS);
    }
  }

  /** A misfortune that waits for a step of a transfer, because few moments of a seed are one. */
  #watch(step: TransferStep): void {
    const ambush = this.#ambush;
    if (ambush === undefined || this.#isCalm || ambush.step !== step) return;
    ambush.skip -= 1;
    if (ambush.skip >= 0) return;
    this.#ambush = undefined;
    this.#supervise(this.#spring(ambush));
  }

  /** What is gone has to be cleared first, and its slot used anew: a few reports later. */
  async #spring({ step, misfortune }: Ambush): Promise<void> {
    const leastMs = step === 'gone' ? 2 * REPORT_MS : 0;
    await this.#sleep(leastMs + this.random.below(6_000));
    if (misfortune === 'restore') return this.#restore();
    return misfortune === 'crash' ? this.#crashLeader() : this.#deposeQuietly();
  }

  #makeShard(id: string): FleetShard {
    const { park } = this;
    const shared = {
      id,
      park,
      dies: () => !this.#isCalm && this.random.below(50) === 0,
      onChanged: () => this.judge.looksAtShards(),
      onStep: (step: TransferStep) => this.#watch(step),
      onDeath: () => {
        this.tally.deaths += 1;
      },
    };
    if (this.#net === undefined) {
      const post = (report: ShardReport) => this.#call(report);
      const cyclesPerReport = SEED_CYCLES_PER_REPORT;
      return new ModelShard({ ...shared, fault: this.#fault, cyclesPerReport, post });
    }
    return new RealShard({
      ...shared,
      runtime: this.#time.runtimeFor(id),
      logger: this.#log,
      network: this.#net.network,
      coordinators: () => this.#replicas(),
      hasLyingDisk: this.#fault === 'lies-about-writes',
      supervise: (work) => this.#supervise(work),
    });
  }

  /** As a name service would say, which knows the deposed one too. */
  #replicas(): readonly string[] {
    const replicas = [this.#leader, this.#zombie].filter((leader) => leader !== undefined);
    return replicas.map(({ name }) => CoordinatorNet.addressOf(name));
  }

  /** A leader that died leaves promises that fail or never end; what is a bug fails the seed. */
  #supervise(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!(error instanceof BigFleetError)) this.#fail(error);
    });
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#bug ??= error;
  }

  #sleep(ms: number): Promise<void> {
    return sleep(this.#time.runtime, ms);
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

function copyOf(disk: MemoryDisk): MemoryDisk {
  const copy = new MemoryDisk();
  for (const row of disk.rows()) copy.put(row);
  if (disk.meta !== undefined) copy.meta = disk.meta;
  return copy;
}

function countedRules(rules: SagaRules, tally: Tally): SagaRules {
  return {
    decide: (facts) => {
      const steps = rules.decide(facts);
      if (steps.some((step) => step.do === 'recommit')) tally.rebuilt += 1;
      return steps;
    },
    decideLost: (facts) => {
      const step = rules.decideLost(facts);
      if (step.do === 'rebuild') tally.rebuilt += 1;
      if (step.do === 'cancel') tally.cancelled += 1;
      return step;
    },
  };
}

function observerOf(tally: Tally): CoordinatorObserver {
  const nothing = (): void => {};
  return {
    onReport: nothing,
    onPendingInstructions: nothing,
    onUnregisteredProvider: nothing,
    onShardRemoved: nothing,
    onOwnershipConflict: nothing,
    onClusterBindingConflict: nothing,
    onTermJumpRefused: nothing,
    onRebalancePass: nothing,
    onRebalanceMove: (tier, result) => {
      if (tier === '2' && result === 'committed') tally.quotaMoves += 1;
      if (tier === '3' && result === 'accepted') tally.drains += 1;
    },
  };
}
