// `make up KUBECONFIG=…` as a guest in a real cluster without BigFleet's definitions: Pods of that cluster get
// machines, and only the definitions stay, as it says.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, leasePorts, startProcess } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { startControlPlane } from './control-plane.ts';
import { listAll } from './demand.ts';
import { podsPath } from './pods-and-requests.ts';

const skip = skipWithout('controlPlane');
const UP = join(import.meta.dirname, '../../demo/src/up.ts');
const NAMESPACE = 'guested';
const OURS = '/apis/bigfleet.lucy.sh/v1alpha1';
const REPLICAS = 3;

/** The demo's usage line names them. */
function portVariables(): readonly string[] {
  const { stderr } = spawnSync(process.execPath, [UP, '--nothing'], { encoding: 'utf8' });
  return Array.from(stderr.matchAll(/\[(\w+_PORT)=/g), ([, name = '']) => name);
}

test('A real cluster that joins the demo gets machines, and is left as it was', {
  skip,
}, async (t) => {
  await using plane = await startControlPlane({ hasDefinitions: false });
  plane.explainFailures(t);
  const { admin } = plane;
  await plane.namespace(NAMESPACE);
  const labels = { app: 'web' };
  const requests = { cpu: '1', memory: '1Gi' };
  await admin.must(
    admin.create(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, {
      metadata: { name: 'web' },
      spec: {
        replicas: REPLICAS,
        selector: { matchLabels: labels },
        template: {
          metadata: {
            labels,
            // Not onto spot machines, one of which may go at any moment.
            annotations: { 'bigfleet.lucy.sh/interruption-penalty': '1M' },
          },
          spec: {
            // A type that the demo's own workloads leave alone.
            nodeSelector: { 'node.kubernetes.io/instance-type': 'm7i.xlarge' },
            containers: [{ name: 'main', image: 'web:1', resources: { requests } }],
          },
        },
      },
    }),
  );
  const variables = portVariables();
  assert.ok(variables.length > 10, variables.join(' '));
  const ports = await leasePorts(variables.length);
  await using leases = new AsyncDisposableStack();
  for (const port of ports) leases.use(port);
  await using demo = await startProcess({
    name: 'the demo',
    command: process.execPath,
    args: [UP, '--seed', '7', '--kubeconfig', plane.adminKubeconfig],
    env: Object.fromEntries(variables.map((name, at) => [name, String(ports[at]?.port)])),
  });
  await demo.waitForLine(/installed upcomingnodes\.bigfleet\.lucy\.sh; it stays/);
  await eventually(
    async () => {
      const pods = await listAll(admin, podsPath(NAMESPACE));
      return pods.filter(({ status }) => status?.['phase'] === 'Running').length === REPLICAS;
    },
    { what: 'the Pods run', everyMs: 200, details: () => demo.output.text().slice(-4_000) },
  );
  for (const kind of ['nodes', 'capacityrequests', 'upcomingnodes', 'availablecapacities']) {
    const { code, output } = await plane.kubectl(['get', kind, '-A', '-o', 'name']);
    assert.ok(code === 0 && output.includes('/'), output);
  }
  demo.signal('SIGINT');
  await demo.waitForLine(/^removed \d+ capacityrequests from the joined cluster$/);
  await eventually(() => demo.exit !== undefined, { what: 'the demo ends' });
  assert.deepEqual(demo.exit, { kind: 'code', code: 0 }, demo.output.text().slice(-2_000));
  assert.deepEqual(await listAll(admin, '/api/v1/nodes'), []);
  for (const plural of ['capacityrequests', 'upcomingnodes', 'availablecapacities']) {
    assert.deepEqual(await listAll(admin, `${OURS}/${plural}`), [], plural);
  }
});
