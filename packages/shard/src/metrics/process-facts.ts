// What the process is, and series that dashboards expect although nothing here can raise them
// (observability §3.7, §3.8): the engine's Phase 1 is single-threaded and makes no proposals.

import type { MetricRegistry } from '@bigfleet/telemetry';
import type { RecordWriter } from '../records/record-writer.ts';

export function registerEpoch(registry: MetricRegistry, epoch: bigint): void {
  registry
    .gauge({
      name: 'bigfleet_shard_epoch',
      help: 'Epoch of this process; two values at once are a duplicate identity.',
    })
    .set(Number(epoch));
}

export function registerPhase1Broker(registry: MetricRegistry): void {
  registry.counter({
    name: 'bigfleet_shard_phase1_occ_proposals_total',
    help: 'Proposals of parallel planning; 0 while Phase 1 runs in one thread.',
    labels: { outcome: ['committed', 'conflict'] },
  });
  registry.counter({
    name: 'bigfleet_shard_phase1_occ_displacements_total',
    help: 'Needs displaced in parallel planning; 0 while Phase 1 runs in one thread.',
  });
  registry.counter({
    name: 'bigfleet_shard_phase1_occ_retries_exhausted_total',
    help: 'Needs that parallel planning gave up; 0 while Phase 1 runs in one thread.',
  });
}

export function observeRecords(registry: MetricRegistry, records: RecordWriter): void {
  const bytes = registry.gauge({
    name: 'bigfleet_shard_records_bytes',
    help: 'Decision records on disk.',
  });
  const dropped = registry.counter({
    name: 'bigfleet_shard_records_dropped_total',
    help: 'Decision records that could not be written.',
  });
  let droppedCount = 0;
  registry.onCollect(() => {
    bytes.set(records.storedBytes);
    dropped.inc(records.droppedCount - droppedCount);
    droppedCount = records.droppedCount;
  });
}
