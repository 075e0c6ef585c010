// `remove-shard`: drops a shard and everything that is assigned to it. A shard that was heard of a
// moment ago still runs: removing it is a reset, not a shutdown, so it must be meant. One that the
// leader has not heard at all is the leader's to judge: only it knows whether it leads for long
// enough to call that silence.

import { BigFleetError } from '@bigfleet/base';
import { text, toggle } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Links } from '../connect/links.ts';
import { textReport } from '../output/report.ts';
import { ageText } from '../output/text.ts';

const LIVE_NANOS = 60_000_000_000n;

export const removeShardVerb = defineVerb({
  name: 'remove-shard',
  group: 'Act on the fleet',
  summary: 'forget a shard with its domains, quotas and clusters',
  details: [
    'Stop the process first. One that still runs registers again with nothing assigned to it, so a',
    'shard heard of within the last minute is removed with --yes only; so is one that a leader of',
    'less than a minute has not heard yet, and one that a restored coordinator does not know but',
    'still waits for.',
  ],
  flags: {
    shard: text('', 'the shard to forget', '<id>'),
    yes: toggle(false, 'also when it may still run'),
  },
  required: ['shard'],
  examples: ['remove-shard --shard=shard-7', 'remove-shard --shard=shard-7 --yes'],
  report: async ({ links, values: { shard, yes }, context }) => {
    const { warning, isHeard } = await look(links, shard, context.runtime.clock.unixNanos());
    if (isHeard && !yes) throw new BigFleetError('confirmation_missing', warning);
    await links.coordinator.ask('remove shard', (api, call) =>
      api.coordinator.removeShard({ shardId: shard, force: yes }, call),
    );
    const problems = warning === '' || !(isHeard || yes) ? [] : [`warning: ${warning}`];
    return textReport([`removed shard ${shard}`], { shard }, { problems, exitCode: 0 });
  },
});

interface Look {
  /** Empty: it is silent for long, or not registered. */
  readonly warning: string;
  /** Within the last minute. */
  readonly isHeard: boolean;
}

async function look(links: Links, shard: string, nowUnixNanos: bigint): Promise<Look> {
  const { shards } = await links.coordinator.ask('list shards', (api, call) =>
    api.coordinator.listShards({}, call),
  );
  const last = shards.find(({ shardId }) => shardId === shard)?.lastHeartbeatUnixNs;
  if (last === 0n) {
    const warning = `shard ${shard} has not been heard of since the leader took over; if it still`;
    return { warning: `${warning} runs, it registers again`, isHeard: false };
  }
  if (last === undefined || nowUnixNanos - last >= LIVE_NANOS) {
    return { warning: '', isHeard: false };
  }
  const age = ageText(last, nowUnixNanos);
  const warning = `shard ${shard} was heard of ${age} ago: it still runs and would register again`;
  return { warning, isHeard: true };
}
