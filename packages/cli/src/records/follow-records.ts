// Records as a shard writes them, from its directory: looked at again every second, from the record
// behind the last one that was printed.

import { type Runtime, sleep } from '@bigfleet/base';
import { type RecordLine, type RecordQuery, recordLines, type SegmentFiles } from '@bigfleet/shard';

const EVERY_MS = 1_000;

export interface FollowOptions {
  readonly files: SegmentFiles;
  readonly query: RecordQuery;
  readonly runtime: Runtime;
  readonly print: (line: RecordLine) => void;
  /** Resolves with Ctrl-C. */
  readonly stopped: Promise<void>;
}

export async function followRecords(options: FollowOptions): Promise<void> {
  const { files, query, runtime, print } = options;
  const stop = new AbortController();
  const end = (): void => stop.abort();
  options.stopped.then(end, end);
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
