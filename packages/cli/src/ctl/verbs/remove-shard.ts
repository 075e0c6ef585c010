// `remove-shard`: drops a shard and everything that is assigned to it. A shard that was heard of a
// moment ago still runs: removing it is a reset, not a shutdown, so it must be meant.

import { BigFleetError } from '@bigfleet/base';
import { text, toggle } from '../../flags/forms.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Links } from '../frame/links.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';
import { ageText } from '../output/texts.ts';
import { nowOf } from './now.ts';

const LIVE_NANOS = 60_000_000_000n;

export const removeShardVerb: Verb = defineVerb({
  name: 'remove-shard',
  group: 'Act on the fleet',
  summary: 'forget a shard with its domains, quotas and clusters',
  details: [
    'Stop the process first. One that still runs registers again with nothing assigned to it, so a',
    'shard heard of within the last minute is removed with --yes only.',
  ],
  flags: {
    shard: text('', 'the shard to forget', '<id>'),
    yes: toggle(false, 'also when it was heard of within the last minute'),
  },
  required: ['shard'],
  examples: ['remove-shard --shard=shard-7', 'remove-shard --shard=shard-7 --yes'],
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values: { shard, yes }, context }) => {
      const warning = await liveWarning(links, shard, nowOf(context));
      if (warning !== undefined && !yes) throw new BigFleetError('confirmation_missing', warning);
      await links.coordinator.ask('remove shard', (api, call) =>
        api.coordinator.removeShard({ shardId: shard, force: yes }, call),
      );
      const problems = warning === undefined ? [] : [`warning: ${warning}`];
      return textReport([`removed shard ${shard}`], { shard }, { problems, exitCode: 0 });
    },
  },
});

async function liveWarning(
  links: Links,
  shard: string,
  nowUnixNanos: bigint,
): Promise<string | undefined> {
  const { shards } = await links.coordinator.ask('list shards', (api, call) =>
    api.coordinator.listShards({}, call),
  );
  const last = shards.find(({ shardId }) => shardId === shard)?.lastHeartbeatUnixNs ?? 0n;
  if (last === 0n || nowUnixNanos - last >= LIVE_NANOS) return undefined;
  const age = ageText(last, nowUnixNanos);
  return `shard ${shard} was heard of ${age} ago: it still runs and would register again`;
}
