// Proves which programs of a module are taken from $KUBEBUILDER_ASSETS and which have to be built.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OriginQuestion, originOf } from './assets.ts';

const PROGRAMS = ['kube-apiserver', 'kube-scheduler', 'kubectl'];

interface Case {
  readonly name: string;
  readonly question?: Partial<OriginQuestion>;
  /** Of the assets, with the version that each tells. */
  readonly there?: Readonly<Record<string, string | undefined>>;
  readonly taken: readonly string[];
  readonly lacking: readonly string[];
  readonly unusable?: RegExp;
}

const cases: readonly Case[] = [
  {
    name: 'nothing is named: all is built',
    question: { assets: '' },
    there: { 'kube-apiserver': '1.36' },
    taken: [],
    lacking: PROGRAMS,
  },
  { name: 'an empty folder: all is built', taken: [], lacking: PROGRAMS },
  {
    name: 'a whole folder is taken, of whatever version',
    there: { 'kube-apiserver': '1.33', 'kube-scheduler': '1.33', kubectl: '1.33' },
    taken: PROGRAMS,
    lacking: [],
  },
  {
    name: 'a part of the same minor is taken, and the rest is built',
    there: { 'kube-apiserver': '1.36', kubectl: '1.36', etcd: '3.6' },
    taken: ['kube-apiserver', 'kubectl'],
    lacking: ['kube-scheduler'],
  },
  {
    name: 'a part of another minor is left alone, and told',
    there: { 'kube-apiserver': '1.35', kubectl: '1.36' },
    taken: [],
    lacking: PROGRAMS,
    unusable: /^kube-apiserver .* is 1\.35, and kube-scheduler, which it lacks, would be 1\.36$/,
  },
  {
    name: 'a part that cannot be asked is left alone, and told',
    there: { 'kube-apiserver': '1.36', kubectl: undefined },
    taken: [],
    lacking: PROGRAMS,
    unusable: /^kubectl .* is of no known version/,
  },
  {
    name: 'programs that do not depend on each other are taken one by one',
    question: { minor: undefined },
    there: { kubectl: '9.9' },
    taken: ['kubectl'],
    lacking: ['kube-apiserver', 'kube-scheduler'],
  },
];

for (const { name, question, there = {}, taken, lacking, unusable } of cases) {
  test(name, () => {
    const nameOf = (path: string): string => path.slice('/assets/'.length);
    const origin = originOf({
      programs: PROGRAMS,
      assets: '/assets',
      minor: '1.36',
      hasFile: (path) => nameOf(path) in there,
      minorOf: (path) => there[nameOf(path)],
      ...question,
    });
    assert.deepEqual(origin.lacking, lacking);
    assert.deepEqual(origin.taken, Object.fromEntries(taken.map((one) => [one, `/assets/${one}`])));
    if (unusable === undefined) assert.equal(origin.unusable, undefined);
    else assert.match(origin.unusable ?? '', unusable);
  });
}
