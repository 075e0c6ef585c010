// Proves that the palettes of tokens.css hold: text and marks stand out from their surface, and no two
// colours of one palette look alike to readers with a colour-vision deficiency.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

type Rgb = readonly [number, number, number];

const css = readFileSync(path.join(import.meta.dirname, 'tokens.css'), 'utf8');
const [lightCss = '', darkCss = ''] = css.split(':root[data-theme="dark"]');
const light = tokensOf(lightCss);
const THEMES = { light, dark: new Map([...light, ...tokensOf(darkCss)]) };

function tokensOf(text: string): Map<string, Rgb> {
  const tokens = new Map<string, Rgb>();
  for (const [, name = '', hex = ''] of text.matchAll(/(--[\w-]+):\s*#([0-9a-f]{6});/g)) {
    const part = (at: number): number => Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    tokens.set(name, [part(0), part(2), part(4)]);
  }
  return tokens;
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

function luminance([r, g, b]: Rgb): number {
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** WCAG 2. */
function contrast(a: Rgb, b: Rgb): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

type Matrix = readonly [Rgb, Rgb, Rgb];

/** Machado, Oliveira and Fernandes (2009), full severity, on linear light. */
const VISIONS: Readonly<Record<string, Matrix>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Distance in OKLab, ×100: about 2 is just seen. */
function difference(a: Rgb, b: Rgb, vision: Matrix): number {
  const [al, aa, ab] = oklab(seen(a, vision));
  const [bl, ba, bb] = oklab(seen(b, vision));
  return 100 * Math.hypot(al - bl, aa - ba, ab - bb);
}

function seen([r, g, b]: Rgb, vision: Matrix): Rgb {
  const light: Rgb = [linear(r), linear(g), linear(b)];
  const row = (weights: Rgb): number =>
    Math.max(0, weights[0] * light[0] + weights[1] * light[1] + weights[2] * light[2]);
  return [row(vision[0]), row(vision[1]), row(vision[2])];
}

function oklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function colour(theme: keyof typeof THEMES, token: string): Rgb {
  const found = THEMES[theme].get(token);
  assert.ok(found !== undefined, `${token} has no colour in ${theme}`);
  return found;
}

const PALETTES = ['--state-', '--capacity-', '--action-', '--tier-', '--part-'];
const TEXTS: readonly (readonly [string, readonly string[]])[] = [
  ['--text', ['--canvas', '--surface', '--raised', '--sunken', '--hover', '--selected']],
  ['--text-soft', ['--canvas', '--surface', '--sunken', '--selected']],
  ['--text-faint', ['--canvas', '--surface', '--sunken']],
  ['--accent', ['--canvas', '--surface', '--accent-soft']],
  ['--on-accent', ['--accent']],
  ['--good', ['--good-soft', '--surface']],
  ['--warn', ['--warn-soft', '--surface']],
  ['--bad', ['--bad-soft', '--surface']],
  ['--sim', ['--sim-soft', '--surface']],
];

for (const theme of ['light', 'dark'] as const) {
  test(`${theme}: every text stands out from what it is written on`, () => {
    for (const [text, surfaces] of TEXTS) {
      for (const surface of surfaces) {
        const ratio = contrast(colour(theme, text), colour(theme, surface));
        assert.ok(ratio >= 4.5, `${text} on ${surface}: ${ratio.toFixed(2)}`);
      }
    }
  });

  test(`${theme}: no two marks of a palette look alike, whatever the reader's colour vision`, () => {
    for (const palette of PALETTES) {
      const tokens = [...THEMES[theme].keys()].filter((name) => name.startsWith(palette));
      assert.ok(tokens.length >= 2, palette);
      for (const [name, vision] of Object.entries(VISIONS)) {
        tokens.forEach((a, at) => {
          for (const b of tokens.slice(at + 1)) {
            const apart = difference(colour(theme, a), colour(theme, b), vision);
            assert.ok(apart >= 5, `${a} and ${b} under ${name}: ${apart.toFixed(1)}`);
          }
        });
      }
    }
  });

  test(`${theme}: marks stand out from the surface`, () => {
    for (const [token, value] of THEMES[theme]) {
      if (!PALETTES.some((palette) => token.startsWith(palette))) continue;
      const ratio = contrast(value, colour(theme, '--surface'));
      // Three to one is asked of pictures that nothing else explains; ours always carry a word.
      assert.ok(ratio >= 2.2, `${token}: ${ratio.toFixed(2)}`);
    }
  });

  test(`${theme}: the ramp runs one way`, () => {
    const steps = [0, 1, 2, 3, 4, 5].map((step) => luminance(colour(theme, `--ramp-${step}`)));
    const sign = theme === 'light' ? -1 : 1;
    steps.slice(1).forEach((step, at) => assert.ok(sign * (step - (steps[at] ?? 0)) > 0));
  });
}
