// What the model asks of others: explanations and stored records of the shards, what-if runs over recorded
// directories, the need of a Pod from its cluster.

import { err, ok, reasonEntry, type Result, type Runtime, runWithDeadline } from '@bigfleet/base';
import { isDispositions } from '@bigfleet/engine';
import type { ExplainResponse } from '@bigfleet/wire';
import type { Problem } from '../../api/index.ts';
import type { ExplainFacts, ExplainQuestion, Outside, RecordFacts } from '../../model/index.ts';
import type { ShardFollower } from './follow-shard.ts';
import { problemOf } from './network.ts';
import { clipped, msOf, needRef, recordFacts } from './translate.ts';

export interface OutsideOptions {
  readonly runtime: Runtime;
  /** Those that are followed now. */
  readonly follower: (shard: string) => ShardFollower | undefined;
  readonly signal: AbortSignal;
  readonly whatIf: Outside['whatIf'];
  readonly needOfPod: Outside['needOfPod'];
}

/** Counterfactuals try whole cycles again. */
const EXPLAIN_WITHIN_MS = 15_000;
const RECORD_WITHIN_MS = 5_000;
const MAX_EXPLAIN_TEXT = 20_000;

export function createOutside(options: OutsideOptions): Outside {
  const { whatIf, needOfPod } = options;
  return {
    explain: (question) =>
      asked(options, question.shard, EXPLAIN_WITHIN_MS, async (follower, signal) => {
        const response = await follower.query.explain(explainRequest(question), { signal });
        return ok(explainFacts(response, follower.epoch));
      }),
    record: (shard, epoch, cycle) =>
      asked(options, shard, RECORD_WITHIN_MS, (follower, signal) =>
        storedRecord(follower, { epoch, cycle }, signal),
      ),
    whatIf,
    needOfPod,
  };
}

async function asked<T>(
  { runtime, follower, signal: parent }: OutsideOptions,
  shard: string,
  ms: number,
  work: (follower: ShardFollower, signal: AbortSignal) => Promise<Result<T, Problem>>,
): Promise<Result<T, Problem>> {
  const found = follower(shard);
  if (found === undefined) {
    const message = `shard ${JSON.stringify(shard)} is not followed: name it with --shard, or a --coordinator that knows it`;
    return err({ code: 'shard_unknown', message });
  }
  try {
    return await runWithDeadline(runtime, { ms, parent }, (signal) => work(found, signal));
  } catch (error) {
    return err(problemOf(error, `shard ${shard}`));
  }
}

function explainRequest({ subject, cycle, withCounterfactuals }: ExplainQuestion) {
  const named =
    'machine' in subject
      ? ({ case: 'machineId', value: subject.machine } as const)
      : ({
          case: 'need',
          value: {
            clusterId: subject.need.cluster,
            profileFingerprint: subject.need.fingerprint,
            group: subject.need.group,
          },
        } as const);
  return { subject: named, cycle: BigInt(cycle), counterfactuals: withCounterfactuals };
}

function explainFacts(response: ExplainResponse, epoch: bigint): ExplainFacts {
  const { candidates, displacements, counterfactuals, reasonCode } = response;
  return {
    epoch: String(epoch),
    cycle: Number(response.cycle),
    atMs: msOf(response.atUnixNanos),
    kind: reasonCode === '' ? 'not_mentioned' : 'explained',
    reason: reasonCode,
    text: response.text.slice(0, MAX_EXPLAIN_TEXT),
    candidates: candidates.map((candidate) => ({
      machine: clipped(candidate.machineId),
      description: '',
      rank: Math.max(0, candidate.rank),
      isChosen: candidate.chosen,
      dollarsPerHour: finiteOr(candidate.pricePerHour, 0),
      interruptionProbability: finiteOr(candidate.interruptionProbability, 0),
      interruptionPenalty: finiteOr(candidate.interruptionPenalty, null),
      effectiveCost: finiteOr(candidate.effectiveCost, null),
      reason: candidate.reasonCode,
      reasonText: meaningOf('candidate', candidate.reasonCode),
      machines: Math.max(0, candidate.machineCount),
      // What Phase 2 compared is told in the text only.
      victim: null,
    })),
    displacements: displacements.map(({ need, machineId, priority, reasonCode: reason }) => ({
      need: need === undefined ? { cluster: '', fingerprint: '', group: '' } : needRef(need),
      machine: clipped(machineId),
      priority,
      reason,
      reasonText: meaningOf('candidate', reason) || meaningOf('action', reason),
    })),
    counterfactuals: counterfactuals.map(
      ({ reasonCode: reason, text, dollarsPerHour, verified }) => ({
        reason,
        text: clipped(text),
        dollarsPerHour: finiteOr(dollarsPerHour, 0),
        isVerified: verified,
      }),
    ),
    isTruncated: response.truncated,
  };
}

function meaningOf(set: 'candidate' | 'action', code: string): string {
  return reasonEntry(set, code)?.meaning ?? '';
}

/** Infinity, which a pinned need puts on risky machines, is no JSON. */
function finiteOr<T>(value: number, otherwise: T): number | T {
  return Number.isFinite(value) ? value : otherwise;
}

interface RecordName {
  readonly epoch: bigint;
  readonly cycle: number;
}

async function storedRecord(
  { query }: ShardFollower,
  { epoch, cycle }: RecordName,
  signal: AbortSignal,
): Promise<Result<RecordFacts, Problem>> {
  const range = { fromCycle: BigInt(cycle), toCycle: BigInt(cycle) };
  for await (const frame of query.listRecords(range, { signal })) {
    // Cycles begin anew with every epoch, and what became of the actions is a record of its own.
    if (frame.shardEpoch !== epoch || isDispositions(frame.payload)) continue;
    return ok(recordFacts(frame));
  }
  const message = `the shard keeps no record of cycle ${cycle} of epoch ${epoch}`;
  return err({ code: 'record_not_found', message });
}
