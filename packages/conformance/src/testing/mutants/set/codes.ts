// Wrong status codes, and calls out of position that are not refused.

import {
  aroundMutations,
  codeShownAs,
  onMutations,
  refused,
  stateOf,
} from '../../../harness/testing/tamperings.ts';
import { mutations } from '../../../harness/fencing.ts';
import type { MachineView } from '../../../harness/machine.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

const blank: MachineView = {
  id: '',
  state: 'UNSPECIFIED',
  host: undefined,
  instanceType: '',
  zone: '',
  capacityType: 'UNSPECIFIED',
  pricePerHour: 0,
  interruptionProbability: 0,
  resources: undefined,
  allocatable: undefined,
  labels: new Map(),
  lastError: '',
  cluster: '',
  metadata: new Map(),
};

const MAX_BLOB_BYTES = 1024 * 1024;
const MAX_METADATA_BYTES = 256 * 1024;

export const codeMutants: readonly Mutant[] = [
  {
    name: 'unknown-is-internal',
    wrong: 'A mutation of an unknown machine answers INTERNAL.',
    story: "The cloud SDK's not-found error is wrapped like any other failure.",
    caughtBy: ids('B207 B215 B301 B1205'),
    isSeenByBaseline: true,
    make: () => inFront(() => codeShownAs(mutations, 'NOT_FOUND', 'INTERNAL')),
  },
  {
    name: 'get-of-unknown-is-blank',
    wrong: 'Get of an unknown machine answers OK with an empty record.',
    story: 'A map lookup that yields a zero value is encoded without asking whether it was there.',
    caughtBy: ids('B207 B215 B1205'),
    isSeenByBaseline: true,
    make: () =>
      inFront(() => (real) => ({
        get: async (machineId) => {
          const answer = await real.get(machineId);
          return !answer.ok && answer.code === 'NOT_FOUND' ? { ok: true, value: blank } : answer;
        },
      })),
  },
  {
    name: 'empty-id-is-unknown',
    wrong: 'A call without a machine id answers NOT_FOUND.',
    story: 'Nobody validates arguments: the lookup of the empty id simply finds nothing.',
    caughtBy: ids('B208 B1205'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => (real) => ({
        ...onMutations((_real, { machineId }) => (machineId === '' ? 'NOT_FOUND' : undefined))(
          real,
        ),
        get: async (machineId) => (machineId === '' ? refused('NOT_FOUND') : real.get(machineId)),
      })),
  },
  {
    name: 'position-is-failed-precondition',
    wrong: 'A call from the wrong state answers FAILED_PRECONDITION.',
    story: 'That is the code which the gRPC guide suggests; here it is reserved for the fence.',
    caughtBy: ids('B201 B202 B203 B204 B311 B705 B1203'),
    isSeenByBaseline: true,
    make: () => inFront(() => codeShownAs(mutations, 'INTERNAL', 'FAILED_PRECONDITION')),
  },
  {
    name: 'create-of-bound-succeeds',
    wrong: 'Create of a CONFIGURED machine answers OK.',
    story: 'The host exists, so the author takes the call for a retry.',
    caughtBy: ids('B201 B1203'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        aroundMutations(async (call, forward, rpc, real) => {
          const answer = await forward(call);
          if (rpc !== 'create' || answer.ok || answer.code !== 'INTERNAL') return answer;
          const { machineId } = call;
          return (await stateOf(real, machineId)) === 'CONFIGURED'
            ? { ok: true, value: { operationId: `created-${machineId}`, machine: undefined } }
            : answer;
        }),
      ),
  },
  {
    name: 'configure-of-slot-creates-it',
    wrong: 'Configure of a SPECULATIVE machine creates the host first.',
    story: 'A helpful author saves the caller a step, and spends money that nobody decided on.',
    caughtBy: ids('B202'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => (real) => ({
        configure: async (call) => {
          const answer = await real.configure(call);
          if (answer.ok || answer.code !== 'INTERNAL') return answer;
          const isSlot = (await stateOf(real, call.machineId)) === 'SPECULATIVE';
          return isSlot ? real.create({ machineId: call.machineId }) : answer;
        },
      })),
  },
  {
    name: 'delete-of-bound-is-refused-and-done',
    wrong:
      'Delete of a CONFIGURED machine answers INTERNAL and takes the machine down all the same.',
    story: 'The teardown starts before the state is looked at.',
    caughtBy: ids('B204 B1203'),
    isSeenByBaseline: true,
    make: () =>
      inFront(() => (real) => ({
        delete: async (call) => {
          const answer = await real.delete(call);
          if (!answer.ok && (await stateOf(real, call.machineId)) === 'CONFIGURED') {
            await real.drain({ machineId: call.machineId, graceSeconds: 0n });
          }
          return answer;
        },
      })),
  },
  {
    name: 'delete-of-unknown-succeeds',
    wrong: 'Delete of a machine that never existed answers OK.',
    story: '"Already gone is success" is right for the substrate and wrong for the service.',
    caughtBy: ids('B215'),
    isSeenByBaseline: true,
    make: () =>
      inFront(() =>
        aroundMutations(async (call, forward, rpc) => {
          const answer = await forward(call);
          const isGone = rpc === 'delete' && !answer.ok && answer.code === 'NOT_FOUND';
          return isGone
            ? { ok: true, value: { operationId: `gone-${call.machineId}`, machine: undefined } }
            : answer;
        }),
      ),
  },
  {
    name: 'negative-grace-is-failed-precondition',
    wrong: 'A negative grace answers FAILED_PRECONDITION.',
    story: 'Arguments and positions share one error helper.',
    caughtBy: ids('B210 B1205'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => (real) => ({
        drain: async (call) =>
          call.graceSeconds < 0n ? refused('FAILED_PRECONDITION') : real.drain(call),
      })),
  },
  {
    name: 'negative-token-is-stale',
    wrong: 'A token with a negative component answers FAILED_PRECONDITION.',
    story: 'Marks start at (0,0) instead of at nothing, so everything below looks stale.',
    caughtBy: ids('B211'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onMutations((_real, { token }) =>
          token !== undefined && (token.shardEpoch < 0n || token.sequenceNumber < 0n)
            ? 'FAILED_PRECONDITION'
            : undefined,
        ),
      ),
  },
  {
    name: 'large-blob-is-internal',
    wrong: 'A bootstrap blob above 1 MiB answers INTERNAL.',
    story: 'The substrate bounds its user data, and its error comes through unread.',
    caughtBy: ids('B213'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => (real) => ({
        configure: async (call) =>
          (call.blob?.length ?? 0) > MAX_BLOB_BYTES ? refused('INTERNAL') : real.configure(call),
      })),
  },
  {
    name: 'large-metadata-is-internal',
    wrong: 'Metadata above 256 KiB answers INTERNAL.',
    story: 'The database column is full, and its error comes through unread.',
    caughtBy: ids('B209 B503'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => (real) => ({
        configure: async (call) => {
          const entries = [...(call.metadata ?? [])];
          const bytes = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
          return bytes > MAX_METADATA_BYTES ? refused('INTERNAL') : real.configure(call);
        },
      })),
  },
];
