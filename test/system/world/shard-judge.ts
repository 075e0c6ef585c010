// Watches one life of the shard through its own observer and holds each cycle against what is known
// from outside: the ear at its door and the books of the providers.
//
// The laws: no reclaim in a cluster that this life has not heard, none that the heard demand does
// not justify, no preemption for a priority that nobody told (engine §6: a preemption does not wait
// for the victim's roll-up, because the machine's own stamp says what it serves); after a List, what the shard believes of a machine that nobody touched meanwhile is what
// the provider has written; exactly the slots of a listed provider are known; a shard that was
// fenced dispatches nothing more. The network duplicates requests as a retrying proxy would, and a
// duplicate's refusal may overtake the answer: only then may a living shard be fenced at all.

import { ActionKind, actionKindName, State, stateName } from '@bigfleet/engine';
import type { ShardExtension, ShardParts } from '@bigfleet/shard';
import type { Ear } from './ear.ts';
import type { ProviderBook } from './provider-book.ts';
import type { Witness } from './witness.ts';

type Observer = NonNullable<ShardExtension['observer']>;
type CycleReport = Parameters<NonNullable<Observer['onCycle']>>[0];

export interface ShardJudgeOptions {
  readonly witness: Witness;
  readonly ear: Ear;
  readonly books: ReadonlyMap<string, ProviderBook>;
  readonly nowMs: () => number;
  readonly hasDuplicates: () => boolean;
  /** What the person on call does about it: restart. */
  readonly onFenced: () => void;
}

export class ShardJudge {
  readonly #options: ShardJudgeOptions;
  /** By machine: when a worker last let go of it. */
  readonly #releasedMs = new Map<string, number>();
  cycleCount = 0;
  decidedCount = 0;
  #isFenced = false;

  constructor(options: ShardJudgeOptions) {
    this.#options = options;
  }

  observer(parts: ShardParts): Observer {
    const { witness, nowMs } = this.#options;
    return {
      onCycle: (report) => this.#onCycle(report, parts),
      onReleased: ({ machineId }) => this.#releasedMs.set(machineId, nowMs()),
      onExecuted: ({ kind, machineId, cluster }, outcome) => {
        witness.step(`shard ${actionKindName(kind)} ${machineId} ${cluster} ${outcome}`);
      },
      onRejectedRecord: (provider, { id, reason }) =>
        witness.broken(`the shard rejected ${id} of ${provider}: ${reason}`),
      onFenced: ({ machineId }) => this.#onFenced(machineId),
      onProblem: (_, problem, error) => {
        if (problem.startsWith('a bug')) witness.broken(`${problem}: ${String(error)}`);
      },
      onCycleError: (error) => witness.broken(`a cycle threw: ${String(error)}`),
    };
  }

  #onFenced(machineId: string): void {
    const { witness, hasDuplicates, onFenced } = this.#options;
    if (!hasDuplicates()) witness.broken(`the living shard was fenced on ${machineId}`);
    if (!this.#isFenced) onFenced();
    this.#isFenced = true;
  }

  #onCycle(report: CycleReport, parts: ShardParts): void {
    if (this.#isFenced && report.disposition.enqueuedCount > 0) {
      this.#options.witness.broken('a fenced shard went on acting');
    }
    const startedMs = this.#options.nowMs() - report.tookMs.total;
    this.cycleCount += 1;
    this.decidedCount += report.answer.actions.count;
    if (report.answer.mismatchCount > 0) this.#options.witness.broken('incremental ≠ full');
    this.#judgeDrains(report, parts, startedMs);
    const reconciledMs = startedMs + report.tookMs.reconcile;
    for (const [provider, { kind, forMs }] of report.refreshes) {
      const book = this.#options.books.get(provider);
      // A List that the cycle before left behind is older than this cycle.
      const askedMs = Math.min(startedMs, reconciledMs - forMs);
      if (kind === 'refreshed' && book !== undefined) this.#judgeView(book, parts, askedMs);
    }
  }

  #judgeDrains({ answer }: CycleReport, parts: ShardParts, startedMs: number): void {
    const { witness, ear } = this.#options;
    const { actions } = answer;
    for (let at = 0; at < actions.count; at++) {
      const kind = actions.kind[at];
      if (kind !== ActionKind.Reclaim && kind !== ActionKind.Preempt) continue;
      const cluster = actions.clusters[actions.cluster[at] ?? -1] ?? '';
      if (kind === ActionKind.Preempt) {
        const priority = actions.preemptorPriority[at] ?? 0;
        if (!ear.hasHeardPriority(priority)) {
          witness.broken(`Preempt in ${cluster} for priority ${priority}, which nobody wants`);
        }
      } else if (!ear.hasHeard(cluster)) {
        witness.broken(`Reclaim in ${cluster}, which has not reported yet`);
      } else if (supplyOf(parts, cluster) <= ear.leastSince(cluster, startedMs)) {
        witness.broken(`Reclaim in ${cluster}, which wants all that it has`);
      }
    }
  }

  #judgeView(book: ProviderBook, parts: ShardParts, startedMs: number): void {
    const { witness } = this.#options;
    const { fleet } = parts.core;
    const known = new Set<string>();
    for (const slot of fleet.known.slotsOf(book.name)) known.add(fleet.known.idOf(slot));
    for (const id of known) {
      if (!book.machines.has(id)) witness.broken(`the shard invented ${id}`);
    }
    for (const [id, { record, changedMs }] of book.machines) {
      const slot = fleet.inventory.slotOf(id);
      if (!known.has(id)) witness.broken(`the shard lost ${id}`);
      else if (changedMs >= startedMs || this.#isOurs(id, slot, parts, startedMs)) continue;
      else {
        const { state, cluster } = fleet.read(slot);
        const mine = `${stateName(state)} ${cluster}`;
        const theirs = `${record.state} ${record.cluster}`;
        if (mine !== theirs) witness.broken(`${id} is ${mine} here, ${theirs} at ${book.name}`);
      }
    }
  }

  /** An action on it is under way or has just ended: the shard may be ahead of the List. */
  #isOurs(id: string, slot: number, parts: ShardParts, startedMs: number): boolean {
    const { fleet } = parts.core;
    return (
      fleet.pendingOf(slot) !== 'none' ||
      fleet.failedHereAtMs(slot) !== undefined ||
      (this.#releasedMs.get(id) ?? Number.NEGATIVE_INFINITY) >= startedMs
    );
  }
}

/** Machines that serve the cluster or are on their way to it or from it. */
function supplyOf({ core }: ShardParts, cluster: string): number {
  const { inventory } = core.fleet;
  let count = 0;
  for (const id of inventory.ids) {
    const slot = id === undefined || id === '' ? -1 : inventory.slotOf(id);
    if (slot < 0) continue;
    const machine = core.fleet.read(slot);
    const isComing = machine.state === State.Creating && machine.intendedCluster === cluster;
    if (machine.cluster === cluster || isComing) count += 1;
  }
  return count;
}
