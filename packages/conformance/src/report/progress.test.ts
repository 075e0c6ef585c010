// Proves what is told while a run goes on: one rewritten line on a terminal, plain lines elsewhere,
// and never what a provider could smuggle into either.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestResult } from '../run/result.ts';
import { failed, passed, result } from '../run/testing/runs.ts';
import { Progress } from './progress.ts';

function progressOn(isTerminal: boolean): {
  readonly progress: Progress;
  readonly text: () => string;
} {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  return { progress: new Progress({ write, isTerminal, columns: 30 }), text: () => text };
}

function play(progress: Progress, ends: readonly TestResult[]): void {
  progress.laneStarted({ lane: 'extension', judged: 'h:1', checkCount: ends.length });
  for (const end of ends) {
    progress.checkStarted('extension', end.name);
    progress.checkEnded('extension', end);
  }
  progress.end();
}

const hostile: TestResult = {
  ...result('B104', failed),
  outcome: { kind: 'failed', finding: 'bad \u001B[2J\nline', detail: '' },
};

test('elsewhere: lanes and failures, one line each', () => {
  const { progress, text } = progressOn(false);
  play(progress, [result('B101', passed), result('B103', failed), hostile]);
  assert.equal(
    text(),
    'extension: 3 checks on h:1\n' +
      'extension TestB103_X failed: a finding\n' +
      'extension TestB104_X failed: bad  [2J line\n',
  );
});

test('on a terminal: one line that is rewritten, cut to the width, and erased at the end', () => {
  const { progress, text } = progressOn(true);
  play(progress, [result('B101', failed), result('B103', passed)]);
  const erase = '\r\u001B[2K';
  assert.deepEqual(text().split(erase), [
    '',
    'extension: 2 checks on h:1\n',
    'extension 0/2 TestB101_X …',
    'extension TestB101_X failed: a finding\n',
    'extension 1/2, 1 failed TestB',
    '',
  ]);
});
