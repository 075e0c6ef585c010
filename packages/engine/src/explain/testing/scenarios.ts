// One small fleet per reason code of a need, an action and a candidate: what people ask about,
// with the codes that the answer must carry. The texts are in ../testdata.

import { type CycleInput, heldOffKey } from '../../model/cycle.ts';
import { CapacityType } from '../../model/capacity-type.ts';
import { type Need, needKey } from '../../model/need.ts';
import { Operator } from '../../model/requirement.ts';
import {
  acrossZones,
  brakedNeeds,
  brakedTypes,
  cores,
  fleet,
  machine,
  machines,
  NOW_MS,
  need,
  RACK_KEY,
  resources,
} from '../../testing/build.ts';
import type { ExplainSubject } from '../answer.ts';
import { refTo } from './decide.ts';

export interface Scenario {
  readonly name: string;
  readonly input: CycleInput;
  readonly about: ExplainSubject;
  readonly reasonCode: string;
  /** Codes of the candidate rows, in order. */
  readonly candidates?: readonly string[];
  /** `machine cluster priority code`, in order. */
  readonly displaced?: readonly string[];
}

const about = (subject: Need): ExplainSubject => ({ need: refTo(subject) });
const arm = { key: 'arch', operator: Operator.In, values: ['arm'] };
const large = { type: 'large', price: 6 };
const spot = { type: 'spotty', capacityType: CapacityType.Spot, price: 1.8, probability: 0.1 };

const plain = need({ cluster: 'a', wants: cores(2), unit: cores(1), priority: 5 });
const rival = need({ cluster: 'b', wants: cores(1), unit: cores(1), priority: 9 });
const equal = need({ cluster: '0', wants: cores(1), unit: cores(1), priority: 5 });
const gang = need({ wants: cores(2), unit: cores(1), same: RACK_KEY, group: 'g1', priority: 5 });
const spread = need({ wants: cores(4), unit: cores(1), spread: [acrossZones(1)] });
const guarded = need({ wants: cores(1), unit: cores(1), interruption: 64 });
const pinned = need({ wants: cores(1), unit: cores(1), interruption: Number.POSITIVE_INFINITY });
const low = need({ cluster: 'l', wants: cores(1), unit: cores(1), priority: 1 });

const elsewhere = need({ cluster: 'e', wants: cores(1), unit: cores(1), priority: 5 });
/** Claims a machine whose stamp is older and lower. */
const claiming = need({ cluster: 'k', wants: cores(1), unit: cores(1), priority: 9 });
const ownLow = need({ cluster: 'a', wants: cores(1), unit: cores(1), priority: 1 });
const graphics = need({ cluster: 'a', wants: resources({ gpu: 1000 }), priority: 5 });
const critical = need({ wants: cores(1), priority: 1_000_000 });
const dear = need({ cluster: 'd', wants: cores(1), unit: cores(1), priority: 1, reclamation: 8 });
const twoVictims = fleet({
  needs: [critical, low, dear],
  machines: [
    machine({ id: 'v1', state: 'Configured', serves: low }),
    machine({ id: 'w1', state: 'Configured', serves: dear }),
  ],
});

const armNeed = need({ wants: cores(1), requirements: [arm] });
const armFirst = need({ wants: cores(1), requirements: [arm], priority: 9 });
const inRack2 = { key: RACK_KEY, operator: Operator.In, values: ['r2'] };
const bigUnit = need({ wants: cores(4), unit: cores(4) });
const mixed = need({ wants: resources({ cpu: 1000, gpu: 1000 }) });

export const needScenarios: readonly Scenario[] = [
  {
    name: 'covered by an idle machine, the costlier one stays',
    input: fleet({
      needs: [plain],
      machines: [
        machine({ id: 'own', state: 'Configured', serves: plain }),
        machine({ id: 'm1' }),
        machine({ id: 'm2', ...large }),
        machine({ id: 'new1', state: 'Speculative', price: 0.5, type: 'cheap' }),
      ],
    }),
    about: about(plain),
    reasonCode: 'satisfied',
    candidates: ['chosen', 'idle_preferred', 'costlier'],
  },
  {
    name: 'covered by a new machine, because the idle one is risky',
    input: fleet({
      needs: [guarded],
      machines: [
        machine({ id: 'spot1', ...spot }),
        machine({ id: 'new1', state: 'Speculative', price: 3 }),
      ],
    }),
    about: about(guarded),
    reasonCode: 'satisfied',
    candidates: ['chosen', 'interruption_risk'],
  },
  {
    name: 'machines that are draining will do',
    input: fleet({
      needs: [plain],
      machines: machines(2, 'd', { state: 'Draining', serves: low }),
    }),
    about: about(plain),
    reasonCode: 'awaiting_drain',
    candidates: [],
  },
  {
    name: 'parked after eight fruitless cycles',
    input: fleet({
      needs: [gang],
      machines: [machine({ id: 'm1' })],
      memory: { parkingAges: new Map([[needKey(gang), 8]]), shortfalls: new Map() },
    }),
    about: about(gang),
    reasonCode: 'acquisition_parked',
  },
  {
    name: 'no rack holds the whole gang',
    input: fleet({
      needs: [gang],
      machines: [machine({ id: 'm1', rack: 'r1' }), machine({ id: 'm2', rack: 'r2' })],
    }),
    about: about(gang),
    reasonCode: 'topology_unsatisfiable',
    candidates: ['chosen', 'wrong_domain'],
  },
  {
    name: 'no rack at all',
    input: fleet({ needs: [gang], machines: [machine({ id: 'm1' })] }),
    about: about(gang),
    reasonCode: 'topology_unsatisfiable',
    candidates: [],
  },
  {
    name: 'nothing matches',
    input: fleet({ needs: [armNeed], machines: machines(3, 'm', {}) }),
    about: about(armNeed),
    reasonCode: 'no_matching_supply',
    candidates: [],
  },
  {
    name: 'nothing is large enough',
    input: fleet({ needs: [bigUnit], machines: machines(5, 'm', {}) }),
    about: about(bigUnit),
    reasonCode: 'min_unit_too_large',
    candidates: ['min_unit_too_small'],
  },
  {
    name: 'everything may be interrupted',
    input: fleet({ needs: [pinned], machines: [machine({ id: 'spot1', ...spot })] }),
    about: about(pinned),
    reasonCode: 'no_stable_supply',
    candidates: ['infinite_cost'],
  },
  {
    name: 'the operator refused',
    input: fleet({
      needs: [plain],
      machines: [machine({ id: 'own', state: 'Configured', serves: plain })],
      heldOff: [heldOffKey(plain.cluster, plain.profile.fingerprint)],
    }),
    about: about(plain),
    reasonCode: 'bootstrap_refused',
    candidates: [],
  },
  {
    name: 'its nodes never join',
    input: fleet({
      needs: [plain],
      machines: machines(2, 'idle', {}),
      brakes: brakedNeeds([plain, 0]),
    }),
    about: about(plain),
    reasonCode: 'configure_failing',
    candidates: [],
  },
  {
    name: 'its nodes never join, and a probe is due',
    input: fleet({
      needs: [plain],
      machines: [...machines(1, 'idle', {}), ...machines(2, 'new', { state: 'Speculative' })],
      brakes: brakedNeeds([plain, 1]),
    }),
    about: about(plain),
    reasonCode: 'configure_failing',
    candidates: ['chosen', 'configure_failing'],
  },
  {
    name: 'machines of the only type that fits never join anywhere',
    input: fleet({
      needs: [plain],
      machines: machines(3, 'new', { state: 'Speculative', provider: 'p1', type: 'bad' }),
      brakes: brakedTypes(['p1', 'bad', 0]),
    }),
    about: about(plain),
    reasonCode: 'type_failing',
    candidates: ['type_failing'],
  },
  {
    name: 'the quota is used up',
    input: fleet({
      needs: [plain],
      machines: machines(2, 'new', { state: 'Speculative', provider: 'p1' }),
      quota: { p1: 1 },
    }),
    about: about(plain),
    reasonCode: 'quota_exhausted',
    candidates: ['chosen'],
  },
  {
    name: 'the quota was used up by others',
    input: fleet({
      needs: [plain, need({ cluster: 'b', wants: cores(1), requirements: [arm], priority: 9 })],
      machines: [
        machine({ id: 'arm1', state: 'Speculative', provider: 'p1', labels: { arch: 'arm' } }),
        ...machines(2, 'new', { state: 'Speculative', provider: 'p1', price: 0.4 }),
      ],
      quota: { p1: 1 },
    }),
    about: about(plain),
    reasonCode: 'quota_exhausted',
    candidates: ['quota_exhausted', 'claimed_higher_precedence'],
    displaced: ['arm1 b 9 claimed_higher_precedence'],
  },
  {
    name: 'an even spread forbids the rest',
    input: fleet({
      needs: [spread],
      machines: [...machines(3, 'x', { zone: 'z1' }), machine({ id: 'y1', zone: 'z2' })],
    }),
    about: about(spread),
    reasonCode: 'spread_unsatisfiable',
    candidates: ['chosen', 'chosen'],
  },
  {
    name: 'an even spread forbids another kind',
    input: fleet({
      needs: [spread],
      machines: [
        machine({ id: 'x1', zone: 'z1' }),
        ...machines(2, 'y', { zone: 'z2' }),
        machine({ id: 'w1', zone: 'z2', ...large }),
      ],
    }),
    about: about(spread),
    reasonCode: 'spread_unsatisfiable',
    candidates: ['chosen', 'chosen', 'spread_skew'],
  },
  {
    name: 'preemption frees one of two',
    input: fleet({
      needs: [plain, low],
      machines: [machine({ id: 'v1', state: 'Configured', serves: low })],
    }),
    about: about(plain),
    reasonCode: 'preemption_exhausted',
    candidates: ['chosen'],
  },
  {
    name: 'preemption stops where what runs is not of lower priority',
    input: fleet({
      needs: [plain, low, elsewhere, claiming],
      machines: [
        machine({ id: 'v1', state: 'Configured', serves: low }),
        machine({ id: 'e1', state: 'Configured', serves: elsewhere }),
        machine({ id: 'k1', state: 'Configured', cluster: 'k', assigned: { priority: 1 } }),
      ],
    }),
    about: about(plain),
    reasonCode: 'preemption_exhausted',
    candidates: ['chosen', 'victim_priority_not_lower', 'victim_claimed_higher'],
  },
  {
    name: 'a higher need took the only victim',
    input: fleet({
      needs: [plain, rival, low],
      machines: [machine({ id: 'v1', state: 'Configured', serves: low })],
    }),
    about: about(plain),
    reasonCode: 'priority_starved',
    candidates: ['victim_taken'],
  },
  {
    name: 'its own cluster and a drain have nothing for it',
    input: fleet({
      needs: [graphics, ownLow],
      machines: [
        machine({ id: 'o1', state: 'Configured', serves: ownLow }),
        machine({ id: 'd1', state: 'Draining', serves: low, ...large }),
      ],
    }),
    about: about(graphics),
    reasonCode: 'priority_starved',
    candidates: ['victim_own_cluster', 'victim_not_configured'],
  },
  {
    name: 'starved behind a higher and an equal need',
    input: fleet({
      needs: [plain, rival, equal],
      machines: [machine({ id: 'm1' }), machine({ id: 'm2', ...large })],
    }),
    about: about(plain),
    reasonCode: 'priority_starved',
    candidates: ['claimed_higher_precedence', 'claimed_equal_precedence'],
    displaced: ['m1 b 9 claimed_higher_precedence', 'm2 0 5 claimed_equal_precedence'],
  },
  {
    name: 'another rack went to a higher need, which took nothing from the gang',
    input: fleet({
      needs: [gang, need({ cluster: 'b', wants: cores(1), requirements: [inRack2], priority: 9 })],
      machines: [machine({ id: 'm1', rack: 'r1' }), machine({ id: 'm2', rack: 'r2' })],
    }),
    about: about(gang),
    reasonCode: 'topology_unsatisfiable',
    candidates: ['chosen', 'wrong_domain'],
    displaced: [],
  },
  {
    name: 'starved, while another kind of machine went to a higher need',
    input: fleet({
      needs: [armNeed, rival, { ...rival, cluster: 'c', profile: armFirst.profile }],
      machines: [machine({ id: 'x1', price: 0.5 }), machine({ id: 'm1', labels: { arch: 'arm' } })],
    }),
    about: about(armNeed),
    reasonCode: 'priority_starved',
    candidates: ['claimed_higher_precedence'],
    displaced: ['m1 c 9 claimed_higher_precedence'],
  },
  {
    name: 'what is left does not help',
    input: fleet({ needs: [mixed], machines: machines(2, 'm', { has: resources({ cpu: 1000 }) }) }),
    about: about(mixed),
    reasonCode: 'priority_starved',
    candidates: ['chosen'],
  },
  {
    name: 'what is left of another kind does not help',
    input: fleet({
      needs: [mixed],
      machines: [
        machine({ id: 'm1', has: resources({ cpu: 1000 }) }),
        machine({ id: 'm2', has: resources({ memory: 1000 }), ...large }),
      ],
    }),
    about: about(mixed),
    reasonCode: 'priority_starved',
    candidates: ['chosen', 'no_contribution'],
  },
];

const idleForLong = new Map([['m1', NOW_MS - 3_600_000]]);
const foldable = need({ wants: cores(2), unit: cores(1), same: RACK_KEY, group: 'g1' });
const larger = need({ wants: cores(4), unit: cores(1), same: RACK_KEY, group: 'g2' });

export const machineScenarios: readonly Scenario[] = [
  {
    name: 'bootstrapped',
    input: fleet({
      needs: [need({ wants: cores(1), interruption: 4, priority: 1000 })],
      machines: [machine({ id: 'm1', ...spot }), machine({ id: 'm2', ...large })],
    }),
    about: { machineId: 'm1' },
    reasonCode: 'phase1.idle',
    candidates: ['chosen', 'costlier'],
  },
  {
    name: 'created',
    input: fleet({ needs: [plain], machines: machines(2, 'new', { state: 'Speculative' }) }),
    about: { machineId: 'new2' },
    reasonCode: 'phase1.speculative',
    candidates: ['chosen'],
  },
  {
    name: 'bootstrapped for a gang in its rack',
    input: fleet({
      needs: [gang],
      machines: [...machines(2, 'm', { rack: 'r1' }), machine({ id: 'n1', rack: 'r2' })],
    }),
    about: { machineId: 'm2' },
    reasonCode: 'phase1.idle',
    candidates: ['chosen', 'wrong_domain'],
  },
  {
    name: 'preempted',
    input: fleet({
      needs: [critical, low],
      machines: [machine({ id: 'v1', state: 'Configured', serves: low })],
    }),
    about: { machineId: 'v1' },
    reasonCode: 'phase2.inversion',
    candidates: ['chosen'],
    displaced: ['v1 a 1000000 phase2.inversion'],
  },
  {
    name: 'preempted, because to reclaim it costs less',
    input: twoVictims,
    about: { machineId: 'v1' },
    reasonCode: 'phase2.inversion',
    candidates: ['chosen', 'victim_score_lower'],
    displaced: ['v1 a 1000000 phase2.inversion'],
  },
  {
    name: 'spared, because another machine costs less to reclaim',
    input: twoVictims,
    about: { machineId: 'w1' },
    reasonCode: 'victim_score_lower',
    candidates: ['chosen', 'victim_score_lower'],
    displaced: [],
  },
  {
    name: 'reclaimed',
    input: fleet({ machines: [machine({ id: 'm1', state: 'Configured', cluster: 'a' })] }),
    about: { machineId: 'm1' },
    reasonCode: 'phase3.excess',
  },
  {
    name: 'released',
    input: fleet({ machines: [machine({ id: 'm1' })], idleSinceMs: idleForLong }),
    about: { machineId: 'm1' },
    reasonCode: 'phase3.release',
  },
];

/** Subjects that the record does not mention, and one that it mentions under another name. */
export const otherScenarios: readonly Scenario[] = [
  {
    name: 'a machine that nobody touched',
    input: fleet({ machines: [machine({ id: 'm1' })] }),
    about: { machineId: 'm1' },
    reasonCode: 'not_mentioned',
  },
  {
    name: 'a need that its own machines cover',
    input: fleet({
      needs: [low],
      machines: [machine({ id: 'm1', state: 'Configured', serves: low })],
    }),
    about: about(low),
    reasonCode: 'not_mentioned',
  },
  {
    name: 'a gang that fits on one machine',
    input: fleet({
      needs: [foldable, { ...foldable, group: 'g2' }],
      machines: [machine({ id: 'm1', has: cores(2), rack: 'r1' })],
    }),
    about: about(foldable),
    reasonCode: 'priority_starved',
    candidates: ['chosen'],
  },
  {
    name: 'gangs of two sizes, of which the larger one is short',
    input: fleet({
      needs: [foldable, larger],
      machines: [machine({ id: 'm4', has: cores(4), rack: 'r1' })],
    }),
    about: about(larger),
    reasonCode: 'priority_starved',
    candidates: ['claimed_equal_precedence'],
  },
];
