// What the exit code of bigfleetctl says (coordinator §12.2). One table, printed by --help and in
// the documentation.

export const CTL_EXIT = { ok: 0, failed: 1, errorsFound: 2, partial: 3 } as const;

export const EXIT_CODE_TEXTS: readonly (readonly [code: number, meaning: string])[] = [
  [CTL_EXIT.ok, 'as asked; also Ctrl-C in --watch and --follow'],
  [CTL_EXIT.failed, 'refused, unreachable or a wrong command line; doctor: warnings'],
  [CTL_EXIT.errorsFound, 'doctor only: at least one error was found'],
  [CTL_EXIT.partial, 'some shards answered, others did not; stderr names them'],
];
