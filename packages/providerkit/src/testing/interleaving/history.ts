// What happened in one run, judged as it happens: every commit, every answer, every backend call.
// Knows the contract's rules and nothing of the kit's insides. A broken rule is written down, not
// thrown: thrown inside a commit it would look like a full store to the kit, and vanish.

import type { FencingToken } from '@bigfleet/wire';
import {
  edges,
  kindInTransit,
  type MachineRecord,
  type MachineStateName,
  type OperationKind,
} from '../../model/machine.ts';
import { recordProblem } from '../../model/record-rules.ts';
import type { FenceMark, StoreChange, StoredOperation } from '../../store/store.ts';

export interface Question {
  readonly kind: OperationKind;
  readonly machineId: string;
  readonly token: FencingToken;
  /** How many operations of this kind were accepted on the machine when it was asked. */
  readonly acceptedBefore: number;
  /** The revision of the machine's kept record when it was asked. */
  readonly revisionBefore: number;
}

export class History {
  /** For telling orders apart; one letter or two per event. */
  readonly trace: string[] = [];
  readonly violations: string[] = [];
  restartCount: number = 0;
  /** Commits that the store refused. */
  refusedCount: number = 0;
  readonly #marks = new Map<string, FenceMark>();
  readonly #keptTokens = new Set<string>();
  readonly #operations = new Map<string, StoredOperation>();
  readonly #accepted = new Map<string, string[]>();
  readonly #records = new Map<string, MachineRecord>();
  readonly #revisions = new Map<number, string>();
  readonly #workCount = new Map<string, number>();
  readonly #workingOn = new Map<string, AbortSignal>();
  readonly #lostHosts = new Set<string>();
  #revision = 0;

  #rule(isKept: boolean, text: string): void {
    if (!isKept) this.violations.push(`${text} (after ${this.trace.join('')})`);
  }

  // ── the store ─────────────────────────────────────────────────────────────────────────────

  kept(changes: readonly StoreChange[]): void {
    const inTransit = new Set<string>();
    for (const change of changes) {
      if (change.kind === 'fence') this.#keptMark(change.mark);
      if (change.kind === 'machine') {
        this.#keptRecord(change.record);
        inTransit.add(`${change.record.id}/${change.record.state}`);
      }
      if (change.kind === 'revision') {
        this.#rule(change.revision >= this.#revision, 'the stored revision never goes back');
        this.#revision = change.revision;
      }
      this.trace.push(`k${change.kind[0]}`);
    }
    for (const change of changes) {
      if (change.kind === 'operation') this.#keptOperation(change.operation, inTransit);
    }
  }

  refused(): void {
    this.trace.push('x');
    this.refusedCount++;
  }

  revisionOf(machineId: string): number {
    return this.#records.get(machineId)?.modifiedRevision ?? 0;
  }

  #keptMark(mark: FenceMark): void {
    const key = `${mark.shardId}/${mark.machineId}`;
    const before = this.#marks.get(key);
    const isNewer =
      before === undefined ||
      mark.epoch > before.epoch ||
      (mark.epoch === before.epoch && mark.sequence > before.sequence);
    this.#rule(isNewer, 'marks only rise');
    this.#marks.set(key, mark);
    this.#keptTokens.add(`${key}/${mark.epoch}/${mark.sequence}`);
  }

  #keptOperation(operation: StoredOperation, inTransit: ReadonlySet<string>): void {
    const { machineId, kind, operationId } = operation;
    this.#rule(!this.#operations.has(operationId), 'an operation id is never used twice');
    const state = edges[kind].transitional;
    this.#rule(inTransit.has(`${machineId}/${state}`), 'an operation is kept with its transition');
    this.#operations.set(operationId, operation);
    this.acceptedOn(machineId, kind).push(operationId);
  }

  #keptRecord(record: MachineRecord): void {
    this.#rule(recordProblem(record) === undefined, 'every record is inside the grid');
    const before = this.#records.get(record.id);
    const { modifiedRevision } = record;
    const holder = this.#revisions.get(modifiedRevision);
    this.#rule(holder === undefined || holder === record.id, 'a revision belongs to one machine');
    this.#rule(modifiedRevision >= (before?.modifiedRevision ?? 0), 'records only move forward');
    if (before !== undefined) {
      this.#rule(isLegal(before.state, record.state), `${before.state} → ${record.state}`);
    }
    this.#revisions.set(modifiedRevision, record.id);
    this.#records.set(record.id, record);
  }

  // ── the callers ───────────────────────────────────────────────────────────────────────────

  acceptedOn(machineId: string, kind: OperationKind): string[] {
    const key = `${kind}/${machineId}`;
    const ids = this.#accepted.get(key) ?? [];
    this.#accepted.set(key, ids);
    return ids;
  }

  answered(question: Question, code: string, operationId: string | undefined): void {
    this.trace.push(`${question.kind[0]}${code[0]}`);
    const hasToken = question.token.shardId !== '';
    switch (code) {
      case 'OK':
        this.#acknowledged(question, operationId ?? '');
        if (hasToken) this.#rule(this.#isKept(question), 'an ack follows its mark');
        break;
      case 'FAILED_PRECONDITION':
        this.#rule(hasToken && this.#isOld(question), 'only an old token is fenced');
        break;
      case 'NOT_FOUND':
      case 'INTERNAL':
        this.#rule(!this.#isUnderWay(question), 'an operation under way is replayed');
        if (hasToken) this.#rule(this.#isKept(question), 'a rejection follows its mark');
        break;
      case 'UNAVAILABLE':
        this.#rule(!this.#isKept(question), 'a refused call left no mark');
        break;
      default:
        this.#rule(false, `unexpected code ${code}`);
    }
  }

  #acknowledged(question: Question, operationId: string): void {
    const ids = this.acceptedOn(question.machineId, question.kind);
    const at = ids.indexOf(operationId);
    this.#rule(at >= 0, 'an ack follows the commit of its operation');
    this.#rule(
      at >= question.acceptedBefore - 1,
      'a replay gets the last operation, not an older one',
    );
  }

  /** Certainly: the store missed nothing, and its record did not change meanwhile. */
  #isUnderWay({ kind, machineId, revisionBefore }: Question): boolean {
    const record = this.#records.get(machineId);
    const isSame = record?.modifiedRevision === revisionBefore;
    return isSame && this.refusedCount === 0 && record.state === edges[kind].transitional;
  }

  #isKept({ token, machineId }: Question): boolean {
    const { shardId, shardEpoch, sequenceNumber } = token;
    return this.#keptTokens.has(`${shardId}/${machineId}/${shardEpoch}/${sequenceNumber}`);
  }

  #isOld({ token, machineId }: Question): boolean {
    const mark = this.#marks.get(`${token.shardId}/${machineId}`);
    if (mark === undefined) return false;
    if (mark.epoch !== token.shardEpoch) return mark.epoch > token.shardEpoch;
    return mark.sequence >= token.sequenceNumber;
  }

  // ── the substrate ─────────────────────────────────────────────────────────────────────────

  workStarted(
    kind: OperationKind,
    machineId: string,
    operationId: string,
    signal: AbortSignal,
  ): void {
    this.trace.push(`w${kind[0]}`);
    const operation = this.#operations.get(operationId);
    if (operation === undefined) {
      return this.#rule(false, 'work follows the commit of its operation');
    }
    // The teardown of a late create carries the create's id.
    if (operation.kind !== kind) {
      this.#rule(operation.kind === 'create' && kind === 'delete', 'work under a foreign id');
      return;
    }
    const count = (this.#workCount.get(operationId) ?? 0) + 1;
    this.#workCount.set(operationId, count);
    this.#rule(count <= 1 + this.restartCount, 'one work item per accepted transition');
    const other = this.#workingOn.get(machineId);
    this.#rule(other === undefined || other.aborted, 'one work item per machine');
    this.#workingOn.set(machineId, signal);
  }

  workEnded(machineId: string, signal: AbortSignal): void {
    this.trace.push('e');
    if (this.#workingOn.get(machineId) === signal) this.#workingOn.delete(machineId);
  }

  /** Kill -9 or a stop: what the old process worked on no longer counts. */
  restarted(): void {
    this.trace.push('R');
    this.restartCount++;
    this.#workingOn.clear();
  }

  /** May end a transition before its work began. */
  hostReportedLost(machineId: string): void {
    this.trace.push('l');
    this.#lostHosts.add(machineId);
  }

  /** Every accepted transition was worked on at least once, unless something ended it before. */
  finished(): void {
    for (const [operationId, operation] of this.#operations) {
      const isInterruptible = this.restartCount > 0 || this.#lostHosts.has(operation.machineId);
      const count = this.#workCount.get(operationId) ?? 0;
      this.#rule(
        count >= 1 || isInterruptible,
        `${operation.kind} was accepted and never worked on`,
      );
    }
  }
}

/**
 * What one kept record may become in the next one kept. Results of work can't be refused, so a full
 * store may miss any number of them; accepts and cleanups are never missed.
 */
function isLegal(from: MachineStateName, to: MachineStateName): boolean {
  const reached = resultsOf(from);
  return reached.has(to) || [...reached].some((state) => isWritten(state, to));
}

function resultsOf(from: MachineStateName): ReadonlySet<MachineStateName> {
  const kind = kindInTransit(from);
  if (kind !== undefined) return new Set([from, edges[kind].target, 'Failed']);
  const hasHost = from === 'Idle' || from === 'Configured';
  return new Set(hasHost ? [from, 'Failed'] : [from]);
}

function isWritten(from: MachineStateName, to: MachineStateName): boolean {
  if (from === 'Failed') return to === 'Speculative' || to === 'Idle';
  return Object.values(edges).some((edge) => from === edge.start && to === edge.transitional);
}
