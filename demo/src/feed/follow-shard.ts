// Follows the shard's live feed for as long as the demo runs. A lost stream is resumed from its
// cursor; the shard answers with a snapshot when it is too old.

import { describeThrown, type Runtime, sleep } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { createClient, createGrpcChannel, ShardQuery, type WatchFrame } from '@bigfleet/wire';

const RETRY_MS = 300;

export interface FeedOptions {
  readonly runtime: Runtime;
  readonly target: string;
  readonly logger: Logger;
  readonly onFrame: (frame: WatchFrame) => void;
}

/** Resolves after the signal; rejects only when `onFrame` throws. */
export async function followShard(options: FeedOptions, signal: AbortSignal): Promise<void> {
  const { runtime, target, logger, onFrame } = options;
  const channel = createGrpcChannel({ runtime, target });
  const client = createClient(ShardQuery, channel);
  let cursor: Uint8Array = new Uint8Array();
  try {
    while (!signal.aborted) {
      const request = { cursor, machines: true, needs: true, records: true };
      const frames = client.watch(request, { signal });
      for (;;) {
        const next = await frames.next().catch((error: unknown) => {
          if (!signal.aborted) logger.warn('the feed ended', { err: describeThrown(error) });
          return undefined;
        });
        if (next === undefined || next.done === true) break;
        onFrame(next.value);
        if (next.value.cursor.length > 0) cursor = next.value.cursor;
      }
      await sleep(runtime, RETRY_MS, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  } finally {
    channel.close();
  }
}
