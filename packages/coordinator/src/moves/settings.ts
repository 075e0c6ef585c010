// The dials of the rebalancer, one per flag (coordinator §12.1). Safety limits that are no dials
// (one open transfer per role, five victims per pass) are constants beside the rule they bound.

export interface RebalanceSettings {
  /** 0 = no pass, ever. */
  readonly intervalMs: number;
  /** A shortfall is answered when it is strictly older. */
  readonly ageCycles: number;
  /** Running work is drained for it when it is strictly older. */
  readonly preemptAgeCycles: number;
  /** Report intervals during which a flow or a machine does not move again; at least 8. */
  readonly cooldownCycles: number;
  /** The share of its idle machines that a donor keeps, at least one machine. */
  readonly donorMargin: number;
  /** The share of some dimension of the deficit that a move must cover. */
  readonly minBenefit: number;
  readonly maxMachines: number;
  readonly maxMoves: number;
  readonly maxOverrides: number;
  readonly isDryRun: boolean;
}

export const DEFAULT_REBALANCE_SETTINGS: RebalanceSettings = {
  intervalMs: 50_000,
  ageCycles: 5,
  preemptAgeCycles: 12,
  cooldownCycles: 8,
  donorMargin: 0.1,
  minBenefit: 0.1,
  maxMachines: 50,
  maxMoves: 10,
  maxOverrides: 10_000,
  isDryRun: false,
};
