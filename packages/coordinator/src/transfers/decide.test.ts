// Proves the next step of a saga for every situation of coordinator §9.6: what commits, what aborts
// and why, who is told what, and what evidence a ledger that forgot a transfer believes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TransferRole, TransferState, type TransferStatus } from '@bigfleet/wire';
import type { CommandBody } from '../state/commands.ts';
import type { SelectorRow, TransferRow } from '../state/rows.ts';
import { ledgerOf, registered } from '../rebalance/testing/pass-world.ts';
import { decideLost, type LostFacts } from './lost-transfers.ts';
import type { DonorAnswer, Party, SagaFacts, SagaStep } from './saga-facts.ts';
import { sagaRules } from './transfer-driver.ts';

const MINUTE_MS = 60_000;

const SELECTOR: SelectorRow = {
  instanceType: '',
  zone: '',
  count: 2,
  requirements: [],
  deficit: [['cpu', '100']],
  minUnit: [['cpu', '4']],
  interruptionPenaltyBucket: 5,
};

const ROW: TransferRow = {
  id: 't-2',
  from: 'a',
  fromUid: 1,
  to: 'b',
  toUid: 2,
  tier: 1,
  phase: 'PREPARING',
  providerAddress: 'p:1',
  machineIds: [],
  reasonCode: '',
  createdAtMs: 0,
  updatedAtMs: 0,
  selector: SELECTOR,
  quota: null,
};

function party(more: Partial<Party> = {}): Party {
  return {
    shardId: 'x',
    isRegistered: true,
    hasReported: true,
    isFresh: true,
    hasHeardUs: true,
    isFrozen: false,
    isReleased: false,
    isClaimed: false,
    machineIds: [],
    ...more,
  };
}

interface Case {
  readonly row?: Partial<TransferRow>;
  readonly donor?: Partial<Party>;
  readonly recipient?: Partial<Party>;
  readonly more?: Partial<SagaFacts>;
}

function stepsOf({ row, donor, recipient, more }: Case): string[] {
  const whole = { ...ROW, ...row };
  const facts: SagaFacts = {
    row: whole,
    donor: party(donor),
    recipient: party(recipient),
    answer: undefined,
    ageMs: 0,
    isDoubtful: false,
    donorHolds: 'by-rule',
    isRecovering: false,
    liveIds: whole.machineIds,
    donorFollows: false,
    minBenefit: 0.1,
    isMachineCooling: () => false,
    ...more,
  };
  return sagaRules.decide(facts).map(textOf);
}

function textOf(step: SagaStep): string {
  switch (step.do) {
    case 'tell':
      return `${step.order} to ${step.shardId}`;
    case 'tell-slice':
      return `slice to ${step.shardId}`;
    case 'abort':
      return `abort ${step.reason}`;
    case 'commit':
    case 'recommit':
      return `${step.do} ${step.machineIds.join(',')}`;
    default:
      return step.do;
  }
}

function accepted(covered: string | undefined, ...machineIds: string[]): DonorAnswer {
  return {
    kind: 'accepted',
    machineIds,
    covered: covered === undefined ? covered : [['cpu', covered]],
  };
}

const committed: Partial<TransferRow> = { phase: 'COMMITTED', machineIds: ['m1'] };
const shrunk: Partial<TransferRow> = {
  tier: 2,
  selector: null,
  quota: { provider: 'p', region: 'r', count: 3, step: 'SHRUNK' },
};

describe('machines', () => {
  const cases: readonly [string, Case, readonly string[]][] = [
    ['asks the donor first', {}, ['PREPARE to a']],
    ['commits what the donor holds', { more: { answer: accepted('10', 'm1') } }, ['commit m1']],
    [
      'a covering of nine percent is not worth it',
      { more: { answer: accepted('9', 'm1') } },
      ['abort benefit_too_small'],
    ],
    [
      'no covering said is none',
      { more: { answer: accepted(undefined, 'm1') } },
      ['abort donor_rejected'],
    ],
    ['no machine', { more: { answer: accepted('50') } }, ['abort donor_rejected']],
    [
      'more machines than asked for',
      { more: { answer: accepted('50', 'm1', 'm2', 'm3') } },
      ['abort donor_rejected'],
    ],
    [
      'a machine that moved a short while ago',
      { more: { answer: accepted('50', 'm1'), isMachineCooling: (id) => id === 'm1' } },
      ['abort benefit_too_small'],
    ],
    [
      'a refusal',
      { more: { answer: { kind: 'rejected', reasonCode: 'dry_run' } } },
      ['abort donor_rejected'],
    ],
    ['five failures', { more: { answer: { kind: 'failed' } } }, ['abort donor_rejected']],
    ['waits five minutes', { more: { ageMs: 5 * MINUTE_MS } }, ['PREPARE to a']],
    ['and not longer', { more: { ageMs: 5 * MINUTE_MS + 1 } }, ['abort ack_timeout']],
    [
      'for a donor that fell silent',
      { more: { ageMs: 5 * MINUTE_MS + 1 }, donor: { isFresh: false } },
      ['abort donor_stale'],
    ],
    ['a silent recipient', { recipient: { isFresh: false } }, ['abort recipient_stale']],
    [
      'a removed recipient',
      { recipient: { isRegistered: false }, more: { answer: accepted('50', 'm1') } },
      ['abort recipient_removed'],
    ],
    [
      'no commit before the recipient has spoken to this leader',
      {
        recipient: { hasReported: false, isFresh: false },
        more: { answer: accepted('50', 'm1') },
      },
      [],
    ],
    [
      'after the commit nobody is told: the assignment is the order',
      { row: committed, donor: { isFrozen: true } },
      [],
    ],
    [
      'one has confirmed',
      { row: committed, recipient: { isClaimed: true }, donor: { isFrozen: true } },
      [],
    ],
    [
      'both have',
      { row: committed, recipient: { isClaimed: true }, donor: { isReleased: true } },
      ['finish'],
    ],
    [
      'a donor that lost its disk has let go once it follows the assignment',
      { row: committed, recipient: { isClaimed: true }, more: { donorFollows: true } },
      ['finish'],
    ],
    [
      'a donor that still reports the freeze has not, whatever assignment it names',
      {
        row: committed,
        recipient: { isClaimed: true },
        donor: { isFrozen: true },
        more: { donorFollows: true },
      },
      [],
    ],
    [
      'a removed recipient has nothing to confirm',
      { row: committed, recipient: { isRegistered: false }, donor: { isReleased: true } },
      ['finish'],
    ],
    ['machines that moved on since', { row: committed, more: { liveIds: [] } }, ['finish']],
    [
      'nothing from a ledger that is being rebuilt',
      { row: committed, more: { isDoubtful: true, isRecovering: true } },
      [],
    ],
    ['an abort thaws', { row: { phase: 'ABORTED' }, donor: { isFrozen: true } }, ['CANCEL to a']],
    ['and is quiet afterwards', { row: { phase: 'ABORTED' } }, []],
    [
      'a namesake of the removed recipient does not inherit what was released to that one',
      {
        row: { phase: 'ABORTED' },
        recipient: { isRegistered: false },
        donor: { isReleased: true },
      },
      [],
    ],
    [
      'nor from a record that the restored ledger still prepares',
      { recipient: { isRegistered: false }, donor: { isReleased: true } },
      ['abort recipient_removed'],
    ],
    [
      'late freeze of a done one',
      { row: { phase: 'DONE' }, donor: { isFrozen: true } },
      ['RELEASE to a'],
    ],
  ];
  for (const [name, situation, expected] of cases) {
    it(name, () => assert.deepEqual(stepsOf(situation), expected));
  }
});

describe('machines of a ledger from before the commit', () => {
  const doubt = { isDoubtful: true, isRecovering: true };
  const cases: readonly [string, Case, readonly string[]][] = [
    [
      'CLAIMED is proof',
      {
        recipient: { isClaimed: true, machineIds: ['m1'] },
        donor: { isFrozen: true },
        more: doubt,
      },
      ['recommit m1'],
    ],
    [
      'RELEASED waits for the word of the recipient',
      { donor: { isReleased: true }, recipient: { hasHeardUs: false }, more: doubt },
      [],
    ],
    [
      'RELEASED to one that claims nothing, perhaps another of the name: it gets nothing',
      { donor: { isReleased: true, machineIds: ['m2'] }, more: doubt },
      ['abort provider_recovering'],
    ],
    [
      'an abort lets a donor go on that owns them by rule',
      { row: { phase: 'ABORTED' }, donor: { isFrozen: true }, more: doubt },
      ['CANCEL to a'],
    ],
    [
      'and one let go that had them by an earlier transfer',
      {
        row: { phase: 'ABORTED' },
        donor: { isFrozen: true },
        more: { ...doubt, donorHolds: 'by-transfer' },
      },
      ['RELEASE to a'],
    ],
    [
      'not before the recipient was heard',
      {
        row: { phase: 'ABORTED' },
        donor: { isFrozen: true },
        recipient: { hasHeardUs: false },
        more: doubt,
      },
      [],
    ],
    [
      'not before it has said how',
      {
        row: { phase: 'ABORTED' },
        donor: { isFrozen: true },
        more: { ...doubt, donorHolds: 'unknown' },
      },
      [],
    ],
    [
      'committed and claimed, the donor has forgotten it: it is told nothing',
      {
        row: { phase: 'COMMITTED', machineIds: ['m1'] },
        recipient: { isClaimed: true },
        more: doubt,
      },
      ['finish'],
    ],
    [
      'which is known only when it has heard us',
      {
        row: { phase: 'COMMITTED', machineIds: ['m1'] },
        donor: { hasHeardUs: false },
        recipient: { isClaimed: true },
        more: doubt,
      },
      [],
    ],
    [
      'committed and claimed: the donor is told while the rest is being rebuilt',
      {
        row: { phase: 'COMMITTED', machineIds: ['m1'] },
        donor: { isFrozen: true },
        recipient: { isClaimed: true },
        more: doubt,
      },
      ['RELEASE to a'],
    ],
    [
      'FROZEN waits for the peer',
      { donor: { isFrozen: true }, recipient: { hasHeardUs: false }, more: doubt },
      [],
    ],
    [
      'FROZEN, and the peer knows nothing',
      { donor: { isFrozen: true }, more: doubt },
      ['abort provider_recovering'],
    ],
    [
      'an answer is no reason to commit',
      { more: { ...doubt, answer: accepted('50', 'm1') }, recipient: { hasHeardUs: false } },
      [],
    ],
  ];
  for (const [name, situation, expected] of cases) {
    it(name, () => assert.deepEqual(stepsOf(situation), expected));
  }
});

describe('quota', () => {
  const cases: readonly [string, Case, readonly string[]][] = [
    ['the donor is told', { row: shrunk }, ['slice to a']],
    ['and confirms', { row: shrunk, more: { answer: accepted(undefined) } }, ['grow']],
    [
      'or refuses',
      { row: shrunk, more: { answer: { kind: 'rejected', reasonCode: 'dry_run' } } },
      ['give-back'],
    ],
    ['waits ten minutes', { row: shrunk, more: { ageMs: 10 * MINUTE_MS } }, ['slice to a']],
    ['and not longer', { row: shrunk, more: { ageMs: 10 * MINUTE_MS + 1 } }, ['give-back']],
    ['a removed recipient', { row: shrunk, recipient: { isRegistered: false } }, ['give-back']],
    [
      'given back',
      { row: { ...shrunk, quota: { provider: 'p', region: 'r', count: 3, step: 'RESTORED' } } },
      ['abort ack_timeout'],
    ],
    ['begun and not shrunk', { row: { tier: 2, selector: null } }, ['abort ack_timeout']],
    ['grown', { row: { ...shrunk, phase: 'COMMITTED' } }, ['slice to b', 'finish']],
  ];
  for (const [name, situation, expected] of cases) {
    it(name, () => assert.deepEqual(stepsOf(situation), expected));
  }
});

describe('a transfer that the ledger does not know', () => {
  const status = (role: TransferRole, state: TransferState): TransferStatus => ({
    $typeName: 'bigfleet.ext.v1alpha1.TransferStatus',
    transferId: 't-2',
    role,
    state,
    peerShardId: 'b',
    machineIds: ['m1'],
  });
  const frozen = status(TransferRole.DONOR, TransferState.FROZEN);
  const released = status(TransferRole.DONOR, TransferState.RELEASED);
  const claimed = status(TransferRole.RECIPIENT, TransferState.CLAIMED);
  const gone = status(TransferRole.RECIPIENT, TransferState.GONE);
  const held = (transferId: string): CommandBody => ({
    kind: 'RestoreOverride',
    machineId: 'm1',
    owner: 'b',
    transferId,
  });
  const lost = (
    given: TransferStatus,
    more: Partial<LostFacts>,
    ...held: CommandBody[]
  ): string => {
    const step = decideLost({
      status: given,
      peer: party(),
      state: ledgerOf([...registered(['a', 'b']), ...held]),
      isRecovering: true,
      donorHolds: 'by-rule',
      mayPeerTurnUp: false,
      ...more,
    });
    return step.do === 'rebuild' ? `rebuild ${step.machineIds.join(',')}` : step.do;
  };
  const cases: readonly [string, string, string][] = [
    ['frozen, peer knows nothing', lost(frozen, {}), 'cancel'],
    ['frozen, peer not heard', lost(frozen, { peer: party({ hasHeardUs: false }) }), 'wait'],
    [
      'frozen, peer was removed',
      lost(frozen, { peer: party({ hasHeardUs: false, isRegistered: false }) }),
      'cancel',
    ],
    [
      'frozen, peer is unknown and may turn up',
      lost(frozen, {
        peer: party({ hasHeardUs: false, isRegistered: false }),
        mayPeerTurnUp: true,
      }),
      'wait',
    ],
    ['frozen, by an earlier transfer', lost(frozen, { donorHolds: 'by-transfer' }), 'release'],
    ['frozen, nobody knows how', lost(frozen, { donorHolds: 'unknown' }), 'wait'],
    [
      'frozen, peer has claimed',
      lost(frozen, { peer: party({ isClaimed: true, machineIds: ['m1'] }) }),
      'rebuild m1',
    ],
    ['frozen, given away by it', lost(frozen, {}, held('t-2')), 'release'],
    ['frozen, given away later', lost(frozen, {}, held('t-3')), 'release'],
    ['frozen, given before', lost(frozen, {}, held('t-1')), 'cancel'],
    [
      'released, peer has claimed',
      lost(released, { peer: party({ isClaimed: true }) }),
      'rebuild m1',
    ],
    ['released, peer not heard', lost(released, { peer: party({ hasHeardUs: false }) }), 'wait'],
    ['released, peer knows nothing', lost(released, {}), 'retire'],
    ['released, recovery is over', lost(released, { isRecovering: false }), 'retire'],
    ['claimed', lost(claimed, {}), 'rebuild m1'],
    ['claimed, and the override is back', lost(claimed, {}, held('t-2')), 'rebuild m1'],
    ['claimed, moved on', lost(claimed, {}, held('t-3')), 'retire'],
    ['claimed, recovery is over', lost(claimed, { isRecovering: false }), 'retire'],
    ['gone', lost(gone, {}), 'retire'],
  ];
  for (const [name, actual, expected] of cases) {
    it(`${name}: ${expected}`, () => assert.equal(actual, expected));
  }
});
