// The commands: bigfleet, bigfleetctl, bigfleet-operator.

export { argumentsProblem, flagNamesOf, type ProgramName } from './arguments.ts';
export { runBigfleet } from './bigfleet.ts';
export type { CommandContext } from './command.ts';
export type { ProcessPort } from '@bigfleet/process';
