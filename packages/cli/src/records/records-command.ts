// `bigfleet records`: what was decided, one line per cycle.

import {
  describeRecordLine,
  type RecordLine,
  type RecordQuery,
  recordLines,
} from '@bigfleet/shard';
import { type Command, EXIT } from '../command.ts';
import { bigNumber, text, toggle, wholeNumber } from '@bigfleet/process/flags';
import { directoryCommand } from './directory-command.ts';
import { followRecords } from './follow-records.ts';
import { directoryFlags, offlineText } from './directory-flags.ts';

const flags = {
  ...directoryFlags,
  'from-cycle': bigNumber(0n, 'First cycle; 0 is the oldest that is kept.'),
  'to-cycle': bigNumber(0n, 'Last cycle; 0 is the newest.'),
  machine: text('', 'Only records that mention this machine.', '<id>'),
  limit: wholeNumber(0, 'At most so many lines; 0 is all.'),
  follow: { ...toggle(false, 'Go on with what is written next, until Ctrl-C.'), short: 'f' },
} as const;

export const recordsCommand: Command = directoryCommand({
  name: 'records',
  summary: 'what a shard decided, one line per cycle, from its records directory',
  flags,
  run: async (files, values, { port, runtime }) => {
    const query: RecordQuery = {
      ...(values['from-cycle'] === 0n ? {} : { fromCycle: values['from-cycle'] }),
      ...(values['to-cycle'] === 0n ? {} : { toCycle: values['to-cycle'] }),
      ...(values.machine === '' ? {} : { subject: { machineId: values.machine } }),
      ...(values.limit === 0 ? {} : { limit: values.limit }),
      onDamage: (segment, unreadBytes) =>
        port.writeError(`bigfleet records: ${segment}: ${unreadBytes} bytes cannot be read\n`),
      onUnknown: (segment, frameCount) =>
        port.writeError(
          `bigfleet records: ${segment}: ${frameCount} frames are of a kind that this build does ` +
            'not know; they were passed over\n',
        ),
    };
    let count = 0;
    const print = (line: RecordLine): void => {
      count += 1;
      port.writeOutput(offlineText(values.output, line, () => describeRecordLine(line)));
    };
    if (values.follow) {
      await followRecords({ files, query, runtime, print, stopped: port.stopSignal() });
      return EXIT.ok;
    }
    for await (const line of recordLines(files, query)) print(line);
    if (count === 0) port.writeError('bigfleet records: no record matches\n');
    return EXIT.ok;
  },
});
