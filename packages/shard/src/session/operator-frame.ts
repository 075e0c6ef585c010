// The frame that an operator sent, told by the top level of its bytes. A roll-up stays
// undecoded (decision 17): decoding 2,000 needs on the thread that owns the sockets stalled it for
// seconds. Every other frame is small and is decoded here, strictly. A frame without a payload that we
// know is legal: a newer operator's addition looks like that (wire-additions §1).

import { decode, type OperatorMessage, OperatorMessageSchema, RpcError } from '@bigfleet/wire';
import { FieldReader } from './field-reader.ts';

/** Without a case: none that we know. */
export type OperatorFrame =
  | { readonly case: 'rollup'; readonly bytes: Uint8Array }
  | Exclude<OperatorMessage['payload'], { readonly case: 'rollup' }>;

const ROLLUP_FIELD = 2;
const PAYLOAD_FIELDS: ReadonlySet<number> = new Set([1, ROLLUP_FIELD, 3, 4, 1000]);

/** A frame of this one oneof has one field, and a few more from a newer peer. */
const MAX_TOP_LEVEL_FIELDS = 64;
/** Decoded on the thread that owns the sockets; the largest is a bootstrap blob. */
export const MAX_SMALL_FRAME_BYTES: number = 16 * 1024 * 1024;

/** Throws an RpcError for bytes that are no operator message, or too many for what they are. */
export function readOperatorFrame(bytes: Uint8Array): OperatorFrame {
  const rollup = soleRollup(bytes);
  if (rollup !== undefined) return { case: 'rollup', bytes: rollup };
  if (bytes.length > MAX_SMALL_FRAME_BYTES) {
    const text = `message_too_large: ${bytes.length} bytes in a frame that is no roll-up`;
    throw new RpcError('RESOURCE_EXHAUSTED', text);
  }
  const { payload } = decode(OperatorMessageSchema, bytes, 'INVALID_ARGUMENT');
  // A roll-up beside another member of the oneof: no encoder writes that, and the parts of a roll-up
  // would have to be merged. It is taken as nothing.
  return payload.case === 'rollup' ? { case: undefined } : payload;
}

/** The bytes of the roll-up, when it is the one payload of a well-formed frame. */
function soleRollup(bytes: Uint8Array): Uint8Array | undefined {
  const reader = FieldReader.of(bytes);
  let found: Uint8Array | undefined;
  for (let count = 0; reader.next(); count++) {
    if (count >= MAX_TOP_LEVEL_FIELDS) return undefined;
    if (!PAYLOAD_FIELDS.has(reader.field)) continue;
    const isRollup = reader.field === ROLLUP_FIELD && reader.isDelimited;
    if (!isRollup || found !== undefined) return undefined;
    found = reader.value();
  }
  return reader.isMalformed ? undefined : found;
}
