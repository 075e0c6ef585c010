// Proves that everything which a page names exists, in its prose and in its blocks: verbs with their flags,
// flags of the processes, targets of the Makefile, series. That the blocks do what they say: *.long.ts
// beside this file; this one finds a wrong name in every `make test`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, pageFiles, textOf as read } from './pages.ts';

const OPERATOR_GUIDE = 'docs/operator-guide.md';
const guide = read(OPERATOR_GUIDE);
const pages = pageFiles();

test('every block of the operator guide says who runs it', () => {
  const kinds = blocksOf(OPERATOR_GUIDE).map(({ kind }) => kind);
  assert.deepEqual(new Set(kinds), new Set(['run', 'serve', 'kube']));
});

const IN_PROSE = /`((?:bin\/)?(?:bigfleet(?:ctl)?|make) [^`]+)`/g;
const TYPED = /^(?:bin\/)?(?:bigfleet(?:ctl)?|make) /;

/** Commands of a page as they stand in prose and tables, and as its blocks have them typed. */
function commandsOf(page: string): string[] {
  const blocks = blocksOf(page).filter(({ kind }) => /^(?:run|clone|serve|lane)$/.test(kind));
  const typed = blocks.flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  return [
    ...[...present(read(page)).matchAll(IN_PROSE)].map(([, command = '']) => command),
    ...typed.map((line) => line.trim()).filter((line) => TYPED.test(line)),
  ];
}

/** Without the paragraphs and sentences about what is not built. */
function present(text: string): string {
  return text.replaceAll(/Future:.*?(?=\n\n|$)/gs, '');
}

/** What is wrong with `bigfleet …` or `bigfleetctl …`, by the generated reference of the command line. */
function verbProblems(command: string): string[] {
  const [, name = '', rest = ''] = /^(?:bin\/)?(bigfleet(?:ctl)?) (.*)$/s.exec(command) ?? [];
  const words = rest.split(/\s+/).filter((word) => /^[a-z][a-z-]*$/.test(word));
  const heading = name === 'bigfleet' ? '\n## bigfleet ' : '\n### ';
  const text = read(`docs/cli/${name}.md`);
  const verb = [words.slice(0, 2).join(' '), words[0] ?? ''].find((each) =>
    text.includes(`${heading}${each}\n`),
  );
  if (verb === undefined) return [`${command}: no such verb`];
  const section = text.split(`${heading}${verb}\n`)[1]?.split('\n##')[0] ?? '';
  return [...rest.matchAll(/--[a-z-]+/g)]
    .filter(([flag]) => !section.includes(`${flag} `) && !section.includes(`${flag}\``))
    .map(([flag]) => `${command}: no flag ${flag}`);
}

const TARGETS = [...read('Makefile').matchAll(/^([a-z][a-z0-9%-]*):|^TRIALS := (.+)$/gm)]
  .flatMap(([, target, trials]) => target ?? trials?.split(' ') ?? [])
  .map((target) => new RegExp(`^${target.replace('%', '.+')}$`));

/** `make try-…` is whichever of a family. */
function targetProblems(command: string): string[] {
  const [, target = '', isFamily] = /^make ([^\s…]+)(…)?/.exec(command) ?? [];
  const isKnown = TARGETS.some((pattern) =>
    isFamily === undefined ? pattern.test(target) : pattern.source.startsWith(`^${target}`),
  );
  return isKnown ? [] : [`${command}: no such target`];
}

function commandProblems(command: string): string[] {
  return command.startsWith('make ') ? targetProblems(command) : verbProblems(command);
}

for (const page of pages) {
  test(`commands on ${page} exist, with their flags`, () => {
    assert.deepEqual(commandsOf(page).flatMap(commandProblems), []);
  });
}

test('commands are found on the pages, and wrong ones are noticed', () => {
  const count = pages.flatMap(commandsOf).length;
  assert.ok(count > 150, `only ${count} commands`);
  assert.deepEqual(
    ['bigfleetctl lst-shards', 'bin/bigfleetctl top --wacth', 'make try-scael', 'make docs']
      .flatMap(commandProblems)
      .map((problem) => problem.split(': ')[1]),
    ['no such verb', 'no flag --wacth', 'no such target'],
  );
});

test('every flag of a process in the operator guide exists', () => {
  const reference = ['bigfleet', 'bigfleetctl', 'bigfleet-operator']
    .map((name) => read(`docs/cli/${name}.md`))
    .join('');
  const flags = new Set([...guide.matchAll(/`(--[a-z-]+)/g)].map(([, flag = '']) => flag));
  assert.ok(flags.size > 15, `only ${flags.size} flags`);
  for (const flag of flags) {
    const isKnown = reference.includes(`\`${flag} `) || reference.includes(`\`${flag}\``);
    const isOfProvider = ['--addr', '--price-refresh'].includes(flag);
    assert.ok(isKnown || isOfProvider, flag);
  }
});

const SERIES =
  /\b(?:bigfleet_(?:shard|coordinator|operator|tls|transport|dashboard)|nodejs)_[a-z0-9_]+/g;

function unknownSeries(text: string): string[] {
  const known = read('docs/internals/observability.md');
  return [...new Set([...text.matchAll(SERIES)].map(([name]) => name))].filter(
    (name) => !known.includes(`\`${name.replace(/_bucket$/, '')}\``),
  );
}

test('every series that a page names is in the catalogue', () => {
  const guideSeries = new Set([...guide.matchAll(SERIES)].map(([name]) => name));
  assert.ok(guideSeries.size > 30, `only ${guideSeries.size} series`);
  assert.deepEqual(unknownSeries('`bigfleet_shard_shortfall`'), ['bigfleet_shard_shortfall']);
  const problems = pages.flatMap((page) =>
    unknownSeries(read(page)).map((name) => `${page}: ${name}`),
  );
  assert.deepEqual(problems, []);
});
