// Proves the dashboard on the real demo: every page in both schemes without an error, a foreign request or an
// accessibility finding; the five things to try, typed as printed and seen on the pages; and numbers on the
// pages that equal the shards' own records and answers, read over gRPC beside it.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { actionKindName, decodeRecord, explain, isDispositions } from '@bigfleet/engine';
import { type Client, createClient, createGrpcChannel, ShardQuery } from '@bigfleet/wire';
import type { Locator, Page } from 'playwright-core';
import { skipReason } from '../browser/chromium.ts';
import { eventually, unixMs } from '../toolkit/index.ts';
import { startDashboardProcess } from './dashboard-process.ts';
import { type DemoProcess, startDemo } from './demo-process.ts';
import { askApi } from './synthetic-dashboard.ts';
import {
  assertNoProblems,
  assertUnbroken,
  axeFindings,
  type DashboardTab,
  decisionDelays,
  foreignRequests,
  inScheme,
  openDashboard,
  openElsewhere,
  percentile,
  printBudget,
  screenshot,
  settled,
  unreachable,
} from './tab.ts';

const skip = skipReason();
/** Of demo/try/gang.yaml: one Pod fills a machine of this type. */
const RACK_TYPE = 'c7i.metal-24xl';
const GANG_SIZE = 4;

interface Decision {
  readonly id: string;
  readonly atMs: number;
  readonly kind: string;
  readonly machine: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly domain: string;
}

/** To the cent; below a cent with its digits. */
function price(dollars: number): string {
  const isWholeCents = Math.abs(dollars * 100 - Math.round(dollars * 100)) < 1e-9;
  return isWholeCents ? cents(dollars) : `$${dollars.toFixed(4)}`;
}

/** As most sums are shown: cents below a thousand dollars. */
function dollars(sum: number): string {
  if (Math.abs(sum) < 1_000) return cents(sum);
  return sum.toLocaleString('en-US', {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: 0,
  });
}

function cents(dollars: number): string {
  return dollars.toLocaleString('en-US', { style: 'currency', currency: 'USD' });
}

describe('the demo', { skip }, () => {
  let demo: DemoProcess;
  let tab: DashboardTab;
  let page: Page;
  let shards: Readonly<Record<'shard-0' | 'shard-1', Client<typeof ShardQuery>>>;
  const closing = new AsyncDisposableStack();

  before(async () => {
    demo = closing.use(await startDemo('7'));
    const runtime = realRuntime();
    const query = (port: number): Client<typeof ShardQuery> => {
      const channel = createGrpcChannel({ runtime, target: `127.0.0.1:${port}` });
      closing.defer(() => channel.close());
      return createClient(ShardQuery, channel);
    };
    shards = {
      'shard-0': query(demo.ports.shard),
      'shard-1': query(demo.ports['second-shard']),
    };
    tab = closing.use(await openDashboard(demo.url));
    ({ page } = tab);
  });
  after(() => closing.disposeAsync());

  const open = async (address: string): Promise<void> => {
    await page.goto(`${demo.url}${address}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await eventually(async () => (await page.locator('.loading').count()) === 0, {
      what: `${address} has loaded`,
    });
    // A what-if that was asked before is answered at once, or runs again.
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await settled(page);
  };
  const decisionsSince = async (query: string, sinceMs: number): Promise<readonly Decision[]> => {
    const answer = await askApi<{ readonly decisions: readonly Decision[] }>(
      demo.url,
      `decisions?limit=5000&${query}`,
    );
    return answer.decisions.filter(({ atMs }) => atMs >= sinceMs);
  };
  const statusMark = (): Locator => page.getByRole('status', { name: 'State of what is shown' });

  test('a page that is open shows decisions as they come', async (t) => {
    await open('/');
    await statusMark().getByText('Live').waitFor();
    await eventually(async () => (await decisionDelays(page)).length >= 20, {
      what: 'twenty decisions come while the page is open',
    });
    const delays = await decisionDelays(page);
    const p95 = percentile(delays, 0.95);
    t.diagnostic(`decision to document: p50 ${percentile(delays, 0.5)} ms, p95 ${p95} ms`);
    printBudget(t, 'decision visible in an open page, p95', `${p95} ms`, '1 s');
    await assertUnbroken(page);
    await page.getByText('Simulated supply: no machine here is real').waitFor();
  });

  test('spending is what the shards say', async () => {
    await open('/');
    const dollars = async (): Promise<number> => {
      const [a, b] = await Promise.all([
        shards['shard-0'].getShardStatus({}),
        shards['shard-1'].getShardStatus({}),
      ]);
      return a.dollarsPerHour + b.dollarsPerHour;
    };
    const shown = page.locator('.now-spending .stat-value');
    await eventually(
      async () => {
        const before = await dollars();
        const text = await shown.innerText();
        const isStill = (await dollars()) === before;
        return isStill && before > 0 && text === `${cents(before)}/h`;
      },
      { what: 'the page shows the sum of the shards, to the cent' },
    );
  });

  test('a decision, its record and its candidates equal the shard’s own record', async () => {
    const frames = [];
    for await (const frame of shards['shard-0'].listRecords({})) frames.push(frame);
    const records = frames
      .filter(({ payload }) => !isDispositions(payload))
      .map((frame) => ({ frame, decoded: decodeRecord(frame.payload) }));
    const found = records.findLast(
      ({ decoded }) =>
        decoded.ok &&
        decoded.value.actions.some(({ need }) => decoded.value.needs[need] !== undefined),
    );
    assert.ok(found?.decoded.ok, 'the shard has decided something for a need');
    const { frame, decoded } = found;
    const record = decoded.value;
    const place = record.actions.findIndex(({ need }) => record.needs[need] !== undefined);
    const action = record.actions[place];
    const need = record.needs[action?.need ?? -1];
    assert.ok(action !== undefined && need !== undefined);
    const id = `shard-0/${frame.shardEpoch}/${frame.cycle}/${place}`;

    await open(`/decisions?open=${encodeURIComponent(id)}`);
    const drawer = page.getByRole('complementary', { name: `Record of cycle ${frame.cycle}` });
    const facts = await drawer.locator('dl.facts').first().innerText();
    assert.ok(facts.includes(action.machineId), facts);
    assert.ok(facts.includes(actionKindName(action.kind)), facts);
    assert.ok(facts.includes(`${price(action.shape.pricePerHour)}/h`), facts);
    const hash = Buffer.from(frame.actionHash).toString('hex');
    await drawer.getByText(hash).waitFor();

    const { cluster, fingerprint, group } = need;
    const told = explain(record, { need: { cluster, fingerprint, group } });
    assert.ok(told.kind !== 'not_mentioned' && told.candidates.length > 0);
    const rows = drawer.locator('details[open] .candidate');
    assert.equal(await rows.count(), told.candidates.length);
    for (const [at, candidate] of told.candidates.entries()) {
      const sum = await rows.nth(at).locator('.candidate-sum').innerText();
      const total = Number.isFinite(candidate.effectiveCost) ? price(candidate.effectiveCost) : '∞';
      assert.ok(sum.startsWith(total), `candidate ${at}: ${sum} for ${total}`);
      assert.ok(sum.includes(price(candidate.pricePerHour)), `candidate ${at}: ${sum}`);
    }

    const cycle = frame.cycle;
    const asked = {
      case: 'need',
      value: { clusterId: cluster, profileFingerprint: fingerprint, group },
    } as const;
    const answer = await shards['shard-0'].explain({
      subject: asked,
      cycle,
      counterfactuals: false,
    });
    const query = new URLSearchParams({ cluster, fingerprint, ...(group === '' ? {} : { group }) });
    await open(`/explain?${query.toString()}&cycle=${cycle}`);
    const bars = page.locator('.candidate');
    assert.equal(await bars.count(), answer.candidates.length);
    for (const [at, candidate] of answer.candidates.entries()) {
      const sum = await bars.nth(at).locator('.candidate-sum').innerText();
      const total = Number.isFinite(candidate.effectiveCost) ? price(candidate.effectiveCost) : '∞';
      assert.ok(sum.startsWith(total), `waterfall ${at}: ${sum} for ${total}`);
    }
    assertNoProblems(tab, 'records');
  });

  test('try-scale: decisions for the cluster, and its machines', async () => {
    await open('/decisions?cluster=web-eu');
    const sinceMs = unixMs();
    const said = await demo.type('scale');
    assert.match(said, /has 20 Pods now/);
    const decided = await eventually(
      async () =>
        (await decisionsSince('cluster=web-eu', sinceMs)).find(
          ({ kind, instanceType }) =>
            instanceType === 'm7i.xlarge' && (kind === 'Provision' || kind === 'Bootstrap'),
        ),
      { what: 'the shard provides for the Pods' },
    );
    const grid = page.getByRole('grid', { name: 'Decisions' });
    await grid.getByRole('link', { name: decided.machine }).first().waitFor();
    await open('/machines?cluster=web-eu&q=m7i.xlarge&state=Configured');
    await page.getByRole('grid').getByRole('row').nth(1).waitFor();
    assertNoProblems(tab, 'scale');
  });

  test('try-gang: all of it in one domain', async () => {
    const sinceMs = unixMs();
    const said = await demo.type('gang');
    assert.match(said, /need one rack/);
    const placed = await eventually(
      async () => {
        const found = await decisionsSince('cluster=train-us', sinceMs);
        // Gangs that train on GPUs come and go in the same cluster, each in a zone of its own.
        const gang = found.filter(
          ({ kind, instanceType }) => kind === 'Bootstrap' && instanceType === RACK_TYPE,
        );
        return new Set(gang.map(({ machine }) => machine)).size >= GANG_SIZE ? gang : undefined;
      },
      { what: 'every machine of the gang is decided' },
    );
    const domains = new Set(placed.map(({ domain }) => domain));
    assert.equal(domains.size, 1, [...domains].join(', '));
    const [first] = placed;
    assert.ok(first !== undefined);
    await open(`/decisions?cluster=train-us&open=${encodeURIComponent(first.id)}`);
    const drawer = page.getByRole('complementary', { name: /^Record of cycle/ });
    await drawer.getByText('Same domain').waitFor();
    assert.ok((await drawer.innerText()).includes(first.domain));
    assertNoProblems(tab, 'gang');
  });

  test('try-spot: prices of spot machines rise by the factor', async () => {
    interface Prices {
      readonly groups: readonly {
        readonly instanceType: string;
        readonly zone: string;
        readonly price: number;
      }[];
    }
    const groups = async (): Promise<Prices['groups']> =>
      (await askApi<Prices>(demo.url, 'cost?capacity=Spot')).groups;
    const earlier = await eventually(
      async () => {
        const found = await groups();
        return found.length > 0 ? found : undefined;
      },
      { what: 'some spot machines serve' },
    );
    await open('/cost?capacity=Spot&table=1');
    // Until it is seen: how long a busy machine takes to show it is not what is tested.
    const said = await demo.type('spot', 'FOR=10m');
    assert.match(said, /5 times as much/);
    const text = page.getByRole('main');
    await eventually(
      async () => {
        const shown = await text.innerText();
        return earlier.some((group) => shown.includes(price(group.price * 5)));
      },
      {
        what: `the page shows five times one of ${earlier.map((group) => price(group.price)).join(' ')}`,
      },
    );
    // The newest spike is the one that counts: this one ends the one before.
    await demo.type('spot', 'FACTOR=1', 'FOR=1s');
    assertNoProblems(tab, 'spot');
  });

  test('try-zone: its machines go, and others come', async () => {
    const configured = async (query: string): Promise<number> =>
      (await askApi<{ readonly total: number }>(demo.url, `map?state=Configured${query}`)).total;
    const wholeBefore = await configured('');
    const zone = 'zone-a';
    const zoneBefore = await configured(`&zone=${zone}`);
    assert.ok(zoneBefore > 0, 'the zone serves somebody');
    await open(`/map?state=Configured&zone=${zone}`);
    const said = await demo.type('zone', `ZONE=${zone}`, 'FOR=30s');
    assert.match(said, /lost its power/);
    const main = page.getByRole('main');
    const shownCount = async (): Promise<number> => {
      const shown = await main.innerText();
      if (shown.includes('No machines match')) return 0;
      return Number(/([\d,]+) machines? ·/.exec(shown)?.[1]?.replaceAll(',', '') ?? Number.NaN);
    };
    await eventually(async () => (await shownCount()) < zoneBefore / 2, {
      what: 'the map loses the machines of the zone',
    });
    await open('/lifecycle?table=1');
    const failures = page.getByRole('grid', { name: 'Failures by provider, type and error' });
    await failures.getByRole('row').nth(1).waitFor();
    await eventually(async () => (await configured('')) >= wholeBefore * 0.9, {
      what: 'others serve instead',
    });
    assertNoProblems(tab, 'zone');
  });

  test('try-shard: stale on everything of that shard, then the next epoch, no event lost', async () => {
    await open('/shards');
    const row = page
      .getByRole('grid', { name: 'Shards' })
      .getByRole('row')
      .filter({ hasText: 'shard-1' });
    const epochOf = async (): Promise<number> =>
      Number(
        /epoch (\d+)/.exec(
          (await row.locator('[title^="epoch"]').getAttribute('title')) ?? '',
        )?.[1],
      );
    await row.getByText('live').waitFor();
    const earlier = await epochOf();
    const said = await demo.type('shard', 'SHARD=shard-1');
    assert.match(said, /killed with SIGKILL/);
    await row.getByText('stale').waitFor();
    await statusMark().getByText('1 source stale').waitFor();
    await page.getByText(/Shard shard-1 is stale/).waitFor();
    await row.getByText('live').waitFor();
    await eventually(async () => (await epochOf()) > earlier, { what: 'its next epoch' });
    await statusMark().getByText('Live').waitFor();
    const sinceMs = unixMs();
    await eventually(
      async () => (await decisionsSince('shard=shard-1', sinceMs - 60_000)).length > 0,
      {
        what: 'it decides again',
      },
    );
    const { count } = await assertUnbroken(page);
    assert.ok(count > 0);
    assertNoProblems(tab, 'shard');
  });

  test('two dashboards show the same, each without what it was not told', async () => {
    const { ports } = demo;
    await using direct = await startDashboardProcess(
      `--shard=shard-0=127.0.0.1:${ports.shard}`,
      `--shard=shard-1=127.0.0.1:${ports['second-shard']}`,
    );
    await using registered = await startDashboardProcess(
      `--coordinator=127.0.0.1:${ports.coordinator}`,
    );
    interface Now {
      readonly dollarsPerHour: number;
      readonly supply: readonly object[];
    }
    await eventually(
      async () => {
        const answers = await Promise.all(
          [demo.url, direct.url, registered.url].map((url) => askApi<Now>(url, 'now')),
        );
        const [first, ...others] = answers.map(({ dollarsPerHour, supply }) => ({
          dollarsPerHour,
          supply,
        }));
        for (const other of others) assert.deepEqual(other, first);
        return true;
      },
      { what: 'three dashboards, one picture' },
    );
    await using without = await openElsewhere(tab, `${direct.url}/coordinator`);
    await without.page.getByText('--coordinator').first().waitFor();
    await without.page.goto(`${direct.url}/what-if?set=${encodeURIComponent('price spot=x5')}`);
    await without.page.getByText('--records-dir').first().waitFor();
    await without.page.goto(`${direct.url}/`);
    await without.page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
    assert.equal(await without.page.getByText('Simulated supply').count(), 0, 'it was not told so');
    await using found = await openElsewhere(tab, `${registered.url}/shards`);
    for (const shard of ['shard-0', 'shard-1']) {
      const row = found.page.getByRole('row').filter({ hasText: shard });
      await row.getByText('live').first().waitFor();
    }
  });

  /** Of a question that was answered; the every-page test shows it. */
  let whatIf = '/what-if';

  test('what-if: a question from the form, and figures that are the API’s', async () => {
    await open('/what-if');
    await page.getByRole('combobox', { name: 'Recorded by' }).selectOption('shard-0');
    await page.getByRole('button', { name: 'Spot prices × 1.4' }).click();
    const sides = page.getByRole('table', {
      name: 'The recorded demand without and with the changes',
    });
    await sides.waitFor();
    const { pathname, search, searchParams } = new URL(page.url());
    whatIf = `${pathname}${search}`;
    const asked = new URLSearchParams({
      shard: searchParams.get('shard') ?? '',
      set: searchParams.get('set') ?? '',
    });
    interface Side {
      readonly dollars: number;
      readonly dollarsPerHour: { readonly max: number };
    }
    const { result } = await askApi<{
      readonly result: {
        readonly cycles: number;
        readonly baseline: Side;
        readonly changed: Side;
      } | null;
    }>(demo.url, `whatif?${asked.toString()}`);
    assert.ok(result !== null && result.cycles > 0, 'the same question is answered already');
    const { baseline, changed } = result;
    assert.ok(changed.dollars > 0);
    const figures = async (name: string): Promise<readonly string[]> =>
      await sides.getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts();
    const together = await figures('Together');
    assert.deepEqual(together.slice(0, 2), [dollars(baseline.dollars), dollars(changed.dollars)]);
    const highest = await figures('Highest $/h');
    assert.deepEqual(
      highest.slice(0, 2),
      [baseline, changed].map((side) => dollars(side.dollarsPerHour.max)),
    );
    assertNoProblems(tab, 'what-if');
  });

  test('every page, light and dark and at 200 %: no error, no finding, all controls in reach', async () => {
    const machine = (
      await askApi<{ readonly machines: readonly { readonly machine: string }[] }>(
        demo.url,
        'machines?state=Configured&limit=1',
      )
    ).machines[0]?.machine;
    const [decision] = await decisionsSince('', 0);
    assert.ok(machine !== undefined && decision !== undefined);
    const { frame } = await askApi<{ readonly frame: { readonly oldestMs: number } }>(
      demo.url,
      'now',
    );
    const pages: Readonly<Record<string, string>> = {
      now: '/',
      map: '/map',
      decisions: '/decisions',
      record: `/decisions?open=${encodeURIComponent(decision.id)}`,
      explain: `/explain?machine=${encodeURIComponent(decision.machine)}`,
      cost: '/cost',
      triage: '/triage',
      lifecycle: '/lifecycle',
      providers: '/providers',
      clusters: '/clusters',
      shards: '/shards',
      coordinator: '/coordinator',
      machines: '/machines',
      needs: '/needs',
      'what-if': whatIf,
      compare: `/compare?with=${Math.max(frame.oldestMs, unixMs() - 30_000)}`,
    };
    const findings: string[] = [];
    for (const [name, address] of Object.entries(pages)) {
      await open(address);
      for (const scheme of ['light', 'dark'] as const) {
        await inScheme(page, scheme);
        await settled(page);
        await screenshot(page, `${name}-${scheme}`);
        for (const finding of await axeFindings(page))
          findings.push(`${name} ${scheme}: ${finding}`);
      }
      await page.setViewportSize({ width: 720, height: 450 });
      await settled(page);
      // An open record covers the page until it is closed.
      const within = name === 'record' ? 'aside' : 'body';
      for (const control of await unreachable(page, within)) {
        findings.push(`${name} at 200 %: ${control}`);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    }
    assert.deepEqual(findings, []);
    assertNoProblems(tab, 'all pages');
    assert.deepEqual(foreignRequests(tab, demo.url), []);
  });
});
