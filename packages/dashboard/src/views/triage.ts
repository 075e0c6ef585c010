// Shortfall triage: is it serious, whose is it, what do I do? The verdict first, then the tree with its
// counts, then the rows by priority and age.

import { reasonEntry } from '@bigfleet/base';
import type { Answer, Params } from '../api/index.ts';
import type { World } from '../mirror/world.ts';
import { TIER_NAMES } from '../words.ts';
import { brakesOf } from './brakes.ts';
import { frameOf, type ViewContext } from './context.ts';
import { compareNeeds } from './needs.ts';
import { phantomsOf } from './phantoms.ts';
import { type NeedAt, needRows } from './rows.ts';
import { Top } from './select.ts';
import { type Branch, branchOf, TREE } from './triage-tree.ts';

export function triageView(
  world: World,
  params: Params<'triage'>,
  context: ViewContext,
): Answer<'triage'> {
  const top = new Top<NeedAt>(params.limit, compareNeeds);
  const counts = new Map<Branch, number>();
  const tiers = new Map(TIER_NAMES.map((tier) => [tier, new TierCount()]));
  for (const shard of world.shards) {
    if (params.shard !== '' && shard.mirror.name !== params.shard) continue;
    for (const entry of shard.needs.entries.values()) {
      const { facts, tier } = entry;
      if (facts.isSatisfied) continue;
      if (params.cluster !== '' && facts.cluster !== params.cluster) continue;
      const branch = branchOf(facts, tier);
      counts.set(branch, (counts.get(branch) ?? 0) + 1);
      if (branch !== 'draining') tiers.get(tier)?.add(entry);
      top.offer({ shard, entry });
    }
  }
  const shown = top.sorted();
  const rows = needRows(world, context, shown);
  const byTier = TIER_NAMES.map((tier) => ({
    tier,
    ...(tiers.get(tier) ?? new TierCount()).told(),
  }));
  const serious = byTier.filter(({ tier }) => tier !== 'batch');
  const phantoms = phantomsOf(world, params, context);
  counts.set('phantom-capacity', phantoms.count);
  return {
    frame: frameOf(world, context),
    isSerious: serious.some((tier) => tier.rows > 0),
    verdict: verdictOf(byTier, phantoms, world.atMs),
    total: top.total,
    byTier,
    tree: TREE.map((branch) => ({ ...branch, rows: counts.get(branch.branch) ?? 0 })),
    rows: rows.flatMap((need, place) => {
      const at = shown[place];
      return at === undefined ? [] : [triageRow(need, at)];
    }),
    brakes: brakesOf(world),
    phantoms,
  };
}

function triageRow(
  need: Answer<'triage'>['rows'][number]['need'],
  { entry: { facts, tier } }: NeedAt,
): Answer<'triage'>['rows'][number] {
  const branch = branchOf(facts, tier);
  const text = TREE.find((entry) => entry.branch === branch);
  return {
    need,
    branch,
    branchText: text?.meaning ?? '',
    action: reasonEntry('unmet', facts.reason)?.action ?? text?.action ?? '',
    matching: { ...facts.matching },
    awaitingDrain: facts.awaitingDrain,
    isDemoted: tier === 'batch',
    isEscalated: facts.isEscalated,
  };
}

class TierCount {
  readonly #clusters = new Set<string>();
  #rows = 0;
  #oldestMs: number | null = null;

  add({ facts, unmetSinceMs }: NeedAt['entry']): void {
    this.#rows += 1;
    this.#clusters.add(facts.cluster);
    if (unmetSinceMs === undefined) return;
    this.#oldestMs = Math.min(this.#oldestMs ?? unmetSinceMs, unmetSinceMs);
  }

  told(): { rows: number; clusters: number; oldestMs: number | null } {
    return { rows: this.#rows, clusters: this.#clusters.size, oldestMs: this.#oldestMs };
  }
}

type Triage = Answer<'triage'>;

function verdictOf(
  byTier: Triage['byTier'],
  { count, clusters }: Triage['phantoms'],
  atMs: number,
): string {
  const serious = byTier.filter(({ tier, rows }) => tier !== 'batch' && rows > 0);
  const phantoms = `${plural(count, 'machine')} in ${plural(clusters, 'cluster')}`;
  if (serious.length === 0) {
    const isBatchShort = byTier.some(({ rows }) => rows > 0);
    if (count > 0) {
      const short = isBatchShort ? 'only batch work is short' : 'nothing is short';
      return `Phantom capacity: ${short}, and ${phantoms} count as ready while their nodes are not. Pods may wait for them.`;
    }
    return isBatchShort ? 'Only batch work is short: working as designed.' : 'Nothing is short.';
  }
  const parts = serious.map(({ tier, rows, clusters }) => {
    return `${plural(rows, `${tier} need`)} in ${plural(clusters, 'cluster')}`;
  });
  const oldestMs = Math.min(...serious.map((tier) => tier.oldestMs ?? atMs));
  const also = count === 0 ? '' : ` And ${phantoms} count as ready while their nodes are not.`;
  return `Serious: ${parts.join(', ')}; the oldest for ${minutes(atMs - oldestMs)}.${also}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function minutes(ms: number): string {
  const whole = Math.floor(Math.max(0, ms) / 60_000);
  if (whole < 1) return 'less than a minute';
  return whole < 120 ? plural(whole, 'minute') : `${Math.floor(whole / 60)} hours`;
}
