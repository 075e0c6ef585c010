// Which needs were ever covered, and which are unmet for how long: what the run is judged by.
//
// Unmet is the shard's own verdict. Covered is stricter than its opposite: the machines that it has
// are enough, and none of them is still being created or configured for it. A need that no machine
// type on sale can serve is not judged, and neither is one that did not live long enough.

import { INSTANCE_TYPE_KEY, type OperatorCode, satisfies } from '@bigfleet/engine';
import { type MachineView, MachineState, type NeedView } from '@bigfleet/wire';
import { type FleetPicture, needKey } from './fleet-picture.ts';

/** A need must be covered when it is this old, and must not be unmet for longer, on a busy machine too. */
export const PATIENCE_MS = 20_000;

/** Names of never covered needs that are kept. */
const MAX_NAMES = 20;

interface NeedHistory {
  readonly name: string;
  readonly isSatisfiable: boolean;
  readonly firstSeenMs: number;
  lastSeenMs: number;
  wasCovered: boolean;
  /** Undefined while it is met. */
  unmetSinceMs: number | undefined;
}

export interface CoverageReport {
  readonly seenCount: number;
  readonly coveredCount: number;
  readonly unsatisfiableCount: number;
  /** Satisfiable, old enough and never covered: cluster and priority, a bounded number of them. */
  readonly neverCovered: readonly string[];
  /** Satisfiable, present and unmet for longer than the patience. */
  readonly unmetTooLong: readonly string[];
}

export class Coverage {
  readonly #soldTypes: readonly string[];
  /** Only needs of the last cycle; those that are gone are counted below. */
  readonly #present = new Map<string, NeedHistory>();
  #gone: CoverageReport = {
    seenCount: 0,
    coveredCount: 0,
    unsatisfiableCount: 0,
    neverCovered: [],
    unmetTooLong: [],
  };

  constructor(soldTypes: readonly string[]) {
    this.#soldTypes = soldTypes;
  }

  /** Once per cycle. */
  observe({ machines, needs }: FleetPicture, nowMs: number): void {
    const arriving = needsWithMachinesUnderWay(machines.values());
    for (const [key, history] of this.#present) {
      if (needs.has(key)) continue;
      this.#present.delete(key);
      this.#gone = added(this.#gone, history);
    }
    for (const [key, view] of needs) {
      const history = this.#present.get(key) ?? this.#enter(key, view, nowMs);
      history.lastSeenMs = nowMs;
      history.wasCovered ||= isAbsorbed(view) && !arriving.has(key);
      history.unmetSinceMs = view.satisfied ? undefined : (history.unmetSinceMs ?? nowMs);
    }
  }

  report(nowMs: number): CoverageReport {
    const present = [...this.#present.values()];
    const unmetTooLong = present.filter(
      ({ isSatisfiable, unmetSinceMs = nowMs }) =>
        isSatisfiable && nowMs - unmetSinceMs > PATIENCE_MS,
    );
    const total = present.reduce(added, this.#gone);
    return { ...total, unmetTooLong: unmetTooLong.map(({ name }) => name) };
  }

  #enter(key: string, view: NeedView, nowMs: number): NeedHistory {
    const history: NeedHistory = {
      name: `${view.clusterId} priority ${view.need?.priority ?? 0}`,
      isSatisfiable: this.#canBeServed(view),
      firstSeenMs: nowMs,
      lastSeenMs: nowMs,
      wasCovered: false,
      unmetSinceMs: undefined,
    };
    this.#present.set(key, history);
    return history;
  }

  /** Some type on sale has to pass everything that the need says about types. */
  #canBeServed({ need }: NeedView): boolean {
    const aboutTypes = (need?.requirements ?? []).filter(({ key }) => key === INSTANCE_TYPE_KEY);
    return this.#soldTypes.some((instanceType) =>
      aboutTypes.every(({ key, operator, values }) =>
        // The wire numbers operators as the engine does; a shard refuses any other number.
        satisfies(
          { instanceType, zone: '', labels: new Map() },
          { key, operator: operator as OperatorCode, values },
        ),
      ),
    );
  }
}

function added(report: CoverageReport, history: NeedHistory): CoverageReport {
  const { name, isSatisfiable, wasCovered, firstSeenMs, lastSeenMs } = history;
  const wasNever = isSatisfiable && !wasCovered && lastSeenMs - firstSeenMs > PATIENCE_MS;
  return {
    ...report,
    seenCount: report.seenCount + 1,
    coveredCount: report.coveredCount + (wasCovered ? 1 : 0),
    unsatisfiableCount: report.unsatisfiableCount + (isSatisfiable ? 0 : 1),
    neverCovered: wasNever ? [...report.neverCovered, name].slice(-MAX_NAMES) : report.neverCovered,
  };
}

function isAbsorbed({ satisfied, bootstrapCount, provisionCount }: NeedView): boolean {
  return satisfied && bootstrapCount === 0 && provisionCount === 0;
}

function needsWithMachinesUnderWay(machines: Iterable<MachineView>): Set<string> {
  const keys = new Set<string>();
  for (const { state, clusterId, intendedClusterId, needFingerprint, group } of machines) {
    if (state !== MachineState.CREATING && state !== MachineState.CONFIGURING) continue;
    keys.add(needKey(clusterId === '' ? intendedClusterId : clusterId, needFingerprint, group));
  }
  return keys;
}
