// Where a sample trace goes. The interface exists because a slow or full disk must be a test, not a
// surprise; the real one is a file opened for appending, so that a restarted process adds a session
// instead of destroying the evidence of the last one.

import { open } from 'node:fs/promises';
import { BigFleetError, describeThrown } from '@bigfleet/base';

export interface SampleFile {
  /** What earlier sessions left in it. */
  readonly initialBytes: number;
  /** All of `bytes` or a rejection; one call at a time. */
  append(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

const OWNER_ONLY = 0o600;

export async function openSampleFile(path: string): Promise<SampleFile> {
  try {
    const handle = await open(path, 'a', OWNER_ONLY);
    const { size } = await handle.stat();
    return {
      initialBytes: size,
      append: (bytes) => handle.appendFile(bytes),
      close: () => handle.close(),
    };
  } catch (thrown) {
    const why = describeThrown(thrown);
    throw new BigFleetError(
      'sample_trace_failed',
      `cannot open the sample file ${path} for appending (${why}): name a file in an existing, ` +
        'writable directory with --trace-samples, or leave the flag out',
      { cause: thrown, fields: { path } },
    );
  }
}
