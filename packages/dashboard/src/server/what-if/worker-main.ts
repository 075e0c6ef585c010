// The thread of one what-if run: reads the traces of a records directory, oldest first, and tells its
// progress and its answer. The main thread ends it by ending the thread.

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { assert, describeThrown } from '@bigfleet/base';
import { parseChange, type RecordedTrace, whatIf } from '@bigfleet/engine';
import type { RunMessage, RunTask } from './what-if-jobs.ts';

/** As a shard names them: epoch, number. */
const TRACE = /^\d{12}-\d{8}\.trace$/;

const task = workerData as RunTask;
const tell = (message: RunMessage): void => parentPort?.postMessage(message);

try {
  tell(await run(task));
} catch (error) {
  // A directory that cannot be read; anything else is a bug and looks the same to who asked.
  tell({ kind: 'refused', code: 'records_unreadable', text: describeThrown(error) });
}

async function run({ directory, changes, seed }: RunTask): Promise<RunMessage> {
  const names = (await readdir(directory)).filter((name) => TRACE.test(name)).sort();
  const last = names.at(-1);
  if (last === undefined) {
    const text = `there is no trace in ${directory}: a shard writes them beside its decision records`;
    return { kind: 'refused', code: 'no_trace', text };
  }
  const { mtimeMs } = await stat(path.join(directory, last));
  const parsed = changes.map((change) => {
    const result = parseChange(change);
    assert(result.ok, 'a change was checked before it was handed over', { change });
    return result.value;
  });
  const answer = await whatIf(tracesOf(directory, names), parsed, {
    seed,
    onProgress: ({ pass, cycleCount, totalCycleCount }) =>
      tell({
        kind: 'progress',
        // Measuring reads, running decides twice: the first is about a tenth of the whole.
        progress: pass === 'measure' ? 0 : 0.1 + (0.9 * cycleCount) / Math.max(1, totalCycleCount),
      }),
  });
  if (!answer.ok) return { kind: 'refused', ...answer.error };
  return { kind: 'done', answer: answer.value, endMs: mtimeMs };
}

/** A shard may go on writing: the second pass reads as much of a trace as the first did. */
function tracesOf(directory: string, names: readonly string[]): RecordedTrace[] {
  const lengths = new Map<string, number>();
  return names.map((name) => ({
    name,
    run: name.slice(0, name.indexOf('-')),
    open: async () => {
      const bytes = await readFile(path.join(directory, name));
      const length = lengths.get(name) ?? bytes.length;
      lengths.set(name, length);
      return bytes.subarray(0, length);
    },
  }));
}
