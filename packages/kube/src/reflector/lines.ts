// The lines of a watch's body. An object may span many chunks and many may share one; a line is
// decoded once, when it is whole, so that a character cut by a chunk's end is never read in halves.

import { BigFleetError } from '@bigfleet/base';

const NEWLINE = 0x0a;

/** Objects of etcd are below 2 MiB; this is far beyond any event. */
const MAX_LINE_BYTES = 64 << 20;

export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const tail = chunk.subarray(start, end);
      const line = pending.length === 0 ? tail : Buffer.concat([...pending, tail]);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      if (line.length > 0) yield Buffer.from(line.buffer, line.byteOffset, line.length).toString();
    }
    if (start === chunk.length) continue;
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > MAX_LINE_BYTES) {
      throw new BigFleetError('kube_answer_malformed', 'a watch event without an end');
    }
  }
}
