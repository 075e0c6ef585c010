// Runs test files in a process of their own until the first of them fails. Bounded in time and
// memory: a mutant may loop for ever.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ChildReport, outcomeOf, type SuiteOutcome } from './child-report.ts';

export interface SuiteRun {
  /** Folder that holds the package's `src`. */
  readonly root: string;
  /** The module that is mutated, relative to `src`; none for the sources as they are. */
  readonly mutated?: string;
  /** Relative to `src`; run in this order. */
  readonly files: readonly string[];
  readonly boundMs: number;
  /** Sizes of the generated suites. */
  readonly counts: Readonly<Record<string, string>>;
}

const MAX_HEAP_MB = 768;
const MAX_OUTPUT_LENGTH = 4_000;

export function runSuite(run: SuiteRun): Promise<SuiteOutcome> {
  const entry = path.join(run.root, 'suite.ts');
  const imports = [
    ...(run.mutated === undefined ? [] : [run.mutated]),
    'testing/mutants/suite-setup.ts',
    ...run.files,
  ];
  writeFileSync(entry, imports.map((file) => `import './src/${file}';\n`).join(''));
  const reporter = path.join(run.root, 'src/testing/mutants/first-failure-reporter.ts');
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${MAX_HEAP_MB}`, `--test-reporter=${reporter}`, entry],
    {
      cwd: run.root,
      env: environment(run),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: run.boundMs,
      killSignal: 'SIGKILL',
    },
  );
  return watch(child);
}

function environment({ root, counts }: SuiteRun): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...counts,
    NODE_COMPILE_CACHE: path.join(root, 'compiled'),
  };
  // Inherited from the test that runs us; it would make the child report to our parent.
  delete env['NODE_TEST_CONTEXT'];
  delete env['BIGFLEET_SEED'];
  return env;
}

function watch(child: ChildProcess): Promise<SuiteOutcome> {
  return new Promise((resolve, reject) => {
    const reports: ChildReport[] = [];
    let rest = '';
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const report = parse(line);
        if (report !== undefined) reports.push(report);
        // Everything after the first failure costs time and says nothing.
        if (report?.kind === 'failed') child.kill('SIGKILL');
      }
    });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-MAX_OUTPUT_LENGTH);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve(outcomeOf(reports, { code, isTimeout: signal === 'SIGKILL', output }));
    });
  });
}

/** Undefined for what a test printed itself. */
function parse(line: string): ChildReport | undefined {
  if (!line.startsWith('{"kind":')) return undefined;
  return JSON.parse(line) as ChildReport;
}
