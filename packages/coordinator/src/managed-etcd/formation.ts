// How this replica's etcd comes to its data (coordinator §3.6). Only ordinal 0 may begin a cluster,
// only when told so, and only after nobody answered: ordinal 0 alone losing its volume must join
// the survivors, not mint a second cluster beside them.

export type Formation = 'resume' | 'bootstrap' | 'join';

export interface FormationFacts {
  /** `<data-dir>/etcd/member` exists. */
  readonly hasMember: boolean;
  readonly ordinal: number;
  readonly bootstrap: boolean;
  /** Does any replica answer with a cluster uid? Asked only when the answer matters. */
  readonly probe: () => Promise<boolean>;
}

export async function decideFormation(facts: FormationFacts): Promise<Formation> {
  if (facts.hasMember) return 'resume';
  if (facts.ordinal !== 0 || !facts.bootstrap) return 'join';
  return (await facts.probe()) ? 'join' : 'bootstrap';
}
