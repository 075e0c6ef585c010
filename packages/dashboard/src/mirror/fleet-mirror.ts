// The mirror of the whole fleet: every shard's rows and history, the decisions, what was observed. Gives
// the world at any kept moment.

import { compareText, err, ok, type Result } from '@bigfleet/base';
import type { Problem, Source } from '../api/index.ts';
import type { CoordinatorFacts, ModelEvent, ModelSizes } from '../facts.ts';
import { Classes } from './classes.ts';
import { type Columns, TEXT_COLUMNS } from './columns.ts';
import { DecisionLog } from './decision-log.ts';
import { Exposure } from './exposure.ts';
import { HistoryBudget } from './history.ts';
import { Minutes } from './minutes.ts';
import { NeedTable } from './need-table.ts';
import { type Head, ShardMirror, type Shared } from './shard-mirror.ts';
import { Supply } from './supply.ts';
import { Texts } from './texts.ts';
import { Transitions } from './transitions.ts';
import { markUndone, undo, UndoWriter } from './undo.ts';
import type { ShardWorld, World } from './world.ts';

/** What may be kept. */
export interface MirrorLimits {
  readonly historyBytes: number;
  readonly historyMs: number;
  readonly recordBytes: number;
  readonly decisions: number;
}

const MIB = 1 << 20;
export const DEFAULT_LIMITS: MirrorLimits = {
  historyBytes: 64 * MIB,
  historyMs: 24 * 3_600_000,
  recordBytes: 64 * MIB,
  decisions: 50_000,
};

/** Worlds of the past that are kept ready: a time slider asks for one moment again and again. */
const KEPT_WORLDS = 2;
const MIN_SWEEP = 100_000;
/** Sources that an answer names: all that are not live, and so many others. */
const NAMED_SOURCES = 32;

export interface FleetMirrorOptions {
  readonly nowMs: () => number;
  readonly limits: MirrorLimits;
  readonly tell: (event: ModelEvent) => void;
}

export class FleetMirror {
  readonly texts: Texts = new Texts();
  readonly classes: Classes = new Classes();
  readonly transitions: Transitions = new Transitions();
  readonly exposure: Exposure = new Exposure();
  readonly log: DecisionLog;
  /** Units an hour of the whole fleet. */
  readonly spending: Minutes = new Minutes();
  coordinator: CoordinatorFacts | undefined;
  version = 0;
  readonly #options: FleetMirrorOptions;
  readonly #shards = new Map<string, ShardMirror>();
  readonly #sources = new Map<string, Source>();
  readonly #budget: HistoryBudget;
  readonly #shared: Shared;
  readonly #worlds = new Map<number, World>();
  #newestMs = 0;
  #sweepAt = MIN_SWEEP;

  constructor(options: FleetMirrorOptions) {
    this.#options = options;
    const { limits, nowMs, tell } = options;
    this.#budget = new HistoryBudget(limits.historyBytes, limits.historyMs);
    this.log = new DecisionLog({
      maxDecisions: limits.decisions,
      maxRecordBytes: limits.recordBytes,
      onDecision: (decision) => {
        this.version += 1;
        const isDrain = decision.kind === 'Reclaim' || decision.kind === 'Preempt';
        if (isDrain) this.#shards.get(decision.shard)?.drainOrdered(decision.machine);
        tell({ name: 'decision', data: decision });
      },
    });
    const { texts, classes, transitions, exposure, log } = this;
    this.#shared = {
      nowMs,
      texts,
      classes,
      transitions,
      exposure,
      log,
      undo: new UndoWriter(),
      budget: this.#budget,
      stepped: (atMs) => this.#stepped(atMs),
      changed: () => {
        this.version += 1;
      },
      tell,
    };
  }

  shard(name: string, address: string): ShardMirror {
    let shard = this.#shards.get(name);
    if (shard === undefined) {
      shard = new ShardMirror(name, address, this.#shards.size, this.#shared);
      this.#shards.set(name, shard);
      this.version += 1;
    }
    if (shard.address !== address) {
      shard.address = address;
      this.version += 1;
    }
    return shard;
  }

  tellCoordinator(facts: CoordinatorFacts): void {
    this.coordinator = facts;
    this.version += 1;
  }

  /** Of anything but a shard, whose feed tells its own. */
  tellSource(source: Source): void {
    this.#sources.set(`${source.kind}/${source.name}`, source);
    this.version += 1;
    this.#options.tell({ name: 'source', data: source });
  }

  /** By name. */
  shards(): readonly ShardMirror[] {
    return [...this.#shards.values()].sort((a, b) => compareText(a.name, b.name));
  }

  sourcesOf(kind: Source['kind']): readonly Source[] {
    return [...this.#sources.values()].filter((source) => source.kind === kind);
  }

  sizes(): ModelSizes {
    let machines = 0;
    let needs = 0;
    let columnBytes = 0;
    for (const shard of this.#shards.values()) {
      machines += shard.machines.size;
      needs += shard.needs.entries.size;
      columnBytes += shard.machines.columns.bytes;
    }
    return {
      machines,
      needs,
      columnBytes,
      decisions: this.log.count,
      historyBytes: this.#budget.bytes,
      recordBytes: this.log.recordBytes,
      damagedRecords: this.log.damagedCount,
    };
  }

  /** 0 is now. */
  world(atMs: number): Result<World, Problem> {
    if (atMs === 0) return ok(this.#now());
    const nowMs = this.#options.nowMs();
    if (atMs > Math.max(nowMs, this.#newestMs)) {
      return err({ code: 'moment_not_yet', message: `${instant(atMs)} has not come yet` });
    }
    const oldestMs = this.#oldestMs();
    if (atMs < oldestMs) {
      const message = `${instant(atMs)} is not kept any more: the oldest moment is ${instant(oldestMs)}`;
      return err({ code: 'moment_not_kept', message });
    }
    const known = this.#worlds.get(atMs);
    if (known !== undefined) return ok({ ...known, oldestMs, sources: this.#named() });
    const world = this.#past(atMs, oldestMs);
    this.#worlds.set(atMs, world);
    for (const oldest of this.#worlds.keys()) {
      if (this.#worlds.size <= KEPT_WORLDS) break;
      this.#worlds.delete(oldest);
    }
    return ok(world);
  }

  #now(): World {
    const shards = this.shards().map((mirror) => liveWorld(mirror));
    const atMs = this.#newestMs > 0 ? this.#newestMs : this.#options.nowMs();
    return { atMs, isPast: false, oldestMs: this.#oldestMs(), shards, sources: this.#named() };
  }

  #past(atMs: number, oldestMs: number): World {
    const shards = this.shards()
      .filter(({ firstMs }) => firstMs !== undefined && firstMs <= atMs)
      .map((mirror) => pastWorld(mirror, atMs, this.classes));
    return { atMs, isPast: true, oldestMs, shards, sources: this.#named() };
  }

  #oldestMs(): number {
    let firstMs = Number.POSITIVE_INFINITY;
    for (const shard of this.#shards.values()) {
      firstMs = Math.min(firstMs, shard.firstMs ?? Number.POSITIVE_INFINITY);
    }
    if (firstMs === Number.POSITIVE_INFINITY) return this.#options.nowMs();
    return Math.max(firstMs, this.#budget.droppedThroughMs);
  }

  #named(): readonly Source[] {
    // A shard that nobody named is told from outside: no feed speaks for it.
    const all = [...this.sourcesOf('shard'), ...this.shards().map((shard) => shard.sourceNow())];
    const missing = all.filter(({ state }) => state !== 'live');
    const live = all.filter(({ state }) => state === 'live');
    return [...missing, ...live.slice(0, NAMED_SOURCES)];
  }

  #stepped(atMs: number): void {
    this.version += 1;
    this.#newestMs = Math.max(this.#newestMs, atMs);
    for (const moment of this.#worlds.keys()) if (moment >= atMs) this.#worlds.delete(moment);
    let units = 0;
    for (const shard of this.#shards.values()) units += shard.machines.supply.totalUnits;
    this.spending.set(this.#newestMs, units);
    this.exposure.checkpoint(this.#newestMs);
    this.#budget.trim(this.#newestMs);
    if (this.texts.liveCount + this.classes.liveCount > this.#sweepAt) this.#sweep();
  }

  /** Texts and classes that no row, no step and no observation names any more. */
  #sweep(): void {
    this.#worlds.clear();
    const texts = new Uint8Array(this.texts.length);
    const classes = new Uint8Array(this.classes.length);
    for (const shard of this.#shards.values()) {
      markColumns(shard.machines.columns, texts, classes);
      if (shard.staged !== undefined) markColumns(shard.staged.columns, texts, classes);
      for (const { rows } of shard.history.all()) markUndone(rows, texts, classes);
    }
    this.transitions.markTexts(texts);
    this.texts.sweep(texts);
    this.classes.sweep(classes);
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * (this.texts.liveCount + this.classes.liveCount));
  }
}

function liveWorld(mirror: ShardMirror): ShardWorld {
  const { machines, needs, head } = mirror;
  return { mirror, columns: machines.columns, supply: machines.supply, needs, head };
}

function pastWorld(mirror: ShardMirror, atMs: number, classes: Classes): ShardWorld {
  const columns = mirror.machines.columns.clone();
  const entries = new Map(mirror.needs.entries);
  let head: Head = mirror.head;
  for (const step of mirror.history.after(atMs)) {
    undo(columns, step.rows);
    for (let at = step.needs.length - 1; at >= 0; at--) {
      const [key, before] = step.needs[at] ?? ['', undefined];
      if (before === undefined) entries.delete(key);
      else entries.set(key, before);
    }
    ({ head } = step);
  }
  const supply = Supply.of(columns, classes);
  return { mirror, columns, supply, needs: new NeedTable(entries), head };
}

function markColumns(columns: Columns, texts: Uint8Array, classes: Uint8Array): void {
  for (let slot = 0; slot < columns.length; slot++) {
    if (columns.state[slot] === 0) continue;
    classes[columns.klass[slot] ?? 0] = 1;
    for (const name of TEXT_COLUMNS) texts[columns[name][slot] ?? 0] = 1;
  }
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
