// Proves that the runner of the mutants tells its outcomes apart: without that, a mutant that does
// not even load, or a suite that runs nothing, would count as caught or as survived.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SuiteOutcome } from './child-report.ts';
import { runSuite } from './run-suite.ts';
import { Workspace } from './workspace.ts';

/** A hang guard: each of these suites is one line. */
const BOUND_MS = 300_000;
/** Long enough to load a test of one line on a busy machine. */
const HANG_BOUND_MS = 30_000;

interface Case {
  readonly module: string;
  readonly body: string;
  readonly boundMs?: number;
  readonly kind: SuiteOutcome['kind'];
}

const cases: Readonly<Record<string, Case>> = {
  'tests that pass': {
    module: 'export const two = 2;',
    body: 'assert.equal(two, 2);',
    kind: 'passed',
  },
  'a test that fails': {
    module: 'export const two = 3;',
    body: 'assert.equal(two, 2);',
    kind: 'failed',
  },
  'a test that hangs': {
    module: 'export const two = 2;',
    body: 'while (two > 1);',
    boundMs: HANG_BOUND_MS,
    kind: 'timeout',
  },
  'a process that ends in the middle': {
    module: 'export const two = 2;',
    body: 'process.exit(two);',
    kind: 'crashed',
  },
  'a module that is no program': { module: 'export const two = ;', body: '', kind: 'unloadable' },
  'a module that throws': {
    module: "export const two = 2; throw new Error('broken');",
    body: '',
    kind: 'unloadable',
  },
};

test('every way in which a suite can end is told apart', async (context) => {
  using workspace = new Workspace();
  for (const [name, { module, body, boundMs = BOUND_MS, kind }] of Object.entries(cases)) {
    await context.test(name, async () => {
      workspace.write('probe/probe.ts', module);
      workspace.write('probe/probe.test.ts', probe(body));
      const outcome = await runSuite({
        root: workspace.root,
        mutated: 'probe/probe.ts',
        files: ['probe/probe.test.ts'],
        boundMs,
        counts: {},
      });
      assert.equal(outcome.kind, kind, JSON.stringify(outcome));
      if (outcome.kind === 'passed') assert.equal(outcome.testCount, 2);
      // The first failure, not the last.
      if (outcome.kind === 'failed') assert.equal(outcome.test, 'probe');
    });
  }
});

function probe(body: string): string {
  return [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    "import { two } from './probe.ts';",
    `test('probe', () => { ${body} });`,
    "test('after it', () => { assert.equal(two, 2); });",
  ].join('\n');
}
