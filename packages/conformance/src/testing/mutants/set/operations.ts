// Wrong operation ids, wrong acks, and calls that meet each other.

import { assert, type Runtime, sleep } from '@bigfleet/base';
import type { Peer } from '@bigfleet/wire';
import {
  aroundMutations,
  onAcks,
  onOperationIds,
  onRecords,
  refused,
} from '../../../harness/testing/tamperings.ts';
import type { Mutation } from '../../../harness/fencing.ts';
import type { MachineView, State } from '../../../harness/machine.ts';
import type { ProviderHandlers } from '../../../harness/testing/layers.ts';
import type { Tampering } from '../../../harness/testing/tamper.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

const DATABASE_MS = 1;
const REDO_MS = 100;

const onTheWay: Readonly<Record<Mutation, State>> = {
  create: 'CREATING',
  configure: 'CONFIGURING',
  drain: 'DRAINING',
  delete: 'DELETING',
};

export const operationMutants: readonly Mutant[] = [
  {
    name: 'operation-id-per-call',
    wrong: 'Every call, a retry too, gets an operation id of its own.',
    story: 'The id is made where the call comes in, and stands for the request.',
    caughtBy: ids('B206 B214 B306 B307 B401 B402 B403 B406 B408 B409 B1002'),
    isSeenByBaseline: true,
    make: () =>
      inFront(() => {
        let count = 0;
        return onOperationIds((operationId) => `${operationId}-${count++}`);
      }),
  },
  {
    name: 'operation-id-reused',
    wrong: 'A machine has one operation id per kind of call, for ever.',
    story:
      'The id is derived from the arguments, so the next cycle looks like a retry of the last.',
    caughtBy: ids('B214'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => onOperationIds((_operationId, rpc, { machineId }) => `${rpc}-${machineId}`)),
  },
  {
    name: 'operation-id-is-a-timestamp',
    wrong: 'Operation ids count milliseconds, so what starts together shares one.',
    story: 'A clock passes for a source of unique numbers.',
    caughtBy: ids('B407 B1002 B1108'),
    isSeenByBaseline: false,
    make: () => inFront(timestampIds),
  },
  {
    name: 'operation-id-per-connection',
    wrong: 'A retry over another connection is a new operation.',
    story: 'The cache of answers lives in the session object of the server.',
    caughtBy: ids('B406'),
    isSeenByBaseline: false,
    make: () => ({ handlers: perConnection }),
  },
  {
    name: 'delete-id-per-call',
    wrong: 'Each Delete gets an operation id of its own.',
    story: 'Deleting is idempotent on the substrate, so nobody recorded it.',
    caughtBy: ids('B409'),
    isSeenByBaseline: true,
    make: () =>
      inFront(() => {
        let count = 0;
        return onOperationIds((operationId, rpc) =>
          rpc === 'delete' ? `${operationId}-${count++}` : operationId,
        );
      }),
  },
  {
    name: 'ack-always-in-transit',
    wrong: 'The ack of a retry shows the transition although the machine is there already.',
    story: 'The snapshot is written by hand from the kind of the call.',
    caughtBy: ids('B205'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onAcks((ack, rpc) => ({
          ...ack,
          machine: ack.machine && { ...ack.machine, state: onTheWay[rpc] },
        })),
      ),
  },
  {
    name: 'retry-does-it-again',
    wrong: 'A retry of a finished operation runs it once more.',
    story: 'The operation is remembered while it runs and forgotten when it is done.',
    caughtBy: ids('B205 B305 B306 B307 B1203'),
    isSeenByBaseline: false,
    make: () => inFront(redo),
  },
  {
    name: 'ack-of-a-neighbour',
    wrong: 'Acks of calls that overlap carry the record of the last one.',
    story: 'A variable outside the handler survives one await too many.',
    caughtBy: ids('B407'),
    isSeenByBaseline: false,
    make: () => inFront(lastRecord),
  },
  {
    name: 'torn-ack',
    wrong: 'The ack of Configure shows the new state without the binding.',
    story: 'State and binding are two columns, read in two statements.',
    caughtBy: ids('B106 B408 B504'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onAcks((ack, rpc) => ({
          ...ack,
          machine:
            rpc === 'configure' && ack.machine !== undefined
              ? { ...ack.machine, cluster: '', metadata: new Map() }
              : ack.machine,
        })),
      ),
  },
  {
    name: 'burst-is-a-conflict',
    wrong: 'Of calls that meet on one machine all but the first answer FAILED_PRECONDITION.',
    story: 'An optimistic lock reports its conflict with the code of the fence.',
    caughtBy: ids('B401 B402 B403 B404 B406 B408 B409'),
    isSeenByBaseline: false,
    make: () => inFront(conflicting),
  },
  {
    name: 'drain-beside-configure-keeps-binding',
    wrong: 'A Drain that overtakes a Configure leaves its cluster on the IDLE machine.',
    story: 'Each worker writes back the whole record that it read when it began.',
    caughtBy: ids('B404'),
    isSeenByBaseline: false,
    make: () => inFront(tornBinding),
  },
];

function timestampIds({ clock }: Runtime): Tampering {
  const known = new Map<string, string>();
  return onOperationIds((operationId) => {
    const id = known.get(operationId) ?? `op-${Math.floor(clock.monotonicMs())}`;
    known.set(operationId, id);
    return id;
  });
}

function perConnection(right: ProviderHandlers): ProviderHandlers {
  const { configure } = right;
  assert(typeof configure === 'function', 'the kit decodes its mutations');
  const numbers = new WeakMap<Peer, number>();
  let count = 0;
  return {
    ...right,
    configure: async (request, call) => {
      const number = numbers.get(call.peer) ?? count++;
      numbers.set(call.peer, number);
      const ack = await configure(request, call);
      return { ...ack, operationId: `${ack.operationId ?? ''}-${number}` };
    },
  };
}

function redo({ clock }: Runtime): Tampering {
  const operations = new Set<string>();
  const busy = new Map<string, { readonly state: State; readonly untilMs: number }>();
  const shown = (machine: MachineView): MachineView => {
    const again = busy.get(machine.id);
    const isBusy = again !== undefined && clock.monotonicMs() < again.untilMs;
    return isBusy ? { ...machine, state: again.state } : machine;
  };
  const watched = aroundMutations(async (call, forward, rpc) => {
    const answer = await forward(call);
    if (!answer.ok) return answer;
    if (operations.has(answer.value.operationId)) {
      busy.set(call.machineId, { state: onTheWay[rpc], untilMs: clock.monotonicMs() + REDO_MS });
    }
    operations.add(answer.value.operationId);
    return answer;
  });
  return (real) => ({ ...onRecords(shown)(real), ...watched(real) });
}

function lastRecord(runtime: Runtime): Tampering {
  let machine: MachineView | undefined;
  return aroundMutations(async (call, forward) => {
    const answer = await forward(call);
    if (!answer.ok) return answer;
    machine = answer.value.machine;
    await sleep(runtime, DATABASE_MS);
    return { ok: true, value: { ...answer.value, machine } };
  });
}

function conflicting(runtime: Runtime): Tampering {
  const busy = new Set<string>();
  return aroundMutations(async (call, forward) => {
    const { machineId } = call;
    if (busy.has(machineId)) return refused('FAILED_PRECONDITION');
    busy.add(machineId);
    await sleep(runtime, DATABASE_MS);
    busy.delete(machineId);
    return forward(call);
  });
}

function tornBinding(runtime: Runtime): Tampering {
  const configuring = new Map<string, string>();
  const torn = new Map<string, string>();
  const shown = onRecords((machine) => {
    const cluster = torn.get(machine.id);
    return cluster !== undefined && machine.state === 'IDLE' ? { ...machine, cluster } : machine;
  });
  return (real) => ({
    ...shown(real),
    configure: async (call) => {
      configuring.set(call.machineId, call.clusterId);
      await sleep(runtime, DATABASE_MS);
      const answer = await real.configure(call);
      configuring.delete(call.machineId);
      return answer;
    },
    drain: (call) => {
      const cluster = configuring.get(call.machineId);
      if (cluster !== undefined) torn.set(call.machineId, cluster);
      return real.drain(call);
    },
  });
}
