// Adds the read services to a shard: what `ShardOptions.extend` is for. Everything that reading
// needs is one of the shard's parts; what only a coordinator's client or the process knows comes in
// as an option.

import { type Router, ShardQuery, ShardRead } from '@bigfleet/wire';
import type { CycleReport } from '../core/observer.ts';
import { actuationState } from '../rails/actuation.ts';
import { ProviderHealth } from '../read/provider-health.ts';
import { shardQueryHandlers, shardReadHandlers } from '../read/read-handlers.ts';
import type { ReadSources } from '../read/read-sources.ts';
import { inlineRecordsReader, noRecords, type RecordsReader } from '../read/records-reader.ts';
import { ShardReading } from '../read/shard-reading.ts';
import type { ProviderSummaryInit } from '../read/shard-status.ts';
import type { ShardExtension, ShardParts } from './shard-options.ts';

export interface ServeReadingOptions {
  readonly version: string;
  /** Inline over the shard's own files when absent; a process passes one with a thread. */
  readonly records?: RecordsReader | undefined;
  /** Address, source and sharing of a provider, as configured. */
  readonly providerFacts?: (
    name: string,
  ) => Pick<ProviderSummaryInit, 'address' | 'source' | 'shared'>;
  readonly coordinatorTerm?: (() => bigint) | undefined;
}

export function serveReading(
  options: ServeReadingOptions,
): (router: Router, parts: ShardParts) => ShardExtension {
  return (router, parts) => {
    const { operators, core, runtime, control } = parts;
    const { fleet } = core;
    const reading = new ShardReading({
      ...parts,
      fleet,
      notes: {
        nodeName: (machineId) => operators.nodeNames.nameOf(machineId),
        drainDeadlineMs: (machineId) => operators.drains.deadlineMsOf(machineId),
        frozenTransferId: (machineId) => control?.frozenTransferOf(machineId),
      },
    });
    const health = new ProviderHealth(runtime.clock);
    const sources: ReadSources = {
      ...parts,
      fleet,
      reading,
      records: options.records ?? recordsOf(parts),
      sessions: () => operators.summaries(),
      status: () => ({
        version: options.version,
        ready: core.readiness.isReady,
        actuation: actuationState(parts.actuation.view()),
        sessions: operators.sessions.size,
        providers: health.summaries(parts.providers, fleet, options.providerFacts),
        coordinatorTerm: options.coordinatorTerm?.() ?? 0n,
        assignmentRevision: control?.revision ?? 0n,
        phases: parts.timings.read(),
      }),
    };
    router.add(ShardRead, shardReadHandlers(sources)).add(ShardQuery, shardQueryHandlers(sources));
    return {
      observer: {
        onCycle: (report: CycleReport) => {
          health.note(report.refreshes);
          reading.cycleEnded(report);
        },
        onReleased: (order) => reading.released(order),
      },
      stop: () => reading.stop(),
    };
  };
}

function recordsOf({ records, runtime }: ShardParts): RecordsReader {
  return records === undefined ? noRecords : inlineRecordsReader(records, runtime.timers);
}
