// `bigfleet records`: what was decided, one line per cycle.

import { describeRecordLine, type RecordQuery, recordLines } from '@bigfleet/shard';
import { type Command, EXIT } from '../command.ts';
import { bigNumber, text, wholeNumber } from '../flags/forms.ts';
import { directoryCommand } from './directory-command.ts';
import { directoryFlags, jsonLine } from './directory-flags.ts';

const flags = {
  ...directoryFlags,
  'from-cycle': bigNumber(0n, 'First cycle; 0 is the oldest that is kept.'),
  'to-cycle': bigNumber(0n, 'Last cycle; 0 is the newest.'),
  machine: text('', 'Only records that mention this machine.', '<id>'),
  limit: wholeNumber(0, 'At most so many lines; 0 is all.'),
} as const;

export const recordsCommand: Command = directoryCommand({
  name: 'records',
  summary: 'what a shard decided, one line per cycle, from its records directory',
  flags,
  run: async (files, values, { port }) => {
    const query: RecordQuery = {
      ...(values['from-cycle'] === 0n ? {} : { fromCycle: values['from-cycle'] }),
      ...(values['to-cycle'] === 0n ? {} : { toCycle: values['to-cycle'] }),
      ...(values.machine === '' ? {} : { subject: { machineId: values.machine } }),
      ...(values.limit === 0 ? {} : { limit: values.limit }),
      onDamage: (segment, unreadBytes) =>
        port.writeError(`bigfleet records: ${segment}: ${unreadBytes} bytes cannot be read\n`),
    };
    let count = 0;
    for await (const line of recordLines(files, query)) {
      count += 1;
      port.writeOutput(values.output === 'json' ? jsonLine(line) : `${describeRecordLine(line)}\n`);
    }
    if (count === 0) port.writeError('bigfleet records: no record matches\n');
    return EXIT.ok;
  },
});
