// Pictures compared: two of one page, pixel by pixel; and screenshots against those that are kept in the tree,
// by a rule that another browser passes and a broken page does not. For that a picture is cut into tiles and each tile compared by
// its mean colour: another version of Chromium or another hinting of fonts moves ink by a pixel and hardly
// changes a mean; a panel that is gone, a colour that changed or a column that moved changes many of them. Kept
// at half the size: means need no more, and the tree stays small.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { keepPicture } from './tab.ts';

const FOLDER = path.join(import.meta.dirname, 'golden');
/** Of 255. */
const DRAWING_NOISE = 2;
const SCALE = 0.5;
/** Of a screenshot. */
const TILE_PX = 20;
/** Of 255, in any channel: more than ink that moved by a pixel, less than a word that came or went. */
const MAX_MEAN_DIFFERENCE = 10;
/** Of all tiles: a text that is hinted differently may spoil a few. */
const MAX_SHARE = 0.002;

export interface Comparison {
  readonly tiles: number;
  readonly differing: number;
  /** The actual picture with a frame around each tile that differs. */
  readonly marked: Buffer;
}

export function isDifferent({ tiles, differing }: Comparison): boolean {
  return differing > tiles * MAX_SHARE;
}

/**
 * Pixels of two screenshots that differ, beyond what the edge of a rounded corner differs by from one drawing of
 * it to the next.
 */
export async function differingPixels(blank: Page, one: Buffer, other: Buffer): Promise<number> {
  return await blank.evaluate<number>(`(${COUNT})('${urlOf(one)}', '${urlOf(other)}')`);
}

/** Both pictures are decoded and compared inside of a page; a blank one will do. */
export async function comparePictures(
  blank: Page,
  actual: Buffer,
  golden: Buffer,
): Promise<Comparison> {
  const found = await blank.evaluate<{ tiles: number; differing: number; marked: string }>(
    `(${COMPARE})('${urlOf(actual)}', '${urlOf(golden)}')`,
  );
  return { ...found, marked: bytesOf(found.marked) };
}

async function halved(blank: Page, picture: Buffer): Promise<Buffer> {
  return bytesOf(await blank.evaluate<string>(`(${HALVE})('${urlOf(picture)}')`));
}

function urlOf(png: Buffer): string {
  return `data:image/png;base64,${png.toString('base64')}`;
}

function bytesOf(url: string): Buffer {
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}

/** A picture in a canvas of a size; at its own scale unless told. */
const DRAW = `
  const load = async (src) => {
    const image = new Image();
    image.src = src;
    await image.decode();
    return image;
  };
  const draw = (image, width, height, scale = 1) => {
    const canvas = document.createElement('canvas');
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, image.width * scale, image.height * scale);
    return { canvas, context, data: context.getImageData(0, 0, width, height).data };
  };
`;

const COUNT = `async (source, otherSource) => {${DRAW}
  const one = await load(source), other = await load(otherSource);
  const width = Math.max(one.width, other.width), height = Math.max(one.height, other.height);
  const [a, b] = [one, other].map((image) => draw(image, width, height).data);
  let count = 0;
  for (let at = 0; at < a.length; at += 4) {
    const isSame = [0, 1, 2, 3].every((channel) =>
      Math.abs(a[at + channel] - b[at + channel]) <= ${DRAWING_NOISE});
    if (!isSame) count += 1;
  }
  return count;
}`;

const HALVE = `async (source) => {${DRAW}
  const image = await load(source);
  const { canvas } = draw(image, image.width * ${SCALE}, image.height * ${SCALE}, ${SCALE});
  return canvas.toDataURL('image/png');
}`;

const COMPARE = `async (source, goldenSource) => {${DRAW}
  const image = await load(source), golden = await load(goldenSource);
  // A picture of another size differs wherever the other one has nothing.
  const width = Math.max(image.width * ${SCALE}, golden.width);
  const height = Math.max(image.height * ${SCALE}, golden.height);
  const pictures = [draw(image, width, height, ${SCALE}).data, draw(golden, width, height).data];
  const tile = ${TILE_PX * SCALE};
  const meansOf = (data, left, top) => {
    const right = Math.min(left + tile, width), bottom = Math.min(top + tile, height);
    const sums = [0, 0, 0];
    for (let y = top; y < bottom; y += 1) {
      for (let x = left; x < right; x += 1) {
        for (let channel = 0; channel < 3; channel += 1) {
          sums[channel] += data[(y * width + x) * 4 + channel];
        }
      }
    }
    return sums.map((sum) => sum / ((right - left) * (bottom - top)));
  };
  const { canvas, context } = draw(image, image.width, image.height);
  context.strokeStyle = 'rgb(255 0 0)';
  context.lineWidth = 2;
  let tiles = 0, differing = 0;
  for (let top = 0; top < height; top += tile) {
    for (let left = 0; left < width; left += tile) {
      tiles += 1;
      const [one, other] = pictures.map((data) => meansOf(data, left, top));
      const isNear = (mean, channel) => Math.abs(mean - other[channel]) <= ${MAX_MEAN_DIFFERENCE};
      if (one.every(isNear)) continue;
      differing += 1;
      context.strokeRect(left / ${SCALE} + 1, top / ${SCALE} + 1, ${TILE_PX - 2}, ${TILE_PX - 2});
    }
  }
  return { tiles, differing, marked: canvas.toDataURL('image/png') };
}`;

/** `make goldens` writes them instead. */
export const IS_WRITING: boolean = process.env['BIGFLEET_GOLDENS'] === 'write';

export function goldenOf(name: string): Buffer {
  const file = path.join(FOLDER, `${name}.png`);
  assert.ok(existsSync(file), `no golden picture ${name}: make goldens writes it, then look at it`);
  return readFileSync(file);
}

/** Undefined when it looks as it did; else what differs and where the pictures lie. */
export async function checkGolden(
  blank: Page,
  name: string,
  actual: Buffer,
): Promise<string | undefined> {
  if (IS_WRITING) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(path.join(FOLDER, `${name}.png`), await halved(blank, actual));
    return undefined;
  }
  const found = await comparePictures(blank, actual, goldenOf(name));
  if (!isDifferent(found)) return undefined;
  const actualFile = keepPicture(name, actual);
  const markedFile = keepPicture(`${name}-differs`, found.marked);
  return (
    `${name}: ${found.differing} of ${found.tiles} tiles differ from test/dashboard/golden/${name}.png; ` +
    `see ${actualFile} and ${markedFile}; when it is meant to look so: make goldens`
  );
}
