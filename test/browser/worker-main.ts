// What runs inside the browser's worker: on a request it runs the collected core tests, digests
// the generated fleets, and answers with one report. An exception is an answer as well; without
// one the page would wait for its deadline and nobody would know why.

import { type FleetDigest, fleetDigests, type RandomFleet } from './fleet-digests.ts';
import { runCollected, type TestOutcome } from './node-test.ts';

export interface WorkerRequest {
  readonly fleetCount: number;
}

export interface WorkerReport {
  /** `DedicatedWorkerGlobalScope` in a worker. */
  readonly scope: string;
  /** Every global name of the place where it ran. */
  readonly globals: readonly string[];
  readonly tests: readonly TestOutcome[];
  readonly fleets: readonly FleetDigest[];
}

export type WorkerAnswer =
  | { readonly ok: true; readonly report: WorkerReport }
  | { readonly ok: false; readonly problem: string };

/** The part of a dedicated worker's scope that is used here. */
declare const self: {
  onmessage: (event: { readonly data: WorkerRequest }) => void;
  postMessage(answer: WorkerAnswer): void;
};

export function serve(randomFleet: RandomFleet): void {
  self.onmessage = ({ data }) => {
    run(randomFleet, data).then(
      (report) => self.postMessage({ ok: true, report }),
      (error: unknown) => self.postMessage({ ok: false, problem: problemOf(error) }),
    );
  };
}

async function run(randomFleet: RandomFleet, request: WorkerRequest): Promise<WorkerReport> {
  return {
    scope: self.constructor.name,
    globals: globalNames(),
    tests: await runCollected(),
    fleets: await fleetDigests(randomFleet, request.fleetCount),
  };
}

function globalNames(): string[] {
  const names = new Set<string>();
  for (let at: unknown = self; at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names].sort();
}

function problemOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
