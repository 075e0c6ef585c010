// Proves the rules that charts follow whatever is asked of them (kubernetes §6.3–6.5, security §2, §5, §6): who runs
// as whom, which names certificates carry, who may speak to whom, what disruption is allowed, where state lives.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { skipWithout } from './binaries.ts';
import { CHARTS, chartOf, everythingOf } from './charts/catalogue.ts';
import { Helm, type KubeObject, nested, ROOT, type Values } from './charts/helm.ts';

interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext: Values;
  readonly containers: readonly {
    readonly name: string;
    readonly args?: readonly string[];
    readonly securityContext: Values;
    readonly livenessProbe?: Values;
    readonly readinessProbe?: Values;
    readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes?: readonly Values[];
}

interface WorkloadSpec {
  readonly replicas: number;
  readonly podManagementPolicy?: string;
  readonly strategy?: unknown;
  readonly template: { readonly spec: PodSpec };
  readonly volumeClaimTemplates?: readonly KubeObject[];
}

const TLS = { 'coordinator.tls.secretName': 'c', 'shard.tls.secretName': 's' };
const ISSUED = { 'certManager.enabled': true, 'certManager.issuerRef.name': 'fleet-ca' };

function specOf<Spec>(objects: readonly KubeObject[], kind: string, name: string): Spec {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
  return (found ?? assert.fail(`no ${kind} ${name}`))['spec'] as Spec;
}

function workloads(objects: readonly KubeObject[]): [string, WorkloadSpec][] {
  return objects
    .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    .map((object) => [object.metadata.name, object['spec'] as WorkloadSpec]);
}

function containerOf(spec: WorkloadSpec, name: string): PodSpec['containers'][number] {
  const found = spec.template.spec.containers.find((each) => each.name === name);
  return found ?? assert.fail(`no container ${name}`);
}

describe('charts, by their rules', { skip: skipWithout('helm') }, () => {
  let helm: Helm;
  before(() => {
    helm = new Helm();
  });
  after(() => helm[Symbol.asyncDispose]());

  function plane(values: Values = {}): Promise<KubeObject[]> {
    return helm.objects(chartOf('bigfleet').folder, nested(values));
  }

  function operator(values: Values = {}): Promise<KubeObject[]> {
    const { folder, required } = chartOf('bigfleet-operator');
    return helm.objects(folder, nested({ ...required, ...values }));
  }

  test('nobody is root, escalates, or writes to the root file system', async () => {
    for (const chart of CHARTS) {
      for (const [name, spec] of workloads(await helm.objects(chart.folder, everythingOf(chart)))) {
        const { securityContext, containers } = spec.template.spec;
        assert.equal(securityContext['runAsNonRoot'], true, name);
        assert.equal(securityContext['runAsUser'], 65_532, name);
        assert.deepEqual(securityContext['seccompProfile'], { type: 'RuntimeDefault' }, name);
        for (const container of containers) {
          assert.deepEqual(
            container.securityContext,
            {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            `${name} ${container.name}`,
          );
        }
      }
    }
  });

  test('coordinator and shard have no token and no rights', async () => {
    const objects = await plane();
    for (const [, spec] of workloads(objects)) {
      assert.equal(spec.template.spec.serviceAccountName, 'bigfleet');
      assert.equal(spec.template.spec.automountServiceAccountToken, false);
    }
    assert.ok(objects.every(({ kind }) => !kind.endsWith('RoleBinding')));
  });

  test('an operator goes before the next one comes', async () => {
    for (const chart of ['bigfleet-operator', 'bigfleet-unschedulable-pod-controller']) {
      const { folder, required } = chartOf(chart);
      const objects = await helm.objects(folder, nested(required));
      const spec = specOf<WorkloadSpec>(objects, 'Deployment', chart);
      assert.deepEqual(spec.strategy, {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
      });
      assert.equal(spec.replicas, 1);
      assert.ok(objects.every(({ kind }) => kind !== 'PodDisruptionBudget'));
    }
  });

  for (const [replicas, least] of [
    [3, 2],
    [5, 3],
  ] as const) {
    test(`of ${replicas} coordinators ${least} stay, of shards all but one`, async () => {
      const objects = await plane({ 'coordinator.replicas': replicas, 'shard.replicas': 4 });
      const budget = specOf<Values>(objects, 'PodDisruptionBudget', 'bigfleet-coordinator');
      assert.equal(budget['minAvailable'], least);
      const shards = specOf<Values>(objects, 'PodDisruptionBudget', 'bigfleet-shard');
      assert.equal(shards['maxUnavailable'], 1);
    });
  }

  test('one coordinator is on SQLite, three join each other, and none joins with an etcd of yours', async () => {
    const joins = async (values: Values): Promise<boolean> => {
      const spec = specOf<WorkloadSpec>(await plane(values), 'StatefulSet', 'bigfleet-coordinator');
      assert.equal(spec.podManagementPolicy, 'Parallel');
      const args = containerOf(spec, 'coordinator').args ?? [];
      return args.some((each) => each.startsWith('--join-addr='));
    };
    assert.equal(await joins({ 'coordinator.replicas': 1 }), false);
    assert.equal(await joins({}), true);
    assert.equal(await joins({ 'coordinator.etcd.endpoints': ['https://etcd:2379'] }), false);
    const alone = await plane({ 'coordinator.replicas': 1 });
    const budgets = alone.filter(({ kind }) => kind === 'PodDisruptionBudget');
    assert.deepEqual(
      budgets.map(({ metadata }) => metadata.name),
      ['bigfleet-shard'],
    );
  });

  test('kubelets ask coordinators over gRPC, and over HTTP when they would need a certificate', async () => {
    const probe = async (values: Values): Promise<readonly [unknown, unknown]> => {
      const spec = specOf<WorkloadSpec>(await plane(values), 'StatefulSet', 'bigfleet-coordinator');
      const { livenessProbe, readinessProbe } = containerOf(spec, 'coordinator');
      return [livenessProbe, readinessProbe];
    };
    const timing = { initialDelaySeconds: 5, periodSeconds: 10 };
    assert.deepEqual(await probe({}), [
      { grpc: { port: 7790 }, ...timing },
      { grpc: { port: 7790, service: 'bigfleet.v1alpha1.Coordinator' }, periodSeconds: 5 },
    ]);
    assert.deepEqual(await probe(TLS), [
      { httpGet: { path: '/healthz', port: 'metrics' }, ...timing },
      { httpGet: { path: '/readyz', port: 'metrics' }, periodSeconds: 5 },
    ]);
  });

  test('state is on claims of its own, never in an emptyDir', async () => {
    const { folder } = chartOf('bigfleet');
    const objects = await helm.objects(folder, everythingOf(chartOf('bigfleet')));
    for (const [name, spec] of workloads(objects)) {
      const claims = new Set(
        (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name),
      );
      assert.ok(claims.has('data'), name);
      const passing = (spec.template.spec.volumes ?? []).filter((volume) => 'emptyDir' in volume);
      assert.deepEqual(
        passing.map((volume) => volume['name']),
        name === 'bigfleet-shard' ? ['provider-sockets'] : [],
      );
    }
    const shard = specOf<WorkloadSpec>(objects, 'StatefulSet', 'bigfleet-shard');
    const sidecar = containerOf(shard, 'lab');
    assert.deepEqual(sidecar.volumeMounts, [
      { name: 'provider-sockets', mountPath: '/run/bigfleet-providers' },
      { name: 'state-lab', mountPath: '/var/lib/bigfleet-lab' },
    ]);
  });

  test('certificates carry the names of their holders', async () => {
    const objects = [
      ...(await plane({ ...ISSUED, 'shard.replicas': 2 })),
      ...(await operator(ISSUED)),
    ].filter(({ kind }) => kind === 'Certificate');
    const names = Object.fromEntries(
      objects.map(({ metadata, spec }) => {
        const { uris, dnsNames, commonName, secretName } = spec as Values;
        return [metadata.name, { uris, dnsNames, commonName, secretName }];
      }),
    );
    const shard = (ordinal: number): Values => ({
      uris: [`bigfleet://shard/bigfleet-shard-${ordinal}`],
      dnsNames: [
        `bigfleet-shard-${ordinal}.bigfleet-shard-headless.bigfleet-system.svc`,
        `bigfleet-shard-${ordinal}.bigfleet-shard-headless.bigfleet-system.svc.cluster.local`,
        'bigfleet-shard',
        'bigfleet-shard.bigfleet-system',
        'bigfleet-shard.bigfleet-system.svc',
        'bigfleet-shard.bigfleet-system.svc.cluster.local',
      ],
      commonName: undefined,
      secretName: `bigfleet-shard-${ordinal}-tls`,
    });
    assert.deepEqual(names, {
      'bigfleet-coordinator': {
        uris: ['bigfleet://admin'],
        dnsNames: [
          'bigfleet-coordinator.bigfleet-system.svc',
          '*.bigfleet-coordinator.bigfleet-system.svc',
        ],
        commonName: undefined,
        secretName: 'bigfleet-coordinator-tls',
      },
      'bigfleet-shard-0': shard(0),
      'bigfleet-shard-1': shard(1),
      'bigfleet-operator': {
        uris: ['bigfleet://cluster/cluster-prod-eu'],
        dnsNames: undefined,
        commonName: 'cluster-prod-eu',
        secretName: 'bigfleet-operator-tls',
      },
    });
  });

  test('a cluster id that is too long for a common name has none', async () => {
    const objects = await operator({ ...ISSUED, clusterID: 'c'.repeat(65) });
    const spec = specOf<Values>(objects, 'Certificate', 'bigfleet-operator');
    assert.equal(spec['commonName'], undefined);
  });

  test('each of several shards reads the Secret of its own ordinal', async () => {
    const objects = await plane({
      'coordinator.tls.secretName': 'c',
      'shard.tls.secretNamePattern': 'leaf-{ordinal}-of-fleet',
      'shard.replicas': 2,
    });
    const spec = specOf<WorkloadSpec>(objects, 'StatefulSet', 'bigfleet-shard');
    const text = JSON.stringify(spec.template.spec.volumes);
    for (const ordinal of [0, 1]) {
      assert.ok(text.includes(`"name":"leaf-${ordinal}-of-fleet"`), text);
      assert.ok(text.includes(`"path":"bigfleet-shard-${ordinal}/tls.key"`), text);
    }
    const args = containerOf(spec, 'shard').args ?? [];
    assert.ok(args.includes('--tls-key=/etc/bigfleet/tls/$(POD_NAME)/tls.key'));
  });

  test('policies let in who is listed, and never hold shards back', async () => {
    const objects = await plane({
      'networkPolicy.enabled': true,
      'networkPolicy.shardIngressCIDRs': ['10.20.0.0/16'],
    });
    const everyone = specOf<Values>(objects, 'NetworkPolicy', 'bigfleet-default-deny');
    assert.deepEqual(everyone, { podSelector: {}, policyTypes: ['Ingress'] });
    const shard = specOf<Values>(objects, 'NetworkPolicy', 'bigfleet-shard');
    // An egress rule for 7790 would undo the policy of the partition drill.
    assert.deepEqual(shard['policyTypes'], ['Ingress']);
    assert.ok(JSON.stringify(shard).includes('"cidr":"10.20.0.0/16"'));
    const coordinator = specOf<Values>(objects, 'NetworkPolicy', 'bigfleet-coordinator');
    const [grpc, raft] = coordinator['ingress'] as { readonly from: readonly unknown[] }[];
    assert.equal(grpc?.from.length, 3);
    const peers = { matchLabels: { 'app.kubernetes.io/name': 'bigfleet-coordinator' } };
    assert.deepEqual(raft?.from, [{ podSelector: peers }]);
  });

  test('an operator is let out to DNS, its API server and its shard only', async () => {
    const objects = await operator({
      'networkPolicy.enabled': true,
      shardAddress: 'shard.example.com:8443',
    });
    const policy = specOf<Values>(objects, 'NetworkPolicy', 'bigfleet-operator');
    assert.deepEqual(policy['egress'], [
      {
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      },
      { ports: [{ port: 443 }, { port: 6443 }] },
      { ports: [{ port: 8443 }] },
    ]);
    assert.deepEqual(policy['ingress'], [{ ports: [{ port: 'metrics' }] }]);
  });

  test('a change of the template restarts the operator', async () => {
    const checksum = async (bootstrapTemplate: string): Promise<unknown> => {
      const text = JSON.stringify(await operator({ bootstrapTemplate }));
      return /"checksum\/bootstrap-template":"(\w+)"/.exec(text)?.[1];
    };
    assert.notEqual(await checksum('one'), await checksum('two'));
    assert.equal(await checksum(''), undefined);
  });

  test('a template reaches its ConfigMap byte by byte', async () => {
    const text = '#!/bin/sh\n{{- range .Requirements }}\n# "{{ .Key }}": \'x\'\t\\\n{{- end }}\n\n';
    const objects = await operator({ bootstrapTemplate: text });
    const map = objects.find(({ kind }) => kind === 'ConfigMap');
    assert.deepEqual(map?.['data'], { 'bootstrap.tmpl': text });
  });

  test('charts work as dependencies of a chart of yours', async () => {
    const folder = path.join(helm.folder, 'umbrella');
    mkdirSync(path.join(folder, 'charts'), { recursive: true });
    const names = ['bigfleet', 'bigfleet-operator', 'bigfleet-unschedulable-pod-controller'];
    for (const name of names) {
      const from = path.join(ROOT, 'deploy/helm', name);
      cpSync(from, path.join(folder, 'charts', name), { recursive: true, dereference: true });
    }
    const dependencies = names.map((name) => ({ name, version: '0.1.0' }));
    const chart = { apiVersion: 'v2', name: 'umbrella', version: '1.0.0', dependencies };
    writeFileSync(path.join(folder, 'Chart.yaml'), JSON.stringify(chart));
    const objects = await helm.objects(folder, {
      global: { team: 'fleet' },
      'bigfleet-operator': { clusterID: 'a', shardAddress: 'b:7780' },
    });
    assert.equal(workloads(objects).length, 4);
  });
});
