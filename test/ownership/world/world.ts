// A whole fleet on one seed: several shards, one of them perhaps late, one coordinator after another,
// and an operator. Deaths fall on any durable step of a shard and on either side of any commit of the
// ledger; leaders are deposed without noticing; once or twice per seed the ledger may go back to an older
// snapshot, which may have a removed shard again or not know the late one, while that one is dead or
// cut off and acting. This file is the script; the parts are beside it, each in its own.

import {
  BigFleetError,
  createVirtualRuntime,
  type Random,
  type VirtualRuntime,
  sleep,
} from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { MemoryDisk } from '@bigfleet/coordinator/testing';
import { createLogger, type Logger } from '@bigfleet/telemetry';
import type { ShardReport } from '@bigfleet/wire';
import { Ambush } from './ambush.ts';
import { CoordinatorNet } from './coordinator-net.ts';
import {
  Died,
  type FleetShard,
  REPORT_MS,
  SEED_CYCLES_PER_REPORT,
  type TransferStep,
} from './fleet-shard.ts';
import { Judge } from './judge.ts';
import type { Leader } from './leader.ts';
import { Leaderships } from './leaderships.ts';
import { MachinePark } from './machine-park.ts';
import { Mail } from './mail.ts';
import { ModelShard } from './model-shard.ts';
import { Operator } from './operator.ts';
import { pick } from './pick.ts';
import { type PlantedFault, rulesOf } from './planted-fault.ts';
import { RealShard } from './real-shard.ts';
import { registerFleet } from './register-fleet.ts';
import { countedRules, emptyTally, observerOf, type Tally } from './tally.ts';

const COMMIT_FAULTS = [
  'crash-before-commit',
  'crash-after-commit',
  'unknown-after-commit',
  'unknown-without-commit',
  'failed',
  'index-moved',
] as const;

/** Of a shard that a restored ledger does not know. */
const FATES = ['reports', 'cut off', 'cut off', 'dead'] as const;

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
  readonly tally: Tally = emptyTally();
  readonly #time: VirtualRuntime;
  readonly #log: Logger;
  readonly #fault: PlantedFault | undefined;
  /** Only real shards need one. */
  readonly #net: CoordinatorNet | undefined;
  readonly #mail: Mail;
  readonly #leaderships: Leaderships;
  readonly #operator: Operator;
  readonly #late: FleetShard | undefined;
  /** Decides about zones; undefined: nobody has one. Model shards do not know what a zone is. */
  readonly #zoning: Random | undefined;
  readonly #downUntil = new Map<string, number>();
  #ambush: Ambush | undefined;
  #isCalm = true;
  #isSettling = false;
  #isOver = false;
  #bug: unknown;

  constructor({ seed, kind, fault, logLine }: WorldOptions) {
    this.#time = createVirtualRuntime({ seed, drain: drainMicrotasks });
    const { runtime } = this.#time;
    this.random = runtime.random.stream('world');
    this.#fault = fault;
    this.#net = kind === 'real' ? new CoordinatorNet(runtime) : undefined;
    this.#log = createLogger({
      clock: runtime.clock,
      sink: { write: (line: string) => logLine?.(line), flushSync: () => {} },
      level: logLine === undefined ? 'error' : 'debug',
    });
    this.park = new MachinePark(4 + this.random.below(6));
    this.#mail = this.#makeMail();
    const { tally, park } = this;
    const now = (): number => this.now;
    const sleeps = (ms: number): Promise<void> => this.#sleep(ms);
    this.#operator = new Operator({ park, tally, fault, log: this.#log, now, sleep: sleeps });
    const shards: FleetShard[] = [];
    for (let at = 0; at < 2 + this.random.below(3); at++) shards.push(this.#makeShard(`s${at}`));
    this.shards = shards;
    this.#late = this.random.below(2) === 0 ? shards.at(-1) : undefined;
    const zoning = runtime.random.stream('zones');
    this.#zoning = kind === 'real' && zoning.below(3) > 0 ? zoning : undefined;
    this.judge = new Judge(this.park, shards);
    this.#leaderships = this.#makeLeaderships();
    this.#ambush = new Ambush(this.random);
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
    const leader = await this.#leaderships.elect();
    const early = this.shards.filter((shard) => shard !== this.#late);
    await registerFleet(leader.ledger, early);
    this.#leaderships.snapshots.keepFirst(this.#leaderships.disk);
    if (this.#late !== undefined) this.#stayDown(this.#late, 30_000 + this.random.below(60_000));
    for (const shard of this.shards) this.#supervise(this.#live(shard));
    for (const loop of [
      this.#passes(),
      this.#snapshotsNowAndThen(),
      this.#operates(),
      this.#movesZones(),
    ]) {
      this.#supervise(loop);
    }
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
    this.#isSettling = true;
    this.#mail.reconnect();
    this.#downUntil.clear();
    // What is given up is nobody's until nothing runs there any more.
    if (this.#zoning !== undefined) for (const shard of this.shards) shard.demand = 0;
    this.#leaderships.leader?.store.commitFaults.splice(0);
    await this.#leaderships.current();
    let unrest: string | undefined = 'never looked';
    for (let round = 0; round < 90; round++) {
      await this.#sleep(REPORT_MS);
      const leader = await this.#leaderships.current();
      await this.#operator.look(leader);
      unrest = this.#unrest(leader);
      if (unrest === undefined && round > 1) return;
    }
    throw new Error(`no rest: ${unrest}`);
  }

  #unrest({ desk, ledger }: Leader): string | undefined {
    if (!this.shards.every(({ isUp }) => isUp)) return 'a shard is down';
    if (!desk.recovery.isOver()) return `recovering: ${JSON.stringify(desk.recovery.waits())}`;
    return this.judge.unrest(ledger.state);
  }

  async #misfortune(): Promise<void> {
    const { random } = this;
    switch (random.below(10)) {
      case 0:
        return this.#leaderships.crash();
      case 1:
        return this.#leaderships.deposeQuietly();
      case 2:
        return this.#restore();
      case 3: {
        const shard = pick(random, this.shards);
        shard.kill();
        this.#stayDown(shard, random.below(60_000));
        return;
      }
      case 4:
        this.#leaderships.leader?.store.commitFaults.push(pick(random, COMMIT_FAULTS));
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
    const rows = this.#leaderships.leader?.ledger.state.overrides() ?? [];
    const moved = rows.map(({ machineId }) => machineId);
    return pick(this.random, moved.length > 0 ? moved : this.park.ids);
  }

  #setCalm(isCalm: boolean): void {
    this.#isCalm = isCalm;
    this.#mail.isCalm = isCalm;
    if (this.#net !== undefined) this.#net.isCalm = isCalm;
    if (!isCalm) this.#spoilLinks();
  }

  #spoilLinks(): void {
    const replica = this.#leaderships.leader?.name;
    if (replica === undefined) return;
    for (const { id } of this.shards) this.#net?.spoil(id, replica);
  }

  #wantAnew(shard: FleetShard): void {
    shard.demand = this.random.below(1 + Math.ceil(this.park.ids.length / 2));
    shard.isQuotaBound = this.random.below(3) === 0;
  }

  #stayDown({ id }: FleetShard, forMs: number): void {
    this.#downUntil.set(id, this.now + forMs);
  }

  async #restore(): Promise<void> {
    return this.#restoreTo(this.#leaderships.snapshots.pick(this.random));
  }

  async #restoreTo(disk: MemoryDisk | undefined): Promise<void> {
    const unknown = await this.#leaderships.restore(disk);
    if (unknown === undefined) return;
    this.judge.isRestored = true;
    for (const shard of this.shards) if (unknown.includes(shard.id)) this.#silence(shard);
  }

  /** Nobody could tell a shard that is cut off from one that is dead, except by asking an operator. */
  #silence(shard: FleetShard): void {
    const { random } = this;
    if (this.#isSettling) return;
    switch (pick(random, FATES)) {
      case 'reports':
        return;
      case 'cut off':
        this.#mail.cutOff(shard.id, this.now + 30_000 + random.below(120_000));
        return;
      case 'dead':
        shard.kill();
        this.#stayDown(shard, 1_000_000);
        this.#supervise(this.#buryLater(shard));
    }
  }

  async #buryLater(shard: FleetShard): Promise<void> {
    await this.#sleep(20_000 + this.random.below(60_000));
    if (!shard.isUp) this.#operator.stop(shard);
  }

  /** A shard that is stopped for good; another of its name comes at once, or later. */
  async #remove(shard: FleetShard): Promise<void> {
    const { leader } = this.#leaderships;
    if (leader === undefined || leader.isLost || this.tally.removals > 0) return;
    // Only it may remember whom the restored ledger does not know.
    if (this.tally.restoredUnknown > 0 && !leader.desk.recovery.isOver()) return;
    this.tally.removals += 1;
    this.#operator.stop(shard);
    if (this.random.below(2) === 0) this.#stayDown(shard, this.random.below(90_000));
    await this.#operator.remove(leader, shard.id);
    if (this.random.below(3) === 0) this.#supervise(this.#restoreWithin(40_000));
  }

  /** While there still are snapshots from before. */
  async #restoreWithin(ms: number): Promise<void> {
    await this.#sleep(this.random.below(ms));
    if (!this.#isSettling) await this.#restore();
  }

  async #passes(): Promise<void> {
    while (!this.#isOver) {
      await this.#sleep(7_000 + this.random.below(8_000));
      const { leader } = this.#leaderships;
      if (leader === undefined || this.#isSettling) continue;
      await Promise.race([leader.pass(), this.#sleep(20_000)]);
      this.#mail.look(leader);
    }
  }

  async #operates(): Promise<void> {
    while (!this.#isOver) {
      await this.#sleep(10_000 + this.random.below(30_000));
      const { leader } = this.#leaderships;
      if (leader !== undefined && !this.#isSettling) await this.#operator.look(leader);
    }
  }

  async #movesZones(): Promise<void> {
    const random = this.#zoning;
    const ids = this.shards.map(({ id }) => id);
    while (random !== undefined && !this.#isOver && !this.#isSettling) {
      const { leader } = this.#leaderships;
      if (leader?.isLost === false) await this.#operator.moveZone(leader, random, ids);
      await this.#sleep(random.below(40_000));
    }
  }

  async #live(shard: FleetShard): Promise<void> {
    await this.#sleep(this.random.below(REPORT_MS));
    while (!this.#isOver) {
      const startedMs = this.now;
      if (!shard.isUp && this.#mayStart(shard)) {
        this.#operator.replace(shard);
        await shard.start();
      }
      try {
        if (shard.isUp) await shard.turn();
      } catch (error) {
        if (!(error instanceof Died)) throw error;
      }
      const jitterMs = this.random.below(1_000);
      await this.#sleep(Math.max(0, startedMs + REPORT_MS + jitterMs - this.now));
    }
  }

  #mayStart(shard: FleetShard): boolean {
    if (this.now < (this.#downUntil.get(shard.id) ?? 0)) return false;
    if (this.#operator.isRemoving(shard)) return false;
    return this.#isCalm || this.random.below(2) === 0;
  }

  async #snapshotsNowAndThen(): Promise<void> {
    while (!this.#isOver) {
      await this.#sleep(5_000 + this.random.below(15_000));
      this.#leaderships.snapshots.keep(this.#leaderships.disk);
    }
  }

  #watch(shardId: string, step: TransferStep): void {
    if (shardId === this.#late?.id && step === 'claimed') this.#supervise(this.#forget(shardId));
    const ambush = this.#ambush;
    if (ambush === undefined || this.#isCalm || !ambush.isSprungBy(step)) return;
    this.#ambush = undefined;
    this.#supervise(this.#spring(ambush));
  }

  /** The ledger goes back behind the registration of a shard that has something to lose. */
  async #forget(shardId: string): Promise<void> {
    await this.#sleep(this.random.below(20_000));
    if (this.#isSettling || this.random.below(2) === 0) return;
    await this.#restoreTo(this.#leaderships.snapshots.without(shardId));
  }

  async #spring({ misfortune, waitsForReports }: Ambush): Promise<void> {
    await this.#sleep(waitsForReports * REPORT_MS + this.random.below(6_000));
    if (misfortune === 'restore') return this.#restore();
    return misfortune === 'crash' ? this.#leaderships.crash() : this.#leaderships.deposeQuietly();
  }

  #makeMail(): Mail {
    const { random, tally } = this;
    return new Mail({
      random,
      tally,
      judge: () => this.judge,
      now: () => this.now,
      sleep: (ms) => this.#sleep(ms),
      supervise: (work) => this.#supervise(work),
      leaderships: () => this.#leaderships,
    });
  }

  #makeLeaderships(): Leaderships {
    const { tally } = this;
    const idleOf = (shardId: string): readonly string[] =>
      this.shards.find(({ id }) => id === shardId)?.idle() ?? [];
    return new Leaderships({
      time: this.#time,
      log: this.#log,
      observer: observerOf(tally),
      fault: this.#fault,
      tally,
      rules: countedRules(rulesOf(this.#fault, idleOf), tally),
      isRemembered: (shardId, by) =>
        this.shards.some(({ id, known }) => by.has(id) && known.has(shardId)),
      onCrash: (replica) => this.#net?.crash(replica),
      onElected: (leader) => {
        this.#net?.listen(leader.name, (report) => this.#mail.answer(leader, report));
        this.#spoilLinks();
      },
      supervise: (work) => this.#supervise(work),
    });
  }

  #makeShard(id: string): FleetShard {
    const { park } = this;
    const shared = {
      id,
      park,
      dies: () => !this.#isCalm && this.random.below(50) === 0,
      onChanged: () => this.judge.looksAtShards(),
      onStep: (step: TransferStep) => this.#watch(id, step),
      onDeath: () => {
        this.tally.deaths += 1;
      },
    };
    if (this.#net === undefined) {
      const post = (report: ShardReport) => this.#mail.call(report);
      const cyclesPerReport = SEED_CYCLES_PER_REPORT;
      // Shards are upgraded one at a time: in each fleet some are of the build before.
      const isOldBuild = id === 's1' || id === 's3';
      return new ModelShard({ ...shared, fault: this.#fault, isOldBuild, cyclesPerReport, post });
    }
    return new RealShard({
      ...shared,
      runtime: this.#time.runtimeFor(id),
      logger: this.#log,
      network: this.#net.network,
      coordinators: () => (this.#mail.isCutOff(id) ? [] : this.#replicas()),
      hasLyingDisk: this.#fault === 'lies-about-writes',
      supervise: (work) => this.#supervise(work),
    });
  }

  /** As a name service would say, which knows the deposed one too. */
  #replicas(): readonly string[] {
    const { leader, zombie } = this.#leaderships;
    const replicas = [leader, zombie].filter((replica) => replica !== undefined);
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
