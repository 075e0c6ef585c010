// Proves that the playground runs every scenario to its stated end through the dashboard's own model, that
// every page can be answered on the way, that a run is its seed, and that wrong commands are refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asWritten, watchedScenarios } from '@bigfleet/sim';
import { answers, params, type ViewName } from '../../src/api/index.ts';
import { createPlayground, type Playground } from './playground.ts';
import type { FromWorker, PlaygroundState, ToWorker } from './protocol.ts';
import { PlaygroundRun, runHeadless } from './run.ts';

class Page {
  readonly messages: FromWorker[] = [];
  readonly #playground: Playground = createPlayground((message) => {
    this.messages.push(structuredClone(message));
  });

  send(message: ToWorker): Promise<void> {
    return this.#playground.take(message);
  }

  tick(nowMs: number): Promise<void> {
    return this.#playground.tick(nowMs);
  }

  of<T extends FromWorker['type']>(type: T): Extract<FromWorker, { type: T }>[] {
    return this.messages.filter(
      (message): message is Extract<FromWorker, { type: T }> => message.type === type,
    );
  }

  get state(): PlaygroundState {
    const last = this.of('state').at(-1);
    assert.ok(last !== undefined, 'no state was told');
    return last.state;
  }
}

for (const { id } of watchedScenarios) {
  test(`${id} reaches its end, and says so`, () => {
    const run = runHeadless(id);
    assert.ok(run.ok);
    assert.deepEqual(run.value.violations, []);
  });
}

test('a run is its scenario, its seed and its settings', () => {
  const chain = (seed: string): string => {
    const run = runHeadless('sandbox', seed);
    assert.ok(run.ok);
    return run.value.chain;
  };
  const first = chain('seven');
  assert.equal(chain('seven'), first);
  assert.notEqual(chain('eight'), first);
});

test('played by its ticks, a scenario decides what it decides headless', async () => {
  const page = new Page();
  await page.send({ type: 'load', scenario: 'cost-routing', seed: '1', settings: {} });
  await page.send({ type: 'play', cyclesPerSecond: 10 });
  for (let nowMs = 1_000; !page.state.isOver; nowMs += 70) await page.tick(nowMs);
  const headless = runHeadless('cost-routing', '1');
  assert.ok(headless.ok);
  assert.equal(page.state.chain, headless.value.chain);
  assert.deepEqual(page.state.end, {
    text: watchedScenarios.find(({ id }) => id === 'cost-routing')?.endState ?? '',
    isReached: true,
    violations: [],
  });
  const decisions = page.of('event').filter(({ name }) => name === 'decision');
  const ids = decisions.map(({ data }) => (data as { id: string }).id);
  assert.ok(ids.length > 0);
  assert.equal(new Set(ids).size, ids.length, 'a decision was told twice');
});

test('seeking back and forth ends where playing ends', async () => {
  const page = new Page();
  await page.send({ type: 'load', scenario: 'preemption', seed: '1', settings: {} });
  await page.send({ type: 'seek', cycle: 30 });
  const { chain } = page.state;
  await page.send({ type: 'step', cycles: 5 });
  assert.equal(page.state.cycle, 35);
  await page.send({ type: 'seek', cycle: 30 });
  assert.equal(page.state.chain, chain);
  await page.send({ type: 'seek', cycle: 10_000 });
  assert.equal(page.state.end?.isReached, true);
});

test('every view is answered by its schema in the middle of a run', async () => {
  const opened = PlaygroundRun.open({ scenario: 'sandbox', seed: '1', settings: asWritten });
  assert.ok(opened.ok);
  const run = opened.value;
  for (let cycle = 0; cycle < 40; cycle++) run.step();
  const skipped: ViewName[] = ['record', 'explain', 'whatif'];
  for (const view of Object.keys(params) as ViewName[]) {
    if (skipped.includes(view)) continue;
    const answer = await run.fleet.answer(view, params[view].parse({}));
    assert.ok(answer.ok, view);
    answers[view].parse(answer.value);
  }
});

test('a short need is explained with counterfactuals that the engine has tried', async () => {
  const opened = PlaygroundRun.open({
    scenario: 'priority-inversion',
    seed: '1',
    settings: asWritten,
  });
  assert.ok(opened.ok);
  const run = opened.value;
  while (run.step());
  const needs = await run.fleet.answer('needs', params.needs.parse({ unmet: '1' }));
  assert.ok(needs.ok);
  const [need] = needs.value.needs;
  assert.ok(need !== undefined, 'nothing is short');
  const { cluster, fingerprint, group } = need;
  const query = { cluster, fingerprint, group, counterfactuals: '1' };
  const told = await run.fleet.answer('explain', params.explain.parse(query));
  assert.ok(told.ok);
  answers.explain.parse(told.value);
  assert.equal(told.value.kind, 'explained');
  assert.ok(told.value.counterfactuals.length > 0, told.value.text);
  assert.ok(told.value.counterfactuals.every(({ isVerified }) => isVerified));
});

test('the price slider moves Spot while it runs, and the structural ones ask for a new start', async () => {
  const page = new Page();
  await page.send({ type: 'load', scenario: 'sandbox', seed: '1', settings: {} });
  await page.send({ type: 'step', cycles: 20 });
  const price = async (): Promise<number> => {
    await page.send({
      type: 'ask',
      id: 1,
      view: 'machines',
      query: { capacity: 'Spot', limit: '1' },
    });
    const last = page.of('answer').at(-1);
    assert.ok(last?.result.ok);
    return answers.machines.parse(last.result.value).machines[0]?.dollarsPerHour ?? 0;
  };
  const before = await price();
  await page.send({ type: 'set', settings: { spotPrice: 4 } });
  await page.send({ type: 'step', cycles: 1 });
  assert.equal(await price(), before * 4);
  assert.equal(page.state.needsReload, false);
  await page.send({ type: 'set', settings: { clusters: 9 } });
  assert.equal(page.state.needsReload, true);
  assert.equal(page.state.hasDefaults, false);
});

const WRONG: readonly (readonly [name: string, message: ToWorker, code: string])[] = [
  [
    'an unknown scenario',
    { type: 'load', scenario: 'toString', seed: '1', settings: {} },
    'scenario_unknown',
  ],
  [
    'an unknown view',
    { type: 'ask', id: 7, view: '__proto__' as ViewName, query: {} },
    'view_unknown',
  ],
  [
    'a wrong parameter',
    { type: 'ask', id: 7, view: 'map', query: { by: 'colour' } },
    'parameter_invalid',
  ],
  [
    'a moment that is not kept',
    { type: 'ask', id: 7, view: 'now', query: { at: '5' } },
    'moment_not_kept',
  ],
];

for (const [name, message, code] of WRONG) {
  test(`${name} is refused, and the run goes on`, async () => {
    const page = new Page();
    await page.send(message);
    const told = page.of('problem').at(-1)?.code ?? refusal(page);
    assert.equal(told, code);
    await page.send({ type: 'step', cycles: 1 });
    assert.equal(page.state.cycle, 1);
  });
}

function refusal(page: Page): string {
  const last = page.of('answer').at(-1);
  return last === undefined || last.result.ok ? '' : last.result.error.code;
}

test('watched views are pushed when they change, and only then', async () => {
  const page = new Page();
  await page.send({ type: 'watch', views: ['now', 'decisions?cluster=shop', 'nothing'] });
  assert.deepEqual(
    page.of('view').map(({ view }) => view),
    ['now', 'decisions?cluster=shop'],
  );
  assert.deepEqual(
    page.of('refused').map(({ view }) => view),
    ['nothing'],
  );
  await page.tick(1_000);
  await page.tick(2_000);
  assert.equal(page.of('view').length, 2);
  await page.send({ type: 'step', cycles: 1 });
  assert.equal(page.of('view').length, 4);
});
