// `rails`: the limits of what a shard may do, and changing them at run time (decision 18).

import { decimal, text, toggle, wholeNumber } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { exitCodeOf } from '../listings/listing.ts';
import { shardLabel } from '../listings/from-shards.ts';
import { tableReport } from '../output/report.ts';
import type { Column } from '../output/table.ts';
import { type ActuationRow, actuationRow } from '../tables/actuation.ts';
import { chosenFlags, chosenProblem } from './chosen-shards.ts';
import type { ActuationChange } from './set-actuation.ts';
import { shardFlagsProblem } from './shard-flags.ts';

const FRACTION = { min: 0, max: 1 };

interface RailsRow extends ActuationRow {
  readonly shard: string;
}

/** A star on what was set at run time. */
function marked({ overridden }: RailsRow, name: string, value: string): string {
  return overridden.includes(name) ? `${value}*` : value;
}

const columns: readonly Column<RailsRow>[] = [
  { title: 'SHARD', of: ({ shard }) => shard },
  {
    title: 'PAUSED',
    of: ({ paused, heldBy }) => (paused ? heldBy.join(',') : 'no'),
    tone: ({ paused }) => (paused ? 'warn' : undefined),
  },
  { title: 'DRY_RUN', of: (row) => marked(row, 'dry_run', row.dryRun ? 'yes' : 'no') },
  {
    title: 'RECLAIM_CAP',
    of: (row) => marked(row, 'reclaim_cap_fraction', String(row.reclaimCapFraction)),
  },
  {
    title: 'ROLLUP_GUARD',
    of: (row) => marked(row, 'empty_rollup_guard', row.emptyRollupGuard ? 'on' : 'off'),
  },
  {
    title: 'MAX_ACTIONS',
    of: (row) =>
      marked(row, 'max_actions_per_cycle', String(row.maxActionsPerCycle || 'unlimited')),
  },
  { title: 'CHANGED', of: ({ changed }) => changed ?? '' },
  { title: 'BY', of: ({ changedBy }) => changedBy, isWide: true },
  { title: 'REASON', of: ({ reason }) => reason, isWide: true },
];

const CHANGES = ['reclaim-cap-fraction', 'empty-rollup-guard', 'max-actions-per-cycle', 'clear'];

export const railsVerb: Verb = defineVerb({
  name: 'rails',
  group: 'Act on shards',
  summary: 'show or change what bounds the actions of a shard',
  details: [
    'A star marks what was set at run time and wins over the flags of the shard; --clear drops all',
    'of it, a pause included. Without a change the current settings are shown.',
  ],
  flags: {
    ...chosenFlags,
    'reclaim-cap-fraction': decimal(0.05, "of a cluster's machines per cycle; 0 is off", FRACTION),
    'empty-rollup-guard': toggle(true, 'hold a roll-up that drops almost all demand'),
    'max-actions-per-cycle': wholeNumber(0, 'the rest waits for the next cycle; 0 is unlimited'),
    clear: toggle(false, 'drop every change that was made at run time'),
    reason: text('', 'required with any change', '<text>'),
  },
  examples: [
    'rails',
    "rails --shard=shard-0 --reclaim-cap-fraction=0.01 --reason='INC-1234'",
    "rails --shard=shard-0 --clear --reason='INC-1234 is solved'",
  ],
  problem: (values, _, given) => {
    const changes = CHANGES.filter((name) => given.has(name));
    // A change of many shards must be meant; looking at them need not be.
    if (changes.length === 0) return shardFlagsProblem(values);
    return values.reason === '' ? 'give --reason with a change' : chosenProblem(values);
  },
  does: {
    kind: 'report',
    isWatchable: true,
    report: async ({ links, values, given }) => {
      const isChange = CHANGES.some((name) => given.has(name));
      const change: ActuationChange = {
        ...(given.has('reclaim-cap-fraction')
          ? { reclaimCapFraction: values['reclaim-cap-fraction'] }
          : {}),
        ...(given.has('empty-rollup-guard')
          ? { emptyRollupGuard: values['empty-rollup-guard'] }
          : {}),
        ...(given.has('max-actions-per-cycle')
          ? { maxActionsPerCycle: values['max-actions-per-cycle'] }
          : {}),
        clear: values.clear,
        reason: values.reason,
      };
      const { shard: ids, 'shard-addr': addresses } = values;
      const shards = await links.shards.find({ ids, addresses });
      const asked = await links.shards.askAll(shards, 'rails', async (api, call) =>
        isChange
          ? api.admin.setActuation(change, call)
          : (await api.query.getShardStatus({}, call)).actuation,
      );
      const rows = asked.answers.flatMap(({ shard, value }) =>
        value === undefined ? [] : [{ shard: shardLabel(shard), ...actuationRow(value) }],
      );
      return tableReport({ columns, rows, problems: asked.problems, exitCode: exitCodeOf(asked) });
    },
  },
});
