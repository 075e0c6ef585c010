// `resume`: ends a pause made at run time. What a flag or the fence holds stays, and is named.

import { text, toggle } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { chosenFlags, chosenProblem } from './chosen-shards.ts';
import { setActuation } from './set-actuation.ts';

export const resumeVerb: Verb = defineVerb({
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
  does: {
    kind: 'report',
    isWatchable: false,
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
  },
});
