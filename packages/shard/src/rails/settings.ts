// The actuation settings: what the flags say, what an administrator changed at run time, and what
// follows from both (shard §8.3). Pure. A pause is an OR of its sources, so nothing can lift a pause
// that another source holds; every other setting is the run-time value, else the flag.

export interface RailFlags {
  readonly paused: boolean;
  readonly dryRun: boolean;
  readonly reclaimCapFraction: number;
  readonly emptyRollupGuard: boolean;
  readonly maxActionsPerCycle: number;
}

/** Absent settings stay as they are. */
export type RailSettings = { readonly [K in keyof RailFlags]?: RailFlags[K] | undefined };

/** Only what was changed at run time. A resumed pause is absent, not false. */
export type RailOverrides = Partial<Omit<RailFlags, 'paused'>> & { readonly paused?: true };

/** Who changed them last. */
export interface RailChange {
  /** The SAN, or `unauthenticated`. */
  readonly by: string;
  readonly unixNanos: bigint;
  readonly reason: string;
}

export type PauseHold = 'flag' | 'runtime' | 'fenced';

export interface EffectiveRails extends RailFlags {
  readonly heldBy: readonly PauseHold[];
}

export const NO_OVERRIDES: RailOverrides = {};

export function effectiveRails(
  flags: RailFlags,
  overrides: RailOverrides,
  isFenced: boolean,
): EffectiveRails {
  const heldBy: PauseHold[] = [];
  if (flags.paused) heldBy.push('flag');
  if (overrides.paused === true) heldBy.push('runtime');
  if (isFenced) heldBy.push('fenced');
  return { ...flags, ...overrides, paused: heldBy.length > 0, heldBy };
}

const NAMES: Readonly<Record<keyof RailOverrides, string>> = {
  paused: 'paused',
  dryRun: 'dry_run',
  reclaimCapFraction: 'reclaim_cap_fraction',
  emptyRollupGuard: 'empty_rollup_guard',
  maxActionsPerCycle: 'max_actions_per_cycle',
};

/** Wire and log names of the settings that are overridden, in a fixed order. */
export function overriddenNames(overrides: RailOverrides): readonly string[] {
  return overriddenSettings(overrides).map(([name]) => name);
}

export function overriddenSettings(
  overrides: RailOverrides,
): readonly (readonly [string, boolean | number])[] {
  return (Object.keys(NAMES) as (keyof RailOverrides)[]).flatMap((key) => {
    const value = overrides[key];
    return value === undefined ? [] : [[NAMES[key], value] as const];
  });
}

/** Undefined when the values are legal, else what is wrong. */
export function settingsProblem(settings: RailSettings): string | undefined {
  const { reclaimCapFraction: fraction, maxActionsPerCycle: limit } = settings;
  if (fraction !== undefined && !(fraction >= 0 && fraction <= 1)) {
    return 'reclaim_cap_fraction is not between 0 and 1';
  }
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    return 'max_actions_per_cycle is not a whole number from 0 up';
  }
  return undefined;
}
