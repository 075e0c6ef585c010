// Carries out what the recovery machine decides: one command at a time, so that admin commands get
// their turn in the queue between any two of ours, and outside report handling, so that a shard with
// hundreds of domains is not held in one call. It ends when recovery is over or leadership is lost.

import { sleep } from '@bigfleet/base';
import type { ApplyResult } from '../ledger/ledger.ts';
import type { LeaderContext } from '../metrics/observer.ts';
import { type Claim, subjectOf } from '../reports/held.ts';
import { MAX_CLEARED_AT_ONCE } from '../state/decide/transfers.ts';
import type { Verdict } from './claims.ts';
import type { RecoveryMachine } from './recovery-machine.ts';
import { waitText } from './waits.ts';

/** After a command that could not be written, and between looks at a recovery that waits. */
const PAUSE_MS = 1_000;
/** Conflicts are repeated in the log until they end. */
const REMIND_MS = 60_000;

type ActiveVerdict = Exclude<Verdict, { kind: 'settled' | 'wait' }>;

interface RecoveryDriverOptions extends LeaderContext {
  readonly machine: RecoveryMachine;
}

export class RecoveryDriver {
  readonly #options: RecoveryDriverOptions;
  #remindAtMs = 0;
  #lateAtMs: number;

  constructor(options: RecoveryDriverOptions) {
    this.#options = options;
    this.#lateAtMs = options.runtime.clock.monotonicMs() + REMIND_MS;
  }

  /** Resolves when recovery is over; at once for a ledger that was never restored. */
  async run(signal: AbortSignal): Promise<'over' | 'stopped'> {
    const { machine, ledger, runtime, log } = this.#options;
    const end = AbortSignal.any([signal, ledger.lost]);
    if (machine.isOver()) return 'over';
    const generation = ledger.state.meta.ledgerGeneration;
    log.warn('recovery started', { ledger_generation: generation });
    while (!machine.isOver()) {
      if (end.aborted) return 'stopped';
      const isMoved = await this.#look();
      this.#remind();
      if (!isMoved) await sleep(runtime, PAUSE_MS, end).catch(() => undefined);
    }
    log.info('recovery finished', { ledger_generation: generation });
    return 'over';
  }

  /** True when something was committed or judged, so that another look is worth it at once. */
  async #look(): Promise<boolean> {
    const { machine } = this.#options;
    let isMoved = false;
    for (const claim of machine.openClaims()) {
      const verdict = machine.verdictOn(claim);
      if (verdict.kind === 'settled' || verdict.kind === 'wait') continue;
      if ((await this.#carryOut(claim, verdict)) === 'retry') return false;
      isMoved = true;
    }
    return isMoved || (await this.#clearLapsed());
  }

  async #clearLapsed(): Promise<boolean> {
    const { machine, ledger, log } = this.#options;
    const lapsed = machine.lapsedOverrides();
    const owner = lapsed[0]?.owner;
    if (owner === undefined) return false;
    const ofOwner = lapsed.filter((row) => row.owner === owner).map(({ machineId }) => machineId);
    const machineIds = ofOwner.slice(0, MAX_CLEARED_AT_ONCE);
    const result = await ledger.apply({ kind: 'ClearOverrides', machineIds, owner });
    if (!isWritten(result)) return false;
    log.warn('overrides that their owner does not hold are cleared', { owner, machineIds });
    return true;
  }

  async #carryOut(claim: Claim, verdict: ActiveVerdict): Promise<'done' | 'retry'> {
    for (const body of verdict.commands) {
      const result = await this.#options.ledger.apply(body);
      if (result.kind === 'refused') {
        this.#conflict(claim, '', result.refusal.message);
        return 'done';
      }
      if (!isWritten(result)) return 'retry';
    }
    if (verdict.kind === 'conflict') {
      this.#conflict(claim, verdict.owner, `kept by ${verdict.keptBy || 'the ledger'}`);
    }
    return 'done';
  }

  #conflict(claim: Claim, owner: string, outcome: string): void {
    const { machine, observer, log } = this.#options;
    if (!machine.onConflict(claim, owner)) return;
    observer.onOwnershipConflict();
    const subject = subjectOf(claim);
    log.error('ownership conflict in recovery', { subject, shard: claim.shardId, owner, outcome });
  }

  /** A shard that is only late reports by itself; every other wait is an operator's to end. */
  #remind(): void {
    const { machine, runtime, log } = this.#options;
    const nowMs = runtime.clock.monotonicMs();
    const waits = machine.waits().map(({ wait }) => wait);
    const isForOperator = waits.some(({ kind }) => kind !== 'silent');
    if (waits.length === 0 || nowMs < (isForOperator ? this.#remindAtMs : this.#lateAtMs)) return;
    this.#remindAtMs = nowMs + REMIND_MS;
    this.#lateAtMs = nowMs + REMIND_MS;
    const texts = waits.map(waitText);
    if (isForOperator) log.error('recovery waits for an operator', { waits: texts });
    else log.warn('recovery waits for shards', { waits: texts });
  }
}

function isWritten(result: ApplyResult): boolean {
  return result.kind === 'applied' || result.kind === 'unchanged';
}
