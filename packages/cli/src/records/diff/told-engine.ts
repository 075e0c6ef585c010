// An engine that decides what another build printed that it decides: takes every input, because the
// other build has seen them itself, and answers with the next line. Only what a diff asks for is
// known of it.

import { ZERO_BUCKET } from '@bigfleet/base';
import {
  type ActionHash,
  createProfile,
  type DecidedAction,
  type EngineBuild,
  type EngineLike,
  noResources,
  type Shortfall,
} from '@bigfleet/engine';
import type { DecisionFile } from './decision-file.ts';
import type { CycleLine, DecisionLine } from './decision-line.ts';

/** `file` stands at the decisions of the trace that is compared. */
export function toldEngine(file: DecisionFile): EngineBuild {
  return () => new ToldEngine(file);
}

class ToldEngine implements EngineLike {
  readonly #file: DecisionFile;
  #counts: { readonly machineCount: number; readonly rowCount: number } | undefined;
  #cycle: CycleLine | undefined;
  /** Of the machines of the last cycle's actions. */
  #prices = new Map<string, number>();

  constructor(file: DecisionFile) {
    this.#file = file;
  }

  put(): boolean {
    return true;
  }

  remove(): boolean {
    return true;
  }

  move(): boolean {
    return true;
  }

  withhold(): boolean {
    return true;
  }

  setIdleSince(): boolean {
    return true;
  }

  applyRollup(): boolean {
    return true;
  }

  markReported(): void {}

  setHeldOff(): void {}

  setBrakes(): void {}

  setReleasePolicy(): void {}

  loadDemand(): void {}

  restoreMemory(): void {
    this.#counts = this.#take('snapshot');
  }

  machineCount(): number {
    return this.#counts?.machineCount ?? 0;
  }

  rowCount(): number {
    return this.#counts?.rowCount ?? 0;
  }

  cycle(): void {
    this.#cycle = this.#take('cycle');
    this.#prices = new Map(
      this.#cycle.actions.map(({ machineId, pricePerHour }) => [
        machineId,
        pricePerHour ?? Number.POSITIVE_INFINITY,
      ]),
    );
  }

  actions(): readonly DecidedAction[] {
    return this.#cycle?.actions ?? [];
  }

  actionHash(): ActionHash {
    return (this.#cycle?.hash ?? '') as ActionHash;
  }

  pricePerHour(id: string): number {
    return this.#prices.get(id) ?? 0;
  }

  shortfalls(): ReadonlyMap<string, Shortfall> {
    const ages = this.#cycle?.shortfallAges ?? [];
    return new Map(ages.map((ageCycles, at) => [String(at), { ...UNKNOWN, ageCycles }]));
  }

  /** Throwing is how an engine says that it cannot go on; the diff reports it with the place. */
  #take<K extends DecisionLine['kind']>(kind: K): Extract<DecisionLine, { kind: K }> {
    const line = this.#file.peek();
    if (line.kind === 'failed') throw new Error(line.problem);
    if (line.kind !== kind) throw new Error(`it has no ${kind} here, but ${line.kind}`);
    return this.#file.take() as Extract<DecisionLine, { kind: K }>;
  }
}

/** Of a shortfall of the other build only the age is told. */
const UNKNOWN: Omit<Shortfall, 'ageCycles'> = {
  profile: createProfile({
    requirements: [],
    spread: [],
    priority: 0,
    interruptionBucket: ZERO_BUCKET,
    reclamationBucket: ZERO_BUCKET,
  }),
  deficit: noResources,
  minUnit: noResources,
  reasonCode: 'no_matching_supply',
  clusters: [],
};
