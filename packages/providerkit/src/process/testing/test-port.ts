// A process of a provider inside the test's own: what it prints is kept, and the test sends signals.

import { captureSink, type CapturedLog, type LogSink } from '@bigfleet/telemetry';
import type { ProviderPort } from '../run-provider.ts';

export class TestPort implements ProviderPort {
  readonly nodeVersion: string;
  readonly log: CapturedLog = captureSink();
  output = '';
  errors = '';
  readonly #stop: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(nodeVersion: string = '24.0.0') {
    this.nodeVersion = nodeVersion;
  }

  writeOutput(text: string): void {
    this.output += text;
  }

  writeError(text: string): void {
    this.errors += text;
  }

  stopSignal(): Promise<void> {
    return this.#stop.promise;
  }

  logSink(): LogSink {
    return this.log;
  }

  signal(): void {
    this.#stop.resolve();
  }
}
