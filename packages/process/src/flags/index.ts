// Flags: the table, its forms, the command line read against it, and its help.

export { isDialable, isLoopback, isPlainEndpoint, isUnspecified } from './addresses.ts';
export {
  bigNumber,
  bytes,
  decimal,
  duration,
  type Flag,
  type FlagTable,
  type FlagValues,
  formatDuration,
  oneOf,
  parseDuration,
  type Range,
  type Repeatable,
  text,
  texts,
  toggle,
  wholeNumber,
} from './flag.ts';
export { blockLines, flagLines, helpText } from './help.ts';
export { nearestName } from './nearest-name.ts';
export {
  type Arguments,
  type Grammar,
  matchFlag,
  type MatchedFlag,
  type Parsed,
  parseFlags,
  readArguments,
  readValues,
  type Refusal,
  refusalText,
  variableOf,
} from './parse.ts';
