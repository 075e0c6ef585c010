// Features that change the peer's behaviour, used only after both sides named them in the
// handshake (wire-additions §1). Names that we do not know are ignored, never refused: a newer
// operator may offer more.

export const EXTENSIONS = ['reclaim-completion', 'node-identity'] as const;

export type Extension = (typeof EXTENSIONS)[number];

/** What was offered and we know; in our order, each once, whatever the peer repeated. */
export function negotiate(offered: readonly string[]): readonly Extension[] {
  return EXTENSIONS.filter((extension) => offered.includes(extension));
}
