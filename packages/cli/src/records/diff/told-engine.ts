// An engine that decides what another build printed that it decides: takes every input, because the
// other build has seen them itself, and answers with the next line. Only what a diff asks for is
// known of it.

import { ZERO_BUCKET } from '@bigfleet/base';
import {
  type ActionHash,
  createProfile,
  type EngineBuild,
  noResources,
  type Shortfall,
} from '@bigfleet/engine';
import type { DecisionFile } from './decision-file.ts';
import type { CycleLine, DecisionLine } from './decision-line.ts';

const accept = (): boolean => true;
const ignore = (): void => {};

/** `file` stands at the decisions of the trace that is compared. */
export function toldEngine(file: DecisionFile): EngineBuild {
  return () => {
    let counts = { machineCount: 0, rowCount: 0 };
    let told: CycleLine | undefined;
    /** Of the machines of the last cycle's actions. */
    let prices = new Map<string, number | null>();
    return {
      put: accept,
      remove: accept,
      move: accept,
      withhold: accept,
      setIdleSince: accept,
      applyRollup: accept,
      markReported: ignore,
      setHeldOff: ignore,
      setBrakes: ignore,
      setReleasePolicy: ignore,
      loadDemand: ignore,
      restoreMemory: () => {
        counts = take(file, 'snapshot');
      },
      machineCount: () => counts.machineCount,
      rowCount: () => counts.rowCount,
      cycle: () => {
        told = take(file, 'cycle');
        prices = new Map(
          told.actions.map(({ machineId, pricePerHour }) => [machineId, pricePerHour]),
        );
      },
      actions: () => told?.actions ?? [],
      actionHash: () => (told?.hash ?? '') as ActionHash,
      pricePerHour: (id) => (prices.has(id) ? (prices.get(id) ?? Number.POSITIVE_INFINITY) : 0),
      shortfalls: () => {
        const ages = told?.shortfallAges ?? [];
        return new Map(ages.map((ageCycles, at) => [String(at), { ...UNKNOWN, ageCycles }]));
      },
    };
  };
}

/** Throwing is how an engine says that it cannot go on; the diff reports it with the place. */
function take<K extends DecisionLine['kind']>(
  file: DecisionFile,
  kind: K,
): Extract<DecisionLine, { kind: K }> {
  const line = file.peek();
  if (line.kind === 'failed') throw new Error(line.problem);
  if (line.kind !== kind) throw new Error(`it has no ${kind} here, but ${line.kind}`);
  return file.take() as Extract<DecisionLine, { kind: K }>;
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
