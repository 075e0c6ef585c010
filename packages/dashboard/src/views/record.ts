// A record as the engine wrote it: its needs with their ranked candidates, its actions, and what became of
// them. Nothing is derived that is not in it.

import { err, ok, type Result } from '@bigfleet/base';
import {
  type CycleDispositions,
  decodeDispositions,
  decodeRecord,
  type DecisionRecord,
  explain,
  type ExplainCandidate,
  isDispositions,
  printResources,
  type RecordedNeed,
} from '@bigfleet/engine';
import type { Answer, Params, Problem } from '../api/index.ts';
import type { RecordFacts } from '../facts.ts';
import { decisionsOf, heldBackText } from '../mirror/decision-log.ts';
import type { World } from '../mirror/world.ts';
import { frameOf, type ViewContext } from './context.ts';
import { orExcluded, reasonText } from './words.ts';

const NEEDS_SHOWN = 200;
const ACTIONS_SHOWN = 500;

type RecordAnswer = Answer<'record'>;
export type Candidate = RecordAnswer['needs'][number]['candidates'][number];

export async function recordView(
  world: World,
  params: Params<'record'>,
  context: ViewContext,
): Promise<Result<RecordAnswer, Problem>> {
  const { shard, cycle } = params;
  const epoch = BigInt(params.epoch);
  const kept = context.mirror.log.recordOf(shard, epoch, cycle);
  let facts: Omit<RecordFacts, 'cycle'> | undefined = kept;
  if (facts === undefined) {
    const asked = await context.outside.record(shard, epoch, cycle);
    if (!asked.ok) return asked;
    facts = asked.value;
  }
  const { payload, atMs, actionHash } = facts;
  if (isDispositions(payload)) return err(unreadable(shard, cycle, 'no decision record'));
  const decoded = decodeRecord(payload);
  if (!decoded.ok) return err(unreadable(shard, cycle, decoded.error.message));
  const record = decoded.value;
  const fates = kept?.dispositions === undefined ? undefined : readFates(kept.dispositions);
  const actions = decisionsOf({ shard, epoch, cycle, atMs }, record, fates);
  return ok({
    frame: frameOf(world, context),
    shard,
    epoch: params.epoch,
    cycle,
    atMs,
    bytes: payload.length,
    inputDigest: record.inputDigest,
    actionHash,
    totalNeeds: record.needs.length,
    needs: firstNeeds(record).map((need) => recordedNeed(record, need)),
    totalActions: actions.length,
    actions: actions.slice(0, ACTIONS_SHOWN),
    heldBack: [...(fates?.counts ?? [])].map(([code, count]) => ({
      code,
      codeText: heldBackText(code),
      count,
    })),
  });
}

export function candidateOf(row: ExplainCandidate): Candidate {
  const { victim } = row;
  return {
    machine: row.machineId,
    description: row.description,
    rank: row.rank,
    isChosen: row.chosen,
    dollarsPerHour: row.pricePerHour,
    interruptionProbability: row.interruptionProbability,
    interruptionPenalty: orExcluded(row.interruptionPenalty),
    effectiveCost: orExcluded(row.effectiveCost),
    reason: row.reasonCode,
    reasonText: reasonText(row.reasonCode),
    machines: row.machineCount,
    victim:
      victim === undefined
        ? null
        : {
            effectivePriority: victim.effectivePriority,
            score: victim.score === undefined ? null : orExcluded(victim.score),
            interruptionPenalty: orExcluded(victim.interruptionPenalty),
            reclamationPenalty: orExcluded(victim.reclamationPenalty),
          },
  };
}

/** Short ones, then those with an action, then the rest; each in the order of the record. */
function firstNeeds({ needs }: DecisionRecord): readonly RecordedNeed[] {
  const rank = (need: RecordedNeed): number => {
    if (!need.isSatisfied) return 0;
    return need.bootstrapCount + need.provisionCount + need.victimCount > 0 ? 1 : 2;
  };
  const ranked = needs.map((need) => ({ need, rank: rank(need) }));
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, NEEDS_SHOWN)
    .map(({ need }) => need);
}

function recordedNeed(record: DecisionRecord, need: RecordedNeed): RecordAnswer['needs'][number] {
  const { cluster, fingerprint, group } = need;
  const told = explain(record, { need: { cluster, fingerprint, group } });
  return {
    cluster,
    fingerprint,
    group,
    isSatisfied: need.isSatisfied,
    isParked: need.isParked,
    reason: need.isSatisfied ? '' : need.reasonCode,
    reasonText: need.isSatisfied ? '' : reasonText(need.reasonCode),
    domain: need.domain,
    credited: need.creditedCount,
    bootstraps: need.bootstrapCount,
    provisions: need.provisionCount,
    victims: need.victimCount,
    deficit: Object.fromEntries(printResources(need.deficit)),
    candidates: told.kind === 'not_mentioned' ? [] : told.candidates.map(candidateOf),
  };
}

function readFates(bytes: Uint8Array): CycleDispositions | undefined {
  const decoded = decodeDispositions(bytes);
  return decoded.ok ? decoded.value : undefined;
}

function unreadable(shard: string, cycle: number, why: string): Problem {
  return {
    code: 'record_damaged',
    message: `the record of cycle ${cycle} of ${shard} cannot be read: ${why}`,
  };
}
