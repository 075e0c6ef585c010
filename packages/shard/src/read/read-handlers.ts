// The two read services as handlers. Wiring of requests to what answers them; every rule is in the
// module that it calls. Roles are the gate's business.

import type { Runtime } from '@bigfleet/base';
import {
  decode,
  type Handlers,
  rawStream,
  type ShardQuery,
  type ShardRead,
  WatchRequestSchema,
} from '@bigfleet/wire';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { SessionSummary } from '../operators/operators.ts';
import { explainQuestion, explainResponse } from './explain-response.ts';
import { watch } from './feed/watch.ts';
import { inspectNeeds } from './inspect-needs.ts';
import { listBrakes, type ListBrakesOptions } from './list-brakes.ts';
import { listMachines } from './list-machines.ts';
import { listRecords } from './list-records.ts';
import { listSessions } from './list-sessions.ts';
import { listShortfalls } from './list-shortfalls.ts';
import { ReaderSlots } from './requests.ts';
import type { RecordsReader } from './records-reader.ts';
import type { ShardReading } from './shard-reading.ts';
import { dollarsPerHour, machinesByState, type ShardStatusInit } from './shard-status.ts';
import { recordFrameInits } from './wire-init.ts';

const MAX_RECORD_READERS = 32;
const MAX_EXPLANATIONS = 4;

/** The parts of a status that reading does not know by itself. */
export type StatusFacts = Pick<
  ShardStatusInit,
  | 'coordinatorTerm'
  | 'ready'
  | 'actuation'
  | 'providers'
  | 'sessions'
  | 'version'
  | 'assignmentRevision'
>;

export interface ReadHandlersOptions {
  readonly runtime: Runtime;
  readonly shardId: string;
  readonly epoch: bigint;
  readonly startedUnixNanos: bigint;
  readonly host: Pick<EngineHost, 'verdicts'>;
  readonly fleet: Fleet;
  readonly brake: ListBrakesOptions['brake'];
  readonly reading: ShardReading;
  readonly records: RecordsReader;
  readonly status: () => StatusFacts;
  readonly sessions: () => Iterable<SessionSummary>;
  /** Machines bound to a cluster. */
  readonly machineCount: (cluster: string) => number;
}

export function shardReadHandlers(options: ReadHandlersOptions): Handlers<typeof ShardRead> {
  const { host, reading, runtime } = options;
  const sources = {
    verdicts: (query: Parameters<EngineHost['verdicts']>[0]) => host.verdicts(query),
    times: reading.cycles,
    timers: runtime.timers,
  };
  return { inspectNeeds: (request) => inspectNeeds(sources, request) };
}

export function shardQueryHandlers(options: ReadHandlersOptions): Handlers<typeof ShardQuery> {
  const { runtime, fleet, reading, epoch, records, brake } = options;
  const { clock, timers } = runtime;
  const { views, feed, tail, cycles: times } = reading;
  const cycle = (): bigint => BigInt(times.newestCycle);
  const recordSlots = new ReaderSlots(MAX_RECORD_READERS, 'records');
  const explainSlots = new ReaderSlots(MAX_EXPLANATIONS, 'explanations');
  return {
    getShardStatus: () => shardStatus(options),
    listMachines: (request) => listMachines({ fleet, views, timers, cycle }, request),
    listShortfalls: (request) =>
      listShortfalls({ shortfalls: () => reading.shortfalls, times, timers }, request),
    listSessions: () => listSessions({ ...options, timers }),
    watch: rawStream(async function* (requests, { signal }) {
      for await (const bytes of requests) {
        const request = decode(WatchRequestSchema, bytes, 'INVALID_ARGUMENT');
        yield* watch({ ...options, feed, views }, request, signal);
      }
    }),
    listRecords: async function* (request, { signal }) {
      const sources = { epoch, reader: records, tail, slots: recordSlots };
      for await (const record of listRecords(sources, request, signal)) {
        yield* recordFrameInits(record);
      }
    },
    explain: async (request, { signal }) => {
      const question = explainQuestion(request);
      using _slot = explainSlots.take();
      return explainResponse(await records.explain(question, signal));
    },
    listBrakes: () => listBrakes({ brake, clock, timers }),
  };
}

async function shardStatus(options: ReadHandlersOptions): Promise<ShardStatusInit> {
  const { shardId, epoch, startedUnixNanos, reading, fleet, status, records } = options;
  const { cycles } = reading;
  return {
    shardId,
    shardEpoch: epoch,
    cycle: BigInt(cycles.newestCycle),
    lastCycleUnixNanos: cycles.newestUnixNanos,
    startedUnixNanos,
    needRows: reading.needRowCount,
    shortfalls: reading.shortfalls.size,
    machinesByState: machinesByState(fleet),
    dollarsPerHour: dollarsPerHour(fleet),
    recordsOldestCycle: await records.oldestCycle(),
    ...status(),
  };
}
