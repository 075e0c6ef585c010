// Proves charts on a real API server (kubernetes §7.2, behaviours 13 and 14): it accepts every object that any
// value renders, strictly; each process has the rights of its table and no others; CRDs come in every order and
// stay; the install steps of the operator guide work as printed.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseYaml } from '@bigfleet/process';
import { eventually } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { tryApply } from './charts/apply.ts';
import { CHARTS, chartOf, everythingOf, variantsOf } from './charts/catalogue.ts';
import { foreignDefinitions } from './charts/foreign-crds.ts';
import { installSteps, Shell } from './charts/guide.ts';
import { Helm, type KubeObject, nested, ROOT } from './charts/helm.ts';
import { chartRights } from './charts/rights.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';

const SKIP = { skip: skipWithout('helm', 'controlPlane') };
const NAMESPACE = 'bigfleet-system';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CRD_NAMES = ['availablecapacities', 'capacityrequests', 'upcomingnodes'].map(
  (plural) => `${plural}.bigfleet.lucy.sh`,
);
const OPERATOR = ['bigfleet-operator', './deploy/helm/bigfleet-operator'];
const OPERATOR_VALUES = [
  `--namespace=${NAMESPACE}`,
  '--create-namespace',
  '--set=clusterID=cluster-prod-eu',
  '--set=shardAddress=bigfleet-shard.bigfleet-system:7780',
];

interface World extends AsyncDisposable {
  readonly plane: ControlPlane;
  readonly helm: Helm;
}

/** A cluster as its owner finds it: none of our definitions. */
async function emptyCluster(): Promise<World> {
  const plane = await startControlPlane({ hasDefinitions: false });
  const helm = new Helm(plane.adminKubeconfig);
  return {
    plane,
    helm,
    [Symbol.asyncDispose]: async () => {
      await helm[Symbol.asyncDispose]();
      await plane[Symbol.asyncDispose]();
    },
  };
}

describe('charts, on a real API server', SKIP, () => {
  let world: World;
  before(async () => {
    world = await emptyCluster();
  });
  after(() => world[Symbol.asyncDispose]());

  async function helmMust(...args: readonly string[]): Promise<string> {
    const { code, output, errors } = await world.helm.run(args);
    assert.equal(code, 0, `helm ${args.join(' ')}: ${errors}`);
    return output;
  }

  async function kubectlMust(...args: readonly string[]): Promise<string> {
    const { code, output } = await world.plane.kubectl(args);
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${output}`);
    return output;
  }

  async function crdMarks(): Promise<Readonly<Record<string, string>>> {
    const marks: Record<string, string> = {};
    for (const name of CRD_NAMES) {
      const { status, object } = await world.plane.admin.get(`${CRDS}/${name}`);
      const annotations = (object as unknown as Partial<KubeObject>).metadata?.annotations;
      const owner = annotations?.['meta.helm.sh/release-name'] ?? 'nobody';
      marks[name] = status === 200 ? owner : 'absent';
    }
    return marks;
  }

  async function assertCrds(owner: string): Promise<void> {
    const expected = Object.fromEntries(CRD_NAMES.map((name) => [name, owner]));
    assert.deepEqual(await crdMarks(), expected);
  }

  async function removeCrds(): Promise<void> {
    for (const name of CRD_NAMES) await world.plane.admin.delete(`${CRDS}/${name}`);
    await eventually(
      async () => Object.values(await crdMarks()).every((owner) => owner === 'absent'),
      { what: 'the CRDs are gone' },
    );
  }

  /** A request as a user would write it. */
  async function createRequest(): Promise<void> {
    const path = `/apis/bigfleet.lucy.sh/v1alpha1/namespaces/default/capacityrequests`;
    const request = {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: { name: 'precious' },
      spec: { priority: 1000, resources: { cpu: '1' } },
    };
    await eventually(async () => (await world.plane.admin.create(path, request)).status === 201, {
      what: 'a CapacityRequest can be created',
    });
  }

  test('every object that any value renders is accepted, every field of it known', async (t) => {
    const { helm, plane } = world;
    const foreign = foreignDefinitions();
    const isForeign = ({ kind }: KubeObject): boolean =>
      ['Certificate', 'PodMonitor'].includes(kind);
    if (typeof foreign === 'string') console.warn(foreign);
    else {
      for (const object of foreign) {
        await plane.admin.must(plane.admin.create(CRDS, object));
        const path = `${CRDS}/${object.metadata.name}`;
        await eventually(
          async () =>
            JSON.stringify((await plane.admin.get(path)).object).includes('"Established"'),
          { what: `${object.metadata.name} is served` },
        );
      }
    }
    for (const name of [NAMESPACE, 'elsewhere']) await plane.namespace(name);
    for (const chart of CHARTS) {
      await t.test(chart.name, async () => {
        const distinct = new Map<string, KubeObject>();
        const all = [...variantsOf(chart).map((each) => each.after), everythingOf(chart)];
        for (const values of [nested(chart.required), ...all]) {
          for (const object of await helm.objects(chart.folder, values)) {
            distinct.set(JSON.stringify(object), object);
          }
        }
        assert.ok(distinct.size > variantsOf(chart).length, `only ${distinct.size} objects`);
        for (const object of distinct.values()) {
          if (typeof foreign === 'string' && isForeign(object)) continue;
          const { status, text } = await tryApply(plane.admin, object);
          assert.ok(status < 300, `${object.kind} ${object.metadata.name}: ${text}`);
        }
      });
    }
    const skip = typeof foreign === 'string' ? foreign : false;
    await t.test(
      'so are the rules of deploy/prometheus, as the guide applies them',
      {
        skip,
      },
      async () => {
        const folder = path.join(ROOT, 'deploy/prometheus');
        const applied = await kubectlMust('apply', '--dry-run=server', '-f', folder);
        const files = readdirSync(folder);
        assert.equal(applied.match(/^prometheusrule\S* created/gm)?.length, files.length, applied);
        for (const file of files) {
          const parsed = parseYaml(readFileSync(path.join(folder, file), 'utf8'));
          assert.ok(parsed.ok);
          const { metadata, ...rest } = parsed.value as KubeObject;
          const object = { ...rest, metadata: { ...metadata, namespace: NAMESPACE } } as KubeObject;
          const { status, text } = await tryApply(plane.admin, object);
          assert.ok(status < 300, `${file}: ${text}`);
        }
      },
    );
    await t.test('and one with an unknown field is not', async () => {
      const [object] = await chartRights(helm, 'bigfleet-operator');
      assert.ok(object !== undefined);
      const wrong = { ...object, turbo: true };
      const { text } = await tryApply(plane.admin, wrong);
      assert.match(text, /\.turbo: field not declared in schema/);
    });
  });

  test('kubectl takes the default objects of each chart with --dry-run=server', async () => {
    for (const { folder, required } of CHARTS) {
      const { code, output, errors } = await world.helm.template(folder, nested(required));
      assert.equal(code, 0, errors);
      const applied = await world.plane.kubectl(['apply', '--dry-run=server', '-f', '-'], {
        input: output,
      });
      assert.equal(applied.code, 0, applied.output);
    }
  });

  test('kubectl apply before helm install: the CRDs stay with whoever applied them', async () => {
    for (const name of CRD_NAMES) await kubectlMust('apply', '-f', crdFile(name));
    await helmMust('install', ...OPERATOR, ...OPERATOR_VALUES);
    await assertCrds('nobody');
    await helmMust('upgrade', ...OPERATOR, ...OPERATOR_VALUES);
    await assertCrds('nobody');
    await createRequest();
    await helmMust('uninstall', 'bigfleet-operator', '--namespace', NAMESPACE);
    await assertCrds('nobody');
    assert.match(await kubectlMust('get', 'capacityrequests'), /precious/);
    await removeCrds();
  });

  test('helm install alone brings the CRDs, kubectl may apply over them, and uninstall keeps them', async () => {
    await helmMust('install', ...OPERATOR, ...OPERATOR_VALUES);
    await assertCrds('bigfleet-operator');
    await eventually(
      async () => (await world.plane.kubectl(['get', 'availablecapacity'])).code === 0,
      { what: 'kubectl get availablecapacity works' },
    );
    await createRequest();
    for (const name of CRD_NAMES) await kubectlMust('apply', '-f', crdFile(name));
    await assertCrds('bigfleet-operator');
    await helmMust('upgrade', ...OPERATOR, ...OPERATOR_VALUES, '--set', 'qps=60');
    await assertCrds('bigfleet-operator');
    await helmMust('upgrade', ...OPERATOR, ...OPERATOR_VALUES, '--set', 'crds.install=false');
    await assertCrds('bigfleet-operator');
    await helmMust('uninstall', 'bigfleet-operator', '--namespace', NAMESPACE);
    assert.match(await kubectlMust('get', 'capacityrequests'), /precious/);
    // Installed again: the marks of the release that went are those of the one that comes.
    await helmMust('install', ...OPERATOR, ...OPERATOR_VALUES);
    assert.match(await kubectlMust('get', 'capacityrequests'), /precious/);
    await helmMust('uninstall', 'bigfleet-operator', '--namespace', NAMESPACE);
    await removeCrds();
  });

  test('the state of a provider survives its uninstall', { skip: isAbsent() }, async () => {
    const chart = './providers/_template/deploy/helm/bigfleet-provider-template';
    const place = ['--namespace', NAMESPACE, '--create-namespace'];
    await helmMust('install', 'anything', chart, ...place, '--set', 'templateBackend=fake');
    await helmMust('uninstall', 'anything', '--namespace', NAMESPACE);
    const claims = await kubectlMust('get', 'persistentvolumeclaims', '--namespace', NAMESPACE);
    assert.match(claims, /bigfleet-provider-template-state/);
  });

  test('the notes say when coordinator.bootstrap has done its work', async () => {
    const chart = ['bigfleet', './deploy/helm/bigfleet', '--namespace', NAMESPACE];
    const fresh = await helmMust('install', ...chart, '--create-namespace');
    assert.match(fresh, /set coordinator\.bootstrap=false/);
    assert.doesNotMatch(fresh, /WARNING: this upgrade/);
    const forgotten = await helmMust('upgrade', ...chart);
    assert.match(forgotten, /WARNING: this upgrade still has coordinator\.bootstrap=true/);
    // --reuse-values would leave values that are new in the chart unset.
    const told = ['--reset-then-reuse-values', '--set', 'coordinator.bootstrap=false'];
    assert.ok(forgotten.includes(` ${told.join(' ')}\n`), forgotten);
    const done = await helmMust('upgrade', ...chart, ...told);
    assert.doesNotMatch(done, /coordinator\.bootstrap/);
    const many = await helmMust('upgrade', ...chart, '--set', 'shard.replicas=2');
    assert.match(many, /bigfleet-shard-1\.bigfleet-shard-headless\.bigfleet-system\.svc:7780/);
    await helmMust('uninstall', 'bigfleet', '--namespace', NAMESPACE);
  });

  test('the notes speak TLS where the coordinators do, and know the policies', async () => {
    const chart = ['p', './deploy/helm/bigfleet', '--namespace', NAMESPACE, '--dry-run=server'];
    const secured = [
      '--set=coordinator.tls.secretName=c',
      '--set=shard.tls.secretName=s',
      '--set=networkPolicy.enabled=true',
    ];
    const shown = await helmMust('install', ...chart, ...secured);
    assert.match(
      shown,
      /--coordinator=bigfleet-coordinator\.bigfleet-system\.svc:7790 .* status$/m,
    );
    assert.match(shown, /bigfleet\.lucy\.sh\/client=true/);
    assert.doesNotMatch(shown, /--probe|WARNING/);
    const plain = await helmMust('install', ...chart);
    assert.match(plain, /-- bigfleetctl doctor$/m);
    assert.match(plain, /--probe$/m);
  });

  test('a namespace other than the one of the release is pointed out', async () => {
    const args = ['--namespace', 'default', '--dry-run=server'];
    const shown = await helmMust('install', 'p', './deploy/helm/bigfleet', ...args);
    assert.match(shown, /WARNING: the release is in namespace default/);
  });

  test('the five install steps of the operator guide work as printed', async () => {
    const shell = new Shell(world.helm.folder, world.plane.adminKubeconfig);
    await world.plane.admin.delete(`/api/v1/namespaces/${NAMESPACE}`);
    await eventually(
      async () => (await world.plane.admin.get(`/api/v1/namespaces/${NAMESPACE}`)).status === 404,
      { what: 'the namespace of earlier tests is gone' },
    );
    const steps = installSteps();
    assert.deepEqual(steps.flatMap(commandsOf), PRINTED.map(fromCheckout));
    for (const text of steps) await shell.run(text);
    await assertCrds('nobody');
    const running = await kubectlMust('get', 'deployments,statefulsets', '--namespace', NAMESPACE);
    for (const name of ['coordinator', 'shard', 'operator', 'unschedulable-pod-controller']) {
      assert.match(running, new RegExp(`bigfleet-${name}`));
    }
  });

  test('each process has the rights of its table and no others', async (t) => {
    const { helm, plane } = world;
    for (const [chart, table] of Object.entries(RIGHTS)) {
      await t.test(chart, async () => {
        const values = chart === 'bigfleet-operator' ? WITH_TOKENS : {};
        const rules = (await chartRights(helm, chart, values)).flatMap(rulesOf);
        assert.deepEqual(rules.flatMap(lines).sort(), [...table].sort());
        const sets = Object.entries({ ...chartOf(chart).required, ...values }).map(
          ([name, value]) => `--set=${name}=${String(value)}`,
        );
        const place = `--namespace=${NAMESPACE}`;
        await helmMust('upgrade', '--install', chart, chartOf(chart).folder, place, ...sets);
        const account = { namespace: NAMESPACE, name: chart };
        const kubeconfig = await plane.serviceAccountKubeconfig(account);
        for (const [verb, resource, where] of DENIED) {
          const args = ['auth', 'can-i', verb, resource, '--namespace', where];
          const { output } = await plane.kubectl(args, { kubeconfig });
          assert.match(output, /^no$/m, `${verb} ${resource} in ${where}`);
        }
        const { output } = await plane.kubectl(['auth', 'can-i', 'watch', 'pods'], { kubeconfig });
        assert.match(output, /^yes$/m);
      });
    }
  });
});

function isAbsent(): string | false {
  return CHARTS.some(({ name }) => name.startsWith('bigfleet-provider-'))
    ? false
    : 'there is no providers/ here';
}

function crdFile(name: string): string {
  const [plural] = name.split('.');
  return path.join(ROOT, `api/crd/bigfleet.lucy.sh_${plural}.yaml`);
}

/** *BigFleet operator guide*, "Install", without its comments. */
const PRINTED: readonly string[] = [
  'kubectl apply -f https://github.com/intUnderflow/bigfleet/raw/main/api/crd/bigfleet.lucy.sh_capacityrequests.yaml',
  'kubectl apply -f https://github.com/intUnderflow/bigfleet/raw/main/api/crd/bigfleet.lucy.sh_upcomingnodes.yaml',
  'kubectl apply -f https://github.com/intUnderflow/bigfleet/raw/main/api/crd/bigfleet.lucy.sh_availablecapacities.yaml',
  'helm install bigfleet ./deploy/helm/bigfleet --namespace bigfleet-system --create-namespace --set coordinator.replicas=3 --set coordinator.bootstrap=true',
  'helm install bigfleet-operator ./deploy/helm/bigfleet-operator --namespace bigfleet-system --create-namespace --set clusterID=cluster-prod-eu --set shardAddress=bigfleet-shard.bigfleet-system:7780',
  'helm install bigfleet-unschedulable-pod-controller ./deploy/helm/bigfleet-unschedulable-pod-controller --namespace bigfleet-system',
];

/** Without network access: the files of this tree. */
function fromCheckout(command: string): string {
  return command.replace('https://github.com/intUnderflow/bigfleet/raw/main/', '');
}

function commandsOf(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s*#.*$/, '').trim())
    .filter((line) => /^(?:kubectl apply|helm install)/.test(line));
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface PlacedRule extends Rule {
  readonly place: string;
}

function rulesOf(object: KubeObject): PlacedRule[] {
  if (object.kind !== 'ClusterRole' && object.kind !== 'Role') return [];
  const place = object.metadata.namespace ?? 'cluster';
  return (object['rules'] as readonly Rule[]).map((rule) => ({ ...rule, place }));
}

function lines({ place, apiGroups, resources, resourceNames, verbs }: PlacedRule): string[] {
  const names = resourceNames === undefined ? '' : ` ${resourceNames.join('|')}`;
  return apiGroups.flatMap((group) =>
    resources.map((each) => `${place}: ${group}/${each}${names} ${[...verbs].sort().join(',')}`),
  );
}

const WITH_TOKENS = { 'bootstrapToken.enabled': true, replicas: 2, 'leaderElection.enabled': true };
const ALL_CRDS =
  'capacityrequests.bigfleet.lucy.sh|upcomingnodes.bigfleet.lucy.sh|availablecapacities.bigfleet.lucy.sh';

/** kubernetes §6.3, §6.4, as lines; verbs sorted. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  'bigfleet-operator': [
    'cluster: bigfleet.lucy.sh/capacityrequests get,list,patch,watch',
    'cluster: bigfleet.lucy.sh/capacityrequests/status patch,update',
    'cluster: bigfleet.lucy.sh/upcomingnodes create,delete,get,list,patch,update,watch',
    'cluster: bigfleet.lucy.sh/upcomingnodes/status patch,update',
    'cluster: bigfleet.lucy.sh/availablecapacities create,delete,get,list,patch,update,watch',
    'cluster: /nodes delete,get,list,patch,update,watch',
    'cluster: /pods get,list,watch',
    'cluster: /pods/eviction create',
    `cluster: apiextensions.k8s.io/customresourcedefinitions ${ALL_CRDS} get,watch`,
    'cluster: /events create,patch',
    'cluster: events.k8s.io/events create,patch',
    'bigfleet-system: coordination.k8s.io/leases bigfleet-operator get,update',
    'bigfleet-system: coordination.k8s.io/leases create',
    'kube-system: /secrets create',
  ],
  'bigfleet-unschedulable-pod-controller': [
    'cluster: /pods get,list,watch',
    'cluster: /nodes get,list,watch',
    'cluster: bigfleet.lucy.sh/upcomingnodes get,list,watch',
    'cluster: bigfleet.lucy.sh/capacityrequests create,delete,get,list,patch,update,watch',
    'cluster: bigfleet.lucy.sh/capacityrequests/status patch',
    'cluster: apiextensions.k8s.io/customresourcedefinitions capacityrequests.bigfleet.lucy.sh get,watch',
    'cluster: /events create,patch',
  ],
};

/** Verb, resource, namespace: what an intruder in either process would want. */
const DENIED: readonly (readonly [string, string, string])[] = [
  ['get', 'secrets', 'kube-system'],
  ['list', 'secrets', 'kube-system'],
  ['delete', 'secrets', 'kube-system'],
  ['create', 'secrets', 'default'],
  ['delete', 'pods', 'default'],
  ['create', 'pods', 'default'],
  ['create', 'pods/exec', 'default'],
  ['create', 'nodes', 'default'],
  ['deletecollection', 'capacityrequests.bigfleet.lucy.sh', 'default'],
  ['delete', 'customresourcedefinitions.apiextensions.k8s.io', 'default'],
  ['list', 'customresourcedefinitions.apiextensions.k8s.io', 'default'],
  ['create', 'clusterrolebindings.rbac.authorization.k8s.io', 'default'],
  ['impersonate', 'users', 'default'],
  ['update', 'leases.coordination.k8s.io', 'kube-system'],
];
