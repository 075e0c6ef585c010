// What a provider loses, invents or assumes over a kill.

import type { Runtime } from '@bigfleet/base';
import type { FencingToken } from '@bigfleet/wire';
import {
  aroundMutations,
  onOperationIds,
  onRecords,
  refused,
} from '../../../harness/testing/tamperings.ts';
import type { Layers } from '../../../harness/testing/layers.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';
import {
  keeping,
  keepingRecords,
  type KeptRecord,
  loading,
  writingBehind,
  writingInBatches,
} from '../testing/lossy-stores.ts';
import { isLexicographicallyNewer } from '../testing/own-fence.ts';

const WRITE_BACK_MS = 250;
const BATCH_SIZE = 16;
const VERIFIED_WITHIN_MS = 2_000;

export const restartMutants: readonly Mutant[] = [
  {
    name: 'marks-in-memory',
    wrong: 'Fence marks are gone after a restart.',
    story: 'They look like a cache; until every live shard has called, a zombie may act.',
    caughtBy: ids('B1001'),
    isSeenByBaseline: false,
    make: () => ({
      store: keeping((change) => (change.kind === 'fence' ? undefined : change)),
    }),
  },
  {
    name: 'marks-saved-without-epoch',
    wrong: 'After a restart a mark has its sequence number and epoch 0.',
    story: 'The state file has one number per mark.',
    caughtBy: ids('B1001'),
    isSeenByBaseline: false,
    make: () => ({
      store: keeping((change) =>
        change.kind === 'fence' ? { kind: 'fence', mark: { ...change.mark, epoch: 0n } } : change,
      ),
    }),
  },
  {
    name: 'marks-saved-as-one',
    wrong: 'After a restart the highest mark of all fences everybody.',
    story: 'The snapshot folds the marks into one "last token seen".',
    caughtBy: ids('B1007'),
    isSeenByBaseline: false,
    make: foldedMarks,
  },
  {
    name: 'operations-in-memory',
    wrong: 'Operation ids are forgotten by a restart: a retry is refused.',
    story: 'The map of operations is a field of the service object.',
    caughtBy: ids('B1002'),
    isSeenByBaseline: false,
    make: () => ({
      store: keeping((change) => (change.kind === 'operation' ? undefined : change)),
    }),
  },
  {
    name: 'operation-ids-start-again',
    wrong: 'Operation ids are a counter that starts at 1 in every process.',
    story: 'As the idempotency token of a cloud it adopts a machine of somebody else.',
    caughtBy: ids('B1002 B1005'),
    isSeenByBaseline: false,
    make: () => inFront(counted),
  },
  {
    name: 'metadata-not-saved',
    wrong: 'Metadata is gone after a restart.',
    story: 'The state file was designed before the field was.',
    caughtBy: ids('B1003'),
    isSeenByBaseline: false,
    make: () => ({
      store: keepingRecords((record) => ({ ...record, shardMetadata: new Map() })),
    }),
  },
  {
    name: 'ack-before-persist',
    wrong: 'An acknowledged call reaches the disk a quarter of a second later.',
    story: 'A write-back cache, or fsync switched off: fast until the power fails.',
    caughtBy: ids('B1001 B1004 B1006'),
    isSeenByBaseline: false,
    make: () => ({ store: writingBehind(WRITE_BACK_MS) }),
  },
  {
    name: 'lost-tail',
    wrong: 'The last commits before a crash are lost.',
    story: 'Commits are written in batches of 16, and acknowledged one by one.',
    caughtBy: ids('B1001 B1002 B1003 B1004'),
    isSeenByBaseline: false,
    make: () => ({ store: writingInBatches(BATCH_SIZE) }),
  },
  {
    name: 'state-rebuilt-from-the-cloud',
    wrong: 'After a restart every machine with a host is IDLE.',
    story: 'The inventory is read from the substrate, which knows hosts and no bindings.',
    caughtBy: ids('B1002 B1003 B1004'),
    isSeenByBaseline: false,
    make: () => ({
      store: loading((image) => ({ ...image, machines: image.machines.map(asTheCloudSeesIt) })),
    }),
  },
  {
    name: 'hosts-adopted-twice',
    wrong: 'A restart invents a second machine for every host.',
    story: 'Hosts that the cloud lists are adopted under a new id, known or not.',
    caughtBy: ids('B1004'),
    isSeenByBaseline: false,
    make: () => ({
      store: loading((image) => ({
        ...image,
        machines: image.machines.flatMap((record) =>
          record.host === undefined
            ? [record]
            : [record, { ...asTheCloudSeesIt(record), id: `adopted-${record.id}` }],
        ),
      })),
    }),
  },
  {
    name: 'revision-not-saved',
    wrong: 'After a restart the revision is empty until something changes.',
    story: 'The counter starts at 0, and 0 is encoded as nothing.',
    caughtBy: ids('B1005'),
    isSeenByBaseline: false,
    make: unsavedRevision,
  },
  {
    name: 'boot-verifies-in-public',
    wrong: 'For two seconds after a restart machines with a host show CREATING.',
    story: 'Each host is checked before it counts, and the checks use the states of the contract.',
    caughtBy: ids('B1003 B1004 B1006'),
    isSeenByBaseline: false,
    make: verifyingAtBoot,
  },
  {
    name: 'configured-on-boot',
    wrong: 'A Configure that the kill interrupted is CONFIGURED after the restart.',
    story: 'It was accepted, so the author assumes that it came to its end.',
    caughtBy: ids('B1006'),
    isSeenByBaseline: false,
    make: () => ({
      store: loading((image) => ({
        ...image,
        machines: image.machines.map((record) =>
          record.state === 'Configuring' ? { ...record, state: 'Configured' } : record,
        ),
      })),
    }),
  },
  {
    name: 'interrupted-for-ever',
    wrong: 'A Configure that the kill interrupted stays CONFIGURING.',
    story: 'Its worker died with the process, and nothing at boot looks for orphans.',
    caughtBy: ids('B1006'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onRecords((machine) =>
          machine.lastError.includes('interrupted by a provider restart')
            ? { ...machine, state: 'CONFIGURING', lastError: '' }
            : machine,
        ),
      ),
  },
];

function asTheCloudSeesIt(record: KeptRecord): KeptRecord {
  if (record.host === undefined) return record;
  return { ...record, state: 'Idle', cluster: '', shardMetadata: new Map(), lastError: '' };
}

function counted(): ReturnType<typeof onOperationIds> {
  const known = new Map<string, string>();
  return onOperationIds((operationId) => {
    const id = known.get(operationId) ?? `op-${known.size + 1}`;
    known.set(operationId, id);
    return id;
  });
}

function foldedMarks(): Layers {
  let saved: FencingToken | undefined;
  return inFront(() => {
    const restored = saved;
    return aroundMutations(async (call, forward) => {
      const { token } = call;
      if (token === undefined) return forward(call);
      const isStale = restored !== undefined && !isLexicographicallyNewer(token, restored);
      if (isStale) return refused('FAILED_PRECONDITION');
      if (saved === undefined || isLexicographicallyNewer(token, saved)) saved = token;
      return forward(call);
    });
  });
}

/** Whether this is the first process of the provider's life. */
function perBoot(
  layers: (isFirst: boolean, runtime: Runtime) => ReturnType<typeof counted>,
): Layers {
  let bootCount = 0;
  return inFront((runtime) => layers(bootCount++ === 0, runtime));
}

function unsavedRevision(): Layers {
  return perBoot((isFirst) => {
    let hasChanged = isFirst;
    const watched = aroundMutations(async (call, forward) => {
      const answer = await forward(call);
      hasChanged ||= answer.ok;
      return answer;
    });
    return (real) => ({
      ...watched(real),
      list: async (query) => {
        const answer = await real.list(query);
        if (!answer.ok || hasChanged) return answer;
        return { ok: true, value: { ...answer.value, revision: new Uint8Array() } };
      },
    });
  });
}

function verifyingAtBoot(): Layers {
  return perBoot((isFirst, { clock }) => {
    const untilMs = clock.monotonicMs() + VERIFIED_WITHIN_MS;
    return onRecords((machine) =>
      !isFirst && machine.host !== undefined && clock.monotonicMs() < untilMs
        ? { ...machine, state: 'CREATING' }
        : machine,
    );
  });
}
