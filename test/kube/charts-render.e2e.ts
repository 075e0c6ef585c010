// Proves what charts render, without a cluster (kubernetes §6.3–6.5): every value changes something, every
// argument is one that the program takes, wrong values are refused with words that help, and old clusters too.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { argumentsProblem, flagNamesOf, type ProgramName } from '@bigfleet/cli';
import { skipWithout } from './binaries.ts';
import {
  CHARTS,
  type ChartCase,
  chartOf,
  defaultsOf,
  everythingOf,
  variantsOf,
} from './charts/catalogue.ts';
import {
  containersOf,
  Helm,
  isMapping,
  type KubeObject,
  nested,
  ROOT,
  type Values,
} from './charts/helm.ts';
import { OUTSIDE_SCHEMA, REFUSALS } from './charts/refusals.ts';

const SKIP = { skip: skipWithout('helm') };

/** Flags that no value renders, with the reason. */
const UNRENDERED: Readonly<Record<ProgramName, Readonly<Record<string, string>>>> = {
  coordinator: {
    'etcd-binary': 'the image brings its own',
    'etcd-client-addr': 'loopback of the Pod',
    'trace-samples': 'for load tests',
    'debug-endpoints': 'for developers',
    reflection: 'for developers',
  },
  shard: {
    'fake-provider': 'never in a chart',
    'local-bootstrap': 'for load tests',
    'records-dir': 'below the data directory, on its volume',
    'coordinator-heartbeat-interval': 'for tests',
    'available-capacity-interval': 'for tests',
    'metrics-warmup-cycles': 'for load tests',
    'phase-attribution-log': 'for developers',
    'trace-samples': 'for load tests',
    'debug-endpoints': 'for developers',
    reflection: 'for developers',
  },
  operator: {
    kubeconfig: 'the ServiceAccount of the Pod',
    'rollup-interval': 'an autoscaler parameter: for load tests',
    'lease-name': 'the name that the Role allows',
    'lease-namespace': 'the own one',
    'lease-duration': 'no reason to change it',
    'trace-samples': 'for load tests',
    'debug-endpoints': 'for developers',
    reflection: 'without effect',
  },
  'pod-controller': {
    kubeconfig: 'the ServiceAccount of the Pod',
    'require-tls': 'its only peer is the API server',
    'trace-samples': 'for load tests',
    'debug-endpoints': 'for developers',
    reflection: 'without effect',
  },
  dashboard: {
    'records-dir': 'on the volumes of the shards',
    kubeconfig: 'no cluster is asked',
    'web-dir': 'the image brings its own',
    'allowed-host': 'for a loopback port',
  },
};
const FAKE_FLAGS = /^(?:seed-|archetypes$|failure-rate-per-sec$|speculative-shed-)/;

/** As the kubelet fills them in. */
function argumentsOf(objects: readonly KubeObject[], container: string): string[] {
  const args = containersOf(objects).get(container)?.args ?? [];
  return args.map((argument) => argument.replaceAll('$(POD_NAME)', `bigfleet-${container}-0`));
}

describe('charts, rendered', SKIP, () => {
  let helm: Helm;
  before(() => {
    helm = new Helm();
  });
  after(() => helm[Symbol.asyncDispose]());

  for (const chart of CHARTS) {
    test(`${chart.name} passes helm lint --strict`, async () => {
      const values = JSON.stringify(nested(chart.required));
      const args = ['lint', '--strict', '--kube-version', '1.31.0', '--values', '-', chart.folder];
      const { code, output, errors } = await helm.run(args, { input: values });
      assert.equal(code, 0, output + errors);
    });

    test(`${chart.name} refuses Kubernetes 1.30`, async () => {
      const { code, errors } = await helm.template(
        chart.folder,
        nested(chart.required),
        '--kube-version=1.30.9',
      );
      assert.notEqual(code, 0);
      assert.match(errors, /requires kubeVersion: >= 1\.31\.0-0/);
    });

    test(`no value of ${chart.name} is a dead switch`, async () => {
      assert.deepEqual(await deadSwitches(helm, chart), []);
    });

    test(`programs take every argument that ${chart.name} renders, and no flag is forgotten`, async () => {
      const unrendered = new Map(
        Object.values(chart.programs).map((program) => [program, new Set(flagNamesOf(program))]),
      );
      for (const values of [...variantsOf(chart).map((each) => each.after), everythingOf(chart)]) {
        takeArguments(chart, await helm.objects(chart.folder, values), unrendered);
      }
      for (const [program, left] of unrendered) {
        const known = UNRENDERED[program];
        const unexplained = [...left].filter((flag) => !(flag in known) && !FAKE_FLAGS.test(flag));
        assert.deepEqual(unexplained, [], `flags of ${program} that no value renders`);
      }
    });

    test(`the schema of ${chart.name} allows the keys of values.yaml and no others`, () => {
      const file = path.join(ROOT, chart.folder, 'values.schema.json');
      const schema: unknown = JSON.parse(readFileSync(file, 'utf8'));
      assert.ok(isMapping(schema));
      compareKeys(schema, schema, { ...defaultsOf(chart.folder), global: {} }, chart.name);
    });
  }

  test('no value of bigfleet renders the fake provider or its seeds', async () => {
    const chart = chartOf('bigfleet');
    for (const { after: values } of variantsOf(chart)) {
      const text = JSON.stringify(await helm.objects(chart.folder, values));
      assert.doesNotMatch(text, /--fake-provider|--seed-|--archetypes|--local-bootstrap/);
    }
  });

  test('a dead switch is found', async () => {
    const chart = chartOf('bigfleet-unschedulable-pod-controller');
    const folder = path.join(helm.folder, 'with-a-dead-switch');
    cpSync(path.join(ROOT, chart.folder), folder, { recursive: true });
    rmSync(path.join(folder, 'values.schema.json'));
    appendFileSync(path.join(folder, 'values.yaml'), '\nturbo: false\n');
    assert.deepEqual(await deadSwitches(helm, { ...chart, folder }), ['turbo']);
  });

  test('a flag that the program does not have is found', () => {
    const { programs } = chartOf('bigfleet-operator');
    const containers = [{ name: 'operator', args: ['--cluster-id=a', '--turbo'] }];
    const spec = { template: { spec: { containers } } };
    const deployment: KubeObject = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'operator' },
      spec,
    };
    const chart = { ...chartOf('bigfleet-operator'), programs };
    assert.throws(() => takeArguments(chart, [deployment], new Map()), /turbo/);
  });

  for (const { chart, why, values, says } of REFUSALS) {
    test(`${chart} refuses: ${why}`, { skip: isAbsent(chart) }, async () => {
      const { code, errors } = await helm.template(chartOf(chart).folder, nested(values));
      assert.notEqual(code, 0, 'it was rendered');
      assert.ok(errors.includes(says), errors);
    });
  }

  for (const { chart, why, values } of OUTSIDE_SCHEMA) {
    test(`the schema of ${chart} refuses: ${why}`, { skip: isAbsent(chart) }, async () => {
      const { required, folder } = chartOf(chart);
      const { code, errors } = await helm.template(folder, nested({ ...required, ...values }));
      assert.notEqual(code, 0, 'it was rendered');
      assert.match(errors, /values don't meet the specifications of the schema/);
    });
  }

  test('the production values ask for TLS, policies and the memory of an etcd', async () => {
    const folder = chartOf('bigfleet').folder;
    const file = `--values=${folder}/values-production.yaml`;
    const issuer = '--set=certManager.issuerRef.name=fleet-ca';
    const objects = await helm.objects(folder, {}, file, issuer);
    for (const program of ['coordinator', 'shard'] as const) {
      const args = argumentsOf(objects, program);
      assert.equal(argumentsProblem(program, args.slice(1)), undefined);
      assert.ok(args.includes('--require-tls'), program);
    }
    assert.ok(argumentsOf(objects, 'shard').includes('--require-session-cn'));
    const kinds = new Set(objects.map(({ kind }) => kind));
    assert.ok(kinds.has('NetworkPolicy') && kinds.has('Certificate'));
  });

  test('a chart is packed, and the same sources give the same archive twice', async () => {
    for (const { name, folder } of CHARTS) {
      const digests: string[] = [];
      for (const round of ['first', 'second']) {
        const to = path.join(helm.folder, `${name}-${round}`);
        const { code, errors } = await helm.run(['package', folder, '--destination', to]);
        assert.equal(code, 0, errors);
        digests.push(contentDigest(to));
      }
      assert.equal(digests[0], digests[1], name);
    }
  });

  test('charts hold the CRDs of api/crd, and keep them on uninstall', async () => {
    const { folder, required } = chartOf('bigfleet-operator');
    const objects = await helm.objects(folder, nested(required));
    const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    const sources = readdirSync(path.join(ROOT, 'api/crd')).filter((file) =>
      file.endsWith('.yaml'),
    );
    assert.equal(crds.length, sources.length);
    for (const { metadata } of crds) {
      assert.equal(metadata.annotations?.['helm.sh/resource-policy'], 'keep', metadata.name);
    }
    const none = await helm.objects(folder, nested({ ...required, 'crds.install': false }));
    assert.ok(none.every(({ kind }) => kind !== 'CustomResourceDefinition'));
  });

  test('every chart carries the documented labels on every object', async () => {
    for (const { folder, required, name } of CHARTS) {
      for (const { kind, metadata } of await helm.objects(folder, nested(required))) {
        const { labels = {} } = metadata;
        for (const label of ['name', 'instance', 'managed-by', 'version']) {
          assert.ok(
            labels[`app.kubernetes.io/${label}`],
            `${name}: ${kind} ${metadata.name} ${label}`,
          );
        }
        assert.equal(labels['helm.sh/chart'], `${name}-0.1.0`);
      }
    }
  });

  test('the Node heap is three quarters of the memory limit', async () => {
    const { folder, required } = chartOf('bigfleet-operator');
    for (const [limit, heap] of [
      ['512Mi', 384],
      ['1Gi', 768],
      ['1G', 715],
      [536_870_912, 384],
    ] as const) {
      const objects = await helm.objects(
        folder,
        nested({ ...required, 'resources.limits.memory': limit }),
      );
      const text = JSON.stringify(objects);
      assert.ok(text.includes(`--max-old-space-size=${heap}"`), String(limit));
    }
  });
});

function isAbsent(chart: string): string | false {
  return CHARTS.some(({ name }) => name === chart) ? false : 'there is no providers/ here';
}

/** Values whose change, alone, changes nothing that is rendered. */
async function deadSwitches(helm: Helm, chart: ChartCase): Promise<string[]> {
  const dead: string[] = [];
  for (const { path: name, before: given, after: changed } of variantsOf(chart)) {
    const was = await helm.objects(chart.folder, given);
    const is = await helm.objects(chart.folder, changed);
    if (isDeepStrictEqual(is, was)) dead.push(name);
  }
  return dead;
}

/** Each program takes its arguments; what they name is crossed off. */
function takeArguments(
  { programs }: ChartCase,
  objects: readonly KubeObject[],
  unrendered: ReadonlyMap<ProgramName, Set<string>>,
): void {
  for (const [container, program] of Object.entries(programs)) {
    const rendered = argumentsOf(objects, container);
    if (rendered.length === 0) continue;
    const isSubcommand = program === 'coordinator' || program === 'shard';
    if (isSubcommand) assert.equal(rendered[0], program);
    const args = isSubcommand ? rendered.slice(1) : rendered;
    assert.equal(argumentsProblem(program, args), undefined, args.join(' '));
    for (const argument of args) {
      unrendered.get(program)?.delete(/^--([^=]+)/.exec(argument)?.[1] ?? '');
    }
  }
}

/** The keys of a schema's objects are the keys of values.yaml, all the way down. */
function compareKeys(root: Values, schema: Values, values: Values, where: string): void {
  const resolved = resolve(root, schema);
  const { properties, additionalProperties } = resolved;
  if (!isMapping(properties)) return;
  assert.equal(additionalProperties, false, `${where} allows unknown keys`);
  const isShaped = Object.keys(values).length > 0;
  if (!isShaped || where.endsWith('.resources')) return;
  assert.deepEqual(Object.keys(properties).sort(), Object.keys(values).sort(), where);
  for (const [key, value] of Object.entries(values)) {
    const below = properties[key];
    if (isMapping(value) && isMapping(below)) compareKeys(root, below, value, `${where}.${key}`);
  }
}

function resolve(root: Values, schema: Values): Values {
  const ref = schema['$ref'];
  if (typeof ref !== 'string') return schema;
  const definitions = root['definitions'];
  const found = isMapping(definitions) ? definitions[path.posix.basename(ref)] : undefined;
  assert.ok(isMapping(found), ref);
  return found;
}

/** Of the files and their names, not of the archive: helm stamps it with the time. */
function contentDigest(folder: string): string {
  const [archive = ''] = readdirSync(folder);
  const tar = (flags: string): Buffer => execFileSync('tar', [flags, path.join(folder, archive)]);
  return createHash('sha256').update(tar('-tzf')).update(tar('-xzOf')).digest('hex');
}
