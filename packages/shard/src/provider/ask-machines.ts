// Single questions to a provider, a few at a time, and their answers as the bytes of a List: what a
// Get says is then held against the known machine by the very rules of a List, not by rules like
// them. The first question without an answer ends the round: the source lists in full then.

import { encodeInit, fromMap, MachineListSchema } from '@bigfleet/wire';
import { ProviderError } from './provider-error.ts';
import type { CallLimits, Provider, ReportedMachine } from './provider.ts';

const QUESTIONS_AT_ONCE = 16;

export type Asked =
  | { readonly kind: 'answered'; readonly bytes: Uint8Array }
  | { readonly kind: 'unanswered'; readonly error: ProviderError };

/** `ids` are few (doubts.ts): the answers are held at once. */
export async function askMachines(
  provider: Provider,
  ids: readonly string[],
  limits: CallLimits,
): Promise<Asked> {
  const reported: ReportedMachine[] = [];
  const questions = ids.values();
  let error: ProviderError | undefined;
  const ask = async (): Promise<void> => {
    for (const id of questions) {
      if (error !== undefined) return;
      try {
        reported.push(await provider.get(id, limits));
      } catch (thrown) {
        if (!(thrown instanceof ProviderError)) throw thrown;
        error = thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(QUESTIONS_AT_ONCE, ids.length) }, ask));
  if (error !== undefined) return { kind: 'unanswered', error };
  return { kind: 'answered', bytes: encodeAnswers(reported) };
}

function encodeAnswers(reported: readonly ReportedMachine[]): Uint8Array {
  const machines = reported.map(({ host, resources, allocatable, labels, ...machine }) => ({
    ...machine,
    ...(host === undefined ? {} : { host }),
    resources: { resources: fromMap(resources) },
    allocatable: { resources: fromMap(allocatable) },
    labels: fromMap(labels),
    shardMetadata: fromMap(machine.shardMetadata),
  }));
  return encodeInit(MachineListSchema, { machines });
}
