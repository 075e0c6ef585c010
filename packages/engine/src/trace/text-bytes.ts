// Texts as bytes without loss. Ids and labels come from peers and may hold anything that a
// JavaScript string can, lone surrogates included, which UTF-8 cannot express and an ordinary
// encoder silently replaces: two different ids would become one. This is generalised UTF-8
// (WTF-8): a lone surrogate takes three bytes, a pair the usual four. One text, one spelling.

/** Writes into `into`, which holds at least three bytes per code unit; returns the length. */
export function encodeText(text: string, into: Uint8Array): number {
  let at = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      into[at++] = unit;
      continue;
    }
    if (unit < 0x800) {
      into[at++] = 0xc0 | (unit >>> 6);
      into[at++] = 0x80 | (unit & 0x3f);
      continue;
    }
    const code = text.codePointAt(index) as number;
    if (code > 0xffff) {
      index += 1;
      into[at++] = 0xf0 | (code >>> 18);
      into[at++] = 0x80 | ((code >>> 12) & 0x3f);
    } else {
      into[at++] = 0xe0 | (code >>> 12);
    }
    into[at++] = 0x80 | ((code >>> 6) & 0x3f);
    into[at++] = 0x80 | (code & 0x3f);
  }
  return at;
}

const CHUNK = 2048;
/** From here on the platform's decoder is faster than a loop. */
const LONG_BYTES = 48;
/** Leads every surrogate; without it the bytes are UTF-8 or nothing. */
const SURROGATE_LEAD = 0xed;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined for bytes that no text has. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const isUtf8 = bytes.length >= LONG_BYTES && !bytes.includes(SURROGATE_LEAD);
  return isUtf8 ? decodeUtf8(bytes) : decodeGeneralised(bytes);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    // The one way in which this decoder says that the bytes are malformed.
    return undefined;
  }
}

function decodeGeneralised(bytes: Uint8Array): string | undefined {
  let text = '';
  let units: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at]!;
    const length = sequenceLength(lead);
    const code = length === 1 ? lead : codePointAt(bytes, at, length);
    if (code === undefined) return undefined;
    at += length;
    if (code > 0xffff) {
      units.push(0xd800 + ((code - 0x10000) >>> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
    } else {
      if (isSplitPair(units, text, code)) return undefined;
      units.push(code);
    }
    if (units.length < CHUNK) continue;
    text += String.fromCharCode(...units);
    units = [];
  }
  return units.length === 0 ? text : text + String.fromCharCode(...units);
}

/** 0 for a byte that starts nothing. */
function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

function codePointAt(bytes: Uint8Array, at: number, length: number): number | undefined {
  if (length === 0 || at + length > bytes.length) return undefined;
  let code = bytes[at]! & (0xff >>> (length + 1));
  for (let next = at + 1; next < at + length; next++) {
    const byte = bytes[next]!;
    if ((byte & 0xc0) !== 0x80) return undefined;
    code = (code << 6) | (byte & 0x3f);
  }
  const least = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000;
  return code < least || code > 0x10ffff ? undefined : code;
}

/** A pair written as two surrogates would be a second spelling of one text. */
function isSplitPair(units: readonly number[], text: string, code: number): boolean {
  if (code < 0xdc00 || code > 0xdfff) return false;
  const before = units.length > 0 ? (units.at(-1) as number) : text.charCodeAt(text.length - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
