// Needs: who asks for what, and what is short. The short ones first, by priority.

import { compareText } from '@bigfleet/base';
import type { Answer, Params } from '../api/index.ts';
import type { World } from '../mirror/world.ts';
import { frameOf, type ViewContext } from './context.ts';
import { type NeedAt, needRows } from './rows.ts';
import { Top } from './select.ts';

export function needsView(
  world: World,
  params: Params<'needs'>,
  context: ViewContext,
): Answer<'needs'> {
  const top = new Top<NeedAt>(params.limit, compareNeeds);
  for (const shard of world.shards) {
    if (params.shard !== '' && shard.mirror.name !== params.shard) continue;
    for (const entry of shard.needs.entries.values()) {
      const { facts, tier } = entry;
      if (params.cluster !== '' && facts.cluster !== params.cluster) continue;
      if (params.tier !== '' && tier !== params.tier) continue;
      if (params.unmet === '1' && facts.isSatisfied) continue;
      if (params.q !== '' && !mentions(entry.facts, params.q)) continue;
      top.offer({ shard, entry });
    }
  }
  return {
    frame: frameOf(world, context),
    total: top.total,
    needs: [...needRows(world, context, top.sorted())],
  };
}

export function compareNeeds(
  { entry: a, shard: x }: NeedAt,
  { entry: b, shard: y }: NeedAt,
): number {
  const p = a.facts;
  const q = b.facts;
  return (
    Number(p.isSatisfied) - Number(q.isSatisfied) ||
    q.priority - p.priority ||
    (a.unmetSinceMs ?? 0) - (b.unmetSinceMs ?? 0) ||
    compareText(p.cluster, q.cluster) ||
    compareText(p.fingerprint, q.fingerprint) ||
    compareText(p.group, q.group) ||
    compareText(x.mirror.name, y.mirror.name)
  );
}

function mentions(facts: NeedAt['entry']['facts'], q: string): boolean {
  return (
    facts.fingerprint.includes(q) ||
    facts.group.includes(q) ||
    facts.cluster.includes(q) ||
    facts.reason.includes(q) ||
    facts.requirements.some((text) => text.includes(q))
  );
}
