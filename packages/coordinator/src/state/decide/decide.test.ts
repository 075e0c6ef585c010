// Proves that a command of a kind that does not exist is refused by its name (coordinator §2.4).

import { testRefused } from '../testing/command-cases.ts';

testRefused([
  {
    name: 'a kind that does not exist',
    given: [],
    command: { kind: 'Nonsense' } as never,
    code: 'invalid',
    message: 'unknown command kind Nonsense',
  },
]);
