// Proves what an operator says when it starts, before anybody answers it: its first line, and what will not
// work without a bootstrap template.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ClusterId } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import { startOperator } from './start-operator.ts';

/** Nobody listens there. */
const NOWHERE = '127.0.0.1:1';

const KUBECONFIG = JSON.stringify({
  clusters: [{ name: 'c', cluster: { server: `http://${NOWHERE}` } }],
  contexts: [{ name: 'c', context: { cluster: 'c' } }],
  'current-context': 'c',
});

/** Lines of an operator that was started and stopped. */
async function said(t: TestContext, template: string | undefined): Promise<readonly string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'operator-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = path.join(folder, 'config');
  writeFileSync(kubeconfig, KUBECONFIG);
  const bootstrapTemplateFile = template === undefined ? '' : path.join(folder, 'bootstrap.tmpl');
  if (template !== undefined) writeFileSync(bootstrapTemplateFile, template);
  const runtime = realRuntime();
  const sink = captureSink();
  const running = await startOperator({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink }),
    registry: createRegistry(),
    env: {},
    settings: {
      clusterId: 'eu-1' as ClusterId,
      shardAddress: NOWHERE,
      kubeconfig,
      metricsAddress: { kind: 'disabled' },
      qps: 20,
      burst: 40,
      acknowledgeConcurrency: 4,
      rollupIntervalMs: 10_000,
      bootstrapTemplateFile,
      bootstrapAllowedKeys: new Set(),
      apiServerEndpoint: '',
      bootstrapToken: undefined,
      lease: undefined,
      tls: { cert: '', key: '', ca: '', requireTls: false },
      shardId: '',
      shardServerName: '',
      traceSamples: '',
      hasDebugEndpoints: false,
      build: { version: '1', revision: 'r' },
    },
  });
  await running.stop();
  return sink.lines;
}

const WARNING =
  /level=WARN msg="no bootstrap template: new machines get a stub and join no cluster"/;

test('without a bootstrap template it warns once, right after its first line', async (t) => {
  const lines = await said(t, undefined);
  assert.match(lines[0] ?? '', /msg="operator started" .*rollup_interval=10s/);
  assert.match(lines[1] ?? '', WARNING);
  assert.match(lines[1] ?? '', / code=bootstrap_template_missing /);
  assert.match(lines[1] ?? '', / flag=--bootstrap-template-file chart_value=bootstrapTemplate/);
  assert.equal(lines.filter((line) => WARNING.test(line)).length, 1);
  assert.match(lines.at(-1) ?? '', /msg="operator stopped"/);
});

test('with a bootstrap template it does not', async (t) => {
  const lines = await said(t, '#cloud-config\n');
  assert.match(lines[0] ?? '', /msg="operator started"/);
  assert.deepEqual(
    lines.filter((line) => /bootstrap/.test(line)),
    [],
  );
});
