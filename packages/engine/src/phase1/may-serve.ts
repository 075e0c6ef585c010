// Who may serve a pinned need: machines that are never interrupted, and bound ones that serve
// it already, so that a probability published late drains nobody. Every other need may be
// served by any machine.

import { parseFingerprint, withoutSame } from '../model/profile.ts';
import type { CompiledProfile } from '../needs/compiled-profile.ts';
import type { Inventory } from '../store/inventory.ts';

/** Effective cost of the class for this profile is finite. */
export function isFiniteFor(
  inventory: Inventory,
  compiled: CompiledProfile,
  klass: number,
): boolean {
  return !compiled.isPinned || inventory.classes.probability[klass] === 0;
}

/** For a machine bound to the need's own cluster. */
export function mayServeBound(
  inventory: Inventory,
  compiled: CompiledProfile,
  slot: number,
): boolean {
  const { columns } = inventory;
  if (isFiniteFor(inventory, compiled, columns.klass[slot]!)) return true;
  return strippedText(inventory.fingerprints.text(columns.needFp[slot]!)) === compiled.strippedText;
}

/** Folded and unfolded form of one gang are one demand, so Same is disregarded. */
function strippedText(fingerprint: string): string {
  const known = stripped.get(fingerprint);
  if (known !== undefined) return known;
  const profile = parseFingerprint(fingerprint);
  const text = profile === undefined ? fingerprint : withoutSame(profile).fingerprint;
  if (stripped.size >= MAX_STRIPPED) stripped.clear();
  stripped.set(fingerprint, text);
  return text;
}

/** Only pinned needs that face interruptible machines ask, so this stays small. */
const MAX_STRIPPED = 10_000;
const stripped = new Map<string, string>();
