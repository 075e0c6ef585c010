// Proves how the command line is read: which mutants run, and that a mistake is named.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mutant } from './mutant.ts';
import { type Command, parseCommand } from './options.ts';

const mutants = ['first-one', 'second-one', 'third-one'].map(
  (name): Mutant => ({
    name,
    wrong: 'Something.',
    story: 'Somehow.',
    caughtBy: ['B101'],
    isSeenByBaseline: false,
    make: () => ({}),
  }),
);

function told(command: Command): string {
  switch (command.kind) {
    case 'run': {
      const { mutants: chosen, isWhole, isAgainstAll } = command.options;
      const names = chosen.map(({ name }) => name).join(' ');
      return `run ${names}${isWhole ? ', whole' : ''}${isAgainstAll ? ', against all' : ''}`;
    }
    case 'wrong':
      return command.problem;
    case 'help':
    case 'markdown':
      return command.kind;
  }
}

const cases: readonly (readonly [string, string | RegExp])[] = [
  ['', 'run first-one second-one third-one, whole'],
  ['--all', 'run first-one second-one third-one, whole, against all'],
  ['--only second-one', 'run second-one'],
  ['--only=third-one,first-one', 'run first-one third-one'],
  ['--only third-one --only first-one --all', 'run first-one third-one, against all'],
  ['--only fourth-one', 'no mutant is called fourth-one'],
  ['--only=', '--only names no mutant'],
  ['--markdown', 'markdown'],
  ['--help', 'help'],
  ['-h', 'help'],
  ['--nonsense', /nonsense/],
  ['something', /something/],
];

for (const [line, expected] of cases) {
  test(line === '' ? 'without arguments' : line, () => {
    const argv = line.split(' ').filter((part) => part !== '');
    const command = told(parseCommand(argv, mutants));
    if (typeof expected === 'string') assert.equal(command, expected);
    else assert.match(command, expected);
  });
}
