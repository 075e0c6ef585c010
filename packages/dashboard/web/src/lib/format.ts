// How numbers, money and times read, everywhere the same. Formatting only: no figure is computed here.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const cents = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const wholeDollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
const fineCents = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 4,
  maximumFractionDigits: 4,
});
const compactNumber = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumFractionDigits: 1,
});
const percents = new Intl.NumberFormat('en-US', { style: 'percent', maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const dayAndClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const full = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
});

/** One minus sign everywhere, the typographic one, and none before a sum that rounds to nothing. */
function signedText(text: string): string {
  if (!text.startsWith('-')) return text;
  const size = text.slice(1);
  return /[1-9∞]/.test(size) ? `−${size}` : size;
}

export function formatCount(count: number): string {
  return signedText(whole.format(count));
}

/** A difference with its sign: `+3`, `−$2.40`; nothing before one that rounds to nothing. */
export function formatDifference(value: number, format: (size: number) => string): string {
  const size = format(Math.abs(value));
  if (!/[1-9∞]/.test(size)) return size;
  return `${value > 0 ? '+' : '−'}${size}`;
}

/** A change below this share of what it was is noise to a reader: it has no colour and no percentage. */
const NOISE_SHARE = 0.005;

export function isMaterial(before: number, after: number): boolean {
  return Math.abs(after - before) > NOISE_SHARE * Math.abs(before);
}

/** From one figure to the other: `+$120 (+12%)`, or empty where both read the same. */
export function formatChange(
  before: number,
  after: number,
  format: (value: number) => string,
): string {
  if (format(before) === format(after)) return '';
  const text = formatDifference(after - before, format);
  const hasShare = before !== 0 && isMaterial(before, after);
  return hasShare
    ? `${text} (${formatDifference((after - before) / before, formatPercent)})`
    : text;
}

/** 12.3K: for axes and narrow places; the whole number stands in the title. */
export function formatCompact(value: number): string {
  return signedText(compactNumber.format(value));
}

/** To the cent. */
export function formatCents(dollars: number): string {
  return signedText(cents.format(dollars));
}

/** Cents while they can matter to a reader: below a thousand dollars. */
export function formatDollars(dollars: number): string {
  return signedText((Math.abs(dollars) < 1_000 ? cents : wholeDollars).format(dollars));
}

/** A price of one machine: sub-cent prices keep their digits. */
export function formatPrice(dollars: number): string {
  const isWholeCents = Math.abs(dollars * 100 - Math.round(dollars * 100)) < 1e-9;
  if (isWholeCents) return formatCents(dollars);
  return signedText(fineCents.format(dollars));
}

/** A penalty bucket of the API: dollars, or the word that stands for an infinite one. */
export function formatPenalty(bucket: string): string {
  const dollars = Number(bucket);
  if (bucket === '' || Number.isNaN(dollars)) return bucket;
  return Number.isInteger(dollars)
    ? signedText(wholeDollars.format(dollars))
    : formatCents(dollars);
}

export function formatProbability(probability: number): string {
  return signedText(percents.format(probability));
}

export function formatPercent(fraction: number): string {
  return signedText(percents.format(fraction));
}

/** As `formatDuration`, with a decimal below ten milliseconds: 0.4 ms, 3.1 ms, 850 ms, 1.2 s. */
export function formatFine(ms: number): string {
  if (!(ms > 0)) return '0 ms';
  if (ms < 0.05) return '<0.1 ms';
  return ms < 9.95 ? `${ms.toFixed(1)} ms` : formatDuration(ms);
}

/** 850 ms, 12 s, 4 min, 3 h 20 min, 2 d 4 h. */
export function formatDuration(ms: number): string {
  const size = Math.max(0, ms);
  if (size === 0) return '0 s';
  if (size < 1_000) return `${Math.round(size)} ms`;
  const seconds = size / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

export function formatAgo(thenMs: number, nowMs: number): string {
  const ms = nowMs - thenMs;
  if (ms < -1_000) return `in ${formatDuration(-ms)}`;
  if (ms < 1_000) return 'just now';
  return `${formatDuration(Math.floor(ms / 1_000) * 1_000).replace(/\.0 s/, ' s')} ago`;
}

export function formatClock(atMs: number): string {
  return clock.format(atMs);
}

export function formatMoment(atMs: number): string {
  return dayAndClock.format(atMs);
}

export function formatFull(atMs: number): string {
  return full.format(atMs);
}

/** `n machine`, `n machines`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
