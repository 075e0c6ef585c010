// The two read services as handlers. Wiring of requests to what answers them; every rule is in the
// module that it calls. Roles are the gate's business.

import {
  decode,
  type Handlers,
  rawStream,
  type ShardQuery,
  type ShardRead,
  WatchRequestSchema,
} from '@bigfleet/wire';
import { explainQuestion, explainResponse } from './explain-response.ts';
import { watch } from './watch.ts';
import { inspectNeeds } from './inspect-needs.ts';
import { listBrakes } from './list-brakes.ts';
import { listMachines } from './list-machines.ts';
import { listRecords } from './list-records.ts';
import { listSessions } from './list-sessions.ts';
import { listShortfalls } from './list-shortfalls.ts';
import { ReaderSlots } from './requests.ts';
import type { ReadSources } from './read-sources.ts';
import { dollarsPerHour, machinesByState, type ShardStatusInit } from './shard-status.ts';
import { recordFrameInits } from './wire-init.ts';

const MAX_RECORD_READERS = 32;
const MAX_EXPLANATIONS = 4;

export function shardReadHandlers(sources: ReadSources): Handlers<typeof ShardRead> {
  const { host, reading, runtime } = sources;
  const needs = { host, times: reading.cycles, timers: runtime.timers };
  return { inspectNeeds: (request) => inspectNeeds(needs, request) };
}

export function shardQueryHandlers(sources: ReadSources): Handlers<typeof ShardQuery> {
  const { records } = sources;
  const recordSlots = new ReaderSlots(MAX_RECORD_READERS, 'records');
  const explainSlots = new ReaderSlots(MAX_EXPLANATIONS, 'explanations');
  return {
    getShardStatus: () => shardStatus(sources),
    listMachines: (request) => listMachines(sources, request),
    listShortfalls: (request) => listShortfalls(sources, request),
    listSessions: () => listSessions(sources),
    watch: rawStream(async function* (requests, { signal }) {
      for await (const bytes of requests) {
        const request = decode(WatchRequestSchema, bytes, 'INVALID_ARGUMENT');
        yield* watch(sources, request, signal);
      }
    }),
    listRecords: async function* (request, { signal }) {
      using _slot = recordSlots.take();
      for await (const record of listRecords(sources, request, signal)) {
        yield* recordFrameInits(record);
      }
    },
    explain: async (request, { signal }) => {
      const question = explainQuestion(request);
      using _slot = explainSlots.take();
      return explainResponse(await records.explain(question, signal));
    },
    listBrakes: () => listBrakes(sources),
  };
}

async function shardStatus(sources: ReadSources): Promise<ShardStatusInit> {
  const { shardId, epoch, startedUnixNanos, reading, fleet, status, records } = sources;
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
