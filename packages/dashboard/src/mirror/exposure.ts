// How often machines are really interrupted, against what their provider declared: machine-hours by
// declared probability, and how many machines were lost in them. A machine counts under what was declared
// when it was configured: a provider that raises the probability with its two-minute notice would
// otherwise look as if it had never forecast anything.

const MS_PER_HOUR = 3_600_000;
/** Six bins a decade: finer than any forecast. */
const STEPS = [1, 1.5, 2, 3, 5, 7] as const;
const DECADES = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1] as const;
/** Upper bounds and nominal values; the first is “never”. */
export const RISK_BINS: readonly number[] = [
  0,
  ...DECADES.flatMap((decade) => STEPS.map((step) => Number((decade * step).toPrecision(2)))),
  1,
];
const CHECKPOINT_MS = 600_000;
const MAX_CHECKPOINTS = 145;
/** Every provider of a fleet, many times over; more would be a mistake of whoever feeds it. */
const MAX_PROVIDERS = 1_000;

/** From 1: a bin must not look like none. */
export function riskBinOf(probability: number): number {
  if (!(probability > 0)) return 1;
  const at = RISK_BINS.findIndex((bound) => probability <= bound * 1.0001);
  return at < 0 ? RISK_BINS.length : at + 1;
}

interface Bin {
  machines: number;
  hours: number;
  observed: number;
  lastMs: number;
}

export interface Calibration {
  readonly declared: number;
  readonly machineHours: number;
  readonly expected: number;
  readonly observed: number;
}

interface Checkpoint {
  readonly atMs: number;
  readonly byProvider: ReadonlyMap<string, readonly Calibration[]>;
}

export class Exposure {
  readonly #bins = new Map<string, Bin[]>();
  readonly #checkpoints: Checkpoint[] = [];

  /** One configured machine more or less. */
  change(provider: string, riskBin: number, sign: 1 | -1, atMs: number): void {
    if (riskBin === 0) return;
    const bin = this.#bin(provider, riskBin);
    if (bin === undefined) return;
    settle(bin, atMs);
    bin.machines = Math.max(0, bin.machines + sign);
  }

  interrupted(provider: string, riskBin: number): void {
    const bin = this.#bin(provider, riskBin);
    if (bin !== undefined) bin.observed += 1;
  }

  /** Keeps what is known now for those who will ask for this moment. */
  checkpoint(atMs: number): void {
    const last = this.#checkpoints.at(-1);
    if (last !== undefined && atMs - last.atMs < CHECKPOINT_MS) return;
    this.#checkpoints.push({ atMs, byProvider: this.#all(atMs) });
    if (this.#checkpoints.length > MAX_CHECKPOINTS) this.#checkpoints.shift();
  }

  now(provider: string, atMs: number): readonly Calibration[] {
    return calibration(this.#bins.get(provider) ?? [], atMs);
  }

  /** As it was told to the last checkpoint before the moment. */
  at(provider: string, atMs: number): readonly Calibration[] {
    const found = this.#checkpoints.findLast((checkpoint) => checkpoint.atMs <= atMs);
    return found?.byProvider.get(provider) ?? [];
  }

  #all(atMs: number): Map<string, readonly Calibration[]> {
    return new Map([...this.#bins].map(([provider, bins]) => [provider, calibration(bins, atMs)]));
  }

  #bin(provider: string, riskBin: number): Bin | undefined {
    let bins = this.#bins.get(provider);
    if (bins === undefined) {
      if (this.#bins.size >= MAX_PROVIDERS) return undefined;
      bins = RISK_BINS.map(() => ({ machines: 0, hours: 0, observed: 0, lastMs: 0 }));
      this.#bins.set(provider, bins);
    }
    return bins[riskBin - 1];
  }
}

function settle(bin: Bin, atMs: number): void {
  if (bin.lastMs > 0 && atMs > bin.lastMs) {
    bin.hours += (bin.machines * (atMs - bin.lastMs)) / MS_PER_HOUR;
  }
  bin.lastMs = Math.max(bin.lastMs, atMs);
}

function calibration(bins: readonly Bin[], atMs: number): Calibration[] {
  const rows: Calibration[] = [];
  bins.forEach((bin, place) => {
    settle(bin, atMs);
    if (bin.hours === 0 && bin.observed === 0 && bin.machines === 0) return;
    const declared = RISK_BINS[place] ?? 0;
    const expected = bin.hours * declared;
    rows.push({ declared, machineHours: bin.hours, expected, observed: bin.observed });
  });
  return rows;
}
