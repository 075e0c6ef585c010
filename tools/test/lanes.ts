// The lanes of `make test`: which test files run how. Every *.test.ts of the tree belongs to
// exactly one lane; a file that belongs to none would never run, and the runner refuses that.

export interface Lane {
  readonly name: string;
  readonly holds: (file: string) => boolean;
  /**
   * 'shared': the files are dealt out over `processes`. 500 small files take 0.65 s in one
   * process, 34 s with a process each; for packages without I/O, whose tests cannot disturb each
   * other.
   * 'own': a process per file.
   */
  readonly isolation: 'shared' | 'own';
  /** Processes at once, at most. */
  readonly processes: number;
  /** Processes at once for each core: more than one where files mostly wait. */
  readonly perCore: number;
  /** A file (in a shared lane: the lane without any event) is killed after this long. */
  readonly boundMs: number;
  /** What a test gives to t.diagnostic() is printed: measurements, for a person to read. */
  readonly printsNotes: boolean;
  /** Fewer files or tests than this fail the lane: a pattern that matches nothing exits 0. */
  readonly minFiles: number;
  readonly minTests: number;
}

/** No I/O, no shared state. Of wire: the contract's golden bytes and the fencing tokens. */
const PURE = /^packages\/(?:base|engine|sim|wire\/src\/(?:contract|fencing))\//;

/** A hang guard, not a bar: no file comes near it, however busy the machine. */
const HUNG_MS = 1_800_000;

/** Floors rise with the suites; one is lowered only together with the removal that explains it. */
export const LANES: readonly Lane[] = [
  {
    name: 'pure',
    holds: (file) => PURE.test(file),
    isolation: 'shared',
    processes: 2,
    perCore: 1,
    boundMs: HUNG_MS,
    printsNotes: false,
    minFiles: 20,
    minTests: 400,
  },
  {
    name: 'packages',
    holds: (file) => file.startsWith('packages/') && !PURE.test(file),
    isolation: 'own',
    processes: 4,
    perCore: 1,
    boundMs: HUNG_MS,
    printsNotes: false,
    minFiles: 24,
    minTests: 300,
  },
  {
    name: 'tools',
    holds: (file) => /^(?:tools|bench)\//.test(file),
    isolation: 'own',
    processes: 4,
    perCore: 1,
    boundMs: HUNG_MS,
    printsNotes: false,
    minFiles: 30,
    minTests: 220,
  },
  {
    // Real processes and real servers, whose tests wait for intervals and elections.
    name: 'system',
    holds: (file) => /^(?:test|demo|providers)\//.test(file),
    isolation: 'own',
    processes: 4,
    perCore: 1.5,
    boundMs: HUNG_MS,
    printsNotes: false,
    minFiles: 10,
    minTests: 80,
  },
];

/**
 * The lanes of *.e2e.ts, each with a make target of its own, apart from `make test`: their worlds take long
 * to build or to start.
 */
export const E2E_LANES: readonly Lane[] = [
  {
    // `make e2e-kube`: each file starts a control plane of its own, whose first build takes long.
    name: 'kube',
    holds: (file) => file.startsWith('test/kube/'),
    isolation: 'own',
    processes: 4,
    perCore: 1.5,
    boundMs: HUNG_MS,
    printsNotes: true,
    minFiles: 21,
    // Without Go, the tests that are made from what helm renders are not there.
    minTests: 90,
  },
  {
    // `make e2e-browser`: pages in Chromium. One file at a time: budgets are printed beside each page.
    name: 'browser',
    holds: (file) => file.startsWith('test/dashboard/'),
    isolation: 'own',
    processes: 1,
    perCore: 1,
    boundMs: HUNG_MS,
    printsNotes: true,
    minFiles: 8,
    minTests: 50,
  },
];

/** Lane name → its files, in order; throws on a file that no lane or two lanes hold. */
export function assignLanes(
  lanes: readonly Lane[],
  files: readonly string[],
): Map<string, string[]> {
  const assigned = new Map<string, string[]>(lanes.map((lane) => [lane.name, []]));
  for (const file of files) {
    const holders = lanes.filter((lane) => lane.holds(file));
    const [holder] = holders;
    if (holder === undefined || holders.length > 1) {
      const names = holders.map(({ name }) => name).join(' and ') || 'none';
      throw new Error(`${file} must belong to one lane, but belongs to ${names} (lanes.ts)`);
    }
    assigned.get(holder.name)?.push(file);
  }
  return assigned;
}
