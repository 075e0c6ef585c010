// The real kubectl works against the test API server: what a person types at the demo's clusters.

import assert from 'node:assert/strict';
import { execFile, type ExecFileException, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realRuntime } from '@bigfleet/base/real';
import { ApiServer } from './api-server/index.ts';
import { at } from './api-server/json.ts';
import { type ListeningServer, listen } from './listen.ts';

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const skip = hasKubectl ? false : 'KUBECTL IS MISSING: nothing about kubectl was tested';
if (!hasKubectl) console.warn(skip);

const DEFINITIONS = fileURLToPath(new URL('../../../../api/crd/', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'kubectl-'));
const server = new ApiServer({ runtime: realRuntime() });
let listening: ListeningServer | undefined;

before(async () => {
  listening = await listen({ server });
  writeFileSync(path.join(folder, 'kubeconfig'), listening.kubeconfig());
});

after(async () => {
  server.stop();
  await listening?.close();
  rmSync(folder, { recursive: true });
});

const env = { ...process.env, KUBECONFIG: path.join(folder, 'kubeconfig'), HOME: folder };

interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Arguments as one line, split at spaces; quoted ones are passed as they are in `more`. */
function run(line: string, ...more: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const done = (error: ExecFileException | null, out: string, problem: string): void => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1;
      resolve({ code, output: out + problem });
    };
    execFile('kubectl', [...line.split(' '), ...more], { env, timeout: 60_000 }, done);
  });
}

async function expectOutput(pattern: RegExp, line: string, ...more: string[]): Promise<void> {
  const { code, output } = await run(line, ...more);
  assert.equal(code, 0, `kubectl ${line}: ${output}`);
  assert.match(output, pattern, `kubectl ${line}`);
}

async function expectRefusal(pattern: RegExp, line: string, ...more: string[]): Promise<void> {
  const { code, output } = await run(line, ...more);
  assert.notEqual(code, 0, `kubectl ${line}: ${output}`);
  assert.match(output, pattern, `kubectl ${line}`);
}

function file(name: string, content: unknown): string {
  const target = path.join(folder, name);
  writeFileSync(target, JSON.stringify(content));
  return target;
}

test('kubectl installs our definitions and shows their objects', { skip }, async () => {
  await expectOutput(/Server Version: v1\.3/, 'version');
  await expectOutput(/capacityrequests\.bigfleet\.lucy\.sh created/, `apply -f ${DEFINITIONS}`);
  await expectOutput(/capacityrequests\.bigfleet\.lucy\.sh unchanged/, `apply -f ${DEFINITIONS}`);
  await expectOutput(
    /condition met/,
    'wait --for=condition=Established crd/capacityrequests.bigfleet.lucy.sh --timeout=10s',
  );
  await expectOutput(
    /capacityrequests +cr,crs +bigfleet\.lucy\.sh\/v1alpha1 +true +CapacityRequest/,
    'api-resources --categories=fleet',
  );
  await expectOutput(/No resources found/, 'get pods,capacityrequests,upcomingnodes');
  const request = file('request.json', {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name: 'one' },
    spec: { priority: 100, resources: { cpu: 2 } },
  });
  await expectOutput(/one created/, `apply -f ${request}`);
  await expectOutput(/one unchanged/, `apply -f ${request}`);
  await expectOutput(
    /one patched/,
    'patch cr one --subresource=status --type=merge -p',
    '{"status":{"phase":"Pending"}}',
  );
  await expectOutput(
    /NAMESPACE +NAME +PHASE +PRIORITY +AGE\ndefault +one +Pending +100 /,
    'get capacityrequests -A --field-selector=status.phase=Pending',
  );
  await expectOutput(/capacityrequest\.bigfleet\.lucy\.sh\/one/, 'get fleet -o name');
  await expectRefusal(
    /status\.phase: Unsupported value: "Nope": supported values: "Pending", "Acknowledged"/,
    'patch cr one --subresource=status --type=merge -p',
    '{"status":{"phase":"Nope"}}',
  );
  await expectRefusal(
    /unknown field "spec\.color"/,
    'create -f',
    file('wrong.json', {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: { name: 'two' },
      spec: { priority: 1, resources: {}, color: 'red' },
    }),
  );
  await expectOutput(/serverside-applied/, `apply --server-side -f ${request}`);
  await expectOutput(/priority: 100/, 'get cr one -o yaml');
  await expectOutput(/Phase: +Pending/, 'describe cr one');
  await expectOutput(/deleted/, `delete -f ${request}`);
});

test('kubectl runs, shows, labels, edits and deletes Pods', { skip }, async () => {
  await expectOutput(/pod\/web created/, 'run web --image=app:1');
  await expectOutput(/web +0\/1 +Pending +0 /, 'get pods');
  await expectOutput(/NOMINATED NODE[^]*web .*<none>/, 'get pods -o wide');
  await expectOutput(/"phase": "Pending"/, 'get pod web -o json');
  await expectOutput(/pod\/web labeled/, 'label pod web tier=front');
  await expectOutput(/pod\/web annotated/, 'annotate pod web note=x');
  await expectOutput(/web .*run=web,tier=front/, 'get pods -l tier=front --show-labels');
  await expectOutput(/default +web /, 'get pods -A --field-selector=status.phase=Pending');
  await expectOutput(
    /pod\/web patched/,
    'patch pod web -p',
    '{"spec":{"containers":[{"name":"web","image":"app:2"}]}}',
  );
  await expectOutput(/Image: +app:2/, 'describe pod web');
  await expectRefusal(
    /pod updates may not change fields/,
    'patch pod web -p',
    '{"spec":{"nodeName":"n"}}',
  );
  const eventFile = file('event.json', {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'web.1', namespace: 'default' },
    involvedObject: { kind: 'Pod', name: 'web', namespace: 'default' },
    reason: 'Waiting',
    message: 'no capacity yet',
    type: 'Normal',
  });
  await expectOutput(/created/, `create -f ${eventFile}`);
  await expectOutput(/Normal +Waiting +pod\/web +no capacity yet/, 'get events');
  await expectOutput(/pod "web" deleted/, 'delete pod web');
  await expectRefusal(/pods "web" not found/, 'get pod web');
});

test('kubectl cordons, taints and drains a node', { skip }, async () => {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels: { 'node-role.kubernetes.io/worker': '' } },
  };
  await expectOutput(/node\/n1 created/, `apply -f ${file('node.json', node)}`);
  await expectOutput(/node\/n1 cordoned/, 'cordon n1');
  await expectOutput(/n1 +Unknown,SchedulingDisabled +worker/, 'get nodes');
  await expectOutput(/Unschedulable: +true/, 'describe node n1');
  await expectOutput(/node\/n1 uncordoned/, 'uncordon n1');
  await expectOutput(/node\/n1 tainted/, 'taint node n1 dedicated=x:NoSchedule');
  await expectOutput(/node\/n1 drained/, 'drain n1');
  await expectOutput(/deleted/, 'delete node n1');
});

test('kubectl’s typed commands, which send protobuf, are understood', { skip }, async () => {
  await expectOutput(/namespace\/typed created/, 'create namespace typed');
  await expectOutput(
    /configmap\/settings created/,
    'create configmap settings -n typed --from-literal=a=b',
  );
  await expectOutput(/"a": "b"/, 'get configmap settings -n typed -o json');
  await expectOutput(
    /secret\/token created/,
    'create secret generic token -n typed --from-literal=t=x',
  );
  await expectOutput(
    /priorityclass\.scheduling\.k8s\.io\/high created/,
    'create priorityclass high --value=1000',
  );
  await expectOutput(/created/, 'create pdb keep -n typed --selector=app=web --min-available=50%');
  await expectOutput(/keep +50% +N\/A +0 /, 'get pdb -n typed');
  await expectOutput(
    /deployment\.apps\/web created/,
    'create deployment web -n typed --image=app:1 --replicas=2',
  );
  await expectOutput(/yes/, 'auth can-i delete nodes');
});

test('kubectl drains a node with a Pod on it', { skip }, async () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } };
  await expectOutput(/created/, `apply -f ${file('node2.json', node)}`);
  await expectOutput(
    /created/,
    'run there --image=app:1 --overrides',
    '{"spec":{"nodeName":"n2"}}',
  );
  const draining = run('drain n2 --force --timeout=30s');
  // The kubelet's part: it confirms the end of a Pod that was told to go.
  for (;;) {
    const pod = server.store.get('/pods', 'default/there');
    if (pod === undefined) break;
    if (at(pod.object, 'metadata', 'deletionTimestamp') !== undefined) {
      server.answer({
        method: 'DELETE',
        path: '/api/v1/namespaces/default/pods/there?gracePeriodSeconds=0',
      });
    }
    await realRuntime().timers.turn();
  }
  assert.match((await draining).output, /pod\/there evicted[^]*node\/n2 drained/);
});

test('kubectl edits with an editor of its own choice', { skip }, async () => {
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'a', image: 'app:1' }] },
      },
    },
  };
  await expectOutput(/created/, `apply -f ${file('deployment.json', deployment)}`);
  const editor = 'sed -i s/replicas:.1/replicas:\\ 3/';
  const edited = await new Promise<string>((resolve) => {
    execFile(
      'kubectl',
      ['edit', 'deployment', 'web'],
      { env: { ...env, KUBE_EDITOR: editor } },
      (_error, out, problem) => resolve(out + problem),
    );
  });
  assert.match(edited, /deployment\.apps\/web edited/);
  await expectOutput(/web +0\/3 /, 'get deployments');
  await expectOutput(/deployment\.apps\/web scaled/, 'scale deployment web --replicas=4');
  await expectOutput(/web +0\/4 /, 'get deployments');
  await expectOutput(
    /configured/,
    'apply -f',
    file('deployment.json', { ...deployment, spec: { ...deployment.spec, replicas: 2 } }),
  );
  await expectOutput(/deleted/, 'delete deployment web');
});

test('kubectl watches', { skip }, async () => {
  const watching = spawn('kubectl', ['get', 'configmaps', '-w', '-o', 'name'], { env });
  const seen = new Promise<string>((resolve) => {
    let text = '';
    watching.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('configmap/late')) resolve(text);
    });
  });
  await expectOutput(
    /created/,
    'create -f',
    file('map.json', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } }),
  );
  assert.match(await seen, /configmap\/late/);
  watching.kill();
});

test('kubectl deletes a namespace with its content', { skip }, async () => {
  await expectOutput(
    /created/,
    'create -f',
    file('namespace.json', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }),
  );
  await expectOutput(/pod\/a created/, 'run a --image=x -n team');
  await expectOutput(/namespace "team" deleted/, 'delete namespace team --timeout=30s');
  await expectRefusal(/namespaces "team" not found/, 'get namespace team');
});
