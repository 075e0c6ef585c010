// Whether an endpoint answers at all. A provider that refuses is judged by the checks; one that
// cannot be reached would fail each of them after a deadline of its own, which takes an hour and
// says nothing: the lane is not run, or ends.

import { dialEndpoint } from '../harness/dial.ts';
import type { Answer, Inventory, ListQuery } from '../harness/endpoint.ts';
import type { LaneEnvironment, RemoteTarget } from './environment.ts';

const ASK_WITHIN_MS = 10_000;

/** What the transport answers by itself; any other code came from a provider, or its gate. */
const transportCodes: ReadonlySet<string> = new Set(['UNAVAILABLE', 'DEADLINE_EXCEEDED']);

/** What stands between a certificate and a verdict: the suite was not let in. */
const refusedCodes: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'PERMISSION_DENIED']);

/** Undefined when it answers, else why it cannot be judged. */
export async function unreachable(
  environment: LaneEnvironment,
  remote: RemoteTarget,
): Promise<string | undefined> {
  const answer = await listOnce(environment, remote, ASK_WITHIN_MS, { maxResults: 1 });
  if (answer.ok) return undefined;
  const said = `${answer.code}: ${answer.message}`;
  if (transportCodes.has(answer.code)) return `${remote.target} does not answer (${said})`;
  if (refusedCodes.has(answer.code)) return `${remote.target} refuses the suite (${said})`;
  return undefined;
}

/** On a connection of its own. */
export async function listOnce(
  { runtime, signal, timeScale }: LaneEnvironment,
  { target, tls }: RemoteTarget,
  callDeadlineMs: number,
  query?: ListQuery,
): Promise<Answer<Inventory>> {
  const endpoint = dialEndpoint({ runtime, target, tls, signal, timeScale, callDeadlineMs });
  try {
    return await endpoint.list(query);
  } finally {
    endpoint.close();
  }
}
