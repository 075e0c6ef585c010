// What `explain` answers with. The shapes follow ExplainResponse of the wire field by field, so
// that a shard only renames; `description` is for rows that stand for a class: the wire sends it
// as machine_id when there is no single machine to name.

import type { ActionReason, CandidateReason, UnmetCode } from '@bigfleet/base';

/** Identity of a need, as a roll-up, a record and the wire name it. */
export interface NeedRef {
  readonly cluster: string;
  readonly fingerprint: string;
  readonly group: string;
}

export type ExplainSubject = { readonly machineId: string } | { readonly need: NeedRef };

export type ExplainAnswer = Explanation | Spared | NotMentioned;

interface Told {
  readonly cycle: number;
  readonly atMs: number;
  /** A few plain sentences. */
  readonly text: string;
  /**
   * What the need took, in the order taken, then what it left, cheapest first; then the bound
   * machines that Phase 2 looked at for it. Of a preempted or spared machine only those.
   */
  readonly candidates: readonly ExplainCandidate[];
  readonly displacements: readonly Displacement[];
  /** There was more than is shown. */
  readonly truncated: boolean;
}

export interface Explanation extends Told {
  readonly kind: 'explained';
  readonly reasonCode: ActionReason | UnmetCode;
}

/**
 * A bound machine that Phase 2 looked at and left alone. Nothing was done to it, so a search for
 * what was decided about a machine goes on behind it.
 */
export interface Spared extends Told {
  readonly kind: 'spared';
  readonly reasonCode: CandidateReason;
}

/** The record holds no decision about the subject, which is itself an answer. */
export interface NotMentioned {
  readonly kind: 'not_mentioned';
  readonly cycle: number;
  readonly atMs: number;
  /** What the silence means. */
  readonly text: string;
}

export interface ExplainCandidate {
  /** The first machine taken, or the subject itself; empty when none was taken. */
  readonly machineId: string;
  /** The class in words. */
  readonly description: string;
  /** From 1. */
  readonly rank: number;
  readonly chosen: boolean;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  /** Dollars; Infinity for a pinned need. */
  readonly interruptionPenalty: number;
  /** Dollars per hour; Infinity excludes. */
  readonly effectiveCost: number;
  /** First losing reason; `chosen` for what was taken. */
  readonly reasonCode: 'chosen' | CandidateReason;
  /** Machines taken, or left when the need's turn was over. */
  readonly machineCount: number;
  /** Only of bound machines: what Phase 2 compared. */
  readonly victim?: VictimFacts;
}

export interface VictimFacts {
  readonly effectivePriority: number;
  /** Highest first; undefined for machines that were not ranked. */
  readonly score: number | undefined;
  /** Dollars, of what runs there. */
  readonly interruptionPenalty: number;
  readonly reclamationPenalty: number;
}

export interface Displacement {
  /** Who took the machine. */
  readonly need: NeedRef;
  readonly machineId: string;
  /** Of that need. */
  readonly priority: number;
  readonly reasonCode: ActionReason | CandidateReason;
}

/** Rows of either list, whatever the fleet. */
export const MAX_EXPLAINED_CANDIDATES = 20;
export const MAX_DISPLACEMENTS = 20;
