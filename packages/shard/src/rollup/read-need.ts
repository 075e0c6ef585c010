// One row of a roll-up, read from its bytes in one walk: the framing is checked, the fields are read
// and unknown ones are skipped on the way, where the library would walk the row for its framing, build
// a message and keep what it does not know. Reads exactly what the wire package's `decode` reads, which
// rows.test.ts holds it to; what a value means is decided by the engine's `decodeRollup`.

import type { WireRollup } from '@bigfleet/engine';
import type { FieldReader } from '../session/field-reader.ts';

export type WireNeed = WireRollup['needs'][number];
type WireRequirement = WireNeed['requirements'][number];
type WireSpread = WireNeed['spread'][number];
type Quantities = { [name: string]: string };

/** Whether the bytes were a need is the reader's `isMalformed`. */
export function readNeed(reader: FieldReader): WireNeed {
  const requirements: WireRequirement[] = [];
  const spread: WireSpread[] = [];
  // Without a prototype: the names are the peer's, and `__proto__` is one of them.
  const aggregateResources = Object.create(null) as Quantities;
  const minUnit = Object.create(null) as Quantities;
  let priority = 0;
  let interruptionPenaltyBucket = 0;
  let reclamationPenaltyBucket = 0;
  let group = '';
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        requirements.push(readRequirement(reader.inner()));
        break;
      case 2:
        readQuantity(reader.inner(), aggregateResources);
        break;
      case 3:
        priority = reader.int32();
        break;
      case 5:
        spread.push(readSpread(reader.inner()));
        break;
      case 6:
        interruptionPenaltyBucket = reader.int32();
        break;
      case 7:
        reclamationPenaltyBucket = reader.int32();
        break;
      case 8:
        readQuantity(reader.inner(), minUnit);
        break;
      case 9:
        group = reader.text();
        break;
    }
  }
  return {
    requirements,
    aggregateResources,
    priority,
    spread,
    interruptionPenaltyBucket,
    reclamationPenaltyBucket,
    minUnit,
    group,
  };
}

function readRequirement(reader: FieldReader): WireRequirement {
  const values: string[] = [];
  let key = '';
  let operator = 0;
  while (reader.next()) {
    if (reader.field === 1) key = reader.text();
    else if (reader.field === 2) operator = reader.int32();
    else if (reader.field === 3) values.push(reader.text());
  }
  return { key, operator, values };
}

function readSpread(reader: FieldReader): WireSpread {
  let topologyKey = '';
  let maxSkew = 0;
  let whenUnsatisfiable = 0;
  while (reader.next()) {
    if (reader.field === 1) topologyKey = reader.text();
    else if (reader.field === 2) maxSkew = reader.int32();
    else if (reader.field === 3) whenUnsatisfiable = reader.int32();
  }
  return { topologyKey, maxSkew, whenUnsatisfiable };
}

/** One entry of a map; fields besides key and value are refused there, as the framing check does. */
function readQuantity(reader: FieldReader, into: Quantities): void {
  let name = '';
  let quantity = '';
  while (reader.next()) {
    if (reader.field === 1) name = reader.text();
    else if (reader.field === 2) quantity = reader.text();
    else reader.fail();
  }
  into[name] = quantity;
}
