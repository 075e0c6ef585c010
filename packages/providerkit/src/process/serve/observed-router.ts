// The outermost layer of every RPC: metrics and the log line. Bug recovery lies inside it (the
// Router's), so a handler that fails with a bug still shows up here as INTERNAL; the other way
// round it vanished from the metrics.

import type { Clock } from '@bigfleet/base';
import { durationSeconds, type Logger, type LogLevel, type LogMessage } from '@bigfleet/telemetry';
import { type ByteMethod, type ByteRouter, RpcError, type StatusCode } from '@bigfleet/wire';
import { type RpcMetrics, statusLabel } from '../metrics/rpc-metrics.ts';

const RPC: LogMessage<'method' | 'code' | 'dur_ms'> = { level: 'info', text: 'rpc' };
/** What changes something is worth a line; reads come by the thousand. */
const CHANGING: ReadonlySet<string> = new Set([
  'Create',
  'Configure',
  'Drain',
  'Delete',
  'ResetFailed',
]);

export interface ObservedRouterOptions {
  readonly router: ByteRouter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: RpcMetrics;
}

export function observedRouter(options: ObservedRouterOptions): ByteRouter {
  /** Bounded by what the inner router serves. */
  const methods = new Map<string, ByteMethod>();
  return {
    find: (path) => {
      const known = methods.get(path);
      if (known !== undefined) return known;
      const method = options.router.find(path);
      if (method === undefined) return undefined;
      const observed = observedMethod(options, method, path.slice(path.lastIndexOf('/') + 1));
      methods.set(path, observed);
      return observed;
    },
  };
}

function observedMethod(
  options: ObservedRouterOptions,
  method: ByteMethod,
  name: string,
): ByteMethod {
  const { clock } = options;
  if (method.kind === 'unary') {
    return {
      kind: 'unary',
      handle: async (request, call) => {
        const startMs = clock.monotonicMs();
        try {
          const answer = await method.handle(request, call);
          finished(options, name, 'OK', startMs);
          return answer;
        } catch (error) {
          finished(options, name, codeOf(error), startMs);
          throw error;
        }
      },
    };
  }
  return {
    kind: 'stream',
    /** A caller that leaves a stream is no failure, whatever is thrown on the way out. */
    async *handle(requests, call) {
      const startMs = clock.monotonicMs();
      let code: StatusCode = 'CANCELLED';
      try {
        yield* method.handle(requests, call);
        code = call.signal.aborted ? 'CANCELLED' : 'OK';
      } catch (error) {
        code = codeOf(error);
        throw error;
      } finally {
        finished(options, name, code, startMs);
      }
    },
  };
}

function finished(
  { clock, logger, metrics }: ObservedRouterOptions,
  method: string,
  code: StatusCode,
  startMs: number,
): void {
  const seconds = durationSeconds(startMs, clock.monotonicMs());
  metrics.finished(method, code, seconds);
  const fields = { method, code: statusLabel(code), dur_ms: Math.round(seconds * 1_000) };
  logger.log(levelOf(method, code), RPC.text, fields);
}

function levelOf(method: string, code: StatusCode): LogLevel {
  if (code !== 'OK') return method === 'Watch' && code === 'CANCELLED' ? 'debug' : 'warn';
  return CHANGING.has(method) ? 'info' : 'debug';
}

function codeOf(error: unknown): StatusCode {
  return error instanceof RpcError ? error.code : 'INTERNAL';
}
