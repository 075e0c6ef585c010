// Rights of the two processes in a cluster, as the API server judges them: everything that they do is allowed by
// their charts' roles, and nothing else is (kubernetes §6.3, §6.4).

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTempDir, eventually } from '../toolkit/index.ts';
import { Api, type Json } from './api.ts';
import { type Account, ACCOUNTS, AuditLog } from './audit.ts';
import { skipWithout } from './binaries.ts';
import { listAll, type Stored } from './demand.ts';
import { pod, podsPath, requestsPath } from './pods-and-requests.ts';
import { nothingIsLeft, runningPods } from './session-view.ts';
import { SYSTEM_NAMESPACE } from './world/rights.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const PENALTY = 'bigfleet.lucy.sh/interruption-penalty';
const FOREIGN = 'bigfleet.lucy.sh/foreign-node';
const stack = new AsyncDisposableStack();
let audit: AuditLog;
let world: World;

before(async () => {
  if (skip !== false) return;
  audit = new AuditLog(stack.use(createTempDir('audit')).path);
  world = stack.use(
    await startWorld({
      controlPlane: { apiserverArgs: audit.apiserverArgs },
      offers: [{ instanceType: 'std-4', zone: 'a', count: 2 }],
      operatorValues: { leaderElection: { enabled: true }, bootstrapToken: { enabled: true } },
      operatorArgs: [
        '--leader-elect',
        `--lease-namespace=${SYSTEM_NAMESPACE}`,
        '--bootstrap-token',
      ],
      podControllerArgs: ['--exclude-namespaces=guests'],
    }),
  );
});

after(() => stack.disposeAsync());

async function created(path: string, body: Json): Promise<void> {
  await world.plane.admin.must(world.plane.admin.create(path, body));
}

function requestsAre(
  namespace: string,
  what: string,
  isWanted: (requests: readonly Stored[]) => boolean,
): Promise<true> {
  let seen: readonly Stored[] = [];
  return eventually(
    async () => {
      seen = await listAll(world.plane.admin, requestsPath(namespace));
      return isWanted(seen);
    },
    { what, details: () => `${JSON.stringify(seen)}\n${world.tails()}` },
  );
}

/** What a run must have made each of them do, else it proves little. */
const DONE: Readonly<Record<Account, readonly string[]>> = {
  operator: [
    'create availablecapacities',
    'create events',
    'create leases',
    'create pods/eviction',
    'create secrets',
    'create upcomingnodes',
    'delete nodes',
    'delete upcomingnodes',
    'list capacityrequests',
    'list nodes',
    'list pods',
    'patch capacityrequests',
    'patch capacityrequests/status',
    'patch nodes',
    'patch upcomingnodes/status',
    'update leases',
    'watch capacityrequests',
    'watch customresourcedefinitions',
    'watch nodes',
  ],
  podController: [
    'create capacityrequests',
    'create events',
    'delete capacityrequests',
    'list pods',
    'patch capacityrequests/status',
    'update capacityrequests',
    'watch capacityrequests',
    'watch customresourcedefinitions',
    'watch nodes',
    'watch pods',
    'watch upcomingnodes',
  ],
};

test('13. RBAC: both processes with exactly the charts’ roles; zero 403s', { skip }, async (t) => {
  world.explainFailures(t);
  const { plane, kubelets } = world;
  const namespace = await plane.namespace('rights');
  const guests = await plane.namespace('guests');
  const a = pod('a', 2_500);
  await created(podsPath(namespace), {
    ...a,
    metadata: { name: 'a', annotations: { [PENALTY]: 'lots' } },
  });
  const request = (name: string, operator: string, labels: Json): Json => ({
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name, labels },
    spec: {
      requirements: [{ key: 'generation', operator, values: ['7'] }],
      resources: { cpu: '1' },
      priority: 0,
    },
  });
  await created(requestsPath(namespace), request('odd', 'Gt', {}));
  await created(requestsPath(namespace), request('foreign', 'In', { [FOREIGN]: 'true' }));
  await runningPods(world, namespace, 1);
  await requestsAre(namespace, 'a phase for each, and an annotation', (requests) => {
    const phases = Object.fromEntries(
      requests.map(({ metadata, status }) => [metadata.name.slice(0, 8), status?.['phase']]),
    );
    const foreign = requests.find(({ metadata }) => metadata.name === 'foreign');
    return (
      phases['odd'] === 'Pending' &&
      phases['cr-pod-a'] === 'Acknowledged' &&
      foreign?.metadata.annotations?.['bigfleet.lucy.sh/excluded'] === 'foreign-node'
    );
  });
  await plane.admin.must(
    plane.admin.merge(`${podsPath(namespace)}/a`, {
      metadata: { annotations: { [PENALTY]: '2' } },
    }),
  );
  await requestsAre(namespace, 'the Pod’s change is in its request', (requests) =>
    requests.some(({ spec }) => spec['interruptionPenalty'] === '2'),
  );
  // In the way when the machine is taken back.
  await created(podsPath(guests), pod('guest', 100));
  await runningPods(world, guests, 1);
  const own = await listAll(plane.admin, `${requestsPath(namespace)}`);
  await kubelets.kubelets.finishPod(namespace, 'a', 'Succeeded');
  await requestsAre(
    namespace,
    'the request of the finished Pod goes',
    (requests) => requests.length === own.length - 1,
  );
  for (const name of ['odd', 'foreign']) {
    await plane.admin.must(plane.admin.delete(`${requestsPath(namespace)}/${name}`));
  }
  await nothingIsLeft(world, namespace);
  // The last writes are in the log when their answers are known, the watches when they end.
  await world.podController.stop();
  await world.operator.stop();
  const seen = await eventually(
    () => {
      const all = audit.read();
      return isCovered(all) && all;
    },
    { what: 'the run made them do everything', details: () => missing(audit.read()).join('\n') },
  );
  const refused = seen.filter(({ code }) => code === 403 || code === 401);
  assert.deepEqual(refused, []);
});

type Read = ReturnType<AuditLog['read']>;

function missing(all: Read): readonly string[] {
  const done = new Set(all.map(({ account, act }) => `${account} ${act}`));
  return Object.entries(DONE)
    .flatMap(([account, acts]) => acts.map((act) => `${account} ${act}`))
    .filter((each) => !done.has(each));
}

function isCovered(all: Read): boolean {
  return missing(all).length === 0;
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** `patch nodes`, `get leases.coordination.k8s.io bigfleet-operator`, as the API server tells the account. */
async function rightsOf(namespace: string, name: string, within: string): Promise<Set<string>> {
  const { plane } = world;
  const token = await plane.serviceAccountToken(namespace, name);
  await using api = new Api({ url: plane.url, caPem: plane.caPem, token });
  const { status } = await api.must(
    api.create('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: within },
    }),
  );
  const { resourceRules } = status as { readonly resourceRules: readonly Rule[] };
  const found = new Set<string>();
  for (const { verbs, apiGroups = [], resources = [], resourceNames } of resourceRules) {
    for (const group of apiGroups) {
      for (const resource of resources) {
        const kind = group === '' ? resource : `${resource}.${group}`;
        for (const verb of verbs) {
          for (const only of resourceNames ?? ['']) found.add(`${verb} ${kind} ${only}`.trim());
        }
      }
    }
  }
  return found;
}

function rules(table: Readonly<Record<string, string>>): Set<string> {
  return new Set(
    Object.entries(table).flatMap(([kind, verbs]) => verbs.split(' ').map((v) => `${v} ${kind}`)),
  );
}

const GROUP = 'bigfleet.lucy.sh';
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const READ = 'get list watch';
const WRITE = `${READ} create update patch delete`;

/** kubernetes §6.3 and §6.4, to the letter. */
const RIGHTS: Readonly<Record<Account, ReadonlySet<string>>> = {
  operator: rules({
    [`capacityrequests.${GROUP}`]: `${READ} patch`,
    [`capacityrequests/status.${GROUP}`]: 'update patch',
    [`upcomingnodes.${GROUP}`]: WRITE,
    [`upcomingnodes/status.${GROUP}`]: 'update patch',
    [`availablecapacities.${GROUP}`]: WRITE,
    nodes: `${READ} patch update delete`,
    pods: READ,
    'pods/eviction': 'create',
    [`${DEFINITIONS} capacityrequests.${GROUP}`]: 'get watch',
    [`${DEFINITIONS} upcomingnodes.${GROUP}`]: 'get watch',
    [`${DEFINITIONS} availablecapacities.${GROUP}`]: 'get watch',
    events: 'create patch',
    'events.events.k8s.io': 'create patch',
  }),
  podController: rules({
    pods: READ,
    nodes: READ,
    [`upcomingnodes.${GROUP}`]: READ,
    [`${DEFINITIONS} capacityrequests.${GROUP}`]: 'get watch',
    [`capacityrequests.${GROUP}`]: WRITE,
    [`capacityrequests/status.${GROUP}`]: 'patch',
    events: 'create patch',
  }),
};

/** On top, in one namespace. */
const LOCAL: Readonly<Record<string, ReadonlySet<string>>> = {
  [SYSTEM_NAMESPACE]: rules({
    'leases.coordination.k8s.io': 'create',
    'leases.coordination.k8s.io bigfleet-operator': 'get update',
  }),
  'kube-system': rules({ secrets: 'create' }),
  default: new Set(),
};

test('13. RBAC: each process is denied everything else', { skip }, async (t) => {
  world.explainFailures(t);
  for (const [account, name] of Object.entries(ACCOUNTS) as [Account, string][]) {
    for (const [within, local] of Object.entries(LOCAL)) {
      const everybody = await rightsOf('default', 'default', within);
      const all = await rightsOf(SYSTEM_NAMESPACE, name, within);
      const own = [...all].filter((each) => !everybody.has(each));
      const wanted = [...RIGHTS[account], ...(account === 'operator' ? local : [])];
      assert.deepEqual(own.sort(), wanted.sort(), `${account} in ${within}`);
    }
  }
});

/** What an attacker with the token would want, and what a mistake would do. */
const ATTEMPTS: readonly (readonly [string, string, Json?])[] = [
  ['GET', '/api/v1/namespaces/kube-system/secrets'],
  ['GET', '/api/v1/secrets'],
  ['GET', '/api/v1/configmaps'],
  ['DELETE', '/api/v1/namespaces/default/pods/any'],
  ['POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'any' } }],
  ['POST', '/api/v1/namespaces/default/pods/any/binding', {}],
  ['GET', '/api/v1/namespaces/default/pods/any/log'],
  ['POST', '/api/v1/namespaces/default/pods/any/exec'],
  ['POST', '/api/v1/nodes', { metadata: { name: 'any' } }],
  ['PATCH', '/api/v1/nodes/any/status', {}],
  ['GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'],
  ['DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacityrequests.${GROUP}`],
  ['DELETE', `/apis/${GROUP}/v1alpha1/namespaces/default/capacityrequests`],
  ['GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles'],
  ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {}],
  ['POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {}],
  ['GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'],
  ['GET', '/apis/apps/v1/deployments'],
];

test('13. RBAC: requests beyond the roles are refused', { skip }, async (t) => {
  world.explainFailures(t);
  for (const name of Object.values(ACCOUNTS)) {
    const token = await world.plane.serviceAccountToken(SYSTEM_NAMESPACE, name);
    await using api = new Api({ url: world.plane.url, caPem: world.plane.caPem, token });
    for (const [method, path, body] of ATTEMPTS) {
      const contentType = method === 'PATCH' ? 'application/merge-patch+json' : undefined;
      const { status } = await api.ask(method, path, { body, contentType });
      assert.equal(status, 403, `${name} ${method} ${path}`);
    }
  }
});
