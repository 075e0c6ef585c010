// Tables: the columns that kubectl prints, for every shape of Accept header.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  capacityRequest,
  createDefinitions,
  pod,
  PODS_PATH,
  REQUESTS_PATH,
  testCluster,
} from '../test-cluster.ts';
import { asList, asObj, at, textAt } from './json.ts';
import { ageOf } from './tables.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const PARTIAL = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

test('ages are written as kubectl writes them', () => {
  const rows: readonly [number, string][] = [
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [130, '2m10s'],
    [601, '10m'],
    [3 * 3600, '3h'],
    [3 * 3600 + 61, '3h1m'],
    [9 * 3600, '9h'],
    [2 * 86_400, '2d'],
    [2 * 86_400 + 3600, '2d1h'],
    [100 * 86_400, '100d'],
  ];
  for (const [seconds, text] of rows)
    assert.equal(ageOf('1970-01-01T00:00:00Z', seconds * 1000), text);
});

test('a Table has a row per object with its metadata, a partial list the metadata alone', () => {
  const cluster = testCluster();
  createDefinitions(cluster);
  cluster.ask('POST', PODS_PATH, pod('a'));
  cluster.ask('POST', REQUESTS_PATH, capacityRequest('one'));
  const read = (path: string, accept: string): ReturnType<typeof asObj> => {
    const answer = cluster.server.answer({ method: 'GET', path, accept });
    assert.equal(answer.kind, 'answer');
    return asObj(JSON.parse(answer.text));
  };
  const pods = read('/api/v1/pods', TABLE);
  assert.equal(pods['kind'], 'Table');
  const [row] = asList(pods['rows']);
  assert.deepEqual(asList(at(row, 'cells')).slice(0, 5), ['a', '0/1', 'Pending', '0', '0s']);
  assert.equal(textAt(row, 'object', 'kind'), 'PartialObjectMetadata');
  const requests = read(REQUESTS_PATH, TABLE);
  const columns = asList(requests['columnDefinitions']).map((one) => textAt(one, 'name'));
  assert.deepEqual(columns, ['Name', 'Phase', 'Priority', 'Age']);
  assert.deepEqual(at(asList(requests['rows'])[0], 'cells'), ['one', null, 5, '0s']);
  const partial = read('/api/v1/pods', PARTIAL);
  assert.equal(partial['kind'], 'PartialObjectMetadataList');
  assert.deepEqual(Object.keys(asObj(asList(partial['items'])[0])), [
    'kind',
    'apiVersion',
    'metadata',
  ]);
});
