// A shard of the seeds, of either kind: the model (cheap, with rules that can be broken on purpose)
// or the production modules (real-shard.ts). Both share one provider and die at any durable step.

export const PROVIDER_ADDRESS = 'provider.test:9000';
export const PROVIDER = 'prov';
export const REGION = 'r1';
/** Decision cycles between two reports: a shortfall escalates with the first report after one. */
export const SEED_CYCLES_PER_REPORT = 6;
export const REPORT_MS = 10_000;

/** A step of a transfer that was just made durable; `gone`: a machine that came by one is no more. */
export type TransferStep = 'frozen' | 'released' | 'claimed' | 'gone';

export interface FleetShard {
  readonly id: string;
  readonly isUp: boolean;
  /** How many machines its clusters want. */
  demand: number;
  isQuotaBound: boolean;
  /** The quota slice that it applies; undefined: uncapped. */
  readonly slice: number | undefined;
  /** Transfers for which machines stand frozen. */
  readonly frozenFor: readonly string[];
  /** Other shards that its disk names as owners of something. */
  readonly known: ReadonlySet<string>;
  /** A dead shard counts by its disk: it may wake up. */
  mayAct(machineId: string): boolean;
  idle(): readonly string[];
  start(): Promise<void>;
  /** The decisions of a report interval. Rejects with Died when it died over them. */
  turn(): Promise<void>;
  kill(): void;
  /** Dead, and nothing of it is left on disk. */
  wipe(): void;
}

/** The process died between two steps; thrown through whatever it was doing. */
export class Died extends Error {}
