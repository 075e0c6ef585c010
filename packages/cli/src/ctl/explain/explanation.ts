// An explanation: asked of the shards that know a subject, and as people read it, with what was decided
// and why, the candidates with their dollars, who took what, and what would have helped.

import { BigFleetError } from '@bigfleet/base';
import type { ExplainResponse } from '@bigfleet/wire';
import type { Links } from '../connect/links.ts';
import { shardLabel, type ShardTarget } from '../connect/shards.ts';
import type { Subject } from '../kinds/kind.ts';
import type { Style } from '../output/style.ts';
import { type Column, type TableForm, tableLines } from '../output/table.ts';
import { cleanText, dollarsText, utcTime } from '../output/text.ts';

export interface ExplainAsk {
  readonly subject: Subject;
  readonly cycle: bigint;
  readonly counterfactuals: boolean;
}

export interface Explained {
  readonly shard: string;
  readonly response: ExplainResponse;
}

/**
 * The newest answer counts: both shards of a machine that moved have decided upon it. Undefined when no
 * shard has a record that mentions the subject.
 */
export async function askExplanation(
  links: Links,
  shards: readonly ShardTarget[],
  ask: ExplainAsk,
) {
  const asked = await links.shards.askAll(shards, 'explain', async (api, call) => {
    try {
      return await api.query.explain(ask, call);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
  const found = asked.answers.flatMap(({ shard, value }) =>
    value === undefined ? [] : [{ shard: shardLabel(shard), response: value }],
  );
  return { newest: found.sort(newestFirst)[0], problems: asked.problems };
}

function newestFirst(a: Explained, b: Explained): number {
  return a.response.atUnixNanos < b.response.atUnixNanos ? 1 : -1;
}

/** The shard answers that it keeps nothing about the subject. */
function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('record_not_found:');
}

export function nothingRecorded(what: string, problems: readonly string[]): BigFleetError {
  const unasked = problems.length === 0 ? '' : ` (not asked: ${problems.join('; ')})`;
  return new BigFleetError('record_not_found', `no record that is kept mentions ${what}${unasked}`);
}

type Candidate = ExplainResponse['candidates'][number];
type Displacement = ExplainResponse['displacements'][number];

const PER_CENT = 100;

const candidateColumns: readonly Column<Candidate>[] = [
  { title: 'RANK', of: ({ rank }) => String(rank) },
  { title: 'CANDIDATE', of: ({ machineId }) => machineId },
  { title: 'COUNT', of: ({ machineCount }) => String(machineCount) },
  { title: '$/H', of: ({ pricePerHour }) => dollarsText(pricePerHour) },
  {
    title: 'INTERRUPTED',
    of: ({ interruptionProbability }) => `${(interruptionProbability * PER_CENT).toFixed(1)}%/h`,
    isWide: true,
  },
  {
    title: 'PENALTY',
    of: ({ interruptionPenalty }) => dollarsText(interruptionPenalty),
    isWide: true,
  },
  { title: 'COST', of: ({ effectiveCost }) => dollarsText(effectiveCost) },
  {
    title: 'REASON',
    of: ({ reasonCode }) => reasonCode,
    tone: ({ chosen }) => (chosen ? 'good' : undefined),
  },
];

const displacementColumns: readonly Column<Displacement>[] = [
  { title: 'MACHINE', of: ({ machineId }) => machineId },
  { title: 'TAKEN_BY', of: ({ need }) => need?.clusterId ?? '' },
  { title: 'PRIORITY', of: ({ priority }) => String(priority) },
  { title: 'REASON', of: ({ reasonCode }) => reasonCode },
  { title: 'NEED', of: ({ need }) => need?.profileFingerprint ?? '', isWide: true },
];

export function explainLines(
  { shard, response }: Explained,
  form: TableForm,
  style: Style,
): readonly string[] {
  const { candidates, displacements, counterfactuals, truncated, reasonCode } = response;
  const code = reasonCode === '' ? '' : ` ${style.paint(reasonCode, 'strong')}`;
  const at = utcTime(response.atUnixNanos) ?? '';
  return [
    `${shard} cycle ${response.cycle} ${at}${code}`,
    cleanText(response.text),
    ...section(tableLines(candidateColumns, candidates, { form, style }), candidates),
    ...section(tableLines(displacementColumns, displacements, { form, style }), displacements),
    ...section(['What would have helped:', ...counterfactuals.map(helpText)], counterfactuals),
    ...(truncated ? ['', 'There was more than is shown.'] : []),
  ];
}

function section(lines: readonly string[], rows: readonly unknown[]): readonly string[] {
  return rows.length === 0 ? [] : ['', ...lines];
}

function helpText(change: ExplainResponse['counterfactuals'][number]): string {
  const { text, dollarsPerHour, verified } = change;
  const tried = verified ? 'tried' : 'not tried';
  return `  ${cleanText(text)} (${dollarsText(dollarsPerHour)}/h, ${tried})`;
}

export function explainDocument({ shard, response }: Explained): object {
  const { cycle, atUnixNanos, reasonCode, text, truncated } = response;
  return {
    shard,
    cycle,
    at: utcTime(atUnixNanos) ?? null,
    reasonCode,
    text,
    candidates: response.candidates.map((candidate) => ({
      machine: candidate.machineId,
      rank: candidate.rank,
      chosen: candidate.chosen,
      machineCount: candidate.machineCount,
      dollarsPerHour: candidate.pricePerHour,
      interruptionProbability: candidate.interruptionProbability,
      interruptionPenaltyDollars: candidate.interruptionPenalty,
      effectiveCostDollars: candidate.effectiveCost,
      reasonCode: candidate.reasonCode,
    })),
    displacements: response.displacements.map((displacement) => ({
      machine: displacement.machineId,
      cluster: displacement.need?.clusterId ?? '',
      fingerprint: displacement.need?.profileFingerprint ?? '',
      group: displacement.need?.group ?? '',
      priority: displacement.priority,
      reasonCode: displacement.reasonCode,
    })),
    counterfactuals: response.counterfactuals.map((change) => ({
      reasonCode: change.reasonCode,
      text: change.text,
      dollarsPerHour: change.dollarsPerHour,
      verified: change.verified,
    })),
    truncated,
  };
}
