// Metrics, structured logs, health endpoints, raw sample traces. Everything takes its clock, timers
// and sinks as arguments; nothing here is global, so a simulation can hold a thousand of each.

export * from './http/listen-address.ts';
export * from './http/readiness.ts';
export {
  type HttpServer,
  type HttpServerOptions,
  startHttpServer,
} from './http/server.ts';
export type { LogFields, LogScalar, LogValue } from './logs/fields.ts';
export * from './logs/logger.ts';
export * from './logs/messages.ts';
export * from './logs/sampled.ts';
export { REDACTED, Secret } from './logs/secret.ts';
export { type StderrSinkOptions, stderrSink } from './logs/stderr.ts';
export * as stableMessages from './logs/stable-messages.ts';
export { ACTION_FAILED_PER_SECOND } from './logs/stable-messages.ts';
export {
  B14,
  B16cs,
  B16ms,
  B17ms,
  B20cs,
  type BucketBounds,
  DEF,
  DEF_LONG,
} from './metrics/buckets.ts';
export { durationSeconds } from './metrics/checks.ts';
export * from './metrics/deltas.ts';
export * from './metrics/exposition.ts';
export * from './metrics/instruments.ts';
export type { LabelDeclarations, LabelPairs, LabelValues, OpenLabel } from './metrics/labels.ts';
export * from './metrics/registry.ts';
export * from './metrics/scrape.ts';
export * from './process/follow-certificates.ts';
export * from './process/process-metrics.ts';
export * from './process/source.ts';
export * from './process/thread-metrics.ts';
export * from './samples/file.ts';
export * from './samples/open-samples.ts';
export * from './samples/reader.ts';
export * from './samples/trace.ts';
