// `set-quota`: replaces the slices of one provider and region, or deletes them all. What is written is
// the whole row: a shard without a slice is not bounded, so leaving one out by mistake opens it.

import { err, ok } from '@bigfleet/base';
import { type Flag, text, toggle } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import { textReport } from '../output/report.ts';

interface Slice {
  readonly shard: string;
  readonly count: number;
}

const MAX_SLICE = 2_147_483_647;

const slices: Flag<Slice> & { readonly isRepeatable: true } = {
  fallback: '',
  help: 'so many machines for this shard; one without a slice is not bounded',
  form: '<shard>=<n>',
  isRepeatable: true,
  parse: (given) => {
    const [, shard = '', digits = ''] = /^([^=]+)=(\d{1,10})$/.exec(given) ?? [];
    const count = Number(digits);
    return shard === '' || count > MAX_SLICE
      ? err('write for example shard-0=100')
      : ok({ shard, count });
  },
};

export const setQuotaVerb = defineVerb({
  name: 'set-quota',
  group: 'Act on the fleet',
  summary: 'set how many elastic machines of a provider each shard may hold',
  details: [
    'The slices replace the whole row: a shard that is not named has no slice any more and is not',
    'bounded by this quota; give it 0 to let it have none. A slice below what is in use reclaims',
    'nothing; it only stops new machines. --clear deletes the row: no shard is bounded, and the',
    'provider can be deregistered.',
  ],
  flags: {
    provider: text('', 'name in the provider registry', '<name>'),
    region: text('', 'its region', '<region>'),
    slice: slices,
    clear: toggle(false, 'delete the row instead; no shard is bounded then'),
  },
  required: ['provider', 'region'],
  examples: [
    'set-quota --provider=aws-eu-west-1 --region=eu-west-1 --slice=shard-0=300 --slice=shard-1=200',
    'set-quota --provider=aws-eu-west-1 --region=eu-west-1 --clear',
  ],
  problem: ({ slice, clear }) => {
    if (clear && slice.length > 0) return '--clear deletes the row: it excludes --slice';
    if (!clear && slice.length === 0) return 'give --slice, or --clear to delete the row';
    const names = slice.map(({ shard }) => shard);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    return twice === undefined ? undefined : `--slice names ${twice} twice`;
  },
  report: async ({ links, values: { provider, region, slice } }) => {
    const perShard = Object.fromEntries(slice.map(({ shard, count }) => [shard, count]));
    await links.coordinator.ask('set quota', (api, call) =>
      api.admin.setQuota({ provider, region, perShard }, call),
    );
    const list = slice.map(({ shard, count }) => `${shard}=${count}`).join(' ');
    // Without slices the request is the deletion (coordinator §2.4).
    const line =
      slice.length === 0
        ? `cleared quota ${provider}/${region}`
        : `set quota ${provider}/${region}: ${list}`;
    return textReport([line], { provider, region, perShard });
  },
});
