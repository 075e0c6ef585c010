// Which optional capabilities the endpoint has, asked over the wire. A capability that could not
// be probed (no machine to try, a Create that fails) counts as present: then the behaviours that
// need it fail or skip for their own reason, and nothing is excused.

import { type Capabilities, type CheckContext, CheckFailed, SkipCheck } from './check.ts';
import { isCode } from './expect.ts';
import { listed, sameBytes } from './inventory.ts';
import { mustReach } from './reach.ts';
import { walkToIdle } from './walk.ts';

/** The context's own `capabilities` are not read. Leaves its machine SPECULATIVE, or IDLE. */
export async function probeCapabilities(context: CheckContext): Promise<Capabilities> {
  try {
    const before = await listed(context);
    const machineId = await walkToIdle(context);
    const after = await listed(context);
    const sinceRevision =
      before.revision.length > 0 &&
      after.revision.length > 0 &&
      !sameBytes(before.revision, after.revision);
    const answer = await context.endpoint.delete({ machineId });
    if (answer.ok) await mustReach(context, machineId, 'SPECULATIVE');
    return { delete: !isCode(answer, 'UNIMPLEMENTED'), sinceRevision };
  } catch (error) {
    if (error instanceof SkipCheck || error instanceof CheckFailed) {
      context.note(`capabilities could not be probed, taken as present: ${error.message}`);
      return { delete: true, sinceRevision: true };
    }
    throw error;
  }
}

export function needsDelete({ capabilities }: CheckContext): void {
  if (!capabilities.delete) {
    throw new SkipCheck('capability-absent', 'Delete is not implemented by this provider');
  }
}

export function needsSinceRevision({ capabilities }: CheckContext): void {
  if (!capabilities.sinceRevision) {
    throw new SkipCheck('capability-absent', 'List carries no advancing revision');
  }
}
