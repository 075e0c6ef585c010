// Times as differences to the time before: a run's clock moves in small whole steps, so most
// take one to four bytes. Fractions, infinities and −0 are written out and change no difference.

import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';

/** Two times inside differ by less than 2⁵². */
const NEAR_LIMIT = 2 ** 51;

export class TimeEncoder {
  #before = 0;

  /** False, and nothing written, for NaN. */
  write(timeMs: number, out: ByteWriter): boolean {
    if (Number.isNaN(timeMs)) return false;
    if (isNear(timeMs)) {
      const step = timeMs - this.#before;
      out.varint((step < 0 ? -step * 2 - 1 : step * 2) + 1);
      this.#before = timeMs;
    } else {
      out.byte(0);
      out.double(timeMs);
    }
    return true;
  }
}

export class TimeDecoder {
  #before = 0;

  read(reader: ByteReader): number {
    const tag = reader.varint();
    if (tag === 0) {
      const far = reader.realDouble();
      if (isNear(far)) reader.fail('a time has a second spelling');
      return far;
    }
    const zigzag = tag - 1;
    const timeMs = this.#before + (zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2);
    if (!isNear(timeMs)) reader.fail('a time is out of range');
    else if (!reader.hasFailed) this.#before = timeMs;
    return timeMs;
  }
}

function isNear(timeMs: number): boolean {
  return Number.isInteger(timeMs) && Math.abs(timeMs) < NEAR_LIMIT && !Object.is(timeMs, -0);
}
