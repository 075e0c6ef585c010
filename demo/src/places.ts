// Where the demo's machines stand, as the workload catalogue names it. Spelt out here, because the
// provider's process must not load the simulator; a test keeps the two equal.

export const ZONES: readonly string[] = ['zone-a', 'zone-b', 'zone-c'];

/** The label that gangs stay together by. */
export const RACK_KEY = 'topology.bigfleet/rack';
