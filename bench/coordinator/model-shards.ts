// Shards as the leader sees them: each sends the bytes of a report and keeps of the answer what the
// next report must repeat (revision, providers). Decoding and encoding are counted, as in a server;
// the network is not.

import type { ReportDesk } from '@bigfleet/coordinator';
import {
  decode,
  encode,
  encodeInit,
  PenaltyBucket,
  ReportAckSchema,
  type ReportAck,
  ShardReportSchema,
} from '@bigfleet/wire';
import { CLUSTERS_PER_SHARD, SHARDS, clusterId, providerOf, shardId } from './fleet.ts';

const ROWS = 20;
const MAX_ROUNDS = 20;
/** One above the gate of the rebalancer, and one far below it. */
export const RIPE_AGE = 6;
const YOUNG_AGE = 1;
const IDLE = 40;
const TOTAL = 2_500;

export interface RoundOptions {
  readonly rows?: number;
  readonly age?: number;
}

export class ModelShards {
  readonly #desk: ReportDesk;
  readonly #revisions: bigint[] = Array.from({ length: SHARDS }, () => 0n);
  readonly #dialling: boolean[] = Array.from({ length: SHARDS }, () => false);
  #cycle = 0n;
  answerBytes = 0;

  constructor(desk: ReportDesk) {
    this.#desk = desk;
  }

  /** Rounds until no answer brings anything new; the gates of new domains need several. */
  async settle(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if ((await this.round()) === 0) return;
    }
    throw new Error(`assignments did not settle in ${MAX_ROUNDS} rounds`);
  }

  /** One report of every shard, one after another; how many answers carried an assignment. */
  async round(options: RoundOptions = {}): Promise<number> {
    let assigned = 0;
    for (let shard = 0; shard < SHARDS; shard++) {
      if ((await this.report(shard, options)).assignment !== undefined) assigned++;
    }
    return assigned;
  }

  async report(shard: number, options: RoundOptions = {}): Promise<ReportAck> {
    const bytes = this.#encode(shard, options);
    const outcome = await this.#desk.handler.handle(decode(ShardReportSchema, bytes, 'INTERNAL'));
    if (outcome.kind !== 'ack') throw new Error(`a report was ${outcome.status}`);
    const { ack } = outcome;
    if (!ack.acknowledged) throw new Error('a report was not acknowledged');
    this.answerBytes = encode(ReportAckSchema, ack).length;
    const { assignment } = ack;
    if (assignment !== undefined) {
      this.#revisions[shard] = assignment.revision;
      this.#dialling[shard] = assignment.providers.length > 0;
    }
    return ack;
  }

  #encode(shard: number, { rows = ROWS, age = YOUNG_AGE }: RoundOptions): Uint8Array {
    this.#cycle += 1n;
    const provider = {
      ...providerOf(shard),
      totalMachines: TOTAL,
      idleMachines: IDLE,
      freeMachines: IDLE,
      shared: true,
      source: 'registry',
    };
    return encodeInit(ShardReportSchema, {
      shardId: shardId(shard),
      shardAddress: `${shardId(shard)}.bench:7780`,
      cycle: this.#cycle,
      shardEpoch: 1n,
      assignmentRevision: this.#revisions[shard] ?? 0n,
      clusterIds: Array.from({ length: CLUSTERS_PER_SHARD }, (_, at) => clusterId(shard, at)),
      summary: {
        totalMachines: TOTAL,
        freeMachines: IDLE,
        idleMachines: IDLE,
        perInstanceTypeCounts: counts('type', 50),
        perZoneCounts: counts('zone', 6),
        providers: this.#dialling[shard] === true ? [provider] : [],
      },
      shortfalls: Array.from({ length: rows }, (_, at) => shortfall(at, age)),
    });
  }
}

function counts(prefix: string, count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}-${at}`, at + 1]));
}

function shortfall(at: number, ageCycles: number) {
  return {
    requirements: [],
    deficit: { resources: { cpu: '40' } },
    minUnit: { resources: { cpu: '4' } },
    priority: 1_000 - at,
    ageCycles,
    interruptionPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_1,
    profileFingerprint: `profile-${at}`,
    reasonCode: 'no_matching_supply',
  };
}
