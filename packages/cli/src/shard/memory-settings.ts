// How a shard's process uses memory, which can only be said before it starts: the young generation
// of the main thread, and how glibc keeps what was freed. V8's default of two times 64 MiB holds
// garbage for the most part and is copied in pauses of tens of milliseconds; glibc raises its bound
// for mapped blocks with the first large one that is freed, and from then on keeps the holes that
// half a million machines left behind on their way in. Numbers: docs/adr/0075.
//
// A young generation that small is collected by the thread that it belongs to: helpers make no pause
// shorter, and take processor time of cores that the other threads want (docs/adr/0078).
//
// What the administrator said, in the environment or on the command line, stays as it is.

const V8_FLAGS: readonly string[] = [
  '--max-semi-space-size=16',
  /** Of what survived: how much more may gather before the old generation is collected. */
  '--heap-growing-percent=60',
  '--no-parallel-scavenge',
];

const ENVIRONMENT: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '4',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

export type StartedAs = Pick<NodeJS.Process, 'execPath' | 'execArgv' | 'argv' | 'env'>;

/** How the same process has to be started instead; undefined when it is right as it is. */
export function withMemorySettings(started: StartedAs) {
  const { execPath, execArgv, argv, env } = started;
  const [, entry = '', command] = argv;
  if (command !== 'shard') return undefined;
  const said = new Set([...execArgv, ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)].map(nameOf));
  const flags = V8_FLAGS.filter((flag) => !said.has(nameOf(flag)));
  const settings = Object.entries(ENVIRONMENT).filter(([name]) => env[name] === undefined);
  if (flags.length === 0 && settings.length === 0) return undefined;
  return {
    args: [execPath, ...flags, ...execArgv, entry, ...argv.slice(2)],
    env: { ...Object.fromEntries(settings), ...defined(env) },
  };
}

/** V8 takes its flags with dashes or with underscores, and switches with a `no` in front. */
function nameOf(flag: string): string {
  const [name = ''] = flag.split('=');
  return name.replaceAll('_', '-').replace(/^--no-?/, '--');
}

function defined(env: StartedAs['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/**
 * The same process, started again with the settings that it lacks: same pid, same standard streams,
 * nothing else open yet. Never returns in that case. A process with a channel to its parent is left as
 * it is, because the channel would not survive; so is one on a platform that cannot replace itself.
 */
export function startAgain(started: NodeJS.Process): void {
  if (started.connected || started.execve === undefined) return;
  const again = withMemorySettings(started);
  if (again === undefined) return;
  started.execve(started.execPath, again.args, again.env);
}
