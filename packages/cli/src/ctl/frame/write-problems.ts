// What is missing from an answer, on stderr: a line each, then once for every kind of problem what to
// do about it. Many shards fail for one reason, and its remedy is read once.

import { errorCatalogue, isErrorCode } from '@bigfleet/base';
import type { CtlPort } from '../port.ts';

export function writeProblems(
  port: Pick<CtlPort, 'writeError'>,
  problems: readonly string[],
): void {
  for (const problem of problems) port.writeError(`bigfleetctl: ${problem}\n`);
  const codes = problems.map((problem) => problem.split(':', 1)[0] ?? '').filter(isErrorCode);
  const actions = new Set(codes.map((code) => errorCatalogue[code].action));
  for (const action of actions) port.writeError(`  next: ${action}\n`);
}
