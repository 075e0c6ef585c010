// What a machine went through. Transitions of a fast provider may be over before the first Get, so
// a trace never proves that a state was skipped by the provider's observer alone: the callers
// judge what was seen, and the ack's own snapshot counts as the first sample.

import { type CheckContext, CheckFailed } from './check.ts';
import type { Ack } from './endpoint.ts';
import type { MachineView, State } from './machine.ts';
import { mapDifference } from './metadata.ts';
import { told } from './reach.ts';
import { poll, scaled, SETTLE_MS, TRACE_POLL_MS } from './wait.ts';

export interface WatchOptions {
  readonly machineId: string;
  readonly until: State;
  /** The ack that started the transition; its snapshot is the first sample. */
  readonly ack?: Ack | undefined;
  readonly withinMs?: number | undefined;
}

/** Every sample on the way to `until`, that one included; a finding when it does not get there. */
export async function watch(
  context: CheckContext,
  { machineId, until, ack, withinMs = SETTLE_MS }: WatchOptions,
): Promise<readonly MachineView[]> {
  const samples: MachineView[] = ack?.machine === undefined ? [] : [ack.machine];
  const forMs = scaled(context, withinMs);
  const last = await poll(context, { forMs, everyMs: TRACE_POLL_MS }, async () => {
    const answer = await context.endpoint.get(machineId);
    if (!answer.ok) return undefined;
    keep(samples, answer.value);
    const { state } = answer.value;
    return state === until || state === 'FAILED' ? answer.value : undefined;
  });
  if (last?.state === until) return samples;
  throw new CheckFailed(
    `${machineId}: expected to reach ${until}, is ${told(last ?? samples.at(-1))} ` +
      `after ${namesOf(samples)}`,
  );
}

/** The states that a machine went through, in order and without repetition. */
export function distinctInOrder(samples: readonly MachineView[]): readonly State[] {
  const states: State[] = [];
  for (const { state } of samples) if (states.at(-1) !== state) states.push(state);
  return states;
}

/** A long wait polled each millisecond must not grow with the wait: equal samples count once. */
function keep(samples: MachineView[], sample: MachineView): void {
  const last = samples.at(-1);
  const isSame =
    last !== undefined &&
    last.state === sample.state &&
    last.cluster === sample.cluster &&
    last.lastError === sample.lastError &&
    mapDifference(last.metadata, sample.metadata) === undefined;
  if (!isSame) samples.push(sample);
}

function namesOf(samples: readonly MachineView[]): string {
  return samples.length === 0 ? 'no successful Get' : distinctInOrder(samples).join(' → ');
}
