// Proves in a real Prometheus that scrapes every process of a running fleet: each panel's query answers
// with data for the jobs and instances that its own variables offer, every alert can be evaluated, and a
// healthy young fleet pages nobody.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createTempDir,
  eventually,
  http,
  type Prometheus,
  startPrometheus,
} from '../toolkit/index.ts';
import { type Choice, type Dashboard, DASHBOARDS, queriesOf, resolved } from './dashboards.ts';
import { ALERTS, writeRuleFiles } from './rule-files.ts';
import { startRunningFleet } from './running-fleet.ts';

/** Empty in this fleet for a good reason. */
const EMPTY: Readonly<Record<string, string>> = {
  'overview.json, Firing alerts, A': 'nothing is wrong',
  'provider.json, API calls, A': 'the substrate of the test provider is in its own memory',
  'provider.json, Refused calls, A': 'no call was refused, and codes come with their first call',
  'shard.json, Refused records and out-of-band changes, B': 'no machine changed by itself',
  'provider.json, Errors by class, A': 'no class of error has happened yet',
  'provider.json, Age of prices, A': 'the test provider has fixed prices',
};
/** Of full hours, a Prometheus of seconds has seen none: test/promql asks it over a recorded hour. */
const HOURLY = '[90d:1h]';

test('every query of every dashboard and alert answers on a running fleet', async (t) => {
  await using dir = createTempDir('fleet');
  await using fleet = await startRunningFleet(dir.path);
  await using prometheus = await startPrometheus({
    scrape: fleet.scrape,
    // Also its timeout: at the default of 200 ms a busy machine makes processes look down.
    scrapeIntervalMs: 1_000,
    ruleFiles: writeRuleFiles(dir.path),
  });
  await prometheus.waitScraped();
  await fleet.load();
  await prometheus.waitScraped();
  await prometheus.waitScraped();

  for (const dashboard of DASHBOARDS) {
    await t.test(dashboard.title, async (panels) => {
      const choice = await chooseAll(prometheus, dashboard);
      for (const { at, expr } of queriesOf(dashboard)) {
        await panels.test(at, async () => {
          // A gauge of a cycle, a report or a roll-up comes with the next one.
          const query = resolved(expr, choice).replace(HOURLY, '[1m:1s]');
          const answers = async (): Promise<boolean> => (await prometheus.query(query)).length > 0;
          const reason = EMPTY[at];
          if (reason !== undefined) assert.equal(await answers(), false, `not empty: ${reason}`);
          else await eventually(answers, { what: `an answer to ${query}` });
        });
      }
    });
  }

  await t.test('every alert is evaluated, and nobody is paged', () => assertAlerts(prometheus));
});

/** What the variables of the dashboard offer, all of it chosen. */
async function chooseAll(prometheus: Prometheus, dashboard: Dashboard): Promise<Choice> {
  const values = async (name: string, job: string): Promise<string> => {
    const variable = dashboard.templating.list.find((each) => each.name === name);
    const query = typeof variable?.query === 'object' ? variable.query.query : '';
    const [, selector = ''] = /^label_values\((.*), \w+\)$/.exec(query) ?? [];
    const samples = await prometheus.query(`group by (${name}) (${selector.replace('$job', job)})`);
    assert.ok(samples.length > 0, `${dashboard.file}: ${query}`);
    return samples.map(({ labels }) => labels[name]).join('|');
  };
  const job = await values('job', '');
  return { job, instance: await values('instance', job), rateInterval: '1m' };
}

interface RulesAnswer {
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly {
        readonly name: string;
        readonly health: string;
        readonly lastError?: string;
        readonly alerts: readonly {
          readonly state: string;
          readonly labels: Readonly<Record<string, string>>;
        }[];
      }[];
    }[];
  };
}

async function assertAlerts(prometheus: Prometheus): Promise<void> {
  const rules = async (): Promise<RulesAnswer['data']['groups'][number]['rules']> => {
    const { body } = await http({ url: `${prometheus.url}/api/v1/rules` });
    return (JSON.parse(body) as RulesAnswer).data.groups.flatMap((group) => group.rules);
  };
  const evaluated = await eventually(
    async () => {
      const all = await rules();
      return all.every(({ health }) => health !== 'unknown') && all;
    },
    { what: 'every alert is evaluated' },
  );
  assert.equal(evaluated.length, ALERTS.length);
  for (const { name, health, lastError } of evaluated)
    assert.equal(health, 'ok', `${name}: ${lastError}`);
  const paging = evaluated
    .flatMap(({ alerts }) => alerts)
    .filter(({ state, labels }) => state === 'firing' && labels['severity'] === 'page');
  assert.deepEqual(paging, []);
}
