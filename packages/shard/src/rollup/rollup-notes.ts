// What the shard says about roll-ups: the series of observability §3.6, a log line for each one that
// is refused, held or believed after a streak, and the rows of the next cycle's record. The session of
// a refused roll-up hears nothing: the last good demand stays, and the operator sends another.

import type { RefusedRollup, RefusedRollups } from '@bigfleet/engine';
import {
  type CounterFamily,
  type GaugeFamily,
  type Logger,
  type MetricRegistry,
  stableMessages,
} from '@bigfleet/telemetry';
import type { RollupVerdict } from './admission.ts';

const MAX_CLUSTER_SERIES = 5_000;
/** As the engine's guard has it; printed so that the on-call knows how long to wait. */
const ACCEPTED_AFTER = 3;

type ByCluster = { readonly cluster: { readonly max: number } };
type Applied = Extract<RollupVerdict, { kind: 'applied' }>;
type Held = Extract<RollupVerdict, { kind: 'held' }>;
const OUTCOMES = ['applied', 'unchanged', 'held', 'rejected'] as const;

export class RollupNotes {
  /** For the record of the next cycle. */
  readonly refused: RefusedRollupLog = new RefusedRollupLog();
  readonly #logger: Logger;
  readonly #rollups: CounterFamily<{ readonly outcome: typeof OUTCOMES }>;
  readonly #rejectedByCluster: CounterFamily<ByCluster>;
  readonly #quarantinedByCluster: GaugeFamily<ByCluster>;

  constructor(logger: Logger, registry: MetricRegistry) {
    const labels = { cluster: { max: MAX_CLUSTER_SERIES } };
    this.#logger = logger;
    this.#rollups = registry.counter({
      name: 'bigfleet_shard_rollups_total',
      help: 'Roll-ups by what became of them; unchanged ones were skipped by their digest.',
      labels: { outcome: OUTCOMES },
    });
    this.#rejectedByCluster = registry.counter({
      name: 'bigfleet_shard_rollups_rejected_total',
      help: 'Roll-ups refused at ingest; the last good demand stays.',
      labels,
    });
    this.#quarantinedByCluster = registry.gauge({
      name: 'bigfleet_shard_rollup_quarantined',
      help: 'Consecutive roll-ups held because they would drop almost all demand; 0 is clear.',
      labels,
    });
  }

  unchanged(): void {
    this.#rollups.labels({ outcome: 'unchanged' }).inc();
  }

  applied(cluster: string, { rows, previousRows, confirmedAfter }: Applied): void {
    this.#rollups.labels({ outcome: 'applied' }).inc();
    if (confirmedAfter === 0) return;
    this.#logger.event(stableMessages.quarantinedRollupAccepted, {
      cluster,
      previous_rows: previousRows,
      new_rows: rows,
      consecutive_reports: confirmedAfter,
    });
  }

  held(cluster: string, { rows, previousRows, consecutive }: Held): void {
    this.#rollups.labels({ outcome: 'held' }).inc();
    this.#logger.event(stableMessages.rollupQuarantined, {
      cluster,
      previous_rows: previousRows,
      new_rows: rows,
      held_consecutive: consecutive,
      accepted_after: ACCEPTED_AFTER,
    });
    this.refused.note(cluster, 'rollup_quarantined', `${rows} rows after ${previousRows}`);
  }

  rejected(cluster: string, code: string, detail: string): void {
    this.#rollups.labels({ outcome: 'rejected' }).inc();
    this.#rejectedByCluster.labels({ cluster }).inc();
    const { level, text } = stableMessages.rollupRejected;
    this.#logger.log(level, text, { cluster, code, err: `${code}: ${detail}` });
    this.refused.note(cluster, code, detail);
  }

  /** Consecutive held roll-ups of the cluster; 0 is clear. */
  quarantined(cluster: string, consecutive: number): void {
    this.#quarantinedByCluster.labels({ cluster }).set(consecutive);
  }

  /** The engine is gone: this roll-up gets no ack, no more; the operator sends another. */
  lost(cluster: string, err: string): void {
    this.#logger.error('rollup hand-over failed', { cluster, err });
  }

  /** The cluster has been away for long: its labelled series end. */
  dropSeries(cluster: string): void {
    this.#rejectedByCluster.remove(cluster);
    this.#quarantinedByCluster.remove(cluster);
  }
}

const MAX_ROWS = 256;
const MAX_DETAIL_CHARS = 200;

/**
 * Roll-ups that were refused or held since the last cycle, until its record takes them: by cluster
 * and code, with the last detail. Bounded: an operator that sends garbage in a loop is one row, and of
 * clusters beyond the bound only the number is kept. The log has a line for each of them.
 */
export class RefusedRollupLog {
  #rows = new Map<string, RefusedRollup>();
  #unnamedCount = 0;

  note(cluster: string, code: string, detail: string): void {
    const key = `${code} ${cluster}`;
    const known = this.#rows.get(key);
    if (known === undefined && this.#rows.size >= MAX_ROWS) {
      this.#unnamedCount += 1;
      return;
    }
    const count = (known?.count ?? 0) + 1;
    this.#rows.set(key, { cluster, code, count, detail: detail.slice(0, MAX_DETAIL_CHARS) });
  }

  /** Everything noted so far; it is forgotten here. */
  take(): RefusedRollups {
    const taken = { rollups: [...this.#rows.values()], unnamedRollupCount: this.#unnamedCount };
    this.#rows = new Map();
    this.#unnamedCount = 0;
    return taken;
  }
}
