// The actuation settings of a running shard: flags, the run-time changes kept in rails.json, and the
// fenced latch. A change is durable before it is acknowledged, because a switch that forgets itself
// is worse than none. The one exception points to safety: a pause takes effect in memory at once,
// also when the disk refuses it, and the caller is told that it is not persisted.
//
// Changes are applied one after another. Nothing here consults the coordinator.

import { BigFleetError, type Clock, describeThrown } from '@bigfleet/base';
import { type Logger, stableMessages } from '@bigfleet/telemetry';
import { ActuationHold, type ActuationStateSchema, type encodeInit } from '@bigfleet/wire';
import { type DurableFile, readDurably } from './durable-file.ts';
import type { RailMetrics } from './metrics.ts';
import { formatRails, parseRails, type StoredRails } from './rails-json.ts';
import {
  type EffectiveRails,
  effectiveRails,
  NO_OVERRIDES,
  overriddenNames,
  overriddenSettings,
  type PauseHold,
  type RailChange,
  type RailFlags,
  type RailOverrides,
  type RailSettings,
  settingsProblem,
} from './settings.ts';

/** Administrators at once; each waits for a disk write. */
const MAX_WAITING_CHANGES = 64;
const MAX_REASON_LENGTH = 1_024;

export interface ActuationOptions {
  readonly flags: RailFlags;
  readonly file: DurableFile;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: RailMetrics;
}

/** What an administrator asks for. */
export interface RailRequest extends RailSettings {
  /** Drop every run-time change. */
  readonly clear: boolean;
  readonly reason: string;
  readonly by: string;
}

export interface ActuationView {
  readonly effective: EffectiveRails;
  readonly overridden: readonly string[];
  readonly change: RailChange | undefined;
}

/** Reads rails.json; a file that cannot be understood refuses the start. */
export async function openActuation(options: ActuationOptions): Promise<Actuation> {
  const { file, flags } = options;
  const problem = settingsProblem(flags);
  if (problem !== undefined) throw new BigFleetError('rails_invalid', problem);
  const stored = await readDurably(file, 'rails_corrupt', parseRails);
  return new Actuation(options, stored ?? { overrides: NO_OVERRIDES, change: undefined });
}

export class Actuation {
  readonly #options: ActuationOptions;
  #overrides: RailOverrides;
  #change: RailChange | undefined;
  #isFenced = false;
  readonly #listeners: (() => void)[] = [];
  #effective: EffectiveRails;
  #queue: Promise<unknown> = Promise.resolve();
  #waitingCount = 0;
  /** Pauses that hold already, while their turn at the disk is still to come. */
  #waitingPauseCount = 0;

  constructor(options: ActuationOptions, stored: StoredRails) {
    this.#options = options;
    this.#overrides = stored.overrides;
    this.#change = stored.change;
    this.#effective = this.#publish();
    this.#logRestored();
  }

  /** Told in the same turn as each change of the effective settings: a pause stops what runs. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  get effective(): EffectiveRails {
    return this.#effective;
  }

  view(): ActuationView {
    return {
      effective: this.#effective,
      overridden: overriddenNames(this.#overrides),
      change: this.#change,
    };
  }

  /** A provider fenced this process: it is the zombie, and stays quiet until it is restarted. */
  latchFenced(): void {
    if (this.#isFenced) return;
    this.#isFenced = true;
    this.#publish();
  }

  /** Rejects with the status for the caller; see the module comment for what then holds. */
  set(request: RailRequest): Promise<ActuationView> {
    const problem = requestProblem(request);
    if (problem !== undefined) return Promise.reject(new BigFleetError('rails_invalid', problem));
    if (this.#waitingCount >= MAX_WAITING_CHANGES) {
      return Promise.reject(new BigFleetError('unavailable', 'too many changes wait for the disk'));
    }
    this.#waitingCount++;
    if (request.paused === true) {
      // Not behind a disk that hangs, nor behind an older resume that still waits for it.
      this.#waitingPauseCount++;
      this.#publish();
    }
    const done = this.#queue.then(() => this.#persist(request));
    const settle = (): void => this.#settled(request);
    this.#queue = done.then(settle, settle);
    return done;
  }

  #settled({ paused }: RailRequest): void {
    this.#waitingCount--;
    if (paused === true) this.#waitingPauseCount--;
  }

  async #persist(request: RailRequest): Promise<ActuationView> {
    const { clock, file, logger } = this.#options;
    const { by, reason } = request;
    const overrides = withRequest(this.#overrides, request);
    const change: RailChange = { by, reason, unixNanos: clock.unixNanos() };
    try {
      await file.replace(formatRails({ overrides, change }));
    } catch (cause) {
      logger.error('actuation settings could not be persisted', { err: describeThrown(cause), by });
      if (request.paused === true) {
        this.#apply({ ...this.#overrides, paused: true }, change);
        this.#logChanged(request);
      }
      throw notPersisted(request, cause);
    }
    this.#apply(overrides, change);
    this.#logChanged(request);
    return this.view();
  }

  #apply(overrides: RailOverrides, change: RailChange): void {
    this.#overrides = overrides;
    this.#change = change;
    this.#publish();
  }

  #publish(): EffectiveRails {
    const { flags, metrics } = this.#options;
    const held: RailOverrides =
      this.#waitingPauseCount > 0 ? { ...this.#overrides, paused: true } : this.#overrides;
    this.#effective = effectiveRails(flags, held, this.#isFenced);
    metrics.actuationPaused.set(this.#effective.paused ? 1 : 0);
    metrics.railOverrides.set(overriddenNames(this.#overrides).length);
    metrics.fenced.set(this.#isFenced ? 1 : 0);
    for (const listener of this.#listeners) listener();
    return this.#effective;
  }

  #logChanged({ by, reason }: RailRequest): void {
    const { paused, dryRun, reclaimCapFraction, emptyRollupGuard } = this.#effective;
    this.#options.logger.event(stableMessages.actuationSettingsChanged, {
      by,
      reason,
      paused,
      dry_run: dryRun,
      reclaim_cap_fraction: reclaimCapFraction,
      empty_rollup_guard: emptyRollupGuard,
    });
  }

  #logRestored(): void {
    const settings = overriddenSettings(this.#overrides);
    if (settings.length === 0) return;
    const { level, text } = stableMessages.actuationSettingsRestored;
    const { by = '', reason = '', unixNanos = 0n } = this.#change ?? {};
    this.#options.logger.log(level, text, {
      by,
      reason,
      changed_at: new Date(Number(unixNanos / 1_000_000n)).toISOString(),
      ...Object.fromEntries(settings),
    });
  }
}

function requestProblem(request: RailRequest): string | undefined {
  const { reason, by: _by, clear, ...settings } = request;
  if (reason.trim() === '') return 'a reason is required';
  if (reason.length > MAX_REASON_LENGTH)
    return `the reason exceeds ${MAX_REASON_LENGTH} characters`;
  const isEmpty = Object.values(settings).every((value) => value === undefined);
  if (clear && !isEmpty) return 'clear goes with no other setting';
  if (!clear && isEmpty) return 'nothing to change';
  return settingsProblem(settings);
}

/** What is stored and held once the request is applied on top. */
function withRequest(overrides: RailOverrides, request: RailRequest): RailOverrides {
  if (request.clear) return NO_OVERRIDES;
  const { paused: wasPaused, ...others } = overrides;
  const { paused, dryRun, reclaimCapFraction, emptyRollupGuard, maxActionsPerCycle } = request;
  return {
    ...others,
    ...((paused ?? wasPaused) === true ? { paused: true } : {}),
    ...(dryRun === undefined ? {} : { dryRun }),
    ...(reclaimCapFraction === undefined ? {} : { reclaimCapFraction }),
    ...(emptyRollupGuard === undefined ? {} : { emptyRollupGuard }),
    ...(maxActionsPerCycle === undefined ? {} : { maxActionsPerCycle }),
  };
}

function notPersisted({ paused }: RailRequest, cause: unknown): BigFleetError {
  return paused === true
    ? new BigFleetError('rails_not_persisted', 'applied, not persisted', { cause })
    : new BigFleetError('rails_write_failed', 'not applied: rails.json cannot be written', {
        cause,
      });
}

// The actuation settings as the wire shows them (ShardStatus, SetActuation).

export type ActuationStateInit = Parameters<typeof encodeInit<typeof ActuationStateSchema>>[1];

const HOLDS: Readonly<Record<PauseHold, ActuationHold>> = {
  flag: ActuationHold.FLAG,
  runtime: ActuationHold.RUNTIME,
  fenced: ActuationHold.FENCED,
};

export function actuationState({
  effective,
  overridden,
  change,
}: ActuationView): ActuationStateInit {
  const { heldBy, ...settings } = effective;
  return {
    ...settings,
    heldBy: heldBy.map((hold) => HOLDS[hold]),
    changedBy: change?.by ?? '',
    changedUnixNanos: change?.unixNanos ?? 0n,
    reason: change?.reason ?? '',
    overridden: [...overridden],
  };
}
