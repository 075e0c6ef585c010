// Asks the shards that know a subject, and takes the newest answer: a machine that moved was decided
// upon by both.

import { BigFleetError } from '@bigfleet/base';
import type { ExplainResponse } from '@bigfleet/wire';
import type { ShardTarget } from '../connect/shards.ts';
import type { Links } from '../frame/links.ts';
import { shardLabel } from '../listings/from-shards.ts';
import type { NeedRef } from '../listings/need-name.ts';
import type { Explained } from './explain-report.ts';

export interface ExplainAsk {
  readonly subject:
    | { readonly case: 'machineId'; readonly value: string }
    | { readonly case: 'need'; readonly value: NeedRef };
  readonly cycle: bigint;
  readonly counterfactuals: boolean;
}

export interface Explanations {
  /** Undefined: no shard has a record that mentions it. */
  readonly newest: Explained | undefined;
  readonly problems: readonly string[];
}

export async function askExplanation(
  links: Links,
  shards: readonly ShardTarget[],
  ask: ExplainAsk,
): Promise<Explanations> {
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

function newestFirst(a: { response: ExplainResponse }, b: { response: ExplainResponse }): number {
  return a.response.atUnixNanos < b.response.atUnixNanos ? 1 : -1;
}

/** The shard answers, and keeps nothing about it. */
function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('record_not_found:');
}

export function nothingRecorded(what: string, problems: readonly string[]): BigFleetError {
  const unasked = problems.length === 0 ? '' : ` (not asked: ${problems.join('; ')})`;
  return new BigFleetError('record_not_found', `no record that is kept mentions ${what}${unasked}`);
}
