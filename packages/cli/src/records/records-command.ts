// `bigfleet records`: what was decided, one line per cycle; with --follow as a shard writes it.

import { sleep } from '@bigfleet/base';
import {
  describeRecordLine,
  type RecordLine,
  type RecordQuery,
  recordLines,
  type SegmentFiles,
} from '@bigfleet/shard';
import { bigNumber, text, toggle, wholeNumber } from '@bigfleet/process/flags';
import { type Command, type CommandContext, EXIT } from '../command.ts';
import { directoryCommand, directoryFlags, offlineText } from './directory-command.ts';

const EVERY_MS = 1_000;

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
  run: async (files, values, context) => {
    const { port } = context;
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
      await followRecords(files, query, print, context);
      return EXIT.ok;
    }
    for await (const line of recordLines(files, query)) print(line);
    if (count === 0) port.writeError('bigfleet records: no record matches\n');
    return EXIT.ok;
  },
});

/** Looks again every second, until Ctrl-C, from the record behind the last one that was printed. */
async function followRecords(
  files: SegmentFiles,
  query: RecordQuery,
  print: (line: RecordLine) => void,
  { runtime, port }: CommandContext,
): Promise<void> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  port.stopSignal().then(end, end);
  let last: RecordLine | undefined;
  while (!stop.signal.aborted) {
    for await (const line of recordLines(files, query)) {
      if (stop.signal.aborted) return;
      if (last !== undefined && !isNewer(line, last)) continue;
      print(line);
      last = line;
    }
    await sleep(runtime, EVERY_MS, stop.signal).catch(() => undefined);
  }
}

/** A shard that was restarted counts its cycles from 1 again, under a higher epoch. */
function isNewer(a: RecordLine, b: RecordLine): boolean {
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.cycle > b.cycle);
}
