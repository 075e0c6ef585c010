// What the read services answer from: the parts of a running shard.

import type { Runtime } from '@bigfleet/base';
import type { ConfigureBrake } from '@bigfleet/engine';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { SessionSummary } from '../operators/operators.ts';
import type { RecordsReader } from './records-reader.ts';
import type { ShardReading } from './shard-reading.ts';
import type { ShardStatusInit } from './shard-status.ts';

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
  | 'phases'
>;

export interface ReadSources {
  readonly runtime: Runtime;
  readonly shardId: string;
  readonly epoch: bigint;
  readonly startedUnixNanos: bigint;
  readonly host: Pick<EngineHost, 'verdicts'>;
  readonly fleet: Fleet;
  /** Undefined when the rail is off. */
  readonly brake: ConfigureBrake | undefined;
  readonly reading: ShardReading;
  readonly records: RecordsReader;
  readonly status: () => StatusFacts;
  readonly sessions: () => Iterable<SessionSummary>;
}
