// Proves that a Pod becomes exactly the CapacityRequest that kubernetes §5 describes.

import assert from 'node:assert/strict';
import test from 'node:test';
import { effectiveRequests, type Pod } from '@bigfleet/kube';
import { type ClassTable, parseClassTable } from './class-defaults.ts';
import {
  changedFields,
  deriveSpec,
  fieldHashes,
  requestGenerateName,
  requestName,
  requestObject,
} from './derive.ts';

type Spec = Pod['spec'];

function pod(spec: Partial<Spec>, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name: 'web-1', namespace: 'shop', uid: 'uid-1', resourceVersion: '1', ...metadata },
    spec: { containers: [], ...spec },
  };
}

function container(
  requests: Record<string, string>,
  more: object = {},
): Spec['containers'][number] {
  return { name: 'c', resources: { requests }, ...more };
}

const sidecar = { restartPolicy: 'Always' };
const none: ClassTable = new Map();

const arithmetic: readonly (readonly [string, Partial<Spec>, Record<string, string>])[] = [
  ['nothing asked for is an empty vector', { containers: [{ name: 'c' }] }, {}],
  [
    'containers add up and keep their spelling',
    {
      containers: [
        container({ cpu: '250m', memory: '1Gi' }),
        container({ cpu: '1', memory: '512Mi' }),
      ],
    },
    { cpu: '1250m', memory: '1536Mi' },
  ],
  [
    'an init container counts only where it is larger than all that runs',
    {
      containers: [container({ cpu: '1', memory: '1Gi' })],
      initContainers: [container({ cpu: '500m', memory: '4Gi' })],
    },
    { cpu: '1', memory: '4Gi' },
  ],
  [
    'init containers run one after the other: their peak counts, not their sum',
    {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '2' }), container({ cpu: '3' })],
    },
    { cpu: '3' },
  ],
  [
    'a sidecar runs beside the containers and beside the init containers after it',
    {
      containers: [container({ cpu: '1' })],
      initContainers: [
        container({ cpu: '4' }),
        container({ cpu: '2' }, sidecar),
        container({ cpu: '3' }),
      ],
    },
    { cpu: '5' },
  ],
  [
    'a sidecar does not run beside the init containers before it',
    {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '3' }), container({ cpu: '2' }, sidecar)],
    },
    { cpu: '3' },
  ],
  [
    'overhead of the sandbox comes on top',
    { containers: [container({ cpu: '1' })], overhead: { cpu: '250m', memory: '120Mi' } },
    { cpu: '1250m', memory: '120Mi' },
  ],
  [
    'a limit without a request is a request',
    {
      containers: [
        {
          name: 'c',
          resources: { limits: { 'nvidia.com/gpu': 2, cpu: '4' }, requests: { cpu: '1' } },
        },
      ],
    },
    { cpu: '1', 'nvidia.com/gpu': '2' },
  ],
  [
    'requests of the Pod replace the sum of its containers, for the resources they name',
    {
      containers: [container({ cpu: '1', memory: '1Gi' }), container({ cpu: '1' })],
      resources: { requests: { cpu: '3' } },
      overhead: { cpu: '100m' },
    },
    { cpu: '3100m', memory: '1Gi' },
  ],
  ['zeros are left out', { containers: [container({ cpu: '0', memory: '0' })] }, {}],
];

for (const [name, spec, expected] of arithmetic) {
  test(`requests: ${name}`, () => {
    assert.deepEqual(effectiveRequests(pod(spec)), expected);
  });
}

const term = (matchExpressions: object[]): Spec['affinity'] =>
  ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions },
          { matchExpressions: [{ key: 'second', operator: 'Exists' }] },
        ],
      },
    },
  }) as Spec['affinity'];

test('requirements are the first term of the affinity, then the node selector by key', () => {
  const { spec } = deriveSpec(
    pod({
      affinity: term([{ key: 'cores', operator: 'Gt', values: ['8'] }]),
      nodeSelector: { zone: 'a', arch: 'arm64' },
    }),
    none,
  );
  assert.deepEqual(spec.requirements, [
    { key: 'cores', operator: 'Gt', values: ['8'] },
    { key: 'arch', operator: 'In', values: ['arm64'] },
    { key: 'zone', operator: 'In', values: ['a'] },
  ]);
});

test('a Pod without requirements accepts any machine type', () => {
  assert.deepEqual(deriveSpec(pod({}), none).spec.requirements, [
    { key: 'node.kubernetes.io/instance-type', operator: 'Exists' },
  ]);
});

test('the Pods of a DaemonSet lose their pin to a node, so that they aggregate', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true };
  const hostname = { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] };
  const pinned = { affinity: term([hostname, { key: 'gpu', operator: 'Exists' }]) };
  const daemon = deriveSpec(pod(pinned, { ownerReferences: [owner] }), none);
  assert.deepEqual(daemon.spec.requirements, [{ key: 'gpu', operator: 'Exists' }]);
  assert.equal(deriveSpec(pod(pinned), none).spec.requirements?.length, 2);
});

test('only enforced spreads and the first required affinity to Pods are carried', () => {
  const { spec } = deriveSpec(
    pod({
      topologySpreadConstraints: [
        { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
        { topologyKey: 'host', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' },
      ],
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'db' } } },
            { topologyKey: 'zone' },
          ],
        },
      },
    }),
    none,
  );
  assert.deepEqual(spec.topologySpread, [
    { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
  ]);
  assert.deepEqual(spec.coLocation, {
    topologyKey: 'rack',
    labelSelector: { matchLabels: { app: 'db' } },
  });
});

function table(text: string): ClassTable {
  const parsed = parseClassTable(text);
  assert.ok(parsed.ok);
  return parsed.value;
}

test('penalties come from the annotation, then from the class, each on its own', () => {
  const classes = table('gold: {interruptionPenalty: "64", reclamationPenalty: "2", priority: 7}');
  const annotations = { 'bigfleet.lucy.sh/interruption-penalty': '500m' };
  const { spec } = deriveSpec(
    pod({ priorityClassName: 'gold', priority: 1000 }, { annotations }),
    classes,
  );
  assert.equal(spec.interruptionPenalty, '500m');
  assert.equal(spec.reclamationPenalty, '2');
  assert.equal(spec.priority, 7);
  const plain = deriveSpec(pod({ priorityClassName: 'silver', priority: 1000 }), classes).spec;
  assert.deepEqual([plain.priority, plain.interruptionPenalty], [1000, undefined]);
});

test('an annotation that is no quantity counts as absent and is named', () => {
  const annotations = { 'bigfleet.lucy.sh/reclamation-penalty': 'much' };
  const derived = deriveSpec(pod({}, { annotations }), none);
  assert.equal(derived.spec.reclamationPenalty, undefined);
  assert.deepEqual(derived.warnings, [
    {
      reason: 'BadPenalty',
      message:
        'annotation bigfleet.lucy.sh/reclamation-penalty is no quantity and counts as absent',
    },
  ]);
});

test('a class without a number counts as priority 0 and is named; a number from anywhere is silent', () => {
  const unresolved = deriveSpec(pod({ priorityClassName: 'gone' }), none);
  assert.equal(unresolved.spec.priority, 0);
  assert.deepEqual(
    unresolved.warnings.map(({ reason }) => reason),
    ['PriorityUnresolved'],
  );
  const defaults = { interruptionPenalty: undefined, reclamationPenalty: undefined, priority: 7 };
  for (const [spec, classes] of [
    [{ priorityClassName: 'gone', priority: 3 }, none],
    [{ priorityClassName: 'gold' }, new Map([['gold', defaults]])],
    [{ priority: 5 }, none],
    [{}, none],
  ] as const) {
    assert.deepEqual(deriveSpec(pod(spec), classes).warnings, [], JSON.stringify(spec));
  }
});

for (const [name, text, problem] of [
  ['a class listed twice', 'a: {}\na: {}\n', /unique at line 2.*a: \{\}/],
  [
    'a bad quantity',
    'a: {interruptionPenalty: lots}',
    /a\.interruptionPenalty: "lots" is no quantity/,
  ],
  ['a priority beyond 32 bits', 'a: {priority: 4294967296}', /a\.priority: 4294967296/],
  ['an unknown field', 'a: {penalty: 1}', /a\.penalty: no such field/],
  ['a list', '- a', /not a map/],
  ['broken YAML', 'a: {', /./],
] as const) {
  test(`the class file refuses ${name}`, () => {
    const parsed = parseClassTable(text);
    assert.ok(!parsed.ok);
    assert.match(parsed.error, problem);
  });
}

test('an empty class file has no defaults', () => {
  assert.equal(table('').size, 0);
  assert.equal(table('a:\n').get('a')?.priority, undefined);
});

test('names fit, are the same at every attempt and differ between Pods of one name', () => {
  const long = 'x'.repeat(253);
  assert.equal(requestName('web-1', 'uid-1'), requestName('web-1', 'uid-1'));
  assert.notEqual(requestName('web-1', 'uid-1'), requestName('web-1', 'uid-2'));
  assert.match(requestName('web-1', 'uid-1'), /^cr-pod-web-1-[0-9a-f]{10}$/);
  assert.equal(requestName(long, 'u').length, 63);
  // The cut would end in a dot, and a label cannot begin with the hyphen that follows.
  assert.match(requestName(`${'a'.repeat(44)}.b`, 'u'), /^cr-pod-a{44}-[0-9a-f]{10}$/);
  assert.equal(requestGenerateName('web-1'), 'cr-pod-web-1-');
  assert.equal(requestGenerateName(long).length, 253);
  assert.ok(requestGenerateName(long).endsWith('-'));
});

test('the object names its Pod as controller, without blocking its deletion', () => {
  const one = pod({ containers: [container({ cpu: '1' })] });
  const { metadata } = requestObject(one, deriveSpec(one, none));
  assert.deepEqual(metadata.labels, { 'bigfleet.lucy.sh/owned-by-pod': 'uid-1' });
  assert.deepEqual(metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name: 'web-1', uid: 'uid-1', controller: true },
  ]);
});

test("only fields whose derived value changed are patched: a person's edit holds", () => {
  const before = deriveSpec(pod({ containers: [container({ cpu: '1' })], priority: 5 }), none).spec;
  const after = deriveSpec(pod({ containers: [container({ cpu: '2' })], priority: 5 }), none).spec;
  assert.equal(changedFields(before, fieldHashes(before)), undefined);
  assert.deepEqual(changedFields(after, fieldHashes(before)), { resources: { cpu: '2' } });
  const withPenalty = { ...before, interruptionPenalty: '1' };
  assert.deepEqual(changedFields(before, fieldHashes(withPenalty)), {
    interruptionPenalty: undefined,
  });
  assert.equal(Object.keys(changedFields(before, 'garbage') ?? {}).length, 3);
});
