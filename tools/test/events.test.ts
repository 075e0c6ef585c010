// Proves that what a test process reported is counted right, and that a crash, a hang, an empty
// file or a disagreement with Node's own count can never pass for success.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Outcome, outcomeOf, type ProcessEnd, parseRecords } from './events.ts';

const CLEAN: ProcessEnd = { code: 0, signal: null };
const RED: ProcessEnd = { code: 1, signal: null };

let lastId = 0;

interface Fields {
  readonly [key: string]: unknown;
}

function line(fields: Fields): string {
  const place = { parent: 0, file: '/r/a.test.ts', line: 5, column: 1, id: ++lastId };
  return JSON.stringify({ ...place, name: 'a', ...fields });
}

function end(fields: Fields = {}): string {
  return line({ event: 'end', passed: true, suite: false, ms: 1, ...fields });
}

function summary(tests: number, success: boolean = true): string {
  return JSON.stringify({ event: 'summary', success, counts: { tests } });
}

function outcome(lines: readonly string[], processEnd: ProcessEnd): Outcome {
  const records = parseRecords(lines.map((one) => `${one}\n`).join(''));
  return outcomeOf({ subject: 'a.test.ts', records, end: processEnd });
}

function failing(failure: string = 'testCodeFailure'): Fields {
  return { passed: false, error: { failure, text: 'boom' } };
}

test('counts per kind', () => {
  const table: ReadonlyArray<
    readonly [lines: readonly string[], processEnd: ProcessEnd, counts: readonly number[]]
  > = [
    [[end(), end(), summary(2)], CLEAN, [2, 0, 0, 0]],
    [[end(), end(failing()), summary(2, false)], RED, [1, 1, 0, 0]],
    [[end({ skip: 'no etcd' }), end({ todo: '' }), summary(2)], CLEAN, [0, 0, 0, 2]],
    [[end(), end({ suite: true }), summary(1)], CLEAN, [1, 0, 0, 0]],
    [[end(failing()), end(failing('subtestsFailed')), summary(2, false)], RED, [0, 1, 1, 0]],
    [[end({ ...failing(), suite: true }), summary(0, false)], RED, [0, 1, 0, 0]],
  ];
  for (const [lines, processEnd, [passed, failed, parents, skipped]] of table) {
    const got = outcome(lines, processEnd);
    const counts = [got.passed, got.failures.length, got.failedParents, got.skipped.length];
    assert.deepEqual(counts, [passed, failed, parents, skipped], lines.join('\n'));
  }
});

test('nothing that went wrong passes for success', () => {
  const empty = { line: 1, column: 1, name: 'a.test.ts' };
  const table: ReadonlyArray<
    readonly [what: RegExp, lines: readonly string[], processEnd: ProcessEnd]
  > = [
    [/reported no test/, [], CLEAN],
    [/defines no test/, [end(empty), summary(1)], CLEAN],
    [/boom/, [end({ ...empty, ...failing('loadFailure') }), summary(1, false)], RED],
    [/exit code 0 before reporting/, [line({ event: 'start' })], CLEAN],
    [/exit code 3 before reporting/, [end()], { code: 3, signal: null }],
    [/signal SIGSEGV before reporting/, [end()], { code: null, signal: 'SIGSEGV' }],
    [/within 50 ms/, [end(), summary(1)], { code: null, signal: 'SIGKILL', timedOutMs: 50 }],
    [/counted 3/, [end(), summary(3)], CLEAN],
    [/though every test passed/, [end(), summary(1, false)], RED],
    [/ended with exit code 7/, [end(), summary(1)], { code: 7, signal: null }],
  ];
  for (const [what, lines, processEnd] of table) {
    const { failures } = outcome(lines, processEnd);
    assert.equal(failures.length, 1, String(what));
    assert.match(failures[0]?.text ?? '', what);
  }
});

test('a killed process names the tests that were running', () => {
  const suite = line({ event: 'start', name: 'suite', id: 901 });
  const stuck = line({ event: 'start', name: 'stuck', id: 902, parent: 901, line: 9 });
  const killed: ProcessEnd = { code: null, signal: 'SIGKILL', timedOutMs: 50 };
  const { failures } = outcome([end(), suite, stuck], killed);
  assert.match(failures[0]?.text ?? '', /running: \/r\/a\.test\.ts:9 suite › stuck$/);
});

test('half a last line is no record, half a line before is an error', () => {
  assert.equal(parseRecords(`${end()}\n{"event":"en`).length, 1);
  assert.throws(() => parseRecords(`{"event":\n${end()}\n`));
});
