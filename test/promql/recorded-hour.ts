// A scrape of a shard, stamped with the last full hour. Queries over `[90d:1h]` look at full hours
// only, and a Prometheus that is a few seconds old has seen none; it takes samples that are up to an
// hour old. Nothing but the time is changed.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unixMs } from '../toolkit/index.ts';

const HOUR_MS = 3_600_000;
/** Prometheus refuses what is more than an hour older than its newest sample, or 10 min ahead. */
const MARGIN_MS = 120_000;

export interface RecordedHour extends AsyncDisposable {
  /** host:port, to scrape. */
  readonly target: string;
  /** Just after the stamp: a time to query at. */
  readonly atSeconds: number;
}

/** Serves the text of a scrape, with a timestamp on every sample. */
export async function serveRecordedHour(scrape: string): Promise<RecordedHour> {
  const stampMs = lastFullHour(unixMs());
  const body = scrape
    .split('\n')
    .map((line) => (line === '' || line.startsWith('#') ? line : `${line} ${stampMs}`))
    .join('\n');
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    target: `127.0.0.1:${port}`,
    atSeconds: stampMs / 1_000 + 1,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The coming one when the last is nearly too old: Prometheus takes samples of the next minutes. */
function lastFullHour(nowMs: number): number {
  const lastMs = nowMs - (nowMs % HOUR_MS);
  return nowMs - lastMs > HOUR_MS - MARGIN_MS ? lastMs + HOUR_MS : lastMs;
}
