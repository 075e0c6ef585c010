// Proves on a real shard, in open pages, what two clusters that want the same machines see: a preempt appears
// as a decision, moves one cell of the map to the other cluster and moves exactly that machine's price; and a
// change that Explain calls verified, made for real, covers the need with the machine and the price it named.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { skipReason } from '../browser/chromium.ts';
import type { TestCluster } from '../shard/test-cluster.ts';
import { eventually } from '../toolkit/index.ts';
import {
  type ContestedFleet,
  type NamedMachine,
  serves,
  startContested,
} from './contested-fleet.ts';
import {
  assertNoProblems,
  assertUnbroken,
  openDashboard,
  openElsewhere,
  pixelAt,
  pointedAt,
  printBudget,
  settled,
} from './tab.ts';

const skip = skipReason();
/** The machines; what lies above it is pointer and focus. */
const MAP_CANVAS = '.fleet-layer canvas';
const ZONE = 'topology.kubernetes.io/zone';
const LOW = 100;
const HIGH = 5_000;
const ONLY_B = [{ key: ZONE, operator: 'In', values: ['zone-b'] }] as const;

interface Decision {
  readonly id: string;
  readonly atMs: number;
  readonly kind: string;
  readonly machine: string;
  readonly cluster: string;
  readonly dollarsPerHour: number;
}

async function decisionsOf(fleet: ContestedFleet, query: string): Promise<readonly Decision[]> {
  const { decisions } = await fleet.ask<{ readonly decisions: readonly Decision[] }>(
    `decisions?limit=5000&${query}`,
  );
  return decisions;
}

async function configuredCount(fleet: ContestedFleet): Promise<number> {
  return (await fleet.ask<{ readonly total: number }>('map?state=Configured')).total;
}

function dollars(cents: number): string {
  return (cents / 100).toLocaleString('en-US', { style: 'currency', currency: 'USD' });
}

function centsOf(machines: readonly NamedMachine[], id: string): number {
  const machine = machines.find((each) => each.id === id);
  assert.ok(machine !== undefined, `${id} is a machine of the test`);
  return Math.round(machine.pricePerHour * 100);
}

/** What the page says that each cluster costs, in cents per hour. */
async function centsByCluster(page: Page): Promise<ReadonlyMap<string, number>> {
  const items = await page.getByRole('list', { name: 'By cluster' }).getByRole('listitem').all();
  const cents = new Map<string, number>();
  for (const item of items) {
    const text = await item.innerText();
    const [, whole = '', part = ''] = /\$([\d,]+)\.(\d\d)\b/.exec(text) ?? [];
    const [name = ''] = text.trim().split(/\s/);
    cents.set(name, Number(whole.replaceAll(',', '')) * 100 + Number(part));
  }
  return cents;
}

/** The map says the machine under the keyboard's focus aloud. */
async function saidOf(page: Page, map: Locator, machine: string): Promise<string> {
  const said = page
    .getByRole('main')
    .getByRole('status')
    .filter({ hasText: `${machine},` });
  await map.focus();
  // Every cell is on the way of one of these walks: the machines stand in one small block.
  const keys = ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowDown', 'ArrowLeft', 'ArrowUp'];
  for (let step = 0; (await said.count()) === 0; step += 1) {
    assert.ok(step < 60, `the arrow keys reach ${machine}`);
    await map.press(keys[step % keys.length] ?? 'ArrowRight');
    await settled(page);
  }
  return await said.innerText();
}

test('a preempt is seen on three open pages: the decision, the cell, the cents', {
  skip,
}, async (t) => {
  const machines: readonly NamedMachine[] = [
    { id: 'yard-a', zone: 'zone-a', pricePerHour: 1.13 },
    { id: 'yard-b', zone: 'zone-a', pricePerHour: 2.37 },
    { id: 'yard-c', zone: 'zone-a', pricePerHour: 3.59 },
    { id: 'yard-d', zone: 'zone-a', pricePerHour: 4.71 },
  ];
  await using fleet = await startContested(machines);
  const urgent = fleet.join('urgent');
  urgent.cluster.want(1, HIGH);
  await serves(urgent, 'urgent', 1);
  const batch = fleet.join('batch');
  batch.cluster.want(3, LOW);
  await serves(batch, 'batch', 3);
  assert.deepEqual(await decisionsOf(fleet, 'kind=Preempt'), []);

  await using decisions = await openDashboard(`${fleet.url}/decisions`);
  await using map = await openElsewhere(decisions, `${fleet.url}/map?by=place&colour=cluster`);
  await using cost = await openElsewhere(decisions, `${fleet.url}/cost`);
  const grid = decisions.page.getByRole('grid', { name: 'Decisions' });
  await grid.getByRole('row').filter({ hasText: 'Bootstrap' }).nth(3).waitFor();
  await decisions.page.evaluate(`
    globalThis.__preemptSeenMs = null;
    new MutationObserver(() => {
      const rows = document.querySelectorAll('[role=grid] [role=row]');
      if ([...rows].some((row) => row.textContent.includes('Preempt'))) {
        globalThis.__preemptSeenMs ??= Date.now();
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  `);
  const picture = map.page.getByRole('application', { name: /^Fleet map of 4 machines/ });
  const ids = machines.map(({ id }) => id);
  const places = await pointedAt(map.page, picture, ids);
  const colours = async (): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    for (const [at, id] of ids.entries()) {
      const place = places[at];
      assert.ok(place !== undefined);
      found.set(id, await pixelAt(map.page, MAP_CANVAS, place));
    }
    return found;
  };
  const [own] = await decisionsOf(fleet, 'cluster=urgent');
  assert.ok(own !== undefined);
  // The clusters know their machines before the pages do.
  const coloursBefore = await eventually(
    async () => {
      const found = await colours();
      const others = new Set(ids.filter((id) => id !== own.machine).map((id) => found.get(id)));
      const isTold = others.size === 1 && !others.has(found.get(own.machine));
      return isTold && (await configuredCount(fleet)) === ids.length ? found : undefined;
    },
    { what: 'two clusters, two colours' },
  );
  const all = machines.reduce((sum, { id }) => sum + centsOf(machines, id), 0);
  const centsBefore = await eventually(
    async () => {
      const found = await centsByCluster(cost.page);
      const total = [...found.values()].reduce((sum, each) => sum + each, 0);
      return found.size === 2 && total === all ? found : undefined;
    },
    { what: 'the page knows what both clusters cost' },
  );

  urgent.cluster.want(2, HIGH);
  await serves(urgent, 'urgent', 2);
  const [preempt, ...more] = await eventually(
    async () => {
      const found = await decisionsOf(fleet, 'kind=Preempt');
      return found.length > 0 ? found : undefined;
    },
    { what: 'the shard has preempted' },
  );
  assert.ok(preempt !== undefined);
  assert.deepEqual(more, [], 'one machine is enough');
  const { machine } = preempt;
  const cents = centsOf(machines, machine);
  t.diagnostic(`${machine} at ${dollars(cents)}/h was preempted`);

  await t.test('the decision, in the list and on the lane', async () => {
    const { page } = decisions;
    const row = grid.getByRole('row').filter({ hasText: 'Preempt' });
    await row.waitFor();
    const text = await row.innerText();
    assert.ok(text.includes(machine) && text.includes(dollars(cents)), text);
    const seenMs = await page.evaluate<number>('globalThis.__preemptSeenMs');
    printBudget(
      t,
      'a preempt of a real shard, in the open list',
      `${seenMs - preempt.atMs} ms`,
      '1 s',
    );
    await assertUnbroken(page);
    // Two seconds to either side: the mark stands in the middle of its lane.
    const around = `from=${preempt.atMs - 2_000}&to=${preempt.atMs + 2_000}`;
    await page.goto(`${fleet.url}/decisions?kind=Preempt&${around}`);
    const lanes = page.getByRole('application', { name: /^Time line of 1 decision/ });
    const [place] = await pointedAt(page, lanes, [`Preempt of ${machine}`]);
    assert.ok(place !== undefined);
    await lanes.click({ position: place });
    const record = page.getByRole('complementary', { name: /^Record of cycle/ });
    await record.getByText(machine).first().waitFor();
    assertNoProblems(decisions, 'decisions');
  });

  await t.test('the cell has the colour and the name of the other cluster', async () => {
    const taken = own.machine;
    await eventually(
      async () => {
        const now = await colours();
        return now.get(machine) === now.get(taken);
      },
      { what: 'the cell looks like the one that the cluster had' },
    );
    const now = await colours();
    for (const { id } of machines) {
      const isOf = id === machine || id === taken;
      assert.equal(now.get(id) === now.get(taken), isOf, `${id} has the colour of its cluster`);
    }
    assert.deepEqual(await pointedAt(map.page, picture, ids), places, 'machines keep their place');
    assert.notEqual(coloursBefore.get(machine), coloursBefore.get(taken));
    const said = await saidOf(map.page, picture, machine);
    assert.equal(said, `${machine}, Configured, urgent, ${dollars(cents)} per hour`);
    assertNoProblems(map, 'map');
  });

  await t.test('its price left one cluster for the other, to the cent', async () => {
    const expected = new Map([
      ['batch', (centsBefore.get('batch') ?? 0) - cents],
      ['urgent', (centsBefore.get('urgent') ?? 0) + cents],
    ]);
    await eventually(
      async () => {
        const now = await centsByCluster(cost.page);
        assert.deepEqual(now, expected);
        return true;
      },
      { what: 'the page shows the new split' },
    );
    const total = [...expected.values()].reduce((sum, each) => sum + each, 0);
    assert.equal(total, all, 'nothing was bought or lost');
    assertNoProblems(cost, 'cost');
  });
});

interface Counterfactual {
  readonly reason: string;
  readonly text: string;
  readonly dollarsPerHour: number;
  readonly isVerified: boolean;
}

interface NeedRow {
  readonly cluster: string;
  readonly fingerprint: string;
  readonly isSatisfied: boolean;
  readonly claimed: number;
}

async function needsOf(fleet: ContestedFleet, cluster: string): Promise<readonly NeedRow[]> {
  const { needs } = await fleet.ask<{ readonly needs: readonly NeedRow[] }>(
    `needs?cluster=${cluster}`,
  );
  return needs;
}

/** What a counterfactual names, read as a person reads it, and done to the cluster that is short. */
const APPLIED: Readonly<
  Record<
    'relax_requirement' | 'raise_priority',
    {
      readonly named: RegExp;
      readonly apply: (found: string, late: TestCluster) => void;
      readonly leavesShort: boolean;
    }
  >
> = {
  relax_requirement: {
    named: /becomes "topology\.kubernetes\.io\/zone is ([^"]+)"/,
    apply: (zones, late) =>
      late.want(1, LOW, [{ key: ZONE, operator: 'In', values: zones.split(' or ') }]),
    leavesShort: false,
  },
  raise_priority: {
    named: /^With priority (\d+) instead of 100,/,
    apply: (priority, late) => late.want(1, Number(priority), ONLY_B),
    leavesShort: true,
  },
};

for (const [reason, { named, apply, leavesShort }] of Object.entries(APPLIED)) {
  test(`a verified ${reason}, made for real, covers the need as it was told`, {
    skip,
  }, async (t) => {
    const machines: readonly NamedMachine[] = [
      { id: 'yard-a', zone: 'zone-a', pricePerHour: 1.29 },
      { id: 'yard-b', zone: 'zone-b', pricePerHour: 2.43 },
    ];
    await using fleet = await startContested(machines);
    const early = fleet.join('early');
    early.cluster.want(1, HIGH, ONLY_B);
    await serves(early, 'early', 1);
    const late = fleet.join('late');
    late.cluster.want(1, LOW, ONLY_B);
    const need = await eventually(
      async () => (await needsOf(fleet, 'late')).find(({ isSatisfied }) => !isSatisfied),
      { what: 'the later cluster is short' },
    );

    await using tab = await openDashboard(`${fleet.url}/needs?cluster=late`);
    const { page } = tab;
    const row = page.getByRole('grid').getByRole('row').filter({ hasText: 'late' });
    await row.getByText('unmet', { exact: true }).waitFor();
    const subject = new URLSearchParams({ cluster: 'late', fingerprint: need.fingerprint });
    await using asked = await openElsewhere(tab, `${fleet.url}/explain?${subject.toString()}`);
    const explain = asked.page;
    await explain.getByText('short', { exact: true }).waitFor();
    await explain.getByRole('button', { name: 'Ask the engine' }).click();
    subject.set('counterfactuals', '1');
    const { counterfactuals } = await fleet.ask<{
      readonly counterfactuals: readonly Counterfactual[];
    }>(`explain?${subject.toString()}`);
    const told = counterfactuals.find((each) => each.reason === reason);
    assert.ok(told?.isVerified, JSON.stringify(counterfactuals));
    t.diagnostic(told.text);
    const item = explain.getByRole('listitem').filter({ hasText: told.text });
    await item.getByText('verified', { exact: true }).waitFor();
    const [, machine = '', price = ''] =
      /by 1 machine \((\S+)\) at (\$[\d.]+)\/h in all/.exec(told.text) ?? [];
    const cents = centsOf(machines, machine);
    assert.equal(price, dollars(cents));
    assert.ok((await item.innerText()).includes(`${price}/h`), 'the same sum in front of it');
    const breaks = told.text.includes('It would leave short: ');
    assert.equal(breaks, leavesShort, told.text);

    const [, change = ''] = named.exec(told.text) ?? [];
    assert.notEqual(change, '', told.text);
    apply(change, late.cluster);

    await row.getByText('met', { exact: true }).waitFor();
    assert.equal(await row.count(), 1, 'the need as it was is gone');
    const [covered] = await needsOf(fleet, 'late');
    assert.ok(covered?.isSatisfied && covered.claimed === 1);
    await serves(late, 'late', 1);
    // A need with another profile is another need, with an explanation of its own.
    const after = new URLSearchParams({ cluster: 'late', fingerprint: covered.fingerprint });
    await explain.goto(`${fleet.url}/explain?${after.toString()}`);
    await explain.getByText('met', { exact: true }).waitFor();
    const facts = explain.getByRole('definition');
    await facts.filter({ hasText: `1 machine, ${price}/h` }).waitFor();
    const [bound] = await decisionsOf(fleet, `cluster=late&kind=Bootstrap`);
    assert.equal(bound?.machine, machine, 'the machine that was named');
    await explain.goto(`${fleet.url}/decisions?open=${encodeURIComponent(bound?.id ?? '')}`);
    const record = explain.getByRole('complementary', { name: /^Record of cycle/ });
    await record.getByText(`${price}/h`, { exact: true }).first().waitFor();

    const shortNow = async (): Promise<boolean> =>
      (await needsOf(fleet, 'early')).some(({ isSatisfied }) => !isSatisfied);
    await eventually(async () => (await shortNow()) === leavesShort, {
      what: leavesShort ? 'the other cluster is short, as told' : 'the other cluster keeps its own',
    });
    assertNoProblems(tab, 'needs');
    assertNoProblems(asked, 'explain');
  });
}
