// What both sides must have named before it is used (wire-additions §2). A shard that acknowledges
// none of them is a classic one: one ack per instruction, no node identity, no resync marker.

export const EXTENSIONS = ['reclaim-completion', 'node-identity'] as const;

export type Extension = (typeof EXTENSIONS)[number];

/** Names that we did not offer are ignored: the shard may know more than we do. */
export function acknowledgedExtensions(named: readonly string[]): ReadonlySet<Extension> {
  return new Set(EXTENSIONS.filter((extension) => named.includes(extension)));
}
