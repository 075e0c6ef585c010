// How wrong providers are put together: changes to every record, list, verdict or answer of an
// otherwise correct one.

import type { FailureCode, FencingToken } from '@bigfleet/wire';
import type { Ack, Answer, Endpoint, Inventory, ListQuery } from '../endpoint.ts';
import type { Mutation } from '../fencing.ts';
import type { MachineView, State, TextMap } from '../machine.ts';
import type { Tampering } from './tamper.ts';

export type Call = { readonly machineId: string; readonly token?: FencingToken | undefined };

export function refused(code: FailureCode): Answer<never> {
  return { ok: false, code, message: 'tampered' };
}

/** Every record that leaves the provider: by Get, List and ack. */
export function onRecords(change: (machine: MachineView) => MachineView): Tampering {
  const onAck = onAnswers((answer) => {
    if (!answer.ok || answer.value.machine === undefined) return answer;
    return { ok: true, value: { ...answer.value, machine: change(answer.value.machine) } };
  });
  const onList = onLists(({ machines, revision }) => ({
    machines: machines.map(change),
    revision,
  }));
  return (real) => ({ ...onAck(real), ...onGets(change)(real), ...onList(real) });
}

export function onGets(change: (machine: MachineView) => MachineView): Tampering {
  return (real) => ({
    get: async (machineId) => {
      const answer = await real.get(machineId);
      return answer.ok ? { ok: true, value: change(answer.value) } : answer;
    },
  });
}

export function onLists(change: (inventory: Inventory, query: ListQuery) => Inventory): Tampering {
  return (real) => ({
    list: async (query = {}) => {
      const answer = await real.list(query);
      return answer.ok ? { ok: true, value: change(answer.value, query) } : answer;
    },
  });
}

/** Only the metadata of every record. */
export function onMetadata(change: (metadata: TextMap) => TextMap): Tampering {
  return onRecords((machine) => ({ ...machine, metadata: change(machine.metadata) }));
}

/** One state passes for another, wherever it is read. */
export function shownAs(state: State, shown: State): Tampering {
  return onRecords((machine) => (machine.state === state ? { ...machine, state: shown } : machine));
}

/** Around every mutation: `forward` goes on with the call, or with a changed one. */
export function aroundMutations(
  around: <C extends Call>(
    call: C,
    forward: (call: C) => Promise<Answer<Ack>>,
    rpc: Mutation,
    real: Endpoint,
  ) => Promise<Answer<Ack>>,
): Tampering {
  return (real) => ({
    create: (call) => around(call, (next) => real.create(next), 'create', real),
    configure: (call) => around(call, (next) => real.configure(next), 'configure', real),
    drain: (call) => around(call, (next) => real.drain(next), 'drain', real),
    delete: (call) => around(call, (next) => real.delete(next), 'delete', real),
  });
}

/** Before every mutation: a code that answers in its place, or undefined to let it through. */
export function onMutations(
  verdict: (
    real: Endpoint,
    call: Call,
    rpc: Mutation,
  ) => Promise<FailureCode | undefined> | FailureCode | undefined,
): Tampering {
  return aroundMutations(async (call, forward, rpc, real) => {
    const code = await verdict(real, call, rpc);
    return code === undefined ? forward(call) : refused(code);
  });
}

/** After every mutation: another answer in place of the real one. */
export function onAnswers(
  change: (answer: Answer<Ack>, rpc: Mutation, call: Call) => Answer<Ack>,
): Tampering {
  return aroundMutations(async (call, forward, rpc) => change(await forward(call), rpc, call));
}

/** After every mutation that was accepted: another ack. */
export function onAcks(change: (ack: Ack, rpc: Mutation, call: Call) => Ack): Tampering {
  return onAnswers((answer, rpc, call) =>
    answer.ok ? { ok: true, value: change(answer.value, rpc, call) } : answer,
  );
}

/** Every operation id passes for another, the same one each time. */
export function onOperationIds(
  rename: (operationId: string, rpc: Mutation, call: Call) => string,
): Tampering {
  return onAcks((ack, rpc, call) => ({
    ...ack,
    operationId: rename(ack.operationId, rpc, call),
  }));
}

/** One code passes for another on these RPCs. */
export function codeShownAs(
  rpcs: readonly Mutation[],
  code: FailureCode,
  shown: FailureCode,
): Tampering {
  return onAnswers((answer, rpc) =>
    rpcs.includes(rpc) && !answer.ok && answer.code === code ? { ...answer, code: shown } : answer,
  );
}

/** The state of a machine as the real provider has it. */
export async function stateOf(real: Endpoint, machineId: string): Promise<State | undefined> {
  const answer = await real.get(machineId);
  return answer.ok ? answer.value.state : undefined;
}
