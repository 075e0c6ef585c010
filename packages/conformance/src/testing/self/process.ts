// Binds the self-test to the real process.

import { describeThrown } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { allChecks } from '../../behaviours/index.ts';
import { complain, endedBySignals, standardOutput } from '../../cli/process.ts';
import { runSelf } from './run.ts';

export async function selfFromProcess(): Promise<0 | 1 | 2> {
  const { signal, stop } = endedBySignals();
  try {
    return await runSelf({
      runtime: realRuntime(),
      signal,
      checks: allChecks,
      stdout: standardOutput(),
    });
  } catch (error) {
    complain(describeThrown(signal.aborted ? signal.reason : error));
    return 2;
  } finally {
    stop();
  }
}
