// Proves that the catalogue is well formed, that its counts are those of the specification, that
// its 93 entries are frozen, and that a test cannot be bound to an id outside of it.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { AREAS, type Behaviour, CAPABILITIES, PHASES, PROFILES } from './behaviour.ts';
import { behaviourOf, behaviours, findBehaviour, markerOf } from './catalogue.ts';

/** Of the first 93 entries. It changes only if a frozen entry was edited, which is not allowed. */
const FROZEN_SHA256 = 'd417c7fe2f9223e4bac71d70f825771243bccb1c17a5ea6e681d6bdaa1eb156e';

function count(matches: (behaviour: Behaviour) => boolean): number {
  return behaviours.filter(matches).length;
}

function problems(entries: readonly Behaviour[]): string[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    const rules: [boolean, string][] = [
      [/^B[1-9][0-9]{2,3}$/.test(entry.id), 'malformed id'],
      [!seen.has(entry.id), 'id used twice'],
      [entry.title.trim() !== '' && !entry.title.includes('\n'), 'title is not one line'],
      [AREAS.includes(entry.area), 'unknown area'],
      [entry.profiles.length > 0, 'no profile'],
      [entry.profiles.every((profile) => PROFILES.includes(profile)), 'unknown profile'],
      [CAPABILITIES.includes(entry.capability), 'unknown capability'],
      [PHASES.includes(entry.phase), 'unknown phase'],
      [entry.blackBox || entry.phase !== 2, 'not black box in phase 2'],
      [entry.capability !== 'Fault' || entry.phase === 4, 'Fault outside phase 4'],
      [entry.capability !== 'Scale' || entry.phase === 5, 'Scale outside phase 5'],
      [!/^(?:B102|B304|B6..)$/.test(entry.id), 'id of a gap that stays unused'],
    ];
    seen.add(entry.id);
    return rules.filter(([holds]) => !holds).map(([, problem]) => `${entry.id}: ${problem}`);
  });
}

test('every entry is well formed', () => {
  assert.deepEqual(problems(behaviours), []);
});

test('each rule of well-formedness can fail', () => {
  const good = behaviourOf('B101');
  const bad: [Partial<Behaviour>, string][] = [
    [{ id: 'B1' }, 'malformed id'],
    [{ id: 'B01011' }, 'malformed id'],
    [{ id: 'B103' }, 'id used twice'],
    [{ title: ' ' }, 'title is not one line'],
    [{ area: 'Weather' as Behaviour['area'] }, 'unknown area'],
    [{ profiles: [] }, 'no profile'],
    [{ profiles: ['metal' as Behaviour['profiles'][number]] }, 'unknown profile'],
    [{ capability: 'Watch' as Behaviour['capability'] }, 'unknown capability'],
    [{ phase: 3 as Behaviour['phase'] }, 'unknown phase'],
    [{ blackBox: false }, 'not black box in phase 2'],
    [{ capability: 'Fault' }, 'Fault outside phase 4'],
    [{ capability: 'Scale' }, 'Scale outside phase 5'],
    [{ id: 'B102' }, 'id of a gap that stays unused'],
    [{ id: 'B601' }, 'id of a gap that stays unused'],
  ];
  for (const [change, problem] of bad) {
    const entry = { ...good, id: 'B999', ...change };
    assert.deepEqual(problems([behaviourOf('B103'), entry]), [`${entry.id}: ${problem}`]);
  }
});

test('the counts are those of the specification', () => {
  const perArea = AREAS.map((area) => [area, count((entry) => entry.area === area)]);
  assert.deepEqual(perArea, [
    ['Lifecycle', 8],
    ['Transition/Errors', 15],
    ['Fencing', 11],
    ['Concurrency', 9],
    ['Metadata', 5],
    ['Timeouts/Failure', 8],
    ['Field shape', 7],
    ['List', 9],
    ['Durability', 7],
    ['Scale', 9],
    ['Property', 5],
  ]);
  assert.equal(behaviours.length, 93);
  const perPhase = PHASES.map((phase) => count((entry) => entry.phase === phase));
  assert.deepEqual(perPhase, [69, 15, 9]);
  const perProfile = PROFILES.map((profile) => count((entry) => entry.profiles.includes(profile)));
  assert.deepEqual(perProfile, [69, 5, 0, 1, 9, 7, 8]);
  const gated = (capability: string): string[] =>
    behaviours.filter((entry) => entry.capability === capability).map((entry) => entry.id);
  assert.deepEqual(gated('Delete'), ['B109', 'B409', 'B807']);
  assert.deepEqual(gated('SinceRevision'), ['B903', 'B904', 'B905', 'B907', 'B908', 'B909']);
});

test('cloud and spot name exactly the behaviours of the specification', () => {
  const tagged = (profile: 'cloud' | 'spot'): string[] =>
    behaviours.filter((entry) => entry.profiles.includes(profile)).map((entry) => entry.id);
  assert.deepEqual(tagged('cloud'), ['B109', 'B204', 'B215', 'B409', 'B807']);
  assert.deepEqual(tagged('spot'), ['B802']);
});

test('the entries are frozen: new ones are appended, old ones never edited', () => {
  const lines = behaviours.slice(0, 93).map((entry) => JSON.stringify(entry));
  const digest = createHash('sha256').update(lines.join('\n')).digest('hex');
  assert.equal(digest, FROZEN_SHA256);
});

test('a test is bound to a known behaviour or not at all', () => {
  assert.equal(markerOf('B1006'), 'BEHAVIOR B1006');
  assert.equal(behaviourOf('B101').area, 'Lifecycle');
  for (const id of ['B102', 'b101', '', 'B9999', '__proto__']) {
    assert.equal(findBehaviour(id), undefined);
    assert.throws(() => markerOf(id), /no behaviour of this id/);
  }
});
