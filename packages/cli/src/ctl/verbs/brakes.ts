// `brakes clear`: lets needs and instance types be tried again whose machines never joined, without
// waiting for their next probe (adr 0085).

import { type FlagValues, text, toggle } from '@bigfleet/process/flags';
import { exitCodeOf, type ShardApi, shardLabel, type ShardWork } from '../connect/shards.ts';
import { defineVerb } from '../frame/define-verb.ts';
import { fetchBrakes } from '../kinds/brakes.ts';
import { parseNeedName, shortNeed } from '../kinds/need-name.ts';
import { textReport } from '../output/report.ts';
import { shardFlags, shardFlagsProblem, shardSelection } from '../frame/flags.ts';

const flags = {
  ...shardFlags,
  cluster: text('', 'needs of this cluster', '<id>'),
  need: text('', 'with --cluster: only this one, as get brakes shows it', '<need>'),
  provider: text('', 'instance types of this provider', '<name>'),
  'instance-type': text('', 'with --provider: only this one', '<type>'),
  all: toggle(false, 'every need and every type'),
  reason: text('', 'for the audit log', '<text>'),
};

type Choice = FlagValues<typeof flags>;

export const brakesClearVerb = defineVerb({
  name: 'brakes clear',
  group: 'Act on shards',
  summary: 'try again at once what get brakes shows as held off',
  details: [
    'Needs whose machines never join, and instance types that fail in several clusters, are tried',
    'once per pause only. After the cause is mended this spares the wait; if it is not, all machines',
    'that are lacking are tried at once and fail, where the next probe would cost one.',
    'Without --shard every registered shard is asked.',
  ],
  flags,
  required: ['reason'],
  examples: [
    "brakes clear --cluster=prod-eu --reason='image v42 is fixed'",
    "brakes clear --provider=aws --instance-type=m6i.large --reason='quota raised'",
  ],
  problem: (values) => choiceProblem(values) ?? shardFlagsProblem(values),
  report: async ({ links, values }) => {
    const shards = await links.shards.find(shardSelection(values));
    const asked = await links.shards.askAll(shards, 'clear brakes', clearing(values));
    const cleared = asked.answers.map(({ shard, value }) => ({
      shard: shardLabel(shard),
      cleared: value,
    }));
    const lines = cleared.map(({ shard, cleared: count }) =>
      count === 0 ? `nothing to clear on shard ${shard}` : `cleared ${count} on shard ${shard}`,
    );
    const { problems } = asked;
    return textReport(lines, cleared, { problems, exitCode: exitCodeOf(asked) });
  },
});

function choiceProblem(choice: Choice): string | undefined {
  const { cluster, need, provider, 'instance-type': type, all } = choice;
  const choices = [cluster !== '', provider !== '', all].filter(Boolean);
  if (need !== '' && cluster === '') return 'give --cluster with --need';
  if (type !== '' && provider === '') return 'give --provider with --instance-type';
  if (choices.length !== 1) return 'give one of --cluster, --provider and --all';
  if (need === '') return undefined;
  const name = parseNeedName(`${cluster}/${need}`);
  return name.ok ? undefined : '--need takes a need as get brakes shows it, or its fingerprint';
}

function clearing(choice: Choice): ShardWork<number> {
  const { cluster, need, provider, 'instance-type': instanceType, all, reason } = choice;
  return async (api, call) => {
    if (need === '') {
      const request = { clusterId: cluster, provider, instanceType, all, reason };
      return (await api.admin.clearBrakes(request, call)).cleared;
    }
    let count = 0;
    for (const profileFingerprint of await fingerprintsOf(api, call, choice)) {
      const request = { clusterId: cluster, profileFingerprint, reason };
      count += (await api.admin.clearBrakes(request, call)).cleared;
    }
    return count;
  };
}

/** Of a short form the shard knows nothing: it is looked up in what the shard lists. */
async function fingerprintsOf(
  api: ShardApi,
  call: Parameters<ShardWork<number>>[1],
  { cluster, need }: Choice,
): Promise<readonly string[]> {
  const name = parseNeedName(`${cluster}/${need}`);
  if (name.ok && name.value.kind === 'exact') return [need];
  const { needs } = await fetchBrakes(api, call);
  return needs
    .filter(({ clusterId }) => clusterId === cluster)
    .map(({ profileFingerprint }) => profileFingerprint)
    .filter((fingerprint) => shortNeed(fingerprint, '') === need);
}
