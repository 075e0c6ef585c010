// Verbs that bound what shards may do: the kill switch, its end, and the rails (decision 18). All of
// them work without a coordinator, by --shard-addr.

import type { SetActuationRequest } from '@bigfleet/wire';
import { decimal, text, toggle, wholeNumber } from '@bigfleet/process/flags';
import type { Links } from '../connect/links.ts';
import { exitCodeOf, shardLabel } from '../connect/shards.ts';
import { defineVerb } from '../frame/define-verb.ts';
import {
  chosenFlags,
  chosenProblem,
  type ShardChoice,
  shardFlagsProblem,
  shardSelection,
} from '../frame/flags.ts';
import { type ActuationRow, actuationRow } from '../kinds/shards.ts';
import { CTL_EXIT, type Report, tableReport, textReport } from '../output/report.ts';
import type { Column } from '../output/table.ts';

type ActuationChange = Partial<Omit<SetActuationRequest, '$typeName' | '$unknown'>>;

interface Said {
  readonly line: string;
  /** The shard is now as it was asked to be. */
  readonly isDone: boolean;
}

/**
 * Changes the actuation of several shards and says for each what holds now. One that cannot be reached
 * is reported, and the others are changed all the same.
 */
async function setActuation(
  links: Links,
  choice: ShardChoice,
  change: ActuationChange,
  say: (shard: string, state: ActuationRow) => Said,
): Promise<Report> {
  const shards = await links.shards.find(shardSelection(choice));
  const asked = await links.shards.askAll(shards, 'set actuation', (api, call) =>
    api.admin.setActuation(change, call),
  );
  const states = asked.answers.map(({ shard, value }) => ({
    shard: shardLabel(shard),
    ...actuationRow(value),
  }));
  const said = states.map((state) => say(state.shard, state));
  const isDone = said.every((each) => each.isDone);
  return textReport(
    said.map(({ line }) => line),
    states,
    { problems: asked.problems, exitCode: isDone ? exitCodeOf(asked) : CTL_EXIT.failed },
  );
}

export const pauseVerb = defineVerb({
  name: 'pause',
  group: 'Act on shards',
  summary: 'stop shards from executing anything; they go on deciding and reporting',
  details: [
    'The pause survives restarts of the shard; resume ends it. With --dry-run the shard shows what',
    'it would do instead of counting it as suppressed.',
  ],
  flags: {
    ...chosenFlags,
    reason: text('', 'for whoever finds the pause later', '<text>'),
    'dry-run': toggle(false, 'dry run instead of pause'),
  },
  required: ['reason'],
  examples: [
    "pause --shard=shard-0 --reason='INC-1234: reclaims look wrong'",
    "pause --all --reason='provider outage'",
    "pause --shard-addr=10.0.0.5:7780 --reason='coordinator is down too'",
  ],
  problem: chosenProblem,
  report: ({ links, values }) => {
    const { reason, 'dry-run': isDryRun } = values;
    const change = isDryRun ? { dryRun: true } : { paused: true };
    return setActuation(links, values, { ...change, reason }, (shard, state) =>
      isDryRun
        ? { line: `dry run on shard ${shard} (survives restarts)`, isDone: state.dryRun }
        : {
            line: `paused shard ${shard} (held by: ${state.heldBy.join(', ')}; survives restarts)`,
            isDone: state.paused,
          },
    );
  },
});

export const resumeVerb = defineVerb({
  name: 'resume',
  group: 'Act on shards',
  summary: 'end a pause; prints what still holds a shard, if anything does',
  details: [
    'A pause by --actuation-paused or after fencing ends with a restart only; the exit code is then',
    '1. A dry run is ended by resume --dry-run, never by resume alone: a shard that was started in',
    'shadow mode must not begin to act because of an incident elsewhere.',
  ],
  flags: {
    ...chosenFlags,
    reason: text('', 'why it may go on', '<text>'),
    'dry-run': toggle(false, 'end the dry run instead of the pause'),
  },
  required: ['reason'],
  examples: ["resume --shard=shard-0 --reason='INC-1234 is solved'"],
  problem: chosenProblem,
  report: ({ links, values }) => {
    const { reason, 'dry-run': isDryRun } = values;
    const change = isDryRun ? { dryRun: false } : { paused: false };
    return setActuation(links, values, { ...change, reason }, (shard, state) => {
      const isHeld = state.paused;
      const held = `shard ${shard} is still paused (held by: ${state.heldBy.join(', ')})`;
      if (isDryRun) {
        const line = `dry run ended on shard ${shard}${isHeld ? `; ${held}` : ''}`;
        return { line, isDone: !state.dryRun };
      }
      if (isHeld) return { line: held, isDone: false };
      // Asked was the end of the pause, which it is; that nothing is executed all the same must be said.
      const more = state.dryRun ? '; it is still in dry run, which resume --dry-run ends' : '';
      return { line: `resumed shard ${shard}${more}`, isDone: true };
    });
  },
});

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

export const railsVerb = defineVerb({
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
  isWatchable: true,
  report: async ({ links, values, given }) => {
    const isChange = CHANGES.some((name) => given.has(name));
    const change: ActuationChange = {
      ...(given.has('reclaim-cap-fraction') && {
        reclaimCapFraction: values['reclaim-cap-fraction'],
      }),
      ...(given.has('empty-rollup-guard') && { emptyRollupGuard: values['empty-rollup-guard'] }),
      ...(given.has('max-actions-per-cycle') && {
        maxActionsPerCycle: values['max-actions-per-cycle'],
      }),
      clear: values.clear,
      reason: values.reason,
    };
    const shards = await links.shards.find(shardSelection(values));
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
});
