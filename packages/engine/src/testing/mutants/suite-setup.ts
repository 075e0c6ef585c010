// Imported between the mutated module and the tests of a suite. Says that the module loads, and lets
// the event loop turn before each test, so that a failure is told before the next test, which may run
// for seconds or for ever, blocks it.

import { beforeEach } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { reportLine } from './child-report.ts';

process.stdout.write(reportLine({ kind: 'loaded' }));

const { timers } = realRuntime();
/** From the event through the reporter to the pipe. */
const TURNS = 3;

beforeEach(async () => {
  for (let turn = 0; turn < TURNS; turn++) await timers.turn();
});
