// How capacity is paid for, which decides how long it is held idle before it is given back.

export const CapacityType = { BareMetal: 1, Reserved: 2, OnDemand: 3, Spot: 4 } as const;

export type CapacityTypeCode = 1 | 2 | 3 | 4;

const NAMES: readonly string[] = ['', ...Object.keys(CapacityType)];

export function capacityTypeName(type: number): string {
  return NAMES[type] ?? `CapacityType(${type})`;
}

export function isCapacityTypeCode(type: number): type is CapacityTypeCode {
  return Number.isInteger(type) && type >= 1 && type <= 4;
}

/** Idle holds of the elastic types; owned and committed capacity is held for ever, always. */
export interface ReleasePolicy {
  /** 0 disables release of that type. */
  readonly onDemandHoldMs: number;
  readonly spotHoldMs: number;
}

/** A wrong on-demand release costs one re-create, a wrong hold a sixth of a machine-hour. */
export const DEFAULT_RELEASE_POLICY: ReleasePolicy = {
  onDemandHoldMs: 600_000,
  spotHoldMs: 60_000,
};

/** Milliseconds of idleness after which a machine is given back; Infinity is never. */
export function holdMs(type: number, policy: ReleasePolicy): number {
  const hold =
    type === CapacityType.OnDemand
      ? policy.onDemandHoldMs
      : type === CapacityType.Spot
        ? policy.spotHoldMs
        : 0;
  return hold > 0 ? hold : Number.POSITIVE_INFINITY;
}
