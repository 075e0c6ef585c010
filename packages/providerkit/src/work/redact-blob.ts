// The bootstrap blob is a join credential, and `last_error` is stored, listed and logged. An error
// of a substrate may quote what it was sent; the quote is taken out here, once, for all backends.

/** A shorter quote is no credential, and would blank ordinary words. */
const MIN_QUOTE_BYTES = 8;

export function withoutBlob(text: string, blob: Uint8Array): string {
  if (blob.length < MIN_QUOTE_BYTES) return text;
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  return [bytes.toString('utf8'), bytes.toString('utf8').trim(), bytes.toString('base64')]
    .filter((quote) => quote.length >= MIN_QUOTE_BYTES)
    .reduce((rest, quote) => rest.replaceAll(quote, '[bootstrap blob]'), text);
}
