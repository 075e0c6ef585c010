// Wrong fences: other keys, other orders, other places in the processing order.

import { sleep } from '@bigfleet/base';
import type { FencingToken } from '@bigfleet/wire';
import {
  aroundMutations,
  onMutations,
  refused,
  stateOf,
} from '../../../harness/testing/tamperings.ts';
import type { Endpoint } from '../../../harness/endpoint.ts';
import type { Mutation } from '../../../harness/fencing.ts';
import type { State } from '../../../harness/machine.ts';
import type { Layers } from '../../../harness/testing/layers.ts';
import type { Tampering } from '../../../harness/testing/tamper.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';
import {
  fencedBy,
  isLexicographicallyNewer,
  isMalformed,
  type Marks,
  ownFence,
  pairOf,
} from '../testing/own-fence.ts';

const DATABASE_MS = 1;

/** Where each mutation may start or is already done. */
const inPosition: Readonly<Record<Mutation, readonly State[]>> = {
  create: ['SPECULATIVE', 'CREATING', 'IDLE'],
  configure: ['IDLE', 'CONFIGURING', 'CONFIGURED'],
  drain: ['CONFIGURED', 'DRAINING', 'IDLE'],
  delete: ['IDLE', 'DELETING', 'SPECULATIVE'],
};

export const fenceMutants: readonly Mutant[] = [
  {
    name: 'fence-per-shard',
    wrong: 'One mark per shard fences all machines.',
    story: 'A live shard sends from many workers at once and is fenced against itself.',
    caughtBy: ids('B302 B1204'),
    isSeenByBaseline: true,
    make: () => ownFence({ keyOf: ({ shardId }) => shardId }),
  },
  {
    name: 'fence-per-machine',
    wrong: 'One mark per machine fences all shards.',
    story: 'The mark is a column of the machine; a shard that takes it over starts below it.',
    caughtBy: ids('B212 B302 B1204'),
    isSeenByBaseline: false,
    make: () => ownFence({ keyOf: (_token, machineId) => machineId }),
  },
  {
    name: 'fence-for-all',
    wrong: 'One mark fences every shard on every machine.',
    story: 'A single leader was all that the author had in mind.',
    caughtBy: ids('B211 B212 B302 B1007 B1204 B1205'),
    isSeenByBaseline: true,
    make: () => ownFence({ keyOf: () => 'all' }),
  },
  {
    name: 'equal-token-passes',
    wrong: 'A token equal to the mark passes.',
    story: '"Not older" instead of "newer": the resent bytes of a zombie are applied.',
    caughtBy: ids('B212 B302 B303 B310 B312 B405 B1001 B1201 B1204'),
    isSeenByBaseline: true,
    make: () => ownFence({ isNewer: (token, mark) => !isLexicographicallyNewer(mark, token) }),
  },
  {
    name: 'epoch-alone',
    wrong: 'Within an epoch every sequence number passes.',
    story: 'The fence knows generations of a shard and forgets that one retries.',
    caughtBy: ids('B212 B302 B303 B309 B310 B311 B312 B405 B1001 B1201 B1204'),
    isSeenByBaseline: true,
    make: () => ownFence({ isNewer: (token, mark) => token.shardEpoch >= mark.shardEpoch }),
  },
  {
    name: 'sequence-alone',
    wrong: 'Only the sequence number counts, across epochs.',
    story: 'A restarted shard begins at 1 again and is shut out by its own past.',
    caughtBy: ids('B212 B302 B303 B310 B312 B405 B1201 B1204'),
    isSeenByBaseline: true,
    make: () => ownFence({ isNewer: (token, mark) => token.sequenceNumber > mark.sequenceNumber }),
  },
  {
    name: 'number-typed-tokens',
    wrong: 'Epochs and sequence numbers are floating-point numbers.',
    story: 'A JavaScript or JSON author writes `number`, and neighbours above 2^53 become equal.',
    caughtBy: ids('B212'),
    isSeenByBaseline: false,
    make: () =>
      ownFence({
        isNewer: (token, mark) => isLexicographicallyNewer(rounded(token), rounded(mark)),
      }),
  },
  {
    name: 'existence-before-fence',
    wrong: 'A stale call on an unknown machine answers NOT_FOUND.',
    story: 'The machine is loaded first, because the mark is stored with it.',
    caughtBy: ids('B301'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onMutations(async (real, { machineId }) =>
          machineId !== '' && (await isUnknown(real, machineId)) ? 'NOT_FOUND' : undefined,
        ),
      ),
  },
  {
    name: 'position-before-fence',
    wrong: 'A call out of position is refused before the fence sees it, and moves no mark.',
    story: 'The state machine is consulted first, because it is the cheaper check.',
    caughtBy: ids('B212 B311'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onMutations(async (real, { machineId }, rpc) => {
          const state = machineId === '' ? undefined : await stateOf(real, machineId);
          const isOut = state !== undefined && !inPosition[rpc].includes(state);
          return isOut ? 'INTERNAL' : undefined;
        }),
      ),
  },
  {
    name: 'replay-before-fence',
    wrong: 'A stale retry of a finished operation gets its operation id.',
    story:
      'The idempotency cache sits in front of everything; a zombie believes that it succeeded.',
    caughtBy: ids('B212 B302 B303 B305 B306 B307 B310 B312 B405 B1001 B1201 B1204'),
    isSeenByBaseline: true,
    make: () => inFront(() => replayBeforeFence),
  },
  {
    name: 'mark-moves-with-new-work-only',
    wrong: 'A token that meets a replay or a refusal leaves the mark where it was.',
    story: 'The mark is saved together with the operation that it admitted.',
    caughtBy: ids('B212 B301 B302 B303 B305 B311 B312 B405 B1001 B1201 B1204'),
    isSeenByBaseline: false,
    make: markWithWork,
  },
  {
    name: 'fence-is-checked-then-set',
    wrong: 'Between reading a mark and writing it, other calls pass with the same mark.',
    story: 'Two statements instead of one compare-and-set: the last writer wins, not the newest.',
    caughtBy: ids('B405'),
    isSeenByBaseline: false,
    make: checkedThenSet,
  },
  {
    name: 'configure-is-not-fenced',
    wrong: 'Configure ignores its token.',
    story: 'The middleware that fences was registered for three of the four calls.',
    caughtBy: ids('B212 B301 B306 B309 B310'),
    isSeenByBaseline: false,
    make: () => inFront(() => unfenced('configure')),
  },
  {
    name: 'drain-is-not-fenced',
    wrong: 'Drain ignores its token.',
    story: '"Giving capacity back must always work", says the review; so a zombie may drain too.',
    caughtBy: ids('B301 B307 B311'),
    isSeenByBaseline: false,
    make: () => inFront(() => unfenced('drain')),
  },
  {
    name: 'delete-is-not-fenced',
    wrong: 'Delete ignores its token.',
    story: 'Delete came later than the fence, and nobody went back.',
    caughtBy: ids('B301'),
    isSeenByBaseline: false,
    make: () => inFront(() => unfenced('delete')),
  },
  {
    name: 'stale-call-locks-reads',
    wrong: 'After a stale call Get of that machine answers FAILED_PRECONDITION until one passes.',
    story: 'A guard against zombies quarantines the machine instead of the caller.',
    caughtBy: ids('B212 B302 B305 B306 B307 B309 B310 B311'),
    isSeenByBaseline: true,
    make: () => inFront(staleLocksReads),
  },
  {
    name: 'unfenced-call-is-stale',
    wrong: 'A call without token is fenced once a machine has a mark.',
    story: 'The empty token is compared like any other, as (0,0).',
    caughtBy: ids('B308 B1205'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => {
        const marked = new Set<string>();
        return onMutations((_real, { machineId, token }) => {
          if (token !== undefined) marked.add(machineId);
          return token === undefined && marked.has(machineId) ? 'FAILED_PRECONDITION' : undefined;
        });
      }),
  },
];

function rounded(token: FencingToken): FencingToken {
  const round = (value: bigint): bigint => BigInt(Number(value));
  return {
    shardId: token.shardId,
    shardEpoch: round(token.shardEpoch),
    sequenceNumber: round(token.sequenceNumber),
  };
}

async function isUnknown(real: Endpoint, machineId: string): Promise<boolean> {
  const answer = await real.get(machineId);
  return !answer.ok && answer.code === 'NOT_FOUND';
}

const replayBeforeFence: Tampering = aroundMutations(async (call, forward, rpc, real) => {
  const answer = await forward(call);
  if (answer.ok || answer.code !== 'FAILED_PRECONDITION') return answer;
  const state = await stateOf(real, call.machineId);
  const isDone = state !== undefined && inPosition[rpc].indexOf(state) > 0;
  return isDone ? forward({ ...call, token: undefined }) : answer;
});

/** As on disk: marks and operations survive a restart. */
function markWithWork(): Layers {
  const marks: Marks = new Map();
  const operations = new Set<string>();
  const fence = aroundMutations(async (call, forward) => {
    const token = isMalformed(call) ? undefined : call.token;
    const key = token === undefined ? '' : pairOf(token, call.machineId);
    const mark = marks.get(key);
    if (token !== undefined && mark !== undefined && !isLexicographicallyNewer(token, mark)) {
      return refused('FAILED_PRECONDITION');
    }
    const answer = await forward(token === undefined ? call : { ...call, token: undefined });
    if (!answer.ok || operations.has(answer.value.operationId)) return answer;
    operations.add(answer.value.operationId);
    if (token !== undefined) marks.set(key, token);
    return answer;
  });
  return inFront(() => fence);
}

function checkedThenSet(): Layers {
  const marks: Marks = new Map();
  return inFront((runtime) =>
    fencedBy(async (token, machineId) => {
      const key = pairOf(token, machineId);
      const mark = marks.get(key);
      await sleep(runtime, DATABASE_MS);
      if (mark !== undefined && !isLexicographicallyNewer(token, mark)) return false;
      marks.set(key, token);
      return true;
    }),
  );
}

function unfenced(rpc: Mutation): Tampering {
  return aroundMutations((call, forward, called) =>
    forward(called === rpc && !isMalformed(call) ? { ...call, token: undefined } : call),
  );
}

function staleLocksReads(): Tampering {
  const locked = new Set<string>();
  const watching = aroundMutations(async (call, forward) => {
    const answer = await forward(call);
    if (answer.ok) locked.delete(call.machineId);
    else if (answer.code === 'FAILED_PRECONDITION') locked.add(call.machineId);
    return answer;
  });
  return (real) => ({
    ...watching(real),
    get: async (machineId) =>
      locked.has(machineId) ? refused('FAILED_PRECONDITION') : real.get(machineId),
  });
}
