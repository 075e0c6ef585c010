// Judges mutants one at a time: which test fails first, or that none does. The unmutated copy
// must pass first, because against a broken suite every mutant would look caught.

import type { Clock } from '@bigfleet/base';
import type { SuiteOutcome } from './child-report.ts';
import { MUTATED_AREAS, type Mutation } from './mutation.ts';
import { runSuite, type SuiteRun } from './run-suite.ts';
import type { Workspace } from './workspace.ts';

/** After the tests of the mutated folder: whatever a mutant of any area may change. */
const COMMON_SUITES: readonly string[] = [
  'cycle/behaviours.test.ts',
  'testing/differential/flips.test.ts',
  'testing/differential/engine-equals-oracle.test.ts',
  'testing/differential/incremental-equals-full.test.ts',
  'testing/differential/record-of-later-cycles.test.ts',
  'record/record-equals-cycle.test.ts',
  'testing/adversarial-fuzz.test.ts',
  'testing/adversarial-input.test.ts',
  'testing/adversarial-numbers.test.ts',
];

/** Hundreds of fleets where the suites themselves use thousands: a mutant must be easy to see. */
const COUNTS: Readonly<Record<string, string>> = {
  BIGFLEET_FLEETS: '300',
  BIGFLEET_RUNS: '40',
};

/** A mutant that takes longer hangs; more on a machine where the healthy suite is slow. */
const BOUND_MS = 20_000;
const BASELINE_BOUND_MS = 300_000;

export interface Judgement {
  readonly mutation: Mutation;
  readonly outcome: SuiteOutcome | { readonly kind: 'unmatched' };
  readonly tookMs: number;
}

export class Judge {
  readonly #workspace: Workspace;
  readonly #clock: Clock;
  #boundMs = BOUND_MS;

  constructor(workspace: Workspace, clock: Clock) {
    this.#workspace = workspace;
    this.#clock = clock;
  }

  /** Everything that any mutant is judged by, over the sources as they are. */
  async baseline(): Promise<{ readonly outcome: SuiteOutcome; readonly tookMs: number }> {
    const files = MUTATED_AREAS.flatMap((area) => this.#workspace.testsIn(area));
    const startMs = this.#clock.monotonicMs();
    const outcome = await this.#run({ files, boundMs: BASELINE_BOUND_MS });
    const tookMs = this.#clock.monotonicMs() - startMs;
    this.#boundMs = Math.max(BOUND_MS, Math.ceil(tookMs));
    return { outcome, tookMs };
  }

  async judge(mutation: Mutation): Promise<Judgement> {
    const startMs = this.#clock.monotonicMs();
    let outcome: Judgement['outcome'] = { kind: 'unmatched' };
    await this.#workspace.withMutant(mutation, async () => {
      const files = this.#workspace.testsBeside(mutation);
      outcome = await this.#run({ mutated: mutation.file, files, boundMs: this.#boundMs });
    });
    return { mutation, outcome, tookMs: this.#clock.monotonicMs() - startMs };
  }

  #run(run: Omit<SuiteRun, 'root' | 'counts'>): Promise<SuiteOutcome> {
    const files = [...new Set([...run.files, ...COMMON_SUITES])];
    return runSuite({ ...run, root: this.#workspace.root, files, counts: COUNTS });
  }
}

export function isCaught({ outcome }: Judgement): boolean {
  return outcome.kind === 'failed' || outcome.kind === 'timeout' || outcome.kind === 'crashed';
}

/** One line per mutant. */
export function describeJudgement({ mutation, outcome, tookMs }: Judgement): string {
  const seconds = `${(tookMs / 1000).toFixed(1)} s`;
  return `${mutation.id} (${mutation.file}: ${mutation.breaks}): ${verdictOf(outcome)}, ${seconds}`;
}

function verdictOf(outcome: Judgement['outcome']): string {
  switch (outcome.kind) {
    case 'failed':
      return `caught by "${outcome.test}" (${fileName(outcome.file)})`;
    case 'timeout':
      return 'caught by timeout: it hangs';
    case 'crashed':
      return `caught by a crash: ${firstLine(outcome.output)}`;
    case 'passed':
      return `SURVIVED ${outcome.testCount} tests`;
    case 'unloadable':
      return `DOES NOT LOAD: ${firstLine(outcome.output)}`;
    case 'unmatched':
      return 'DOES NOT MATCH: its text is not in the sources exactly once';
  }
}

function fileName(file: string): string {
  return file.slice(file.lastIndexOf('/src/') + '/src/'.length);
}

function firstLine(output: string): string {
  return output.split('\n').find((line) => /error|fatal/i.test(line)) ?? output.slice(0, 200);
}
