// Proves that every manifest on a page is taken by an API server with our definitions, strictly, that the
// request which a page derives from a Pod is the one that the pod controller makes, that values of charts
// on a page are allowed by their schemas, and that bigfleetctl reads the config file that its page shows.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Pod } from '@bigfleet/kube';
import { createDefinitions, testCluster } from '@bigfleet/kube/testing';
import { deriveSpec, parseClassTable, requestObject } from '@bigfleet/pod-controller';
import { parseYaml } from '@bigfleet/process';
import { runCommand } from '../template/command.ts';
import { createTempDir } from '../toolkit/index.ts';
import { allBlocks, blocksOf, ROOT } from './pages.ts';
import { schemaProblems } from './values-schema.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Where objects of a kind live. */
const PLURALS: Readonly<Record<string, string>> = {
  CapacityRequest: 'capacityrequests',
  Deployment: 'deployments',
  Job: 'jobs',
  Pod: 'pods',
  PriorityClass: 'priorityclasses',
};
const CLUSTER_SCOPED = new Set(['PriorityClass']);

function ask(text: string): { readonly status: number; readonly answer: string } {
  const manifest = yaml(text) as Manifest;
  const plural = PLURALS[manifest.kind];
  assert.ok(plural !== undefined, `manifests.test.ts does not know where a ${manifest.kind} lives`);
  const group = manifest.apiVersion.includes('/') ? `apis/${manifest.apiVersion}` : 'api/v1';
  const place = CLUSTER_SCOPED.has(manifest.kind) ? '' : '/namespaces/default';
  const cluster = testCluster();
  createDefinitions(cluster);
  for (const [, name] of text.matchAll(/priorityClassName: (\S+)/g)) {
    const priorityClass = { metadata: { name }, value: 1 };
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
    assert.equal(cluster.ask('POST', path, priorityClass).status, 201);
  }
  const address = `/${group}${place}/${plural}?fieldValidation=Strict`;
  const { status, object } = cluster.ask('POST', address, manifest);
  return { status, answer: JSON.stringify(object) };
}

const manifests = allBlocks('manifest');

for (const { page, block } of manifests) {
  test(`an API server takes the manifest of ${page}, line ${block.line}`, () => {
    const { status, answer } = ask(block.text);
    assert.equal(status, 201, answer);
  });
}

test('a misspelt field and a missing one of a manifest are refused', () => {
  const ours = manifests.find(({ block }) => block.text.includes('kind: CapacityRequest'));
  assert.ok(ours !== undefined, 'no page shows a CapacityRequest');
  assert.equal(ask(ours.block.text.replace('priority:', 'prority:')).status, 400);
  assert.equal(ask(ours.block.text.replace(/^ +priority:.*\n/m, '')).status, 422);
});

test('the request on the page of the roles is what the pod controller makes of its Pod', () => {
  const blocks = blocksOf('docs/working-with-bigfleet.md');
  const [pod, request] = blocks.filter(({ kind }) => kind === 'manifest');
  const values = blocks.find(({ text }) => text.startsWith('priorityClassDefaults:'));
  assert.ok(pod !== undefined && request !== undefined && values !== undefined);
  const classes = parseClassTable(values.text.replace('priorityClassDefaults:\n', ''));
  assert.ok(classes.ok, classes.ok ? '' : classes.error);
  const printed = yaml(request.text) as PrintedRequest;
  const [owner] = printed.metadata.ownerReferences;
  assert.ok(owner !== undefined);
  const { metadata, spec } = yaml(pod.text) as Pod;
  const born: Pod = { metadata: { ...metadata, uid: owner.uid }, spec };
  const made = requestObject(born, deriveSpec(born, classes.value));
  const { name, generateName, ownerReferences } = made.metadata;
  assert.deepEqual(printed.metadata, { name, generateName, ownerReferences });
  assert.deepEqual(printed.spec, JSON.parse(JSON.stringify(made.spec)), 'as it is sent');
});

interface PrintedRequest {
  readonly metadata: { readonly ownerReferences: readonly { readonly uid: string }[] };
  readonly spec: unknown;
}

function yaml(text: string): unknown {
  const parsed = parseYaml(text);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.error);
  return parsed.value;
}

for (const { page, block } of allBlocks('values')) {
  test(`the chart ${block.chart} allows the values of ${page}, line ${block.line}`, () => {
    assert.deepEqual(schemaProblems(block.chart, yaml(block.text)), []);
  });
}

for (const { page, block } of allBlocks('ctl-config')) {
  test(`bigfleetctl reads the config file of ${page}, line ${block.line}`, async () => {
    await using folder = createTempDir('config');
    const file = path.join(folder.path, 'config.yaml');
    writeFileSync(file, `${block.text}\n`);
    const bin = path.join(ROOT, 'bin/bigfleetctl');
    const listed = await runCommand(bin, ['config', 'get-contexts', `--config=${file}`], {
      cwd: ROOT,
    });
    assert.match(listed, /production/);
  });
}
