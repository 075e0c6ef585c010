// Tells operators about drains some at a time. An outbox takes 1,024 frames that may not be lost, and a
// session with more ends: the rest of a mass drain would then find nobody connected and go to the
// provider at once, past every disruption budget. The grace of a drain runs from its decision, so a later
// instruction carries what is left of it.
//
// A session that is gone leaves nothing to tell: its successor is told of every drain that waits. While
// actuation is held no operator is told anything, and nothing is forgotten.
//
// Bound: one entry per machine that waits.

import type { Timer, TimerWheel } from '@bigfleet/base';
import type { OperatorSession } from '../session/session.ts';
import type { SessionTable } from '../session/session-table.ts';

/** Far below what an outbox takes. */
const TOLD_AT_ONCE = 200;
const GAP_MS = 100;

export interface PacedTellingOptions {
  readonly wheel: TimerWheel;
  readonly sessions: SessionTable;
  /** No operator may be told anything now. */
  readonly isHeld: () => boolean;
  /** Sends the instruction, if the machine still waits. */
  readonly tell: (session: OperatorSession, machineId: string) => void;
}

interface Line {
  readonly untold: Set<string>;
  /** Since the gap began. */
  toldCount: number;
  gap: Timer | undefined;
}

export class PacedTelling {
  readonly #options: PacedTellingOptions;
  readonly #lines = new Map<string, Line>();

  constructor(options: PacedTellingOptions) {
    this.#options = options;
  }

  /** Now, when not too many were told just before. */
  add(cluster: string, machineId: string): void {
    const line = this.#lines.get(cluster) ?? this.#begin(cluster, []);
    line.untold.add(machineId);
    this.#tellSome(cluster, line);
  }

  /** A new session of the cluster, which has heard of none of these. */
  restart(cluster: string, machineIds: readonly string[]): void {
    this.#drop(cluster);
    if (machineIds.length > 0) this.#tellSome(cluster, this.#begin(cluster, machineIds));
  }

  #begin(cluster: string, machineIds: readonly string[]): Line {
    const line = { untold: new Set(machineIds), toldCount: 0, gap: undefined };
    this.#lines.set(cluster, line);
    return line;
  }

  /** Tells what was kept back while actuation was held. */
  resume(): void {
    for (const [cluster, line] of this.#lines) this.#tellSome(cluster, line);
  }

  clear(): void {
    for (const cluster of this.#lines.keys()) this.#drop(cluster);
  }

  #tellSome(cluster: string, line: Line): void {
    const { sessions, isHeld, tell, wheel } = this.#options;
    if (isHeld()) return;
    const session = sessions.sessionOf(cluster);
    if (session === undefined) return this.#drop(cluster);
    for (const machineId of line.untold) {
      if (line.toldCount >= TOLD_AT_ONCE) break;
      line.untold.delete(machineId);
      line.toldCount++;
      tell(session, machineId);
    }
    line.gap ??= wheel.after(GAP_MS, () => this.#gapOver(cluster, line));
  }

  #gapOver(cluster: string, line: Line): void {
    line.gap = undefined;
    line.toldCount = 0;
    if (line.untold.size === 0) this.#drop(cluster);
    else this.#tellSome(cluster, line);
  }

  #drop(cluster: string): void {
    this.#lines.get(cluster)?.gap?.cancel();
    this.#lines.delete(cluster);
  }
}
