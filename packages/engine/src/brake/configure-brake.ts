// Learns whose machines never join, and says what the next cycle may still try (decision 26). A
// cluster with a broken image would otherwise buy machines for ever: each Configure fails, the
// machine stays behind Failed with a paid host, and the credit of the next one in flight hides the
// shortfall.
//
//   needs   3 Configures of one (cluster, fingerprint) that fail in a row hold it off. From the
//           first failure on, no fourth machine is tried before one of the three has joined.
//   types   3 that fail in a row of one (provider, instance type), in at least two clusters, hold
//           purchases of that type off. Needs that are held off themselves are no evidence: one
//           broken cluster must not take a type from the others.
//
// A pause lasts 1 min, then one machine is the probe; each probe that fails doubles the pause, up to
// 1 h. One machine that joins forgets everything about its need and its type. Nothing is persisted:
// after a restart it is learnt again.
//
// Bounds: MAX_RUNS needs and as many types, the oldest forgotten first (which costs a few machines);
// one entry per machine that is being tried.

import { heldOffKey } from '../model/cycle.ts';
import type { Machine } from '../model/machine.ts';
import { State } from '../model/state.ts';
import { type Brakes, machineTypeKey, noBrakes } from '../model/brakes.ts';

const BRAKE_STRIKES = 3;
const FIRST_BRAKE_PAUSE_MS = 60_000;
const LONGEST_BRAKE_PAUSE_MS = 3_600_000;
/** A type is at fault only if it fails for so many clusters. */
const TYPE_CLUSTERS = 2;
const MAX_RUNS = 10_000;

export interface BrakedNeed {
  readonly cluster: string;
  readonly fingerprint: string;
}

export interface BrakedType {
  readonly provider: string;
  readonly instanceType: string;
}

/** Configures that failed in a row. */
export interface FailureRun<Subject> {
  readonly subject: Subject;
  readonly failureCount: number;
  /** 0 until it is held off. */
  readonly pauseMs: number;
  /** When the pause ends and a probe may go; meaningless without a pause. */
  readonly untilMs: number;
  /** What the provider said last. */
  readonly lastError: string;
}

/** Why what was held off is so no more. */
export type BrakeEnd = 'joined' | 'administrator' | 'old';

export interface BrakeObserver {
  /** A pause begins: the first of a run, or a longer one after a probe that failed. */
  readonly onHeld: (run: FailureRun<BrakedNeed | BrakedType>) => void;
  /** Only of what was held off; a run of one or two failures ends unnoticed. */
  readonly onCleared: (run: FailureRun<BrakedNeed | BrakedType>, by: BrakeEnd) => void;
}

const unobserved: BrakeObserver = { onHeld: () => {}, onCleared: () => {} };

interface Run<Subject> extends FailureRun<Subject> {
  failureCount: number;
  pauseMs: number;
  untilMs: number;
  lastMs: number;
  lastError: string;
  readonly clusters: Set<string>;
  /** The machine that was bought as the probe of a type. */
  probe: string | undefined;
}

type Runs<Subject> = Map<string, Run<Subject>>;

export class ConfigureBrake {
  readonly #needs: Runs<BrakedNeed> = new Map();
  readonly #types: Runs<BrakedType> = new Map();
  /** The need that each machine is tried for, by machine id. */
  readonly #needOf = new Map<string, string>();
  readonly #tried = new Map<string, Set<string>>();
  readonly #observer: BrakeObserver;

  constructor(observer: BrakeObserver = unobserved) {
    this.#observer = observer;
  }

  /** A machine is to be created, configured or drained for this need. */
  began(machine: Machine, { cluster, fingerprint }: BrakedNeed, nowMs: number): void {
    this.#try(machine.id, heldOffKey(cluster, fingerprint));
    const type = this.#types.get(machineTypeKey(machine.provider, machine.instanceType));
    if (machine.state !== State.Speculative || !isHeld(type) || nowMs < type.untilMs) return;
    // One probe per pause, also when nobody configures what was bought.
    type.untilMs = nowMs + type.pauseMs;
    type.probe = machine.id;
  }

  /** With every change of a machine; `from` is undefined for one that is new. */
  changed(machine: Machine, from: number | undefined, isRemoved: boolean, nowMs: number): void {
    const { id, state, assigned } = machine;
    // A price that moved says nothing about who tries the machine.
    if (!isRemoved && from === state) return;
    const key = this.#needOf.get(id);
    if (!isRemoved && (state === State.Configuring || state === State.Creating)) {
      const cluster = state === State.Configuring ? machine.cluster : machine.intendedCluster;
      if (assigned.needFingerprint !== '') {
        this.#try(id, heldOffKey(cluster, assigned.needFingerprint));
      }
      return;
    }
    if (!isRemoved && state === State.Draining) return;
    this.#end(id);
    if (isRemoved || key === undefined) return;
    if (state === State.Failed && from === State.Configuring) this.#failed(machine, key, nowMs);
    if (state === State.Configured && from !== undefined) this.#joined(machine, key);
  }

  /** Whether nothing may be begun for the need now: what waits in a queue goes back. */
  isHeldOff({ cluster, fingerprint }: BrakedNeed, nowMs: number): boolean {
    const run = this.#needs.get(heldOffKey(cluster, fingerprint));
    return isHeld(run) && nowMs < run.untilMs;
  }

  /** What the next cycle may try. `isTried` says whether a machine is still under way at all. */
  brakes(nowMs: number, isTried: (machineId: string) => boolean): Brakes {
    if (this.#needs.size + this.#types.size === 0) return noBrakes;
    const needs = new Map<string, number>();
    for (const [key, run] of this.#needs) {
      const triedCount = this.#triedFor(key, isTried);
      if (triedCount === 0 && isOver(run, nowMs)) this.#forget(this.#needs, key, 'old');
      else needs.set(key, Math.max(0, strikesLeft(run, nowMs) - triedCount));
    }
    const types = new Map<string, number>();
    for (const [key, run] of this.#types) {
      if (isOver(run, nowMs)) this.#forget(this.#types, key, 'old');
      else if (isHeld(run)) types.set(key, mayProbe(run, nowMs, isTried) ? 1 : 0);
    }
    return { needs, types };
  }

  needs(): IterableIterator<FailureRun<BrakedNeed>> {
    return this.#needs.values();
  }

  types(): IterableIterator<FailureRun<BrakedType>> {
    return this.#types.values();
  }

  get heldNeedCount(): number {
    return heldCount(this.#needs);
  }

  get heldTypeCount(): number {
    return heldCount(this.#types);
  }

  /** Forgets what failed, by hand; the number of needs and types that were forgotten. */
  clear(matches: (subject: BrakedNeed | BrakedType) => boolean): number {
    let count = 0;
    for (const runs of [this.#needs, this.#types]) {
      for (const [key, { subject }] of runs) {
        if (matches(subject) && this.#forget(runs, key, 'administrator')) count++;
      }
    }
    return count;
  }

  #failed(machine: Machine, needKey: string, nowMs: number): void {
    const { provider, instanceType } = machine;
    const at = needKey.indexOf('\u0000');
    const cluster = needKey.slice(0, at);
    const need = { cluster, fingerprint: needKey.slice(at + 1) };
    const isEvidence = !isHeld(this.#needs.get(needKey));
    const failure = { cluster, lastError: machine.lastError, nowMs };
    this.#strike(runOf(this.#needs, needKey, need), failure, 1);
    if (!isEvidence) return;
    const typeKey = machineTypeKey(provider, instanceType);
    this.#strike(runOf(this.#types, typeKey, { provider, instanceType }), failure, TYPE_CLUSTERS);
  }

  #strike(run: Run<BrakedNeed | BrakedType>, failure: Failure, clusterCount: number): void {
    if (strike(run, failure, clusterCount)) this.#observer.onHeld(run);
  }

  #joined({ provider, instanceType }: Machine, needKey: string): void {
    this.#forget(this.#needs, needKey, 'joined');
    this.#forget(this.#types, machineTypeKey(provider, instanceType), 'joined');
  }

  #forget(runs: Runs<BrakedNeed> | Runs<BrakedType>, key: string, by: BrakeEnd): boolean {
    const run = runs.get(key);
    runs.delete(key);
    if (isHeld<BrakedNeed | BrakedType>(run)) this.#observer.onCleared(run, by);
    return run !== undefined;
  }

  #try(machineId: string, needKey: string): void {
    if (this.#needOf.get(machineId) === needKey) return;
    this.#end(machineId);
    this.#needOf.set(machineId, needKey);
    const tried = this.#tried.get(needKey);
    if (tried === undefined) this.#tried.set(needKey, new Set([machineId]));
    else tried.add(machineId);
  }

  #end(machineId: string): void {
    const needKey = this.#needOf.get(machineId);
    if (needKey === undefined) return;
    this.#needOf.delete(machineId);
    const tried = this.#tried.get(needKey);
    tried?.delete(machineId);
    if (tried?.size === 0) this.#tried.delete(needKey);
  }

  /** An order that came to nothing moves no machine: such machines are dropped here. */
  #triedFor(needKey: string, isTried: (machineId: string) => boolean): number {
    const tried = [...(this.#tried.get(needKey) ?? [])];
    for (const machineId of tried) if (!isTried(machineId)) this.#end(machineId);
    return this.#tried.get(needKey)?.size ?? 0;
  }
}

function isHeld<Subject>(run: Run<Subject> | undefined): run is Run<Subject> {
  return run !== undefined && run.pauseMs > 0;
}

function heldCount<Subject>(runs: Runs<Subject>): number {
  return [...runs.values()].filter((run) => isHeld(run)).length;
}

/** Moved to the end of the map, whose first entry is the oldest and the one to be forgotten. */
function runOf<Subject>(runs: Runs<Subject>, key: string, subject: Subject): Run<Subject> {
  const run = runs.get(key) ?? newRun(subject);
  runs.delete(key);
  runs.set(key, run);
  for (const oldest of runs.keys()) {
    if (runs.size <= MAX_RUNS) break;
    runs.delete(oldest);
  }
  return run;
}

interface Failure {
  readonly cluster: string;
  readonly lastError: string;
  readonly nowMs: number;
}

/**
 * Whether a pause begins. A failure during a pause is that of a machine that was begun before the pause,
 * and does not lengthen it.
 */
function strike<Subject>(
  run: Run<Subject>,
  { cluster, lastError, nowMs }: Failure,
  clusterCount: number,
): boolean {
  run.failureCount += 1;
  run.lastMs = nowMs;
  run.lastError = lastError;
  if (run.clusters.size < clusterCount) run.clusters.add(cluster);
  if (run.failureCount < BRAKE_STRIKES || run.clusters.size < clusterCount) return false;
  if (isHeld(run) && nowMs < run.untilMs) return false;
  run.pauseMs = isHeld(run)
    ? Math.min(2 * run.pauseMs, LONGEST_BRAKE_PAUSE_MS)
    : FIRST_BRAKE_PAUSE_MS;
  run.untilMs = nowMs + run.pauseMs;
  return true;
}

function newRun<Subject>(subject: Subject): Run<Subject> {
  return {
    subject,
    failureCount: 0,
    pauseMs: 0,
    untilMs: 0,
    lastMs: 0,
    lastError: '',
    clusters: new Set(),
    probe: undefined,
  };
}

function mayProbe(
  { probe, untilMs }: Run<BrakedType>,
  nowMs: number,
  isTried: (machineId: string) => boolean,
): boolean {
  return nowMs >= untilMs && (probe === undefined || !isTried(probe));
}

/** Machines of the need that may be under way at once. */
function strikesLeft<Subject>(run: Run<Subject>, nowMs: number): number {
  if (run.pauseMs === 0) return BRAKE_STRIKES - run.failureCount;
  return nowMs < run.untilMs ? 0 : 1;
}

/** Nothing failed, and nothing was tried, for as long as the longest pause: what is known is old. */
function isOver<Subject>({ lastMs, untilMs }: Run<Subject>, nowMs: number): boolean {
  return nowMs >= Math.max(lastMs, untilMs) + LONGEST_BRAKE_PAUSE_MS;
}
