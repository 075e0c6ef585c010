// `bigfleet what-if`: what a fleet would have cost, moved and missed over recorded demand, had something been
// otherwise. The engine's own closed loop answers; here are flags, files, progress and exit codes. With
// --mode=decide it answers the narrower question of what each recorded cycle would have decided.

import { isatty } from 'node:tty';
import { deployedRails, describeWhatIf, parseChange, whatIf } from '@bigfleet/engine';
import type { Change, RecordedTrace, WhatIfProgress } from '@bigfleet/engine';
import { nodeProcess } from '@bigfleet/process';
import { decimal, duration, type Flag, oneOf, text } from '@bigfleet/process/flags';
import type { SegmentFiles } from '@bigfleet/shard';
import { type Command, type CommandContext, EXIT } from '../command.ts';
import {
  directoryCommand,
  directoryFlags,
  noTraceText,
  offlineText,
  printCompared,
  traceNames,
} from '../records/directory-command.ts';
import { decideAgain, decideProblem } from './decide.ts';

const STDERR = 2;

const changeFlag: Flag<Change> & { readonly isRepeatable: true } = {
  fallback: '',
  help:
    'Assume this instead: reserved=-20%, price:spot=×1.4, interruption:spot=×2, lose-zone=z1@6h, ' +
    'clusters=+8, demand=×1.3, on-demand-hold=5m, spot-hold=0.',
  form: '<name=value>',
  isRepeatable: true,
  parse: parseChange,
};

const flags = {
  ...directoryFlags,
  set: changeFlag,
  mode: oneOf(
    'loop',
    ['loop', 'decide'],
    'Follow the own decisions over the recorded demand, or decide each recorded cycle again.',
  ),
  seed: text('1', 'Which machines and clusters a change chooses; the same seed, the same answer.'),
  'break-after': duration('5m', 'How long demand above batch must be unmet to count as broken.'),
  'reclaim-cap-fraction': decimal(
    deployedRails.reclaimCapFraction,
    "The shard's rail, which a recording does not name; 0 is off.",
    { min: 0, max: 1 },
  ),
} as const;

export const whatIfCommand: Command = directoryCommand({
  name: 'what-if',
  summary: 'what a fleet would cost, move and miss under other facts, over its recorded demand',
  flags,
  problem: ({ set, mode }) => {
    if (set.length === 0) return 'give --set at least once';
    return mode === 'decide' ? decideProblem(set) : undefined;
  },
  run: async (files, values, context, place) => {
    const { set, mode, output, seed } = values;
    const { port } = context;
    const names = await traceNames(files);
    if (names.length === 0) {
      port.writeError(noTraceText('what-if', place));
      return EXIT.failed;
    }
    if (mode === 'decide') {
      const compared = await decideAgain(files, names, set);
      if (!printCompared('what-if', output, compared, port)) return EXIT.failed;
      const hasFailed = compared.some(({ report }) => report.outcome === 'failed');
      return hasFailed ? EXIT.failed : EXIT.ok;
    }
    const progress = progressLine(port);
    const stop = new AbortController();
    port.stopSignal().then(
      () => stop.abort(),
      (error: unknown) => stop.abort(error),
    );
    try {
      const answer = await whatIf(recordedTraces(files, names), set, {
        seed,
        breakAfterMs: values['break-after'],
        rails: { ...deployedRails, reclaimCapFraction: values['reclaim-cap-fraction'] },
        signal: stop.signal,
        onProgress: progress.show,
        breathe: () => context.runtime.timers.turn(),
      });
      progress.clear();
      if (!answer.ok) {
        const { code, text: words } = answer.error;
        port.writeError(`bigfleet what-if: ${code}: ${words}\n`);
        return EXIT.failed;
      }
      port.writeOutput(offlineText(output, answer.value, () => describeWhatIf(answer.value)));
      return EXIT.ok;
    } catch (error) {
      progress.clear();
      if (!stop.signal.aborted) throw error;
      port.writeError('bigfleet what-if: stopped before it had an answer\n');
      return EXIT.failed;
    }
  },
});

/** A shard may go on writing: the second pass reads as much of a trace as the first did. */
function recordedTraces(files: SegmentFiles, names: readonly string[]): RecordedTrace[] {
  const lengths = new Map<string, number>();
  return names.map((name) => ({
    name,
    // A name begins with the epoch of its process.
    run: name.slice(0, name.indexOf('-')),
    open: async () => {
      const bytes = await files.read(name);
      const length = lengths.get(name) ?? bytes.length;
      lengths.set(name, length);
      return bytes.subarray(0, length);
    },
  }));
}

interface ProgressLine {
  readonly show: (progress: WhatIfProgress) => void;
  readonly clear: () => void;
}

/** One line that is written over, and only to a terminal: a log would be full of it. */
function progressLine(port: CommandContext['port']): ProgressLine {
  if (port !== nodeProcess || !isatty(STDERR)) return { show: () => {}, clear: () => {} };
  const overwrite = (words: string): void => port.writeError(`\r\u001B[K${words}`);
  return {
    show: ({ pass, trace, cycleCount, totalCycleCount }) =>
      overwrite(
        pass === 'measure'
          ? `measuring ${trace}: ${cycleCount} cycles`
          : `running ${trace}: ${Math.floor((100 * cycleCount) / totalCycleCount)} %`,
      ),
    clear: () => overwrite(''),
  };
}
