// `pause`: the kill switch. Shards decide and report on, and execute nothing. Works without a
// coordinator, by --shard-addr.

import { text, toggle } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { setActuation } from './set-actuation.ts';
import { chosenFlags, chosenProblem } from './chosen-shards.ts';

export const pauseVerb: Verb = defineVerb({
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
  does: {
    kind: 'report',
    isWatchable: false,
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
  },
});
