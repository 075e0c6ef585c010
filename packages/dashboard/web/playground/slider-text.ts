// How a slider's value reads: a factor of what the scenario has written, or a number of things.

import { plural } from '../src/lib/format.ts';
import type { SliderInfo } from './protocol.ts';

type Unit = Pick<SliderInfo, 'unit'>;

/** Beside the slider: `8×`, `1 cluster`; nothing chosen is what the scenario has written. */
export function sliderText({ unit }: Unit, value: number): string {
  if (unit.startsWith('×')) return `${value}×`;
  return value === 0 ? 'as written' : plural(value, unit);
}

/** In full, as the title. */
export function sliderTitle(slider: Unit, value: number): string {
  return slider.unit.startsWith('×') ? `${value} ${slider.unit}` : sliderText(slider, value);
}
