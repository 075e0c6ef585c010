// The shard's server on the network. Connections end within a day, so that none outlives its
// certificate for long; a stop is graceful for a moment and then forced, because session streams
// never end by themselves.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { createGrpcServer, type ServerErrorReport, type TlsMaterial } from '@bigfleet/wire';
import type { ShardTransport } from './shard-options.ts';

const MAX_CONNECTION_AGE_MS = 24 * 3_600_000;
const STOP_GRACE_MS = 2_000;

export interface GrpcTransportOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly listen: string;
  readonly tls: TlsMaterial | undefined;
}

export function grpcTransport(options: GrpcTransportOptions): ShardTransport {
  const { runtime, logger, listen, tls } = options;
  return {
    mode: tls?.mode === 'mtls' ? 'mtls' : 'plaintext',
    listen: async (router) => {
      const server = createGrpcServer({
        runtime,
        router,
        listen: [listen],
        ...(tls === undefined ? {} : { tls }),
        keepalive: 'session',
        maxConnectionAgeMs: MAX_CONNECTION_AGE_MS,
        stopGraceMs: STOP_GRACE_MS,
        onError: (report) => logServerError(logger, report),
      });
      const [address = listen] = await server.bind();
      return { address, stop: () => server.stop() };
    },
  };
}

/** A panic was told by the router already; a peer that never got in is no warning. */
function logServerError(logger: Logger, report: ServerErrorReport): void {
  if (report.kind === 'panic') return;
  const level = report.kind === 'connection-refused' ? 'info' : 'warn';
  logger.log(level, report.kind.replace('-', ' '), { peer: report.peerAddress, err: report.error });
}
