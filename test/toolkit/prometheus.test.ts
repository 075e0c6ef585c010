// Proves that a real Prometheus scrapes a target, answers instant and range PromQL with its
// values, evaluates rule files, names the target that does not answer, and that promtool tells good rules from bad ones.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from './eventually.ts';
import { checkRules, startPrometheus, testRules } from './prometheus.ts';
import { unixMs } from './real-time.ts';
import { createTempDir } from './temp-dir.ts';

const RULE = 'job:toolkit_requests:sum';
const RULES = JSON.stringify({
  groups: [{ name: 'g', rules: [{ record: RULE, expr: 'sum by (job) (toolkit_requests_total)' }] }],
});

test('scrape two series, query them, evaluate a rule over them', async (t) => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end('toolkit_requests_total{code="ok"} 42\ntoolkit_requests_total{code="bad"} +Inf\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using dir = createTempDir('rules');
  const ruleFile = join(dir.path, 'rules.yml');
  await writeFile(ruleFile, RULES);

  await using prometheus = await startPrometheus({
    scrape: [
      { job: 'toolkit', targets: [target] },
      { job: 'dead', targets: ['127.0.0.1:1'] },
    ],
    ruleFiles: [ruleFile],
    // Also how long a scrape may take: this process serves it.
    scrapeIntervalMs: 1_000,
  });
  await prometheus.waitScraped({ jobs: ['toolkit'] });

  const series = await prometheus.query('toolkit_requests_total');
  const byCode = new Map(series.map(({ labels, value }) => [labels['code'], value]));
  assert.deepEqual(
    byCode,
    new Map([
      ['ok', 42],
      ['bad', Number.POSITIVE_INFINITY],
    ]),
  );
  assert.ok(
    series.every(({ labels }) => labels['job'] === 'toolkit' && labels['instance'] === target),
  );
  assert.equal((await prometheus.query('1 + 1'))[0]?.value, 2);
  assert.deepEqual(await prometheus.query('no_such_metric'), []);

  const recorded = await eventually(async () => (await prometheus.query(RULE))[0], {
    what: 'recorded rule',
  });
  assert.equal(recorded.value, Number.POSITIVE_INFINITY);

  const nowSeconds = unixMs() / 1_000;
  const [up] = await prometheus.queryRange({
    expression: 'up{job="toolkit"}',
    startSeconds: nowSeconds - 10,
    endSeconds: nowSeconds,
    stepSeconds: 1,
  });
  assert.ok(up?.points.some(([, value]) => value === 1));

  await assert.rejects(prometheus.query('sum('), /bad_data: .*parse error/);
  await assert.rejects(prometheus.query('"text"'), /gives a string/);
  await assert.rejects(
    prometheus.waitScraped({ withinMs: 5_000 }),
    /127\.0\.0\.1:1\/metrics: down .*refused/,
  );
});

test('promtool tells good rules from bad ones, and runs rule tests', async () => {
  await using dir = createTempDir('promtool');
  const write = async (name: string, content: unknown): Promise<string> => {
    const path = join(dir.path, name);
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const good = await write('good.yml', RULES);
  const bad = await write('bad.yml', RULES.replace('sum by', 'sum buy'));
  assert.equal((await checkRules([good])).ok, true);
  const verdict = await checkRules([good, bad]);
  assert.equal(verdict.ok, false);
  assert.match(verdict.output, /bad\.yml[\s\S]*parse error/);

  const ruleTest = (value: number): unknown => ({
    rule_files: ['good.yml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: [{ series: 'toolkit_requests_total{job="j"}', values: '3 3 3' }],
        promql_expr_test: [
          { expr: RULE, eval_time: '1m', exp_samples: [{ labels: `${RULE}{job="j"}`, value }] },
        ],
      },
    ],
  });
  assert.equal((await testRules([await write('right.test.yml', ruleTest(3))])).ok, true);
  assert.equal((await testRules([await write('wrong.test.yml', ruleTest(4))])).ok, false);
});
