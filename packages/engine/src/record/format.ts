// The layout of a decision record, shared by writer and reader. A code is never renumbered:
// records outlive the process that wrote them. New codes are appended.

import {
  type CandidateReason,
  type UnmetCode,
  candidateReasons,
  unmetReasons,
} from '@bigfleet/base';
import type { ActionKindCode } from '../model/action.ts';

export const RECORD_MAGIC = 0x4246_5231; // "BFR1"
/** 2 adds the bound machines that Phase 2 looked at. */
export const RECORD_FORMAT = 2;
/** Records of earlier builds stay readable. */
export const OLDEST_FORMAT = 1;

/** Flags of a need. */
export const IS_SATISFIED = 1;
export const IS_PARKED = 2;
export const HAS_DOMAIN = 4;

/** At most so many candidate rows per need: bounded bytes, whatever the fleet. */
export const MAX_CANDIDATES = 8;
/** A covered need shows what it took and what it left; a short one shows more. */
export const MAX_CANDIDATES_COVERED = 3;

/** At most so many classes are looked at for them: fleets with racks have thousands. */
export const MAX_SCANNED_CLASSES = 64;

/** At most so many classes are asked whether they hold bound machines. */
export const MAX_VICTIM_CLASSES = 1024;
/** At most so many machines are looked at that Phase 2 itself need not visit. */
export const MAX_SCANNED_VICTIMS = 128;
/** Of each row of bound machines so many are named: those with the lowest ids. */
export const MAX_NAMED_VICTIMS = 3;

/** `chosen`, then the catalogue in its order. */
export const CANDIDATE_CODES: readonly ('chosen' | CandidateReason)[] = [
  'chosen',
  ...(Object.keys(candidateReasons) as CandidateReason[]),
];
export const UNMET_CODES: readonly UnmetCode[] = Object.keys(unmetReasons) as UnmetCode[];

export const CODE_OF_CANDIDATE: ReadonlyMap<string, number> = new Map(
  CANDIDATE_CODES.map((code, at) => [code, at]),
);
export const CODE_OF_UNMET: ReadonlyMap<string, number> = new Map(
  UNMET_CODES.map((code, at) => [code, at]),
);

const SCORED: ReadonlySet<'chosen' | CandidateReason> = new Set([
  'chosen',
  'no_contribution',
  'spread_skew',
  'victim_score_lower',
]);

/** Of a bound machine: Phase 2 compared its score. */
export function isScoredCode(code: number): boolean {
  const name = CANDIDATE_CODES[code];
  return name !== undefined && SCORED.has(name);
}

export interface DecisionRecord {
  readonly cycle: number;
  readonly nowMs: number;
  /** Chained over every input since the engine was created. */
  readonly inputDigest: string;
  /** Over the decided actions. */
  readonly actionChecksum: number;
  readonly needs: readonly RecordedNeed[];
  readonly actions: readonly RecordedAction[];
}

export interface RecordedNeed {
  readonly cluster: string;
  readonly fingerprint: string;
  readonly group: string;
  readonly reasonCode: UnmetCode;
  readonly isSatisfied: boolean;
  readonly isParked: boolean;
  /** Chosen Same domain; empty without one. */
  readonly domain: string;
  readonly creditedCount: number;
  readonly bootstrapCount: number;
  readonly provisionCount: number;
  readonly victimCount: number;
  readonly awaitingDrainCount: number;
  /** For a short need: `chosen` when victims were taken, else why none was. */
  readonly preemptionCode: 'chosen' | CandidateReason | undefined;
  /** After Phase 1; empty when covered. */
  readonly deficit: ReadonlyMap<string, number>;
  readonly candidates: readonly RecordedCandidate[];
  /** What Phase 2 looked at for it: ranked, excluded, safe, of no use, in this order. */
  readonly victims: readonly RecordedVictim[];
  /** It looked at more than `victims` shows. */
  readonly isVictimsTruncated: boolean;
}

/** Interchangeable machines of one class and pool, as the need found them. */
export interface RecordedCandidate {
  readonly shape: RecordedClass;
  readonly pool: 'idle' | 'speculative';
  /** How many of them this need took. */
  readonly chosenCount: number;
  /** How many were left when its turn was over. */
  readonly leftCount: number;
  readonly code: 'chosen' | CandidateReason;
}

/** Bound machines of one class, effective priority, penalties and fate. */
export interface RecordedVictim {
  readonly shape: RecordedClass;
  readonly pool: 'bound';
  /** The higher of the stamp and of the need that claims it; of a drain the stamp. */
  readonly effectivePriority: number;
  /** Dollars, of what runs there. */
  readonly interruptionPenalty: number;
  readonly reclamationPenalty: number;
  /** As Phase 2 compared it, highest first; undefined for what it did not rank. */
  readonly score: number | undefined;
  /** All of them or none: those of one kind that were left are a row of their own. */
  readonly chosenCount: number;
  readonly leftCount: number;
  readonly code: 'chosen' | CandidateReason;
  /** Some of them, the lowest ids. */
  readonly machineIds: readonly string[];
}

export interface RecordedClass {
  readonly provider: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: number;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
}

export interface RecordedAction {
  readonly kind: ActionKindCode;
  readonly machineId: string;
  /** Destination or source; empty for Delete. */
  readonly cluster: string;
  /** Index into `needs` of the need that is served or that preempts; −1 for none. */
  readonly need: number;
  readonly shape: RecordedClass;
  readonly graceSeconds: number;
  /** Of the machine, at the time: what Phase 2 compared. 0 for an acquisition. */
  readonly effectivePriority: number;
}
