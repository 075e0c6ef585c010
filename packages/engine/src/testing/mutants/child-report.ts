// What a suite that runs in a process of its own says about itself, one JSON text per line, and
// what its parent makes of it together with how the process ended.

export type ChildReport =
  /** The mutated module could be loaded: whatever goes wrong from here on is its behaviour. */
  | { readonly kind: 'loaded' }
  | {
      readonly kind: 'failed';
      readonly test: string;
      readonly file: string;
      readonly error: string;
    }
  | { readonly kind: 'passed'; readonly count: number };

/**
 * - `passed`: every test passed; a mutant with this outcome survived.
 * - `failed`: the first failing test.
 * - `timeout`: killed; a mutant that hangs is caught by that.
 * - `crashed`: ended without an answer, in its tests or in what they do when they are loaded.
 * - `unloadable`: the mutated module itself does not load; such a mutant proves nothing.
 */
export type SuiteOutcome =
  | { readonly kind: 'passed'; readonly testCount: number }
  | {
      readonly kind: 'failed';
      readonly test: string;
      readonly file: string;
      readonly error: string;
    }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'crashed'; readonly output: string }
  | { readonly kind: 'unloadable'; readonly output: string };

export function reportLine(report: ChildReport): string {
  return `${JSON.stringify(report)}\n`;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly isTimeout: boolean;
  /** The end of stderr. */
  readonly output: string;
}

export function outcomeOf(reports: readonly ChildReport[], end: ProcessEnd): SuiteOutcome {
  const failed = reports.find((report) => report.kind === 'failed');
  if (failed !== undefined) return failed;
  if (end.isTimeout) return { kind: 'timeout' };
  const { output } = end;
  const passed = reports.find((report) => report.kind === 'passed');
  if (passed !== undefined && passed.count > 0 && end.code === 0) {
    return { kind: 'passed', testCount: passed.count };
  }
  const isLoaded = reports.some((report) => report.kind === 'loaded');
  return isLoaded ? { kind: 'crashed', output } : { kind: 'unloadable', output };
}
