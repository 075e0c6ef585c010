// Wrong endings of work that fails, hangs or comes too late.

import {
  aroundMutations,
  onLists,
  onRecords,
  stateOf,
} from '../../../harness/testing/tamperings.ts';
import type { Mutation } from '../../../harness/fencing.ts';
import type { MachineView } from '../../../harness/machine.ts';
import type { Layers } from '../../../harness/testing/layers.ts';
import type { Tampering } from '../../../harness/testing/tamper.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

const HOUR_MS = 3_600_000;
const RETRY_EVERY_MS = 200;
const RETRY_MS = 40;

const unbound = { cluster: '', metadata: new Map<string, string>(), lastError: '' };
const idle = { ...unbound, state: 'IDLE' } as const;

export const failureMutants: readonly Mutant[] = [
  {
    name: 'failed-configure-goes-idle',
    wrong: 'A Configure that fails ends IDLE, as if nothing had been.',
    story: 'The author rolls back, and the shard tries the same machine for ever.',
    caughtBy: ids('B701 B703 B704 B705 B707 B708'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onFailed((machine) => (machine.cluster === '' ? machine : { ...machine, ...idle })),
      ),
  },
  {
    name: 'failed-create-goes-speculative',
    wrong: 'A Create that fails ends SPECULATIVE, as if nothing had been.',
    story: 'The slot is free again, and so is every attempt at it.',
    caughtBy: ids('B702'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onFailed((machine) =>
          machine.host === undefined ? { ...machine, ...unbound, state: 'SPECULATIVE' } : machine,
        ),
      ),
  },
  {
    name: 'failed-without-a-reason',
    wrong: 'A FAILED machine has no last_error.',
    story: 'The reason went to the log and not into the record.',
    caughtBy: ids('B701 B702 B703 B704 B705 B706 B707 B708 B1006'),
    isSeenByBaseline: false,
    make: () => inFront(() => onFailed((machine) => ({ ...machine, lastError: '' }))),
  },
  {
    name: 'timeout-is-untold',
    wrong: 'The last_error of a timeout does not say that it was one.',
    story: 'All failures share one text.',
    caughtBy: ids('B703'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => onFailed((machine) => ({ ...machine, lastError: 'the operation failed' }))),
  },
  {
    name: 'timeout-goes-idle',
    wrong: 'A Configure that times out ends IDLE.',
    story: 'A timeout is taken for "not started"; two clusters may hold one machine.',
    caughtBy: ids('B703 B704 B708'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onFailed((machine) => (isTimeout(machine) ? { ...machine, ...idle } : machine)),
      ),
  },
  {
    name: 'no-timeout',
    wrong: 'A transition that hangs is never given up.',
    story: 'The timeout is an hour, because one substrate once needed it.',
    caughtBy: ids('B703 B704 B708'),
    isSeenByBaseline: false,
    make: () => ({
      settings: {
        timeouts: { create: HOUR_MS, configure: HOUR_MS, drain: HOUR_MS, delete: HOUR_MS },
      },
    }),
  },
  {
    name: 'late-success-wins',
    wrong: 'Work that succeeds after its timeout makes the FAILED machine CONFIGURED.',
    story: 'The worker writes its result without asking whether it is still wanted.',
    caughtBy: ids('B704'),
    isSeenByBaseline: false,
    make: lateSuccess,
  },
  {
    name: 'failed-is-retried',
    wrong: 'A FAILED machine tries again by itself.',
    story: 'A retry loop around every job, without an end.',
    caughtBy: ids('B701 B702 B703 B705'),
    isSeenByBaseline: false,
    make: () =>
      inFront(({ clock }) =>
        onFailed((machine) =>
          clock.monotonicMs() % RETRY_EVERY_MS < RETRY_MS
            ? {
                ...machine,
                state: machine.cluster === '' ? 'CREATING' : 'CONFIGURING',
                lastError: '',
              }
            : machine,
        ),
      ),
  },
  {
    name: 'configure-leaves-failed',
    wrong: 'Configure of a FAILED machine is accepted and starts again.',
    story: 'FAILED looks like a state that one may leave by trying once more.',
    caughtBy: ids('B705'),
    isSeenByBaseline: false,
    make: () => inFront(() => leavingFailed('configure', { state: 'CONFIGURING', lastError: '' })),
  },
  {
    name: 'drain-resets-failed',
    wrong: 'Drain of a FAILED machine makes it IDLE.',
    story: 'A way out for operators, open to everyone.',
    caughtBy: ids('B705'),
    isSeenByBaseline: false,
    make: () => inFront(() => leavingFailed('drain', { ...unbound, state: 'IDLE' })),
  },
  {
    name: 'failing-drain-sticks',
    wrong: 'A Drain that fails shows DRAINING for ever.',
    story: 'The error of the eviction is caught and logged.',
    caughtBy: ids('B706'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onFailed((machine) =>
          isOfDrain(machine) ? { ...machine, state: 'DRAINING', lastError: '' } : machine,
        ),
      ),
  },
  {
    name: 'failing-drain-rebinds',
    wrong: 'A Drain that fails makes the machine CONFIGURED again.',
    story: 'The node still runs, so the author takes the drain back.',
    caughtBy: ids('B706'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onFailed((machine) =>
          isOfDrain(machine) ? { ...machine, state: 'CONFIGURED', lastError: '' } : machine,
        ),
      ),
  },
  {
    name: 'failed-is-hidden-from-list',
    wrong: 'List leaves FAILED machines out.',
    story: 'Broken machines are no capacity; so nobody ever cleans them up.',
    caughtBy: ids('B707'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onLists((inventory) => ({
          ...inventory,
          machines: inventory.machines.filter(({ state }) => state !== 'FAILED'),
        })),
      ),
  },
  {
    name: 'list-has-no-last-error',
    wrong: 'List leaves last_error out.',
    story: 'The projection of the list query again.',
    caughtBy: ids('B707'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onLists((inventory) => ({
          ...inventory,
          machines: inventory.machines.map((machine) => ({ ...machine, lastError: '' })),
        })),
      ),
  },
  {
    name: 'last-error-counts-reads',
    wrong: 'The last_error of a FAILED machine is another one on every Get.',
    story: 'The text is made when it is read, with the time since the failure in it.',
    caughtBy: ids('B704 B705 B707'),
    isSeenByBaseline: false,
    make: () =>
      inFront(({ clock }) =>
        onFailed((machine) => ({
          ...machine,
          lastError: `${machine.lastError}, at ${clock.monotonicMs()} ms`,
        })),
      ),
  },
  {
    name: 'configured-before-ready',
    wrong: 'A machine is CONFIGURED when the join hook returned, Ready or not.',
    story: 'Nobody looks at the node; workloads are sent to one that never comes up.',
    caughtBy: ids('B708 B1006'),
    isSeenByBaseline: false,
    make: () => ({ substrate: (right) => ({ ...right, confirmNodeReady: async () => {} }) }),
  },
];

function onFailed(change: (machine: MachineView) => MachineView): Tampering {
  return onRecords((machine) => (machine.state === 'FAILED' ? change(machine) : machine));
}

function isTimeout({ lastError }: MachineView): boolean {
  return lastError.includes('timed out');
}

function isOfDrain({ lastError }: MachineView): boolean {
  return lastError.startsWith('drain');
}

/** The substrate tells the front what came too late, and the front believes it. */
function lateSuccess(): Layers {
  const late = new Set<string>();
  return {
    substrate: (right) => ({
      ...right,
      configureInstance: async (options) => {
        await right.configureInstance(options);
        if (options.signal.aborted) late.add(options.machine.id);
      },
    }),
    ...inFront(() =>
      onFailed((machine) =>
        late.has(machine.id) ? { ...machine, state: 'CONFIGURED', lastError: '' } : machine,
      ),
    ),
  };
}

/** Accepted in FAILED, and shown as `change` from then on. */
function leavingFailed(accepted: Mutation, change: Partial<MachineView>): Tampering {
  const left = new Set<string>();
  const shown = onFailed((machine) => (left.has(machine.id) ? { ...machine, ...change } : machine));
  const accepting = aroundMutations(async (call, forward, rpc, real) => {
    const { machineId } = call;
    const isFailed = rpc === accepted && (await stateOf(real, machineId)) === 'FAILED';
    if (!isFailed) return forward(call);
    left.add(machineId);
    return { ok: true, value: { operationId: `again-${machineId}`, machine: undefined } };
  });
  return (real) => ({ ...shown(real), ...accepting(real) });
}
