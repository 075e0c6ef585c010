// Proves that everything which the guides and the README name exists: verbs with their flags, flags of
// the processes, series. That their blocks do what they say: *.long.ts beside this file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, FLEET_PAGES, textOf as read } from './pages.ts';

const OPERATOR_GUIDE = 'docs/operator-guide.md';
const page = read(OPERATOR_GUIDE);
const guides = [OPERATOR_GUIDE, 'README.md', 'docs/quick-start.md', ...FLEET_PAGES];

test('every block of the operator guide says who runs it', () => {
  const kinds = blocksOf(OPERATOR_GUIDE).map(({ kind }) => kind);
  assert.deepEqual(new Set(kinds), new Set(['run', 'serve', 'kube']));
});

/** `bigfleetctl <words> --flag…` as they stand in prose and tables. */
const NAMED = /`(?:bin\/)?(bigfleet(?:ctl)?) ([^`]+)`/g;
const spans = guides.flatMap((name) => [...read(name).matchAll(NAMED)]);

test('every command that is named in passing exists, with its flags', () => {
  assert.ok(spans.length > 20, `only ${spans.length} commands`);
  for (const [span, name = '', rest = ''] of spans) {
    const words = rest.split(' ').filter((word) => /^[a-z-]+$/.test(word) && !word.startsWith('-'));
    const heading = name === 'bigfleet' ? '\n## bigfleet ' : '\n### ';
    const text = read(`docs/cli/${name}.md`);
    const verb = [words.slice(0, 2).join(' '), words[0] ?? ''].find((each) =>
      text.includes(`${heading}${each}\n`),
    );
    assert.ok(verb !== undefined, `${span}: no such verb`);
    const section = text.split(`${heading}${verb}\n`)[1]?.split('\n##')[0] ?? '';
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) {
      assert.ok(section.includes(`${flag} `) || section.includes(`${flag}\``), `${span}: ${flag}`);
    }
  }
});

test('every flag of a process and every series on the page exists', () => {
  const reference = ['bigfleet', 'bigfleetctl', 'bigfleet-operator']
    .map((name) => read(`docs/cli/${name}.md`))
    .join('');
  const flags = new Set([...page.matchAll(/`(--[a-z-]+)/g)].map(([, flag = '']) => flag));
  assert.ok(flags.size > 15, `only ${flags.size} flags`);
  for (const flag of flags) {
    const isKnown = reference.includes(`\`${flag} `) || reference.includes(`\`${flag}\``);
    const isOfProvider = ['--addr', '--price-refresh'].includes(flag);
    assert.ok(isKnown || isOfProvider, flag);
  }
  const known = read('docs/internals/observability.md');
  const series = new Set(
    [...page.matchAll(/\b(?:bigfleet|nodejs)_[a-z0-9_]+/g)].map(([name]) => name),
  );
  assert.ok(series.size > 30, `only ${series.size} series`);
  for (const name of series) {
    assert.ok(known.includes(`\`${name.replace(/_bucket$/, '')}\``), name);
  }
});
